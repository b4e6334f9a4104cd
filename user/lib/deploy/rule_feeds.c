// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The feeds that a rule is derived from. */
#include "deploy/rule_feeds.h"
#include "state/feed_rollout.h"

struct search {
	u64 id;
	struct baleen_feed found;
};

static int find(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;

	if (feed->id != search->id)
		return 0;
	search->found = *feed;
	return 1;
}

int baleen_rule_feeds_each(const struct baleen_rule_store *state,
			   const struct baleen_stored_rule *rule,
			   int (*visit)(const struct baleen_feed *feed, void *data), void *data,
			   struct baleen_error *error)
{
	struct search search = { .id = rule->trial_of };
	struct baleen_feed other;
	int err;

	if (!rule->trial_of)
		return baleen_feeds_each(state, rule->name, visit, data, error);
	err = baleen_feeds_each(state, NULL, find, &search, error);
	if (err <= 0)
		return err;
	if (!baleen_feed_other(state, &search.found, BALEEN_COPY_NEXT, &other) &&
	    !baleen_feed_other(state, &search.found, BALEEN_COPY_PREVIOUS, &other))
		return 0;
	return visit(&other, data);
}
