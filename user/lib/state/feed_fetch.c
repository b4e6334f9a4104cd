// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bytes of a feed that has a URL: from another device, or from its server. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state/feed_fetch.h"
#include "state/feed_set.h"
#include "state/feed_set_copy.h"
#include "state/feed_share.h"
#include "state/set_feed.h"

static int fetch(const struct baleen_feed_ask *ask, const struct baleen_feed *feed, int fd,
		 struct baleen_fetch_result *result, struct baleen_error *error)
{
	struct baleen_fetch_request request = baleen_fetch_defaults(ask->wanted->source, fd);
	struct baleen_fetch_access access;
	int err = 0;

	if (ask->wanted->timeout_s)
		request.timeout_ms = 1000 * ask->wanted->timeout_s;
	request.may_be_private = ask->wanted->may_be_private;
	request.on_progress = ask->on_progress;
	request.data = ask->data;
	/* Without a copy at hand there is nothing that could be unchanged. */
	if (baleen_feed_has_copy(feed)) {
		request.etag = feed->etag[0] ? feed->etag : NULL;
		request.last_modified = feed->last_modified[0] ? feed->last_modified : NULL;
	}
	if (*ask->wanted->access) {
		err = baleen_fetch_access_read(ask->wanted->access, &access, error);
		request.access = &access;
	}
	if (!err)
		err = baleen_fetch(&request, result, error);
	explicit_bzero(&access, sizeof(access));
	return err;
}

/* A copy of another device counts from when the server called it good: it is due then. */
static int share(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
		 struct baleen_fetch_result *result)
{
	u64 now_ms = feed->checked_ms, confirmed_ms, since_ms = 0, above = 0;
	int err;

	if (now_ms > ask->share_ms)
		since_ms = now_ms - ask->share_ms;
	/* Its own copy is no news. */
	if (baleen_feed_has_copy(feed) && baleen_feed_set_is(ask->wanted->source))
		above = feed->generation;
	else if (baleen_feed_has_copy(feed) && feed->confirmed_ms >= since_ms)
		since_ms = feed->confirmed_ms + 1;
	err = baleen_feed_share(ask->wanted, since_ms, above, fd, &confirmed_ms, result);
	if (!err)
		feed->checked_ms = confirmed_ms;
	return err;
}

static int fail_offline(const struct baleen_feed_source *wanted, struct baleen_error *error)
{
	return baleen_fail(error, ENOENT, "%s: no device has %s, and no server is asked",
			   baleen_feed_source_name(wanted).text,
			   baleen_feed_set_is(wanted->source) ?
				   "a later generation of it that has not expired" :
				   "a copy of it");
}

int baleen_feed_fetch(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
		      struct baleen_fetch_result *result, struct baleen_set_news **news,
		      struct baleen_error *error)
{
	bool is_set = baleen_feed_set_is(ask->wanted->source);

	/* The next generation of a set is not taken before this device may. */
	if (ask->share_ms && !(is_set && baleen_feed_has_copy(feed) && !ask->is_offline) &&
	    !share(ask, feed, fd, result))
		return 0;
	if (ask->is_offline)
		return fail_offline(ask->wanted, error);
	if (is_set)
		return baleen_feed_set_fetch(ask, feed, fd, result, news, error);
	return fetch(ask, feed, fd, result, error);
}

void baleen_feed_fetched(struct baleen_feed *feed, int fd, const struct baleen_fetch_result *result)
{
	snprintf(feed->etag, sizeof(feed->etag), "%s", result->etag);
	feed->last_modified[0] = '\0';
	if (strlen(result->last_modified) < sizeof(feed->last_modified))
		strcpy(feed->last_modified, result->last_modified);
	if (baleen_feed_set_is(feed->wanted.source) && !result->is_unchanged)
		feed->generation = baleen_set_copy_generation(fd);
}
