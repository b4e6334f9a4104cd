// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Versions of feeds into the state. */
#include <errno.h>
#include <string.h>

#include "feed_update.h"

/**
 * struct search - a feed that is looked for
 * @version: of it
 * @found: what the state has
 * @is_found: it has any
 */
struct search {
	const struct baleen_feed_version *version;
	struct baleen_feed found;
	bool is_found;
};

static int find(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;
	const struct baleen_feed *wanted = &search->version->feed;

	if (strcmp(feed->file, wanted->file) ||
	    !baleen_feed_is_of(feed, wanted->rule, &wanted->wanted))
		return 0;
	search->found = *feed;
	search->is_found = true;
	return 1;
}

static int put_failure(struct baleen_state *state, const struct baleen_feed_version *version,
		       struct baleen_feed *found, struct baleen_error *error)
{
	found->checked_ms = version->feed.checked_ms;
	found->n_failures++;
	strncpy(found->failure, version->error.text, sizeof(found->failure) - 1);
	found->failure[sizeof(found->failure) - 1] = '\0';
	return baleen_feeds_put(state, found, error);
}

/* The times and the end of all failures; the copy, if it is another. */
static int put_success(struct baleen_state *state, const struct baleen_feed_version *version,
		       u64 id, struct baleen_error *error)
{
	struct baleen_feed feed = version->feed;
	bool has_bytes = version->outcome != BALEEN_FEED_SAME;
	int err;

	feed.id = id;
	feed.n_failures = 0;
	feed.failure[0] = '\0';
	feed.confirmed_ms = feed.checked_ms;
	if (has_bytes)
		feed.received_ms = feed.checked_ms;
	err = baleen_feeds_put(state, &feed, error);
	return err || !has_bytes ? err : baleen_feed_take(state, &feed, version->fd, error);
}

static bool has_rule(const struct baleen_state_rules *rules, const char *name)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, name))
			return true;
	return false;
}

int baleen_feed_version_take(struct baleen_state *state, const struct baleen_feed_version *version,
			     struct baleen_error *error)
{
	struct search search = { .version = version };
	struct baleen_state_rules rules;
	int err = baleen_state_get_rules(state, &rules, error);

	if (err || !has_rule(&rules, version->feed.rule))
		return err;
	err = baleen_feeds_each(state, version->feed.rule, find, &search, error);
	if (err < 0)
		return err;
	switch (version->outcome) {
	case BALEEN_FEED_FAILED:
		return search.is_found ? put_failure(state, version, &search.found, error) : 0;
	case BALEEN_FEED_GONE:
		return search.is_found ? baleen_feeds_remove(state, search.found.id, error) : 0;
	default: return put_success(state, version, search.is_found ? search.found.id : 0, error);
	}
}
