/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of icp.bpf.c over filters in live maps, on no device: what the tests of
 * the feed share.
 */
#ifndef BALEEN_TESTS_ICP_LIVE_H
#define BALEEN_TESTS_ICP_LIVE_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "icp/icp_load.h"

#define SEED 0x69637066656564ull
#define FEED_PORT 4000
#define N_TIMES 16
#define MAPPED 0xffff00000000ull

/* Addresses of the feeders: 10.0.0.1, 10.0.0.2. */
#define FEEDER(n) (0x0a000001u + (n))

/**
 * struct live - one generation
 * @loaded: its programs and maps
 * @filter: the filter of each sibling, as the kernel has it
 * @state: what changes while programs run
 */
struct live {
	struct baleen_icp_loaded loaded;
	struct baleen_filter filter[2];
	struct baleen_icp_state *state;
};

static u32 tap_n, tap_failed;

static inline void result(bool right, const char *world, const char *what)
{
	printf("%sok %u - %s: %s\n", right ? "" : "not ", ++tap_n, world, what);
	tap_failed += !right;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static inline u64 next_random(u64 *state)
{
	return baleen_mix64(*state += 0x9e3779b97f4a7c15ull);
}

/* The n-th of some keys: MD5 looks like this. */
static inline struct baleen_key nth_key(u64 n)
{
	return baleen_squid_key(baleen_mix64(2 * n + 1), baleen_mix64(2 * n + 2));
}

static inline struct baleen_image make_image(u32 kind, u32 hash, u64 capacity)
{
	struct baleen_shape shape = { .hash = hash };
	struct baleen_image image = { .key_spec = BALEEN_KEY_SQUID,
				      .n_blocks = BALEEN_HEADER_BLOCKS };
	struct baleen_table *table = &image.table[BALEEN_TUPLE];
	struct baleen_error error;
	u64 random = SEED;

	if (kind == BALEEN_KIND_CUCKOO)
		shape.slot_bits = 64;
	if (baleen_plan_shaped(BALEEN_TUPLE, kind, capacity, 0.01, &shape, table, &error))
		errx(1, "%s", error.text);
	table->first_block = BALEEN_HEADER_BLOCKS;
	image.n_blocks += table->n_blocks;
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image.seed.word[i] = next_random(&random);
	baleen_seed_expand(&image.seed);
	return image;
}

static inline void *map_memory(int fd, size_t n_bytes)
{
	void *bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (bytes == MAP_FAILED)
		err(1, "cannot map a map");
	return bytes;
}

static inline struct baleen_filter new_model(const struct baleen_image *image)
{
	struct baleen_filter model;
	struct baleen_error error;

	if (baleen_filter_alloc(&model, image, &error))
		errx(1, "%s", error.text);
	return model;
}

static inline void add_sibling(struct live *live, u32 n, const struct baleen_image *image)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct baleen_filter *filter = &live->filter[n];
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sibling", sizeof(u32),
				sizeof(struct baleen_block), image->n_blocks, &options);

	if (fd < 0)
		err(1, "cannot create a map");
	*filter = (struct baleen_filter){
		.image = *image,
		.n_bytes = (size_t)image->n_blocks * BALEEN_BLOCK_BYTES,
		.is_mapped = true,
	};
	filter->bytes = map_memory(fd, filter->n_bytes);
	live->loaded.sibling_fd[n] = fd;
	live->loaded.config.sibling[n].image = *image;
	live->loaded.config.n_siblings = n + 1;
}

/* Feeder 0 tells of sibling 0, feeder 1 of all. */
static inline void live_open(struct live *live, const struct baleen_image *image, u32 n_siblings)
{
	struct baleen_icp_config *config = &live->loaded.config;
	struct baleen_error error;
	size_t page = sysconf(_SC_PAGESIZE);

	memset(live, 0, sizeof(*live));
	baleen_icp_loaded_init(&live->loaded);
	config->version = BALEEN_ICP_CONFIG_VERSION;
	config->generation = 7;
	config->port = BALEEN_ICP_PORT;
	config->feed_port = FEED_PORT;
	strcpy(config->feed_device, "feed");
	config->n_feeders = 2;
	config->n_times = N_TIMES;
	config->feeder[0] = (struct baleen_icp_feeder){ 0, MAPPED | FEEDER(0), 1, 0 };
	config->feeder[1] =
		(struct baleen_icp_feeder){ 0, MAPPED | FEEDER(1), (1u << n_siblings) - 1, 0 };
	for (u32 n = 0; n < n_siblings; n++)
		add_sibling(live, n, image);
	if (baleen_icp_load(&live->loaded, false, &error))
		errx(1, "%s", error.text);
	live->state =
		map_memory(live->loaded.state_fd, (sizeof(*live->state) + page - 1) / page * page);
}

static inline void live_close(struct live *live)
{
	for (u32 n = 0; n < live->loaded.config.n_siblings; n++)
		munmap(live->filter[n].bytes, live->filter[n].n_bytes);
	baleen_icp_loaded_close(&live->loaded);
}

/* All counters are u64, so CPUs add up word by word. */
static inline struct baleen_icp_stats live_stats(const struct live *live)
{
	int n_cpus = libbpf_num_possible_cpus();
	size_t n_words = sizeof(struct baleen_icp_stats) / sizeof(u64);
	u64 *words = calloc(n_cpus, sizeof(struct baleen_icp_stats));
	struct baleen_icp_stats stats = { 0 };
	u32 zero = 0;

	if (!words || bpf_map_lookup_elem(live->loaded.stats_fd, &zero, words))
		err(1, "cannot read the counters");
	for (size_t i = 0; i < n_cpus * n_words; i++)
		((u64 *)&stats)[i % n_words] += words[i];
	free(words);
	return stats;
}

static inline void apply(const struct live *live, struct baleen_icp_batch *batch)
{
	struct baleen_error error;

	if (baleen_icp_apply(&live->loaded, batch, &error))
		errx(1, "%s", error.text);
	batch->n = 0;
}

static inline void batch_push(struct baleen_icp_batch *batch, const struct baleen_key *key,
			      u32 event)
{
	batch->key[batch->n][0] = key->hi;
	batch->key[batch->n][1] = key->lo;
	batch->event[batch->n++] = event;
}

/* One change of filter 0: did it? */
static inline bool apply_one(const struct live *live, const struct baleen_key *key, u32 event)
{
	struct baleen_icp_batch batch = { .siblings = 1 };

	batch_push(&batch, key, event);
	apply(live, &batch);
	return batch.event[0] == event;
}

static inline int finish_tests(void)
{
	printf("1..%u\n", tap_n);
	return tap_failed != 0;
}

#endif /* BALEEN_TESTS_ICP_LIVE_H */
