// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One download of a URL for all devices of this network namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/device.h"
#include "state/feed_share.h"
#include "state/rule_store_path.h"

/**
 * struct search - the newest copy so far
 * @wanted: the source
 * @since_ms: it must have been good then
 * @device: the device that has it; empty when none does
 * @found: its feed
 * @current: the device being searched
 */
struct search {
	const struct baleen_feed_source *wanted;
	u64 since_ms;
	char device[BALEEN_POINT_BYTES];
	struct baleen_feed found;
	char current[BALEEN_POINT_BYTES];
};

static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;

	if (strcmp(feed->wanted.source, search->wanted->source) ||
	    strcmp(feed->wanted.access, search->wanted->access) ||
	    strcmp(feed->wanted.key, search->wanted->key) || !feed->received_ms ||
	    feed->confirmed_ms < search->since_ms)
		return 0;
	search->found = *feed;
	search->since_ms = feed->confirmed_ms;
	memcpy(search->device, search->current, sizeof(search->device));
	return 0;
}

/* A state that cannot be read has no copy to give. */
static int look_at_device(const char *device, bool is_kept, void *data)
{
	struct search *search = data;
	struct baleen_rule_store state;

	snprintf(search->current, sizeof(search->current), "%s", device);
	if (baleen_rule_store_open(&state, device, 0, NULL))
		return 0;
	baleen_feeds_each(&state, NULL, look_at_feed, search, NULL);
	baleen_rule_store_close(&state);
	return 0;
}

static int copy(const struct search *search, int fd, u64 *n_bytes)
{
	struct baleen_rule_store state;
	int from, err = baleen_rule_store_open(&state, search->device, 0, NULL);

	if (err)
		return err;
	from = baleen_feed_open(&state, &search->found, NULL);
	baleen_rule_store_close(&state);
	if (from < 0)
		return from;
	err = baleen_rule_store_copy_bytes(from, fd, n_bytes);
	close(from);
	return err;
}

int baleen_feed_share(const struct baleen_feed_source *wanted, u64 since_ms, int fd,
		      u64 *confirmed_ms, struct baleen_fetch_result *result)
{
	struct search search = { .wanted = wanted, .since_ms = since_ms };
	struct baleen_fetch_result found = { 0 };
	int err;

	baleen_rule_store_each(look_at_device, &search, NULL);
	if (!*search.device)
		return -ENOENT;
	err = copy(&search, fd, &found.n_bytes);
	if (err)
		return err;
	snprintf(found.etag, sizeof(found.etag), "%s", search.found.etag);
	snprintf(found.last_modified, sizeof(found.last_modified), "%s",
		 search.found.last_modified);
	*confirmed_ms = search.found.confirmed_ms;
	*result = found;
	return 0;
}
