/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of a filter that several CPUs change at a time.
 */
#ifndef BALEEN_BPF_ICP_WORD_H
#define BALEEN_BPF_ICP_WORD_H

#include "icp.h"

/* Tries before a change is given up: each that fails is one that another CPU made to
 * the same word.
 */
#define ICP_TRIES 16

baleen_inline u64 icp_load(const u64 *word)
{
	return baleen_le64(*(const volatile u64 *)word);
}

baleen_inline bool icp_swap(u64 *word, u64 from, u64 to)
{
	return __sync_val_compare_and_swap(word, baleen_le64(from), baleen_le64(to)) ==
	       baleen_le64(from);
}

/* All ones when @x is 0, else 0; without a branch, since the verifier would follow all
 * combinations of those of a key.
 */
baleen_inline u64 icp_if_zero(u64 x)
{
	u64 any = x | -x;

	/* clang would know it for a comparison. */
	asm volatile("" : "+r"(any));
	return (any >> 63) - 1;
}

#endif /* BALEEN_BPF_ICP_WORD_H */
