/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes that were received as a feed: can they be read, and what is in them?
 */
#ifndef BALEEN_FEED_JUDGE_H
#define BALEEN_FEED_JUDGE_H

#include "state/feed_guard.h"
#include "state/feed_set_news.h"
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
 * @outcome: the outcome
 * @feed: as the state shall have it; its id is 0 when the state does not have it
 * @compared_ms: when the copy that it was compared with had been looked for
 * @is_offered: it was at hand: times are those of @feed
 * @fd: descriptor of the received file; -1 when there is nothing to take
 * @is_public: what is wrong with it may be said with its own words: it was given by the user, or
 *             everybody can read it
 * @before: size of the last good copy
 * @now: size of what was received
 * @widest: of what was received, and of what of it the last good copy does not have,
 *          where most is covered: by enum baleen_feed_excess
 * @n_added: entries, as they are written, that the last good copy does not have (written.h), and
 *           that are not taken out as special-purpose; without a copy, those listed that no
 *           other makes superfluous
 * @n_removed: those that only that has
 * @news: of a signed set whose manifest came: what that means; else NULL
 * @error: why it failed: names the feed; else empty, or what went wrong on the way
 */
struct baleen_feed_version {
	enum baleen_feed_outcome outcome;
	struct baleen_feed feed;
	u64 compared_ms;
	bool is_offered;
	int fd;
	bool is_public;
	struct baleen_feed_counts before;
	struct baleen_feed_counts now;
	struct baleen_feed_widest widest[BALEEN_N_EXCESSES];
	u64 n_added;
	u64 n_removed;
	struct baleen_set_news *news;
	struct baleen_error error;
};

/**
 * baleen_feed_judge() - read a version and compare it with the last good copy
 * @state: has the last good copy; may be NULL without @last
 * @rule: that the feed is of
 * @last: the feed as it is; NULL when it has no copy
 * @has_bound: a list with more entries than the limits of the rule allow is not read to its end
 * @version: its fd was received; format, counts, n_added and n_removed are filled in
 * @error: filled in on failure: names the feed
 *
 * Special-purpose ranges are taken out before anything is counted, where the
 * rule has them taken out. Other limits of the rule are not asked.
 *
 * Return: 0; -EINVAL for what cannot be read; -ERANGE; -ENOMEM; a negative errno.
 */
int baleen_feed_judge(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		      const struct baleen_feed *last, bool has_bound,
		      struct baleen_feed_version *version, struct baleen_error *error);

/**
 * baleen_feed_name_widest() - say which line covers most
 * @version: versions of a source, judged; not closed yet
 * @n: how many
 * @key_spec: enum baleen_key_spec of their rule
 * @excess: of what: an index of their widest
 * @error: "; widest: line 17, 0.0.0.0/0" is added, of a directory with its file;
 *         nothing when no line is to blame, as in an image
 */
void baleen_feed_name_widest(const struct baleen_feed_version *version, size_t n, u32 key_spec,
			     enum baleen_feed_excess excess, struct baleen_error *error);

#endif /* BALEEN_FEED_JUDGE_H */
