/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter that a list is to become.
 */
#ifndef BALEEN_BUILD_OPTIONS_H
#define BALEEN_BUILD_OPTIONS_H

#include "filter/filter.h"
#include "filter/kind.h"

/**
 * struct baleen_build_options - the filter to build
 * @name: name in the image, printable ASCII below BALEEN_NAME_BYTES; may be
 *        NULL
 * @key_spec: enum baleen_key_spec; that of the list
 * @kind: enum baleen_kind, one that has keys: how hosts and keys are stored. What
 *        prefixes and exceptions need comes with them and is exact
 * @shape: geometry that was asked for
 * @seed: the seed to take, so that two filters merge; NULL for a new one
 * @copies: store a key as many times as it is listed, see BALEEN_FLAG_COPIES
 * @fpp: false positive rate allowed; see baleen_plan_table()
 * @capacity: room for this many hosts and keys in all; 0 for as many as are
 *            listed. It is shared out between the families as the list is; an
 *            empty list gives it to IPv4. IPv6 prefixes cannot be added to an
 *            image and take no part
 * @like: take kind, key, seed, and the geometry of the tables of hosts and keys
 *        from this header instead; may be NULL. Tables for prefixes are planned
 *        for the list. Hosts are stored as /128 when it has IPv6 prefixes, so
 *        that the two can be listed and merged
 * @keep: take over the tables of this filter that cannot be listed, by their
 *        hashes, and its seed; may be NULL. Their keys count in the capacity
 * @max_bytes: most bytes of the filter; 0 for any number
 * @planned: where to put the header as it was planned, without places of what these keys
 *           needed beyond that; may be NULL. Of a new geometry: not with @like and @keep
 */
struct baleen_build_options {
	const char *name;
	u32 key_spec;
	u32 kind;
	struct baleen_shape shape;
	const struct baleen_seed *seed;
	bool copies;
	double fpp;
	u64 capacity;
	const struct baleen_image *like;
	const struct baleen_filter *keep;
	u64 max_bytes;
	struct baleen_image *planned;
};

#endif /* BALEEN_BUILD_OPTIONS_H */
