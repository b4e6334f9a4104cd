/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A question for a new version of a feed.
 */
#ifndef BALEEN_FEED_ASK_H
#define BALEEN_FEED_ASK_H

#include "state/feeds.h"
#include "state/rule_store.h"

/**
 * struct baleen_rollout_site - who this host is where sets reach hosts in rings
 * @host: its name, which says its ring
 * @has_fleet: it hears what other hosts say
 */
struct baleen_rollout_site {
	char host[65];
	bool has_fleet;
};

/**
 * struct baleen_feed_offer - a copy that is at hand, of a source or of one file of a directory
 * @feed: its file, ETag, times and generation
 * @fd: its bytes
 */
struct baleen_feed_offer {
	const struct baleen_feed *feed;
	int fd;
};

/**
 * struct baleen_feed_ask - which source is asked, and how
 * @state: has the last good copies; may be opened for reading only; NULL for none
 * @rule: that the feed is of
 * @wanted: the source
 * @ignores_limits: what the limits of the rule refuse is taken
 * @share_ms: of a URL: instead of asking its server, take the copy of another device that the
 *            server called good this time ago at most (feed_share.h); 0 to ask always
 * @is_offline: of a URL: fail when there is no such copy
 * @site: of a signed set: who this host is; NULL for its host name and no fleet
 * @rolls_out: of a signed set in rings: the next generation may come; else the one at hand stays,
 *             for whoever cannot see to it afterwards (deploy/trial.h)
 * @offer: copies to take instead of asking the source; NULL to ask it
 * @n_offers: how many; 0 when it never had a copy
 * @on_progress: as of a fetch; may be NULL
 * @data: passed to @on_progress
 */
struct baleen_feed_ask {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	const struct baleen_feed_source *wanted;
	bool ignores_limits;
	u64 share_ms;
	bool is_offline;
	const struct baleen_rollout_site *site;
	bool rolls_out;
	const struct baleen_feed_offer *offer;
	size_t n_offers;
	void (*on_progress)(void *data, u64 n_received, u64 n_total);
	void *data;
};

#endif /* BALEEN_FEED_ASK_H */
