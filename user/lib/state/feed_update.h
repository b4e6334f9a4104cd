/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * New versions of feeds: received, judged, and only then taken.
 *
 *      source       receive       judge                    take
 *      file    --\
 *      directory --> a memfd  --> reads as a list?     --> the last good copy
 *      URL     --/                within its limits?       of the state
 *
 * Receiving may wait for a network, so it holds no lock and changes nothing:
 * whoever bans an address meanwhile does not wait. Taking is part of a
 * transaction. A version that is refused leaves the last good copy in force and
 * is written down as a failure.
 *
 * A directory is one source of many feeds, one for each regular file in it but
 * for hidden ones and those that end in ~ or .tmp. Its limits are those of their
 * sum. One without a file so far has a row of its own, whose file is empty.
 */
#ifndef BALEEN_FEED_UPDATE_H
#define BALEEN_FEED_UPDATE_H

#include "state/feed_guard.h"
#include "state/feeds.h"

/**
 * enum baleen_feed_outcome - what came of asking a source
 * @BALEEN_FEED_SAME: the last good copy is what the source has
 * @BALEEN_FEED_NEW: the first copy
 * @BALEEN_FEED_CHANGED: another one
 * @BALEEN_FEED_GONE: a file that its directory no longer has
 * @BALEEN_FEED_FAILED: none, or one that was refused
 */
enum baleen_feed_outcome {
	BALEEN_FEED_SAME,
	BALEEN_FEED_NEW,
	BALEEN_FEED_CHANGED,
	BALEEN_FEED_GONE,
	BALEEN_FEED_FAILED,
};

/**
 * struct baleen_feed_version - a version of a feed that was received and judged
 * @outcome: what came of it
 * @feed: as the state shall have it; its id is 0 when the state does not have it
 * @fd: what was received; -1 when there is nothing to take
 * @before: size of the last good copy
 * @now: size of what was received
 * @n_added: entries of what the last good copy does not have
 * @n_removed: entries of what only that has
 * @error: why it failed: names the feed
 */
struct baleen_feed_version {
	enum baleen_feed_outcome outcome;
	struct baleen_feed feed;
	int fd;
	struct baleen_feed_counts before;
	struct baleen_feed_counts now;
	u64 n_added;
	u64 n_removed;
	struct baleen_error error;
};

/**
 * struct baleen_feed_versions - versions of any number of feeds
 * @version: of each
 * @n: how many
 * @room: allocated
 *
 * All zeros are none.
 */
struct baleen_feed_versions {
	struct baleen_feed_version *version;
	size_t n, room;
};

/**
 * struct baleen_feed_ask - which source is asked, and how
 * @state: has the last good copies; may be opened for reading only; NULL for none
 * @rule: that the feed is of
 * @wanted: the source
 * @ignores_limits: what the limits of the rule refuse is taken
 * @on_progress: as of a fetch; may be NULL
 * @data: passed to @on_progress
 */
struct baleen_feed_ask {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	const struct baleen_feed_source *wanted;
	bool ignores_limits;
	void (*on_progress)(void *data, u64 n_received, u64 n_total);
	void *data;
};

/**
 * baleen_feed_receive() - ask a source for its versions of now
 * @ask: what
 * @out: one or more versions are added, failures among them
 * @error: filled in on failure
 *
 * Return: 0, also when the source failed; -ENOMEM; -EINTR when a signal is
 * pending that the caller blocked; a negative errno of the state.
 */
int baleen_feed_receive(const struct baleen_feed_ask *ask, struct baleen_feed_versions *out,
			struct baleen_error *error);

/**
 * baleen_feed_version_take() - write a version into the state
 * @state: with a transaction
 * @version: received; a failure is written down as one, if the state has the feed
 * @error: filled in on failure
 *
 * The feed is looked for anew: the state may have changed since. Versions of
 * rules, and of feeds, that the state does not have any more are passed over.
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_version_take(struct baleen_rule_store *state,
			     const struct baleen_feed_version *version, struct baleen_error *error);

/**
 * baleen_feed_version_fail() - refuse a version for a reason of the caller's
 * @version: of any outcome; afterwards a failure
 * @why: the reason
 */
void baleen_feed_version_fail(struct baleen_feed_version *version, const char *why);

/**
 * baleen_feed_versions_free() - close and free
 * @versions: received; empty afterwards
 */
void baleen_feed_versions_free(struct baleen_feed_versions *versions);

/**
 * baleen_feed_is_of() - is a feed of this source?
 * @feed: of the state
 * @rule: name of a rule
 * @wanted: a source
 *
 * Path or URL, column and conditions name a source; the rest says how it is
 * read, and when.
 *
 * Return: true or false.
 */
bool baleen_feed_is_of(const struct baleen_feed *feed, const char *rule,
		       const struct baleen_feed_source *wanted);

/**
 * baleen_feed_shown() - what a feed is called where everybody may read it
 * @feed: the feed
 * @name: its file or path, or the URL without secrets; BALEEN_SOURCE_BYTES bytes
 *
 * Return: @name.
 */
const char *baleen_feed_shown(const struct baleen_feed *feed, char *name);

#endif /* BALEEN_FEED_UPDATE_H */
