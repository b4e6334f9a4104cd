/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Images among the feeds of a rule: do they hold a key?
 */
#ifndef BALEEN_DERIVE_IMAGE_H
#define BALEEN_DERIVE_IMAGE_H

#include "state/feeds.h"

/**
 * baleen_derive_image_holds() - does an image among the feeds hold a key?
 * @state: opened
 * @feed: feed of the state, an image
 * @key_spec: enum baleen_key_spec of the rule; an image of another key holds none
 * @key: the key
 * @error: filled in on failure
 *
 * Return: 1 or 0, -ENOENT when there is no copy of it, a negative errno.
 */
int baleen_derive_image_holds(const struct baleen_rule_store *state, const struct baleen_feed *feed,
			      u32 key_spec, const struct baleen_key *key,
			      struct baleen_error *error);

#endif /* BALEEN_DERIVE_IMAGE_H */
