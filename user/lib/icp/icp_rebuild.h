/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a journal to the filter that a sibling is to get.
 */
#ifndef BALEEN_ICP_REBUILD_H
#define BALEEN_ICP_REBUILD_H

#include "filter/filter.h"
#include "icp/icp_journal.h"

/* Share of slots of a cuckoo table that a build may fill: the programs, which have to
 * find room for more keys, move one key at most.
 */
#define BALEEN_ICP_BUILD_LOAD 0.8

/* Objects more than a Bloom table is best for, up to which it is kept: at 25 % more an
 * error of 1 in 16 becomes 1 in 9, and Squid's own 5 bits an object are 15 % more.
 */
#define BALEEN_ICP_BUILD_EXCESS 1.25

/* Rate of a Bloom table with another geometry whose old one does not tell what it was to
 * be: that of `icp attach`, unless it had to be better.
 */
#define BALEEN_ICP_BUILD_FPP 0.001

/**
 * baleen_icp_rebuild() - a filter of what a journal wants
 * @journal: not built
 * @old: header of the sibling's filter: kind, hash, and unless it is too small seed and
 *       geometry
 * @capacity: room for so many objects; 0: as @old has, if that is enough, and else half
 *            as many again as there are
 * @filter: sealed, to be freed by the caller; untouched on failure
 * @has_grown: whether it has another geometry; untouched on failure
 * @error: filled in on failure
 *
 * Return: -ENOSPC when @capacity is below what there is; as baleen_build().
 */
int baleen_icp_rebuild(const struct baleen_icp_journal *journal, const struct baleen_image *old,
		       u64 capacity, struct baleen_filter *filter, bool *has_grown,
		       struct baleen_error *error);

#endif /* BALEEN_ICP_REBUILD_H */
