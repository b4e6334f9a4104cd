/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The manifest of a signed set came: may this host take its generation?
 */
#ifndef BALEEN_FEED_SET_NEWS_H
#define BALEEN_FEED_SET_NEWS_H

#include "state/feed_ask.h"
#include "state/feed_rollout.h"

/**
 * struct baleen_set_news - what a manifest means to a feed
 * @manifest: the manifest
 * @rollout: the roll-out, as the state shall have it
 * @next_ms: when to look again though the feed is not due; 0 for when it is due
 * @is_candidate: what was received with it is to be counted first, not enforced
 */
struct baleen_set_news {
	struct baleen_set_manifest manifest;
	struct baleen_feed_rollout rollout;
	u64 next_ms;
	bool is_candidate;
};

/* A host that waits for others looks again after a tenth of a soak time, at most so long. */
#define BALEEN_ROLLOUT_PACE_MS 60000ull

/**
 * baleen_rollout_pace_ms() - how often does a host look?
 * @rollout: the rings
 *
 * Return: 1 second to BALEEN_ROLLOUT_PACE_MS.
 */
u64 baleen_rollout_pace_ms(const struct baleen_set_rollout *rollout);

/**
 * baleen_set_news_read() - what a manifest means
 * @ask: which source, and who this host is
 * @feed: the feed as it is
 * @now_ms: the time
 * @news: its manifest is given, verified; the rest is filled in
 */
void baleen_set_news_read(const struct baleen_feed_ask *ask, const struct baleen_feed *feed,
			  u64 now_ms, struct baleen_set_news *news);

/**
 * enum baleen_set_plan - what is asked for next
 * @BALEEN_SET_STAY: nothing: the copy at hand stays
 * @BALEEN_SET_TAKE: the generation of the manifest
 * @BALEEN_SET_TRY: the same, to be counted first
 * @BALEEN_SET_PREVIOUS: the generation before it, for there is no copy yet
 * @BALEEN_SET_REFUSE: nothing, though there is no copy
 */
enum baleen_set_plan {
	BALEEN_SET_STAY,
	BALEEN_SET_TAKE,
	BALEEN_SET_TRY,
	BALEEN_SET_PREVIOUS,
	BALEEN_SET_REFUSE,
};

/**
 * baleen_set_news_plan() - what is asked for next
 * @ask: which source
 * @feed: the feed as it is
 * @has_copy: its last good copy can be read
 * @news: of a generation after that
 *
 * Return: the plan.
 */
enum baleen_set_plan baleen_set_news_plan(const struct baleen_feed_ask *ask,
					  const struct baleen_feed *feed, bool has_copy,
					  const struct baleen_set_news *news);

#define BALEEN_ROLLOUT_TEXT 512

/**
 * baleen_rollout_text() - why a host does not take a generation, in words
 * @rollout: the roll-out
 * @text: BALEEN_ROLLOUT_TEXT bytes, filled in; empty when it takes it
 *
 * Return: @text.
 */
const char *baleen_rollout_text(const struct baleen_feed_rollout *rollout, char *text);

#endif /* BALEEN_FEED_SET_NEWS_H */
