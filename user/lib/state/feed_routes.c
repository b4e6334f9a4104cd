// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A feed that is a table of routes. */
#include "state/feed_host.h"
#include "state/feed_routes.h"
#include "util/fd.h"

int baleen_feed_routes_read(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
			    bool *is_same, struct baleen_error *error)
{
	struct baleen_route_feed_ask routes = { .source = ask->wanted->source,
						.hold_s = ask->wanted->hold_s,
						.lets_go = ask->ignores_limits,
						.now_ms = feed->checked_ms,
						.last = -1,
						.fd = fd };
	struct baleen_route_feed_result result;
	int err;

	if (baleen_feed_has_copy(feed)) {
		routes.last = baleen_feed_open(ask->state, feed, error);
		if (routes.last < 0)
			return routes.last;
	}
	err = baleen_route_feed_make(&routes, &result, error);
	baleen_close_fd(&routes.last);
	if (err)
		return err;
	feed->n_held = result.n_held;
	feed->next_ms = result.next_ms;
	*is_same = result.is_same;
	return 0;
}

struct baleen_feed_limits baleen_feed_routes_limits(const struct baleen_feed_ask *ask)
{
	const struct baleen_feed_limits usual = baleen_feed_limits_default();
	struct baleen_feed_limits limits = ask->rule->limits;

	if (baleen_route_feed_is(ask->wanted->source)) {
		if (limits.min_entries == usual.min_entries)
			limits.min_entries = 0;
		if (limits.max_shrink == usual.max_shrink)
			limits.max_shrink = 1;
	}
	if (baleen_feed_host_is(ask->wanted->source) && limits.max_shrink == usual.max_shrink)
		limits.max_shrink = 1;
	return limits;
}
