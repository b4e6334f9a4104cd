/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The routes of a kernel table that lead nowhere: blackhole, unreachable, prohibit.
 *
 * Routing daemons write them; who reads them needs no routing protocol. The kernel tells
 * of each change, but drops what a full socket has no room for: then, and at the start,
 * the table is read as a whole.
 */
#ifndef BALEEN_ROUTES_H
#define BALEEN_ROUTES_H

#include <baleen/key.h>

#include "util/error.h"

/* More routes than that belong into lists: a table of 100,000 takes 16 MB of the kernel. */
#define BALEEN_ROUTES_MAX 1000000u

/**
 * struct baleen_route - a route that leads nowhere
 * @key: its first address
 * @length: length of its prefix
 * @type: RTN_BLACKHOLE, RTN_UNREACHABLE or RTN_PROHIBIT; RTN_THROW of our own: an exception
 * @protocol: who made it, rtm_protocol
 */
struct baleen_route {
	struct baleen_key key;
	u8 length;
	u8 type;
	u8 protocol;
};

/**
 * struct baleen_routes - such routes of a table
 * @route: in the order of baleen_route_compare(), a prefix once
 * @n: how many
 */
struct baleen_routes {
	struct baleen_route *route;
	size_t n;
};

/**
 * baleen_route_compare() - order of the prefixes of two routes
 * @a: one route
 * @b: the other
 *
 * Return: negative, 0 or positive; IPv4 comes before IPv6, then the address counts, then
 * the length.
 */
int baleen_route_compare(const struct baleen_route *a, const struct baleen_route *b);

/**
 * baleen_routes_read() - the routes of a table that lead nowhere, of both families
 * @table: its number
 * @own: only those of BALEEN_ROUTE_PROTOCOL, which may also be of type RTN_THROW; else all
 *       but those
 * @routes: filled in; free with baleen_routes_free()
 * @error: filled in on failure
 *
 * A table that does not exist has no routes.
 *
 * Return: 0; -E2BIG for more than BALEEN_ROUTES_MAX; a negative errno.
 */
int baleen_routes_read(u32 table, bool own, struct baleen_routes *routes,
		       struct baleen_error *error);

/**
 * baleen_routes_free() - free them
 * @routes: read, or all zeros
 */
void baleen_routes_free(struct baleen_routes *routes);

/**
 * baleen_routes_listen() - hear of changes from now on
 * @buffer_bytes: size of the buffer in which the kernel keeps what was not read yet
 * @error: filled in on failure
 *
 * Return: a descriptor that does not block; a negative errno.
 */
int baleen_routes_listen(u32 buffer_bytes, struct baleen_error *error);

/* The most that is heard at once: a follower has other work, too. */
#define BALEEN_ROUTES_HEARD 64

/**
 * struct baleen_routes_news - what was heard
 * @table: tables in which such a route has changed
 * @n: how many; no table is in it twice
 * @is_lost: the kernel had no room for some, or there are too many tables: any may have
 *           changed
 */
struct baleen_routes_news {
	u32 table[BALEEN_ROUTES_HEARD];
	size_t n;
	bool is_lost;
};

/**
 * baleen_routes_hear() - what has changed since the last time
 * @fd: of baleen_routes_listen()
 * @news: filled in
 *
 * Leaves some for the next time when there is much.
 */
void baleen_routes_hear(int fd, struct baleen_routes_news *news);

#endif /* BALEEN_ROUTES_H */
