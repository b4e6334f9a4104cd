/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recent changes: prefixes whose answer has changed since a live image was built.
 *
 * Idea: the tables of an image cannot take a prefix, or an IPv6 address beside prefixes,
 * while packets ask them. So a small hash table behind the image takes it; it is asked
 * before the image, while it holds anything, and the longest prefix in it that covers
 * an address decides. Its keys stand in it whole, so it never errs. When it is full,
 * or has too many lengths, the image is built anew with all of it, and it is empty.
 *
 *      BPF map of the rule:  [ image, n_blocks ][ head ][ bucket 0 ] ... [ bucket n - 1 ]
 *
 *      head    words 0, 1: the lengths to ask for, of IPv4 and of IPv6: eight bytes, the
 *              longest first, each one more than the length; 0 from the first unused on
 *      bucket  words 0..5: three keys, upper and lower half; an IPv4 prefix stands in
 *              the highest 32 bits. Word 6: three tags of 16 bits:
 *
 *              15  13   12        11      10     9    8     7       0
 *              +-----+---------+-------+------+----+-----+------------+
 *              |  0  | rowless | fresh | dead | in | ip6 | length + 1 |
 *              +-----+---------+-------+------+----+-----+------------+
 *
 * A key is in one of three buckets, by its hash. A reader sees each prefix as it was or as it is:
 * a writer stores the key, then the tag, then, when that is new, the length, each by
 * one aligned store; a reader loads them the other way round. A slot keeps its key for
 * as long as the map lives, so no reader mixes two: a prefix that goes is marked dead.
 * Each load gives the place of the next: a length the hash of a prefix, so its bucket, and tags
 * those of the keys (tests/litmus/recent-lengths.litmus). Writers exclude each other (as in
 * search.h).
 *
 * fresh and rowless are for writers: fresh: without this prefix the image below says what
 * is right for it, so it may just go. rowless: no entry of the rule has this prefix; it
 * hides one that the image was built with.
 *
 * Example: 198.51.100.0/24 is banned: key 0xc633640000000000, 0; tag 25 | in | fresh. The
 * lengths of IPv4 become 25, 0, ...: a source costs one or two lines more.
 *
 * Our numbers: 2,048 to 4,096 buckets, 128 to 256 KiB; more than half full before it refuses one.
 * An empty one costs a load of a line that is always near.
 */
#ifndef BALEEN_RECENT_H
#define BALEEN_RECENT_H

#include <baleen/image.h>

#define BALEEN_RECENT_LENGTHS 8
#define BALEEN_RECENT_SLOTS 3
#define BALEEN_RECENT_CHOICES 3 /* buckets of a key */
#define BALEEN_RECENT_TAGS 6	/* word of a bucket */

#define BALEEN_RECENT_IP6 (1u << 8)
#define BALEEN_RECENT_IN (1u << 9)
#define BALEEN_RECENT_DEAD (1u << 10)
#define BALEEN_RECENT_FRESH (1u << 11)
#define BALEEN_RECENT_ROWLESS (1u << 12)

/* These bits and the key name a prefix. */
#define BALEEN_RECENT_NAME (BALEEN_RECENT_IP6 | 0xffu)

/**
 * struct baleen_recent_net - a prefix
 * @hi: upper half of its lowest address; of an IPv4 prefix the address in the upper 32 bits
 * @lo: lower half
 * @length: its length, 0 to 32 or 128
 * @is_ip6: it is of IPv6
 */
struct baleen_recent_net {
	u64 hi;
	u64 lo;
	u8 length;
	bool is_ip6;
};

/**
 * baleen_recent_bytes() - bytes of a table
 * @n_buckets: how many; 0 for no table
 *
 * Context: any.
 * Return: the size of it.
 */
baleen_inline u64 baleen_recent_bytes(u32 n_buckets)
{
	return n_buckets ? (n_buckets + 1ull) * BALEEN_BLOCK_BYTES : 0;
}

/**
 * baleen_recent_net() - the prefix of a length that an address is in
 * @hi: upper half of the address, see struct baleen_recent_net
 * @lo: lower half
 * @length: 0 to 128
 * @is_ip6: family
 *
 * Context: any, BPF-safe: without a branch, each of which would double the paths, 2^9 a length.
 * Return: the prefix.
 */
baleen_inline struct baleen_recent_net baleen_recent_net(u64 hi, u64 lo, u32 length, u32 is_ip6)
{
	/* All ones from /64 on, and for /128. */
	u64 has_hi = (s64)baleen_opaque64(63ull - length) >> 63;
	u64 is_whole = (s64)baleen_opaque64(127ull - length) >> 63;
	u64 rest = ~0ull >> (length & 63);

	return (struct baleen_recent_net){
		.hi = hi & (has_hi | ~rest),
		.lo = lo & has_hi & (is_whole | ~rest),
		.length = (u8)length,
		.is_ip6 = !!is_ip6,
	};
}

/**
 * baleen_recent_hash() - which three buckets a prefix may be in
 * @seed: the filter's seed
 * @net: the prefix
 *
 * Context: any, BPF-safe.
 * Return: three numbers of 16 bits and more, modulo the buckets: see baleen_recent_bucket().
 */
baleen_inline u64 baleen_recent_hash(const struct baleen_seed *seed,
				     const struct baleen_recent_net *net)
{
	return baleen_hash_ip6(seed, net->hi, net->lo + net->length);
}

/* The number of one of them. */
baleen_inline u32 baleen_recent_bucket(u64 hash, u32 choice, u32 n_buckets)
{
	return (u32)(hash >> 21 * choice) & (n_buckets - 1);
}

/* 0: it is not there; 2: it is and says out; 3: in. */
baleen_inline u32 baleen_recent_look(const struct baleen_block *bucket,
				     const struct baleen_recent_net *net)
{
	u64 want = (net->is_ip6 ? BALEEN_RECENT_IP6 : 0) | (net->length + 1u), answer = 0;
	u64 tags = baleen_le64(*(const volatile u64 *)&bucket->word[BALEEN_RECENT_TAGS]);

	/* Tags before keys: tests/litmus/recent-after.litmus. */
	bucket = (const struct baleen_block *)baleen_after(bucket, tags);
	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_RECENT_SLOTS; i++, tags >>= 16) {
		u64 differ =
			((tags ^ want) & (BALEEN_RECENT_NAME | BALEEN_RECENT_DEAD)) |
			(baleen_le64(*(const volatile u64 *)&bucket->word[2 * i]) ^ net->hi) |
			(baleen_le64(*(const volatile u64 *)&bucket->word[2 * i + 1]) ^ net->lo);
		u64 same = (baleen_opaque64(differ | -differ) >> 63) - 1;

		answer |= same & (2 | (tags / BALEEN_RECENT_IN & 1));
	}
	return answer;
}

/**
 * baleen_recent_has() - has it anything to say of a family?
 * @store: the image with the table behind it (see baleen_store_block())
 * @first: where it begins: blocks of the image
 * @is_ip6: family
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_recent_has(const void *store, u32 first, u32 is_ip6)
{
	const struct baleen_block *head = baleen_store_block(store, first);

	return head && *(const volatile u64 *)&head->word[is_ip6 & 1];
}

/**
 * baleen_recent_test() - what do recent changes say of an address?
 * @image: a checked header
 * @store: the image with the table behind it (see baleen_store_block())
 * @n_buckets: a power of two
 * @hi: upper half of the address, see struct baleen_recent_net
 * @lo: lower half
 * @is_ip6: family
 *
 * Context: any, BPF-safe.
 * Return: 0 nothing: the image is to be asked; 2 it is not in the set; 3 it is.
 */
baleen_inline u32 baleen_recent_test(const struct baleen_image *image, const void *store,
				     u32 n_buckets, u64 hi, u64 lo, u32 is_ip6)
{
	const struct baleen_block *block = baleen_store_block(store, image->n_blocks);
	u64 lengths = block ? baleen_le64(*(const volatile u64 *)&block->word[is_ip6 & 1]) : 0;
	u32 first = image->n_blocks + 1;

	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_RECENT_LENGTHS && (lengths & 0xff); i++, lengths >>= 8) {
		struct baleen_recent_net net =
			baleen_recent_net(hi, lo, (lengths & 0xff) - 1, is_ip6 & 1);
		u64 hash = baleen_recent_hash(&image->seed, &net);
		u32 answer = 0;

		BALEEN_UNROLL
		for (u32 k = 0; k < BALEEN_RECENT_CHOICES; k++) {
			block = baleen_store_block(store, first + baleen_recent_bucket(hash, k,
										       n_buckets));
			if (!block)
				return 0;
			answer |= baleen_recent_look(block, &net);
		}
		if (answer)
			return answer;
	}
	return 0;
}

#endif /* BALEEN_RECENT_H */
