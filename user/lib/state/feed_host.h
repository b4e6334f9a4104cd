/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A feed that is the name of a host: its addresses, for a rule that allows.
 *
 * Names are asked when they are due and never for a packet. Whoever answers for a name
 * decides whom the rule is for, so no rule that drops has one.
 */
#ifndef BALEEN_FEED_HOST_H
#define BALEEN_FEED_HOST_H

#include "state/feed_fetch.h"

/* A source that is a name begins so. */
#define BALEEN_FEED_HOST "name:"

/* How often a name is asked, unless something else is said. */
#define BALEEN_FEED_HOST_EVERY_S 300

/**
 * baleen_feed_host_is() - is a source the name of a host?
 * @source: as in struct baleen_feed_source
 *
 * Return: true of name:HOST.
 */
static inline bool baleen_feed_host_is(const char *source)
{
	return !strncmp(source, BALEEN_FEED_HOST, sizeof(BALEEN_FEED_HOST) - 1);
}

/**
 * baleen_feed_host_read() - get the addresses of now
 * @ask: which source, and how
 * @fd: where they go as a list, an empty file
 * @error: filled in on failure: names the source
 *
 * Return: 0 or a negative errno; -EINTR.
 */
int baleen_feed_host_read(const struct baleen_feed_ask *ask, int fd, struct baleen_error *error);

#endif /* BALEEN_FEED_HOST_H */
