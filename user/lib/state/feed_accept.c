// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Versions of feeds into the state. */
#include <string.h>

#include "state/feed_update.h"
#include "state/route_feed.h"

/**
 * struct search - a feed that is looked for
 * @version: its version
 * @found: the feed in the state
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

static int put_failure(struct baleen_rule_store *state, const struct baleen_feed_version *version,
		       struct baleen_feed *found, struct baleen_error *error)
{
	found->checked_ms = version->feed.checked_ms;
	found->n_failures++;
	strncpy(found->failure, version->error.text, sizeof(found->failure) - 1);
	found->failure[sizeof(found->failure) - 1] = '\0';
	return baleen_feeds_put(state, found, error);
}

static void end_failures(struct baleen_feed *feed, u64 now_ms)
{
	feed->checked_ms = feed->confirmed_ms = now_ms;
	feed->n_failures = 0;
	feed->failure[0] = '\0';
}

/* The state may have a newer copy than the one that was compared: it keeps its copy. */
static int put_same(struct baleen_rule_store *state, const struct baleen_feed_version *version,
		    struct baleen_feed *found, struct baleen_error *error)
{
	bool is_compared = found->received_ms == version->feed.received_ms;

	found->wanted = version->feed.wanted;
	found->n_held = version->feed.n_held;
	found->next_ms = version->feed.next_ms;
	if (is_compared) {
		end_failures(found, version->feed.checked_ms);
		memcpy(found->etag, version->feed.etag, sizeof(found->etag));
		memcpy(found->last_modified, version->feed.last_modified,
		       sizeof(found->last_modified));
	}
	return baleen_feeds_put(state, found, error);
}

static int put_new(struct baleen_rule_store *state, const struct baleen_feed_version *version,
		   u64 id, struct baleen_error *error)
{
	struct baleen_feed feed = version->feed;
	int err;

	feed.id = id;
	end_failures(&feed, feed.checked_ms);
	feed.received_ms = feed.checked_ms;
	err = baleen_feeds_put(state, &feed, error);
	return err ? err : baleen_feed_accept(state, &feed, version->fd, error);
}

/* Without a row: a directory that has no file yet. */
static int put_unchanged(struct baleen_rule_store *state, const struct baleen_feed_version *version,
			 struct search *search, struct baleen_error *error)
{
	if (!search->is_found) {
		search->found = version->feed;
		search->found.id = 0;
	}
	return put_same(state, version, &search->found, error);
}

/* A table that was read before another process read it, and wrote it down first. Others come
 * with an answer of a server, which nobody knows the age of.
 */
static bool is_superseded(const struct baleen_feed_version *version,
			  const struct baleen_feed *found)
{
	return baleen_route_feed_is(found->wanted.source) &&
	       found->checked_ms != version->compared_ms &&
	       found->checked_ms > version->feed.checked_ms;
}

int baleen_feed_version_accept(struct baleen_rule_store *state,
			       const struct baleen_feed_version *version,
			       struct baleen_error *error)
{
	struct search search = { .version = version };
	struct baleen_stored_rules rules;
	int err = baleen_rule_store_get_rules(state, &rules, error);

	if (err || baleen_rule_store_find_rule(&rules, version->feed.rule) < 0)
		return err;
	err = baleen_feeds_each(state, version->feed.rule, find, &search, error);
	if (err < 0)
		return err;
	/* Somebody took the feed out of the rule while it was received. */
	if (version->feed.id && !search.is_found)
		return 0;
	if (search.is_found && is_superseded(version, &search.found))
		return 0;
	switch (version->outcome) {
	case BALEEN_FEED_FAILED:
		return search.is_found ? put_failure(state, version, &search.found, error) : 0;
	case BALEEN_FEED_GONE: return baleen_feeds_remove(state, search.found.id, error);
	case BALEEN_FEED_SAME: return put_unchanged(state, version, &search, error);
	default: return put_new(state, version, search.is_found ? search.found.id : 0, error);
	}
}
