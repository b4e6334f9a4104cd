/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters that siblings start with.
 */
#ifndef BALEEN_ICP_FILTERS_H
#define BALEEN_ICP_FILTERS_H

#include "ops/build.h"

/**
 * baleen_icp_make_empty() - a filter without an object
 * @build: as completed
 * @filter: to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; as baleen_build().
 */
int baleen_icp_make_empty(const struct baleen_build_options *build, struct baleen_filter *filter,
			  struct baleen_error *error);

/**
 * baleen_icp_room() - objects that a filter has room for
 * @filter: the filter
 * @capacity: what it was made for, which is the room of one that is never full
 *
 * Return: how many.
 */
u64 baleen_icp_room(const struct baleen_filter *filter, u64 capacity);

#endif /* BALEEN_ICP_FILTERS_H */
