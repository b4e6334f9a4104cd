// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The same keys asked in every world: userspace, a BPF program over the live
 * map, and frames through the real XDP program, for each kind of table.
 *
 * Half of a million or more distinct keys are listed. All worlds must answer
 * alike, no listed key may be missed, and what is exact must equal the set.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <baleen/packet.h>

#include "filter.h"
#include "load.h"
#include "plan.h"

#include "probe.skel.h"

#define BATCH 65536
#define MAX_FRAMES 100000
#define SEED 0x62616c65656eull
#define NO_ANSWER 77
#define FRAME_BYTES (BALEEN_ETHER_BYTES + BALEEN_IP6_BYTES)

/* n_entries of a table is how many keys are listed; as many others are asked.
 * Loads are near 95 %, where buckets are full and keys are away from home.
 */
struct world {
	const char *name;
	struct baleen_table table[2];
};

#define CUCKOO(bits, buckets, n)                                                                   \
	{                                                                                          \
		.kind = BALEEN_KIND_CUCKOO, .slot_bits = bits, .n_buckets = buckets,               \
		.n_entries = n                                                                     \
	}
#define BLOOM(k, blocks, n)                                                                        \
	{                                                                                          \
		.kind = BALEEN_KIND_BLOOM, .n_hashes = k, .n_buckets = blocks, .n_entries = n      \
	}

static const struct world worlds[] = {
	{"cuckoo IPv4, 16-bit slots", {CUCKOO(16, 1 << 18, 990000)}},
	{"cuckoo IPv4, 16-bit slots, 270,003 buckets", {CUCKOO(16, 270003, 1020000)}},
	{"cuckoo IPv4, 32-bit slots", {CUCKOO(32, 1 << 17, 500000)}},
	{"cuckoo IPv4, 32-bit slots, 132,001 buckets", {CUCKOO(32, 132001, 500000)}},
	{"cuckoo IPv6, 64-bit slots", {[BALEEN_IP6] = CUCKOO(64, 1 << 17, 500000)}},
	{"cuckoo IPv6, 64-bit slots, 132,001 buckets", {[BALEEN_IP6] = CUCKOO(64, 132001, 500000)}},
	{"cuckoo IPv6, 16-bit slots", {[BALEEN_IP6] = CUCKOO(16, 1 << 17, 500000)}},
	{"cuckoo IPv6, 16-bit slots, 132,001 buckets", {[BALEEN_IP6] = CUCKOO(16, 132001, 500000)}},
	{"Bloom IPv4, k = 2", {BLOOM(2, 15625, 500000)}},
	{"Bloom IPv4, k = 4", {BLOOM(4, 15625, 500000)}},
	{"Bloom IPv4, k = 6", {BLOOM(6, 15625, 500000)}},
	{"Bloom IPv4, k = 8", {BLOOM(8, 15625, 500000)}},
	{"Bloom IPv6, k = 2", {[BALEEN_IP6] = BLOOM(2, 15625, 500000)}},
	{"Bloom IPv6, k = 4", {[BALEEN_IP6] = BLOOM(4, 15625, 500000)}},
	{"Bloom IPv6, k = 6", {[BALEEN_IP6] = BLOOM(6, 15625, 500000)}},
	{"Bloom IPv6, k = 8", {[BALEEN_IP6] = BLOOM(8, 15625, 500000)}},
	{"cuckoo IPv4 and IPv6 in one image",
	 {CUCKOO(16, 262151, 990000), CUCKOO(64, 65537, 245000)}},
	{"Bloom IPv4 and IPv6 in one image", {BLOOM(8, 15625, 500000), BLOOM(2, 7813, 250000)}},
};

static u32 tap_n, tap_failed;

static void result(bool right, const char *world, const char *what)
{
	printf("%sok %u - %s: %s\n", right ? "" : "not ", ++tap_n, world, what);
	tap_failed += !right;
}

/* --- the set -------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea and Flood 2014). */
static u64 next_random(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Key number i of a domain: different i, different key. Even ones are listed.
 * IPv6 keys come eight to a /64 as one host's do, side by side.
 */
static struct baleen_key key_at(u32 domain, u32 i)
{
	struct baleen_key key = {.domain = domain};
	u64 state = i / 8;

	if (domain == BALEEN_IP4) {
		key.ip4 = i * 0x9e3779b1u;
		key.ip4 ^= key.ip4 >> 15;
		key.ip4 *= 0x85ebca6bu;
		return key;
	}
	key.hi = next_random(&state);
	key.lo = next_random(&state) + i % 8;
	return key;
}

static bool is_listed(u32 i)
{
	return i % 2 == 0;
}

/* --- the filter ----------------------------------------------------------- */

static void make_image(const struct world *world, struct baleen_image *image)
{
	u64 state = SEED;

	memset(image, 0, sizeof(*image));
	image->key_spec = BALEEN_KEY_SRC;
	image->n_blocks = BALEEN_HEADER_BLOCKS;
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image->seed.word[i] = next_random(&state);
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		struct baleen_table *table = &image->table[domain];
		u32 per_block = 1;

		*table = world->table[domain];
		if (table->kind == BALEEN_KIND_NONE)
			continue;
		if (table->kind == BALEEN_KIND_CUCKOO)
			per_block = baleen_buckets_per_block(table->slot_bits);
		table->n_blocks = (table->n_buckets + per_block - 1) / per_block;
		table->log2_buckets = baleen_log2(table->n_buckets);
		table->first_block = image->n_blocks;
		image->n_blocks += table->n_blocks;
	}
}

static void make_filter(const struct world *world, struct baleen_filter *filter)
{
	struct baleen_image image, checked;
	struct baleen_error error;
	const char *reason;

	make_image(world, &image);
	if (baleen_filter_alloc(filter, &image, &error))
		errx(1, "%s", error.text);
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		for (u32 i = 0; i < 2 * world->table[domain].n_entries; i++) {
			struct baleen_key key = key_at(domain, i);
			size_t done;

			if (is_listed(i) && baleen_filter_insert(filter, &key, 1, &done))
				errx(1, "%s: no room for key %u", world->name, i);
		}
	}
	baleen_filter_seal(filter);
	if (baleen_image_check(filter->bytes, filter->n_bytes, &checked, &reason))
		errx(1, "%s: %s", world->name, reason);
}

/* --- the BPF program ------------------------------------------------------ */

struct prober {
	struct probe_bpf *skeleton;
	struct baleen_key *keys;
	u64 *answers;
};

static void *map_memory(struct bpf_map *map, size_t n_bytes)
{
	void *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		err(1, "mmap %s", bpf_map__name(map));
	return memory;
}

static void prober_open(struct prober *prober, const struct baleen_image *image, int filter_fd)
{
	struct probe_bpf *skeleton = probe_bpf__open();

	if (!skeleton)
		err(1, "cannot open the probe");
	memcpy((void *)&skeleton->rodata->image, image, sizeof(*image));
	if (bpf_map__reuse_fd(skeleton->maps.filter, filter_fd) || probe_bpf__load(skeleton))
		err(1, "cannot load the probe");
	prober->skeleton = skeleton;
	prober->keys = map_memory(skeleton->maps.keys, BATCH * sizeof(*prober->keys));
	prober->answers = map_memory(skeleton->maps.answers, BATCH * sizeof(*prober->answers));
}

static void prober_close(struct prober *prober)
{
	munmap(prober->keys, BATCH * sizeof(*prober->keys));
	munmap(prober->answers, BATCH * sizeof(*prober->answers));
	probe_bpf__destroy(prober->skeleton);
}

/* Answers to BATCH keys from number @first on. */
static void prober_ask(struct prober *prober, u32 domain, u32 first)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	for (u32 i = 0; i < BATCH; i++) {
		prober->keys[i] = key_at(domain, first + i);
		prober->answers[i] = NO_ANSWER;
	}
	if (bpf_prog_test_run_opts(bpf_program__fd(prober->skeleton->progs.probe), &run))
		err(1, "cannot run the probe");
	if (run.retval != BATCH)
		errx(1, "the probe made %u rounds of %u", run.retval, BATCH);
}

/* --- the questions -------------------------------------------------------- */

struct tally {
	u64 asked;
	u64 missed; /* listed, and userspace says no */
	u64 false_hits;
	u64 differ; /* BPF says something else than userspace */
	u64 frames;
	u64 misjudged; /* the verdict is not what userspace says */
};

static void ask_domain(struct prober *prober, const struct baleen_filter *filter, u32 domain,
		       u32 n_keys, struct tally *tally)
{
	for (u32 first = 0; first < n_keys; first += BATCH) {
		prober_ask(prober, domain, first);
		for (u32 i = 0; i < BATCH && first + i < n_keys; i++) {
			struct baleen_key key = key_at(domain, first + i);
			u64 answer = baleen_filter_test(filter, &key);

			tally->asked++;
			tally->missed += is_listed(first + i) && !answer;
			tally->false_hits += !is_listed(first + i) && answer;
			tally->differ += prober->answers[i] != answer;
		}
	}
}

static void write_be64(u8 *out, u64 x)
{
	x = baleen_be64(x);
	memcpy(out, &x, sizeof(x));
}

/* A frame whose source is the key; the rest of the headers is zero. */
static void make_frame(const struct baleen_key *key, u8 *frame)
{
	u8 *ip = frame + BALEEN_ETHER_BYTES;
	u32 ip4_be = baleen_be32(key->ip4);

	memset(frame, 0, FRAME_BYTES);
	if (key->domain == BALEEN_IP4) {
		memcpy(frame + 12, "\x08\x00", 2);
		ip[0] = 0x45;
		memcpy(ip + 12, &ip4_be, sizeof(ip4_be));
		return;
	}
	memcpy(frame + 12, "\x86\xdd", 2);
	ip[0] = 0x60;
	write_be64(ip + 8, key->hi);
	write_be64(ip + 16, key->lo);
}

static u32 frame_verdict(int program_fd, const struct baleen_key *key)
{
	u8 frame[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame));

	make_frame(key, frame);
	if (bpf_prog_test_run_opts(program_fd, &run))
		err(1, "cannot run the XDP program");
	return run.retval;
}

static void send_domain(int program_fd, const struct baleen_filter *filter, u32 domain, u32 n_keys,
			struct tally *tally)
{
	/* Odd, so that listed and unlisted keys take turns. */
	u32 step = n_keys / MAX_FRAMES | 1;

	for (u32 i = 0; i < n_keys; i += step) {
		struct baleen_key key = key_at(domain, i);
		u32 want = baleen_filter_test(filter, &key) ? XDP_DROP : XDP_PASS;

		tally->frames++;
		tally->misjudged += frame_verdict(program_fd, &key) != want;
	}
}

static void load_xdp(const struct baleen_image *image, int filter_fd, struct baleen_loaded *loaded)
{
	struct baleen_config config = {.version = BALEEN_CONFIG_VERSION, .n_rules = 1};
	struct baleen_error error;

	baleen_rule_set(&config.rule[0], BALEEN_ACTION_DROP, image->name, NULL, image);
	baleen_loaded_init(loaded);
	loaded->rule_fd[0] = filter_fd;
	if (baleen_load_program(&config, loaded, &error))
		errx(1, "%s", error.text);
}

static void report(const struct world *world, const struct baleen_image *image,
		   const struct tally *tally)
{
	printf("# %s: %llu keys, %llu missed, %llu false hits, %llu differ; %llu frames, "
	       "%llu misjudged\n",
	       world->name, (unsigned long long)tally->asked, (unsigned long long)tally->missed,
	       (unsigned long long)tally->false_hits, (unsigned long long)tally->differ,
	       (unsigned long long)tally->frames, (unsigned long long)tally->misjudged);
	result(!tally->missed, world->name, "every listed key is found");
	/* 64-bit slots err once in 2^64 / n: with this seed, not at all. */
	if (baleen_image_fpp(image) < 1e-12)
		result(!tally->false_hits, world->name, "and no other");
	result(!tally->differ, world->name, "BPF answers as userspace does");
	result(!tally->misjudged, world->name, "frames get the verdict userspace gives");
}

static void try_world(const struct world *world)
{
	struct tally tally = {0};
	struct baleen_filter filter;
	struct baleen_loaded loaded;
	struct baleen_error error;
	struct prober prober;
	int filter_fd;

	make_filter(world, &filter);
	if (baleen_load_map("worlds", &filter, &filter_fd, &error))
		errx(1, "%s", error.text);
	prober_open(&prober, &filter.image, filter_fd);
	load_xdp(&filter.image, filter_fd, &loaded);
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		u32 n_keys = 2 * world->table[domain].n_entries;

		if (!n_keys)
			continue;
		ask_domain(&prober, &filter, domain, n_keys, &tally);
		send_domain(loaded.program_fd, &filter, domain, n_keys, &tally);
	}
	report(world, &filter.image, &tally);
	baleen_loaded_close(&loaded);
	prober_close(&prober);
	baleen_filter_free(&filter);
}

int main(void)
{
	u32 n_worlds = sizeof(worlds) / sizeof(worlds[0]);

	printf("# seed 0x%llx\n", SEED);
	for (u32 i = 0; i < n_worlds; i++)
		try_world(&worlds[i]);
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
