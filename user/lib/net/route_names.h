/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of routing tables and of the protocols that make routes, as iproute2 has them.
 */
#ifndef BALEEN_ROUTE_NAMES_H
#define BALEEN_ROUTE_NAMES_H

#include <baleen/port.h>

#include "util/error.h"

/* Room for the name of a table or of a protocol. */
#define BALEEN_ROUTE_NAME 64

/* The protocol of our own routes, by which they are told from those of others. iproute2
 * has no name for this number; it is the first letter of ours.
 */
#define BALEEN_ROUTE_PROTOCOL 98

/**
 * baleen_route_table_is_name() - may a word be the name or number of a table?
 * @text: the word
 *
 * Return: true for letters, digits and `-_.`, fewer than BALEEN_ROUTE_NAME.
 */
bool baleen_route_table_is_name(const char *text);

/**
 * baleen_route_table_find() - the number of a table
 * @text: a number from 1 on, or a name of /etc/iproute2/rt_tables or rt_tables.d
 * @table: filled in
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT for a name that nobody has given; -EINVAL for what is neither.
 */
int baleen_route_table_find(const char *text, u32 *table, struct baleen_error *error);

/**
 * baleen_route_protocol_text() - the name of a routing protocol
 * @protocol: rtm_protocol of a route
 * @text: at least BALEEN_ROUTE_NAME bytes
 *
 * Return: @text: the name of /etc/iproute2/rt_protos or rt_protos.d, else the number.
 */
const char *baleen_route_protocol_text(u8 protocol, char *text);

#endif /* BALEEN_ROUTE_NAMES_H */
