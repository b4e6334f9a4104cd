/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A feed that is a table of routes (route_feed.h): its new version, and its limits.
 */
#ifndef BALEEN_FEED_ROUTES_H
#define BALEEN_FEED_ROUTES_H

#include "state/feed_fetch.h"
#include "state/route_feed.h"

/**
 * baleen_feed_routes_read() - get a new version of a table
 * @ask: which source, and how; where limits are ignored, what is held is let go
 * @feed: the feed as it is; its time of asking is that of now; of the version how many
 *        are held and for how long are filled in
 * @fd: where the routes go as a list, an empty file
 * @is_same: filled in: the last good copy says the same, and nothing was written
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_routes_read(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
			    bool *is_same, struct baleen_error *error);

/**
 * baleen_feed_routes_limits() - the limits of a source
 * @ask: the source
 *
 * A table may have no route, and lose the one that it has: what stands there for min-entries
 * and max-shrink is that routes are held that go together. A name may have fewer addresses
 * than before. Limits that a rule states count.
 *
 * Return: those of its rule; of a table of routes without these two, of a name without
 * max-shrink.
 */
struct baleen_feed_limits baleen_feed_routes_limits(const struct baleen_feed_ask *ask);

#endif /* BALEEN_FEED_ROUTES_H */
