/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One download of a URL for all devices of this network namespace: what another device
 * received lately need not be asked for again.
 *
 * A signed set only goes forward: no device gets an older generation than one that any other
 * has of the same source and key, neither from that device nor from the publisher.
 */
#ifndef BALEEN_FEED_SHARE_H
#define BALEEN_FEED_SHARE_H

#include "state/feeds.h"
#include "util/fetch.h"

/**
 * baleen_feed_share() - the newest good copy of a URL that any device has
 * @wanted: the URL and its file of secrets; how it is read does not matter
 * @since_ms: a copy that its server last called good before this time is too old
 * @above: of a signed set: only a larger generation is given, and only before it expires
 * @fd: an empty file; gets the bytes as received
 * @confirmed_ms: filled in: when the server last called the copy good
 * @result: filled in with the copy's validators
 *
 * Return: 0; -ENOENT when no device has such a copy; a negative errno.
 */
int baleen_feed_share(const struct baleen_feed_source *wanted, u64 since_ms, u64 above, int fd,
		      u64 *confirmed_ms, struct baleen_fetch_result *result);

/**
 * baleen_feed_share_floor() - the largest generation of a signed set that any device has
 * @wanted: the set; its source and key count
 * @device: filled in: the device that has it, BALEEN_POINT_BYTES bytes; empty when none does
 *
 * Return: the generation; 0 when no device has any.
 */
u64 baleen_feed_share_floor(const struct baleen_feed_source *wanted, char *device);

#endif /* BALEEN_FEED_SHARE_H */
