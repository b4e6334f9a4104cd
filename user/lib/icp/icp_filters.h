/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters that siblings start with.
 */
#ifndef BALEEN_ICP_FILTERS_H
#define BALEEN_ICP_FILTERS_H

#include "ops/build.h"

/**
 * baleen_icp_shape() - what holds of a filter of a cache's objects without a word
 * @build: kind, hash and rate as they were asked for; completed
 * @is_kind_given: the kind was asked for
 * @is_hash_given: the hash was asked for
 *
 * A hash or a rate alone mean a counting filter.
 */
void baleen_icp_shape(struct baleen_build_options *build, bool is_kind_given, bool is_hash_given);

/**
 * baleen_icp_shape_fed() - the same, of one that follows a feed
 * @build: completed by baleen_icp_shape(); gets room, and a geometry that changes in place
 */
void baleen_icp_shape_fed(struct baleen_build_options *build);

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
