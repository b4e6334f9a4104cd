/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The feeds that a rule is derived from.
 */
#ifndef BALEEN_RULE_FEEDS_H
#define BALEEN_RULE_FEEDS_H

#include "state/feeds.h"

/**
 * baleen_rule_feeds_each() - the feeds of a rule, also of one that is on trial
 * @state: opened
 * @rule: rule of the state
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * A rule of a trial (trial.h) has the next generation of its feed, or else the previous one.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_feeds_each(const struct baleen_rule_store *state,
			   const struct baleen_stored_rule *rule,
			   int (*visit)(const struct baleen_feed *feed, void *data), void *data,
			   struct baleen_error *error);

#endif /* BALEEN_RULE_FEEDS_H */
