/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another filter of the same set, with room for another number of keys.
 *
 * A filter that can be listed is built again. Other tables are refitted one by one, see
 * refit.h.
 */
#ifndef BALEEN_RESIZE_H
#define BALEEN_RESIZE_H

#include "filter/filter.h"

/**
 * baleen_filter_resize() - another filter of the same set, with other room
 * @filter: the filter, live ones too
 * @capacity: room for this many hosts and keys; of a Bloom filter at least, of others
 *            baleen_filter_keys() or more
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: as baleen_filter_edit(); -EOPNOTSUPP for what keeps too little of its
 * keys, saying so, and for a Bloom filter of which not even a half would be enough.
 */
int baleen_filter_resize(const struct baleen_filter *filter, u64 capacity,
			 struct baleen_filter *out, struct baleen_error *error);

#endif /* BALEEN_RESIZE_H */
