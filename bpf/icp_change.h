/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inserting keys into a filter that is read meanwhile, and deleting them, from several
 * CPUs at a time.
 *
 * Nobody waits for anybody: each step is one compare-and-swap of a 64-bit word, or one
 * atomic or and and of a bit. Alone they do to a filter what live.h does.
 *
 * Loops are those of bpf_loop(), of which the verifier follows one round, and what is long
 * has a frame of its own: with kernel 6.1, which counts frames in steps of 32 bytes, the
 * deepest call has 512 bytes, which is all that there are.
 */
#ifndef BALEEN_BPF_ICP_CHANGE_H
#define BALEEN_BPF_ICP_CHANGE_H

#include "icp_counting.h"
#include "icp_cuckoo.h"

/* As sibling_change(). A filter that the loader should have refused does not change. */
baleen_inline int icp_change(const struct baleen_image *image, void *store, u64 hi, u64 lo,
			     u32 event)
{
	if (!baleen_icp_may_feed(image))
		return 0;
	if (image->table[BALEEN_TUPLE].kind == BALEEN_KIND_COUNTING)
		return icp_change_counting(image, store, hi, lo, event);
	return icp_change_cuckoo(image, store, hi, lo, event);
}

#endif /* BALEEN_BPF_ICP_CHANGE_H */
