/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inserting keys into a filter that is read meanwhile, and deleting them, from several
 * CPUs at a time.
 */
#ifndef BALEEN_BPF_ICP_CHANGE_H
#define BALEEN_BPF_ICP_CHANGE_H

#include "icp.h"

baleen_inline int icp_change(const struct baleen_image *image, void *store, u64 hi, u64 lo,
			     u32 event)
{
	return 0;
}

#endif /* BALEEN_BPF_ICP_CHANGE_H */
