/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources that are signed sets (feed_set.h), by their names.
 */
#ifndef BALEEN_SET_FEED_H
#define BALEEN_SET_FEED_H

#include <stdbool.h>
#include <string.h>

/* A source that is a signed set begins so; http://, https:// or file:/// follows. */
#define BALEEN_FEED_SET "set+"

/**
 * baleen_feed_set_is() - is a source a signed set?
 * @source: as in struct baleen_feed_source
 *
 * Return: true of set+URL.
 */
static inline bool baleen_feed_set_is(const char *source)
{
	return !strncmp(source, BALEEN_FEED_SET, sizeof(BALEEN_FEED_SET) - 1);
}

/**
 * baleen_feed_set_refuse() - why a source is no signed set
 * @source: begins with BALEEN_FEED_SET
 *
 * Return: NULL when it is one, or the reason, a constant string.
 */
const char *baleen_feed_set_refuse(const char *source);

#endif /* BALEEN_SET_FEED_H */
