/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs that answer for caches, loaded with a filter for each sibling and asked by
 * BPF_PROG_TEST_RUN.
 */
#ifndef BALEEN_TESTS_ICP_RIG_H
#define BALEEN_TESTS_ICP_RIG_H

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "icp/icp_load.h"
#include "key/squid_key.h"
#include "xdp/load.h"

#include "icp_frames.h"

#define N_COUNTERS (sizeof(struct baleen_icp_sibling_stats) / sizeof(u64))
#define COUNTER(name) (offsetof(struct baleen_icp_sibling_stats, name) / sizeof(u64))
#define OTHERS N_COUNTERS
#define N_SIBLINGS 4
#define SEED 0x737175696421ull

struct rig {
	struct baleen_icp_loaded loaded;
	struct baleen_icp_state *state;
	struct baleen_filter filter[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_stats before;
	u32 n_cpus;
};

static u32 tap_n, tap_failed;

static inline void result(bool right, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", right ? "" : "not ", ++tap_n);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	tap_failed += !right;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static inline u64 next_random(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* --- addresses: IPv4 as ::ffff:a.b.c.d ------------------------------------- */

static inline void address_of(const char *text, u8 *address)
{
	memset(address, 0, 16);
	address[10] = address[11] = 0xff;
	if (inet_pton(AF_INET, text, address + 12) != 1 && inet_pton(AF_INET6, text, address) != 1)
		errx(1, "'%s': no address", text);
}

static inline u64 half_of(const u8 *address)
{
	return baleen_load_be64(address);
}

static inline void allow(const struct rig *rig, const char *address, u32 length, u32 siblings)
{
	struct baleen_icp_asker asker = { .length = length };

	address_of(address, asker.address);
	if (bpf_map_update_elem(rig->loaded.askers_fd, &asker, &siblings, BPF_ANY))
		err(1, "cannot allow %s", address);
}

/* --- filters ---------------------------------------------------------------- */

/* An empty table of this geometry; the seed is a fixed one. */
static inline void filter_make(const struct baleen_table *table, struct baleen_filter *filter)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SQUID,
				      .n_blocks = BALEEN_HEADER_BLOCKS };
	struct baleen_table *made = &image.table[BALEEN_TUPLE];
	struct baleen_error error;
	u64 state = SEED;

	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image.seed.word[i] = next_random(&state);
	baleen_seed_expand(&image.seed);
	*made = *table;
	made->n_blocks = baleen_table_blocks(made);
	if (made->slot_bits)
		made->log2_buckets = baleen_log2(made->n_buckets);
	made->first_block = image.n_blocks;
	image.n_blocks += made->n_blocks;
	if (baleen_filter_alloc(filter, &image, &error))
		errx(1, "%s", error.text);
}

static inline void filter_add(struct baleen_filter *filter, const struct baleen_key *key)
{
	size_t done;

	if (baleen_filter_insert(filter, key, 1, &done))
		errx(1, "no room in a filter");
}

static inline void filter_add_url(struct baleen_filter *filter, const char *url)
{
	struct baleen_key key;

	baleen_squid_key_url(url, strlen(url), &key);
	filter_add(filter, &key);
}

/* --- programs ---------------------------------------------------------------- */

static inline void read_stats(const struct rig *rig, struct baleen_icp_stats *sum)
{
	struct baleen_icp_stats *each = calloc(rig->n_cpus, sizeof(*each));
	u32 zero = 0;

	if (!each || bpf_map_lookup_elem(rig->loaded.stats_fd, &zero, each))
		err(1, "cannot read the counters");
	memset(sum, 0, sizeof(*sum));
	for (u32 cpu = 0; cpu < rig->n_cpus; cpu++)
		for (u32 i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			((u64 *)sum)[i] += ((u64 *)&each[cpu])[i];
	free(each);
}

/* @config has all but the images, which are those of rig->filter. */
static inline void rig_load(struct rig *rig, const struct baleen_icp_config *config)
{
	struct baleen_error error;

	baleen_icp_loaded_init(&rig->loaded);
	rig->n_cpus = libbpf_num_possible_cpus();
	rig->loaded.config = *config;
	for (u32 i = 0; i < config->n_siblings; i++) {
		baleen_filter_seal(&rig->filter[i]);
		rig->loaded.config.sibling[i].image = rig->filter[i].image;
		if (baleen_load_copy("icp", &rig->filter[i], &rig->loaded.sibling_fd[i], &error))
			errx(1, "%s", error.text);
	}
	if (baleen_icp_load(&rig->loaded, config->frags, &error))
		errx(1, "%s", error.text);
	rig->state = mmap(NULL, sizeof(*rig->state), PROT_READ | PROT_WRITE, MAP_SHARED,
			  rig->loaded.state_fd, 0);
	if (rig->state == MAP_FAILED)
		err(1, "cannot map the state");
	read_stats(rig, &rig->before);
}

static inline void rig_close(struct rig *rig)
{
	munmap(rig->state, sizeof(*rig->state));
	baleen_icp_loaded_close(&rig->loaded);
}

/* Returns the verdict; @out is the frame as it was left. */
static inline u32 run(int program_fd, const struct frame *in, struct frame *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = in->byte, .data_size_in = in->n,
		    .data_out = out->byte, .data_size_out = sizeof(out->byte), .repeat = 1);

	memset(out, 0, sizeof(*out));
	if (bpf_prog_test_run_opts(program_fd, &options))
		err(1, "BPF_PROG_TEST_RUN of %u bytes", in->n);
	out->n = options.data_size_out;
	return options.retval;
}

/* Which counter moved since last asked, of sibling @n or of none: its index, OTHERS, or -1
 * when not exactly one did.
 */
static inline int moved(struct rig *rig, u32 n)
{
	struct baleen_icp_stats after;
	const u64 *old = (u64 *)&rig->before, *now = (u64 *)&after;
	u32 first = offsetof(struct baleen_icp_stats, sibling[n]) / sizeof(u64);
	int which = -1;
	u64 sum = 0;

	read_stats(rig, &after);
	for (u32 i = 0; i < sizeof(after) / sizeof(u64); i++) {
		sum += now[i] - old[i];
		if (now[i] != old[i] && i >= first && i < first + N_COUNTERS)
			which = i - first;
	}
	if (after.others != rig->before.others)
		which = OTHERS;
	rig->before = after;
	return sum == 1 ? which : -1;
}

#endif /* BALEEN_TESTS_ICP_RIG_H */
