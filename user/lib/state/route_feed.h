/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes of a kernel table as a feed: which of them count as withdrawn?
 *
 * A routing daemon that loses a session takes back all that came by it, as if each had
 * been withdrawn. So the copy of such a feed has, beside the routes of the table, those
 * that went lately:
 *
 *      # routes of table 100, boot 2f1c...
 *      192.0.2.1 # 12                      in the table, made by protocol 12
 *      192.0.2.2 # 12 1764028800000        gone at that time with many others: still an entry
 *      # 192.0.2.3 # 12 1764028800000      gone at that time, alone: no entry any more
 *
 * A withdrawal counts at once, unless it is one of many: of the routes that a protocol had
 * made, within BALEEN_ROUTE_WINDOW_MS, 3 or more went, and they were a quarter or
 * more, or 100 or more. Then all of these are held: they stay entries until their time is
 * over, or until they are in the table again. So is what a reboot took.
 */
#ifndef BALEEN_ROUTE_FEED_H
#define BALEEN_ROUTE_FEED_H

#include <baleen/port.h>

#include "util/error.h"

/* Withdrawals within this time of each other are counted together. */
#define BALEEN_ROUTE_WINDOW_MS 3000ull
/* Fewer are never held. */
#define BALEEN_ROUTE_MASS_LEAST 3
/* One of so many, or more, of the routes that the protocol had. */
#define BALEEN_ROUTE_MASS_SHARE 4
/* So many are held whatever their share. */
#define BALEEN_ROUTE_MASS_MANY 100

/* How long they are held, unless something else is said. */
#define BALEEN_ROUTE_HOLD_S 3600

/* A source that is a table begins with this. */
#define BALEEN_ROUTE_FEED "route:"

/**
 * baleen_route_feed_is() - is a source a table of routes?
 * @source: as in struct baleen_feed_source
 *
 * Return: true of route:TABLE.
 */
static inline bool baleen_route_feed_is(const char *source)
{
	return !strncmp(source, BALEEN_ROUTE_FEED, sizeof(BALEEN_ROUTE_FEED) - 1);
}

/**
 * struct baleen_route_feed_ask - what is asked for
 * @source: route:TABLE
 * @hold_s: how long to hold what goes with many others; 0 holds nothing
 * @lets_go: what is held is let go, too
 * @now_ms: the time
 * @last: the last good copy, open for reading; -1 for none
 * @fd: open for writing: the new copy
 */
struct baleen_route_feed_ask {
	const char *source;
	u32 hold_s;
	bool lets_go;
	u64 now_ms;
	int last;
	int fd;
};

/**
 * struct baleen_route_feed_result - what came of it
 * @is_same: the last good copy says the same: nothing was written
 * @n_held: entries that are held
 * @next_ms: when the first of them is let go; 0 for never
 */
struct baleen_route_feed_result {
	bool is_same;
	u64 n_held;
	u64 next_ms;
};

/**
 * baleen_route_feed_make() - the routes of a table as a list
 * @ask: what
 * @result: filled in
 * @error: filled in on failure: names the source
 *
 * Return: 0 or a negative errno.
 */
int baleen_route_feed_make(const struct baleen_route_feed_ask *ask,
			   struct baleen_route_feed_result *result, struct baleen_error *error);

/**
 * struct baleen_route_note - what the copy says of one of its entries
 * @protocol: name of who made the route
 * @withdrawn_ms: when it went, of one that is held; else 0
 */
struct baleen_route_note {
	char protocol[64];
	u64 withdrawn_ms;
};

/**
 * baleen_route_feed_note() - what is known of an entry
 * @fd: the copy, open for reading
 * @number: number of its line
 * @note: filled in
 *
 * Return: 0; -ENOENT when the line is none of an entry; a negative errno.
 */
int baleen_route_feed_note(int fd, u64 number, struct baleen_route_note *note);

#endif /* BALEEN_ROUTE_FEED_H */
