// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A reader that asks for the same listed keys over and over, while live.c
 * changes the filter: counts the answers, and those that were no.
 */
#include "by_domain.h"

#define MAX_KEYS 64
/* What bpf_loop() allows. */
#define MAX_READS (1 << 23)

/* Set before the load, as the constants of bpf/baleen.bpf.c are. */
const volatile struct baleen_image image;
const volatile u32 n_keys = 1;

struct baleen_key keys[MAX_KEYS];
/* Not zero: do not read, and say so by repeating it in held. */
u64 hold;
u64 held;
u64 stop;
u64 n_reads;
u64 n_missed;

BALEEN_BLOCKS(filter);

static long read_one(u32 i, void *context __attribute__((unused)))
{
	const struct baleen_image *header = baleen_program_image(&image);

	held = hold;
	if (held)
		return stop != 0;
	n_missed += !test_by_domain(header, &filter, &keys[i % n_keys & (MAX_KEYS - 1)]);
	n_reads++;
	return 0;
}

SEC("syscall")
int read_on(void *context __attribute__((unused)))
{
	return bpf_loop(MAX_READS, read_one, NULL, 0) <= 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
