// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The probe in the BPF world, asked by BPF_PROG_TEST_RUN: a batch of keys
 * against a filter in an array map, one answer per key.
 */
#include "by_domain.h"

#define BATCH 65536

/* Set before the load, as the constants of bpf/baleen.bpf.c are. */
const volatile struct baleen_image image;

BALEEN_BLOCKS(filter);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BATCH);
	__type(key, u32);
	__type(value, struct baleen_key);
} keys SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BATCH);
	__type(key, u32);
	__type(value, u64);
} answers SEC(".maps");

static long answer(u32 i, void *context __attribute__((unused)))
{
	const struct baleen_image *header = baleen_program_image(&image);
	struct baleen_key *key = bpf_map_lookup_elem(&keys, &i);
	u64 *out = bpf_map_lookup_elem(&answers, &i);

	if (!key || !out)
		return 1;
	*out = test_by_domain(header, &filter, key);
	return 0;
}

SEC("syscall")
int probe(void *context __attribute__((unused)))
{
	return bpf_loop(BATCH, answer, NULL, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
