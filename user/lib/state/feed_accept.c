// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Versions of feeds into the state. */
#include <stdio.h>
#include <string.h>

#include "state/entries.h"
#include "state/feed_update.h"
#include "state/route_feed.h"
#include "state/set_feed.h"

bool baleen_feed_is_of(const struct baleen_feed *feed, const char *rule,
		       const struct baleen_feed_source *wanted)
{
	return !strcmp(feed->rule, rule) && !strcmp(feed->wanted.source, wanted->source) &&
	       !strcmp(feed->wanted.column, wanted->column) &&
	       !strcmp(feed->wanted.where, wanted->where);
}

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

/* A set on its way is looked at again, though not at once. */
static u64 after_failure(const struct baleen_rule_store *state, const struct baleen_feed *feed)
{
	struct baleen_set_manifest manifest;

	if (!feed->next_ms || !baleen_feed_manifest_get(state, feed->id, &manifest))
		return 0;
	return baleen_now_ms() + 5 * baleen_rollout_pace_ms(&manifest.rollout);
}

static int put_failure(struct baleen_rule_store *state, const struct baleen_feed_version *version,
		       struct baleen_feed *found, struct baleen_error *error)
{
	found->checked_ms = version->feed.checked_ms;
	found->n_failures++;
	if (baleen_feed_set_is(found->wanted.source))
		found->next_ms = after_failure(state, found);
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
		   const struct baleen_feed *found, struct baleen_error *error)
{
	struct baleen_feed feed = version->feed;
	u64 id = found->id;
	int err = 0;

	feed.id = id;
	if (id && baleen_feed_set_is(feed.wanted.source))
		err = baleen_feed_keep_previous(state, found, error);
	if (err)
		return err;
	end_failures(&feed, feed.checked_ms);
	if (version->is_offered)
		feed.confirmed_ms = version->feed.confirmed_ms;
	else
		feed.received_ms = feed.checked_ms;
	err = baleen_feeds_put(state, &feed, error);
	return err ? err : baleen_feed_accept(state, &feed, version->fd, error);
}

/* The copy in force stays; the next generation is kept beside it. */
static int put_next(struct baleen_rule_store *state, const struct baleen_feed_version *version,
		    struct baleen_feed *found, struct baleen_error *error)
{
	struct baleen_feed next = version->feed;
	int err = put_same(state, version, found, error);

	return err ? err :
		     baleen_feed_other_put(state, &next, BALEEN_COPY_NEXT, version->fd, error);
}

/* An operator may have held it, and let it go, meanwhile. */
static int put_news(struct baleen_rule_store *state, const struct baleen_feed_version *version,
		    const struct baleen_feed *found, struct baleen_error *error)
{
	const struct baleen_feed_rollout *read = &version->news->rollout;
	struct baleen_feed_rollout now;
	int err = baleen_feed_manifest_put(state, found->id, &version->news->manifest, error);

	if (err)
		return err;
	baleen_feed_rollout_get(state, found->id, &now);
	now.available = read->available;
	now.created_s = read->created_s;
	now.ring = read->ring;
	now.n_rings = read->n_rings;
	now.due_s = read->due_s;
	now.step = read->step;
	now.n_ok = read->n_ok;
	now.n_canaries = read->n_canaries;
	snprintf(now.why, sizeof(now.why), "%s", read->why);
	return baleen_feed_rollout_put(state, found->id, &now, error);
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

static int accept_version(struct baleen_rule_store *state,
			  const struct baleen_feed_version *version, struct baleen_error *error)
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
	default:
		return version->news && version->news->is_candidate ?
			       put_next(state, version, &search.found, error) :
			       put_new(state, version, &search.found, error);
	}
}

int baleen_feed_version_accept(struct baleen_rule_store *state,
			       const struct baleen_feed_version *version,
			       struct baleen_error *error)
{
	struct search search = { .version = version };
	int err = accept_version(state, version, error);

	if (!err && version->news)
		err = baleen_feeds_each(state, version->feed.rule, find, &search, error);
	if (err < 0 || !version->news || !search.is_found)
		return err;
	return put_news(state, version, &search.found, error);
}
