/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of a feed that has a URL: from another device, or from its server.
 */
#ifndef BALEEN_FEED_FETCH_H
#define BALEEN_FEED_FETCH_H

#include "state/feed_set_news.h"
#include "util/fetch.h"

/**
 * baleen_feed_fetch() - get a new version of a feed
 * @ask: which source, and how
 * @feed: the feed as it is; of bytes of another device it was checked when that was
 * @fd: where the bytes go, an empty file
 * @result: filled in
 * @news: of a set as by baleen_feed_set_fetch(), else untouched
 * @error: filled in on failure; on success as by baleen_feed_set_fetch(), if it is a set
 *
 * Return: 0; -ENOENT when no device has a copy and no server may be asked; -EINTR; a negative
 * errno.
 */
int baleen_feed_fetch(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
		      struct baleen_fetch_result *result, struct baleen_set_news **news,
		      struct baleen_error *error);

/**
 * baleen_feed_fetched() - write down which version came
 * @feed: the feed
 * @fd: the version, unless nothing has changed
 * @result: as fetched
 */
void baleen_feed_fetched(struct baleen_feed *feed, int fd,
			 const struct baleen_fetch_result *result);

#endif /* BALEEN_FEED_FETCH_H */
