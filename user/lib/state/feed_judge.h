/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes that were received as a feed: can they be read, and what is in them?
 */
#ifndef BALEEN_FEED_JUDGE_H
#define BALEEN_FEED_JUDGE_H

#include "state/feed_update.h"

/**
 * baleen_feed_judge() - read a version and compare it with the last good copy
 * @state: has the last good copy; may be NULL without @last
 * @rule: that the feed is of
 * @last: the feed as it is; NULL when it has no copy
 * @version: its fd was received; format, counts, n_added and n_removed are filled in
 * @error: filled in on failure: names the feed
 *
 * Special-purpose ranges are taken out before anything is counted, where the
 * rule has them taken out. The limits of the rule are not asked.
 *
 * Return: 0; -EINVAL for what cannot be read; -ENOMEM; a negative errno.
 */
int baleen_feed_judge(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		      const struct baleen_feed *last, struct baleen_feed_version *version,
		      struct baleen_error *error);

#endif /* BALEEN_FEED_JUDGE_H */
