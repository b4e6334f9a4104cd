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

#include "state/feed_fetch.h"
#include "state/feed_judge.h"

/**
 * struct baleen_feed_versions - versions of any number of feeds
 * @version: of each
 * @n: how many
 *
 * All zeros are none.
 */
struct baleen_feed_versions {
	struct baleen_feed_version *version;
	size_t n;
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
 * baleen_feed_version_accept() - write a version into the state
 * @state: with a transaction
 * @version: received; a failure is written down as one, if the state has the feed
 * @error: filled in on failure
 *
 * The feed is looked for anew: the state may have changed since. Versions of
 * rules, and of feeds, that the state does not have any more are passed over.
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_version_accept(struct baleen_rule_store *state,
			       const struct baleen_feed_version *version,
			       struct baleen_error *error);

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
 * @feed: feed of the state
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

#endif /* BALEEN_FEED_UPDATE_H */
