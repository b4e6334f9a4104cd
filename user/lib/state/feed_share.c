// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One download of a URL for all devices of this network namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/device.h"
#include "state/entries.h"
#include "state/feed_set_copy.h"
#include "state/feed_share.h"
#include "state/rule_store_each.h"
#include "state/rule_store_path.h"
#include "state/set_feed.h"

/**
 * struct search - the newest copy so far
 * @wanted: the source
 * @since_ms: it must have been good then; of a signed set the generation counts, not the time
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

/* A server may show an old generation to those who ask last, so the time says nothing. */
static bool is_newer_set(const struct baleen_feed *feed, const struct search *search)
{
	const struct baleen_feed *found = &search->found;

	if (feed->generation != found->generation)
		return feed->generation > found->generation;
	return feed->confirmed_ms > found->confirmed_ms;
}

/* A copy that another device may have and this one may not is none for it. */
static bool is_same_way(const struct baleen_feed *feed, const struct search *search)
{
	return !strcmp(feed->wanted.access, search->wanted->access) &&
	       (!feed->wanted.may_be_private || search->wanted->may_be_private);
}

static bool is_newer(const struct baleen_feed *feed, const struct search *search)
{
	if (baleen_feed_set_is(feed->wanted.source))
		return is_newer_set(feed, search);
	return is_same_way(feed, search) && feed->confirmed_ms >= search->since_ms;
}

static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;

	if (strcmp(feed->wanted.source, search->wanted->source) ||
	    strcmp(feed->wanted.key, search->wanted->key) || !feed->received_ms ||
	    !is_newer(feed, search))
		return 0;
	search->found = *feed;
	search->since_ms = feed->confirmed_ms;
	memcpy(search->device, search->current, sizeof(search->device));
	return 0;
}

/* A state that cannot be read has no copy to give. */
static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;

	if (found->err)
		return 0;
	snprintf(search->current, sizeof(search->current), "%s", found->device);
	baleen_feeds_each(&found->state, NULL, look_at_feed, search, NULL);
	return 0;
}

static bool has_expired(int fd)
{
	struct baleen_set_head head;

	return !baleen_set_copy_head(fd, &head) ||
	       baleen_set_head_has_expired(&head, baleen_now_ms());
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
	if (baleen_feed_set_is(search->wanted->source) && has_expired(from))
		err = -ENOENT;
	else
		err = baleen_rule_store_copy_bytes(from, fd, n_bytes);
	close(from);
	return err;
}

/* The largest generation of all devices is given, or none. */
static bool may_give_set(const struct search *search, u64 above, u64 since_ms)
{
	return search->found.generation > above && search->found.confirmed_ms >= since_ms &&
	       is_same_way(&search->found, search);
}

int baleen_feed_share(const struct baleen_feed_source *wanted, u64 since_ms, u64 above, int fd,
		      u64 *confirmed_ms, struct baleen_fetch_result *result)
{
	struct search search = { .wanted = wanted, .since_ms = since_ms };
	struct baleen_fetch_result found = { 0 };
	int err;

	baleen_rule_store_each(look_at_device, &search, NULL);
	if (!*search.device)
		return -ENOENT;
	if (baleen_feed_set_is(wanted->source) && !may_give_set(&search, above, since_ms))
		return -ENOENT;
	err = copy(&search, fd, &found.n_bytes);
	if (err)
		return err;
	/* A set has those of its manifest, whose generation may be on its way only. */
	if (!baleen_feed_set_is(wanted->source)) {
		snprintf(found.etag, sizeof(found.etag), "%s", search.found.etag);
		snprintf(found.last_modified, sizeof(found.last_modified), "%s",
			 search.found.last_modified);
	}
	*confirmed_ms = search.found.confirmed_ms;
	*result = found;
	return 0;
}

u64 baleen_feed_share_floor(const struct baleen_feed_source *wanted, char *device)
{
	struct search search = { .wanted = wanted };

	baleen_rule_store_each(look_at_device, &search, NULL);
	memcpy(device, search.device, sizeof(search.device));
	return search.found.generation;
}
