// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is a feed due? */
#include "cli/ban/feed_due.h"
#include "state/entries.h"
#include "state/feed_update.h"

struct due {
	const char *rule;
	const struct baleen_feed_source *wanted;
	u64 now_ms;
	u64 due_ms;
	bool is_found;
};

static int find_due(const struct baleen_feed *feed, void *data)
{
	struct due *due = data;

	if (!baleen_feed_is_of(feed, due->rule, due->wanted))
		return 0;
	due->due_ms = baleen_feed_due_ms(feed, due->now_ms);
	due->is_found = true;
	return 1;
}

bool feed_is_due(const struct baleen_rule_store *state, const char *rule,
		 const struct baleen_feed_source *wanted)
{
	struct due due = { .rule = rule, .wanted = wanted, .now_ms = baleen_now_ms() };

	baleen_feeds_each(state, rule, find_due, &due, NULL);
	if (!due.is_found)
		return wanted->every_s;
	return due.due_ms && due.due_ms <= due.now_ms;
}
