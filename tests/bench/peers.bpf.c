// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What Baleen is compared with: its own parser and counters around the
 * lookups that the kernel offers, around one random load, around nothing.
 */
#include <baleen/probe.h>

#include "keys.h"
#include "verdict.h"

struct ip6_key {
	u64 hi;
	u64 lo;
};

/* The sizes are set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_block);
} floor_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} hash_ip4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ip6_key);
	__type(value, u32);
} hash_ip6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 1);
	__type(value, u32);
} bloom_ip4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 1);
	__type(value, struct ip6_key);
} bloom_ip6 SEC(".maps");

struct trie_ip4_key {
	u32 length;
	u32 ip4_be;
};

struct trie_ip6_key {
	u32 length;
	u32 word_be[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct trie_ip4_key);
	__type(value, u32);
} trie_ip4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct trie_ip6_key);
	__type(value, u32);
} trie_ip6 SEC(".maps");

/* What Baleen could do instead of a directory: a bit for each /24 that is
 * wholly in the set, and the cuckoo table for the other addresses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_block);
} bitmap_groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_block);
} bitmap_hosts SEC(".maps");

/* Constant for the kernel but not for clang; see config in baleen.bpf.c. */
struct baleen_image bitmap_image SEC(".rodata.bitmap");

/* One counter for all CPUs, which no program of Baleen's has. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} shared_counter SEC(".maps");

const volatile u32 n_floor_blocks = 1;

enum peer {
	PEER_NOTHING,
	PEER_SHARED,
	PEER_FLOOR,
	PEER_FLOOR_TWO,
	PEER_FLOOR_PAGE,
	PEER_FLOOR_BUSY,
	PEER_HASH,
	PEER_BLOOM,
	PEER_TRIE,
	PEER_BITMAP,
};

/* Fibonacci hashing, then a multiplication instead of a remainder. The
 * verdict hangs on the load; which bit of the block is drawn, too, so that
 * half of the sources can be made members by filling in random bytes.
 */
baleen_inline bool floor_test(u64 key)
{
	u64 hash = key * 0x9e3779b97f4a7c15ull;
	const struct baleen_block *block =
		baleen_store_block(&floor_blocks, (hash >> 32) * n_floor_blocks >> 32);

	return block && (block->word[hash >> 29 & 7] & 1);
}

/* Two loads, as a cuckoo table has, which do not wait for each other: anywhere, or in the same
 * 4 KiB, of which the second needs no look-up of the page.
 */
baleen_inline bool floor_test_two(u64 key, bool is_same_page)
{
	u64 hash = key * 0x9e3779b97f4a7c15ull, other = hash * 0xbf58476d1ce4e5b9ull;
	u32 at = (hash >> 32) * n_floor_blocks >> 32;
	u32 next = is_same_page ? (at & ~63u) | (other >> 58) :
				  (u32)((other >> 32) * n_floor_blocks >> 32);
	const struct baleen_block *first = baleen_store_block(&floor_blocks, at);
	const struct baleen_block *second = baleen_store_block(&floor_blocks, next);

	return first && second && (first->word[hash >> 29 & 7] & second->word[hash >> 26 & 7] & 1);
}

/* Instructions of which nothing hangs: they fill what the CPU looks ahead. */
baleen_inline void be_busy(void)
{
	u64 sum[4] = { 1, 2, 3, 4 };

	BALEEN_UNROLL
	for (u32 i = 0; i < 128; i++)
		asm volatile("%0 += 1" : "+r"(sum[i & 3]));
}

baleen_inline bool floor_test_busy(u64 key)
{
	bool has = floor_test_two(key, false);

	be_busy();
	return has;
}

baleen_inline bool count_shared(void)
{
	u32 zero = 0;
	u64 *counter = bpf_map_lookup_elem(&shared_counter, &zero);

	/* It never is; but the verdict waits for the line. */
	return counter && __sync_fetch_and_add(counter, 1) == ~0ull;
}

baleen_inline bool bitmap_test(const struct baleen_key *key)
{
	u32 group = key->ip4 >> 8;
	const struct baleen_block *block = baleen_store_block(&bitmap_groups, group >> 9);

	if (block && block->word[group >> 6 & 7] >> (group & 63) & 1)
		return true;
	return baleen_table_test(&bitmap_image.table[BALEEN_IP4], &bitmap_image.seed, &bitmap_hosts,
				 key);
}

baleen_inline bool trie_test_ip4(const u8 *addr)
{
	struct trie_ip4_key key = { .length = 32, .ip4_be = *(const u32 *)addr };

	return bpf_map_lookup_elem(&trie_ip4, &key);
}

baleen_inline bool trie_test_ip6(const u8 *addr)
{
	struct trie_ip6_key key = { .length = 128 };

	for (u32 i = 0; i < 4; i++)
		key.word_be[i] = ((const u32 *)addr)[i];
	return bpf_map_lookup_elem(&trie_ip6, &key);
}

baleen_inline bool peer_test_ip4(enum peer peer, const u8 *ip)
{
	struct baleen_key key = baleen_key_ip4(ip + 12);

	switch (peer) {
	case PEER_SHARED: return count_shared();
	case PEER_FLOOR: return floor_test(key.ip4);
	case PEER_FLOOR_TWO: return floor_test_two(key.ip4, false);
	case PEER_FLOOR_PAGE: return floor_test_two(key.ip4, true);
	case PEER_FLOOR_BUSY: return floor_test_busy(key.ip4);
	case PEER_HASH: return bpf_map_lookup_elem(&hash_ip4, &key.ip4);
	case PEER_BLOOM: return !bpf_map_peek_elem(&bloom_ip4, &key.ip4);
	case PEER_TRIE: return trie_test_ip4(ip + 12);
	case PEER_BITMAP: return bitmap_test(&key);
	default: return false;
	}
}

baleen_inline bool peer_test_ip6(enum peer peer, const u8 *ip)
{
	struct baleen_key key = baleen_key_ip6(ip + 8);
	struct ip6_key ip6 = { key.hi, key.lo };

	switch (peer) {
	case PEER_FLOOR: return floor_test(key.hi ^ key.lo);
	case PEER_HASH: return bpf_map_lookup_elem(&hash_ip6, &ip6);
	case PEER_BLOOM: return !bpf_map_peek_elem(&bloom_ip6, &ip6);
	case PEER_TRIE: return trie_test_ip6(ip + 8);
	default: return false;
	}
}

/* The stages of baleen.bpf.c with the lookup exchanged. */
baleen_inline int judge(struct frame *frame, bool is_ip6)
{
	bool listed = is_ip6 ? peer_test_ip6(frame->which, frame->packet.ip) :
			       peer_test_ip4(frame->which, frame->packet.ip);

	if (listed) {
		count_rule(frame, 0);
		return XDP_DROP;
	}
	frame->stats->unmatched++;
	return XDP_PASS;
}

baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	baleen_count_unparsed(frame->stats, parse);
	return XDP_PASS;
}

#define PEER(name, peer)                                      \
	SEC("xdp")                                            \
	int name(struct xdp_md *ctx)                          \
	{                                                     \
		return give_verdict(ctx, false, false, peer); \
	}

PEER(peer_nothing, PEER_NOTHING)
PEER(peer_shared, PEER_SHARED)
PEER(peer_floor, PEER_FLOOR)
PEER(peer_floor_two, PEER_FLOOR_TWO)
PEER(peer_floor_page, PEER_FLOOR_PAGE)
PEER(peer_floor_busy, PEER_FLOOR_BUSY)
PEER(peer_hash, PEER_HASH)
PEER(peer_bloom, PEER_BLOOM)
PEER(peer_trie, PEER_TRIE)
PEER(peer_bitmap, PEER_BITMAP)

/* What the next run of peer_fill() adds: these members of one family. */
u32 fill_first;
u32 fill_n;
u32 fill_is_ip6;

static long fill_ip4(u32 i, void *unused __attribute__((unused)))
{
	u32 ip4 = bench_ip4(fill_first + i), one = 1;

	return bpf_map_update_elem(&hash_ip4, &ip4, &one, BPF_ANY) ||
	       bpf_map_push_elem(&bloom_ip4, &ip4, BPF_ANY);
}

static long fill_ip6(u32 i, void *unused __attribute__((unused)))
{
	u32 index = fill_first + i, one = 1;
	struct ip6_key ip6 = { bench_ip6_hi(index), bench_ip6_lo(index) };

	return bpf_map_update_elem(&hash_ip6, &ip6, &one, BPF_ANY) ||
	       bpf_map_push_elem(&bloom_ip6, &ip6, BPF_ANY);
}

/* By system calls it would take minutes: the Bloom map has no batches. */
SEC("xdp")
int peer_fill(void *ctx __attribute__((unused)))
{
	long done = fill_is_ip6 ? bpf_loop(fill_n, fill_ip6, NULL, 0) :
				  bpf_loop(fill_n, fill_ip4, NULL, 0);

	return done == fill_n ? XDP_PASS : XDP_ABORTED;
}

char _license[] SEC("license") = "Dual BSD/GPL";
