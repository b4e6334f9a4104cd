/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our own routes in a kernel table: told from those of others by BALEEN_ROUTE_PROTOCOL.
 */
#ifndef BALEEN_ROUTE_CHANGE_H
#define BALEEN_ROUTE_CHANGE_H

#include "net/routes.h"

/**
 * struct baleen_route_changes - what was changed in a table
 * @n_added: routes that were added
 * @n_removed: that were removed
 * @n_same: that were there already
 * @n_others: not added, since somebody else has a route of the same prefix there
 */
struct baleen_route_changes {
	u64 n_added;
	u64 n_removed;
	u64 n_same;
	u64 n_others;
};

/**
 * baleen_routes_set() - make our routes of a table these ones
 * @table: its number
 * @wanted: in the order of baleen_route_compare(), a prefix once; of type RTN_BLACKHOLE or
 *          RTN_THROW
 * @changes: filled in, also on failure: what was done by then
 * @error: filled in on failure
 *
 * Routes of others are not touched. Needs CAP_NET_ADMIN.
 *
 * Return: 0 or a negative errno.
 */
int baleen_routes_set(u32 table, const struct baleen_routes *wanted,
		      struct baleen_route_changes *changes, struct baleen_error *error);

/**
 * baleen_route_table_is_used() - do packets of this host go by a table?
 * @table: its number
 *
 * Return: true of main, local and default, which rules of every kernel name.
 */
bool baleen_route_table_is_used(u32 table);

#endif /* BALEEN_ROUTE_CHANGE_H */
