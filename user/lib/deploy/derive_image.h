/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Images among the feeds of a rule: what they hold of a set, and without it.
 */
#ifndef BALEEN_DERIVE_IMAGE_H
#define BALEEN_DERIVE_IMAGE_H

#include "ops/edit.h"
#include "state/feeds.h"

/**
 * baleen_derive_held() - the part of a set that an image holds
 * @image: the image
 * @set: a finished list of the same key
 * @is_optional: prefixes are passed over where the image cannot be listed
 * @held: a finished list, to be freed also on failure
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP when @set has prefixes, and the image keeps too little to
 * tell, or to be changed so; -ENOMEM.
 */
int baleen_derive_held(const struct baleen_filter *image, const struct baleen_list *set,
		       bool is_optional, struct baleen_list *held, struct baleen_error *error);

/**
 * baleen_derive_edit() - change an image, unless there is nothing to change
 * @image: replaced by the changed one; untouched on failure
 * @change: a finished list of the same key
 * @op: what of both is kept
 * @error: filled in on failure
 *
 * Return: as baleen_filter_edit().
 */
int baleen_derive_edit(struct baleen_filter *image, const struct baleen_list *change,
		       enum baleen_set_op op, struct baleen_error *error);

/**
 * baleen_derive_image_holds() - does an image among the feeds hold a key?
 * @state: opened
 * @feed: of the state, an image
 * @key_spec: enum baleen_key_spec of the rule; an image of another key holds none
 * @key: the key
 * @error: filled in on failure
 *
 * Return: 1 or 0, -ENOENT when there is no copy of it, a negative errno.
 */
int baleen_derive_image_holds(const struct baleen_state *state, const struct baleen_feed *feed,
			      u32 key_spec, const struct baleen_key *key,
			      struct baleen_error *error);

#endif /* BALEEN_DERIVE_IMAGE_H */
