/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of addresses as ipset restore and nft -f read them.
 */
#ifndef BALEEN_CLI_SET_TEXT_H
#define BALEEN_CLI_SET_TEXT_H

#include "cli/common/cli.h"
#include "key/span.h"

/* The name of a set, and a 6 behind it for that of IPv6. */
#define SET_NAME_BYTES 31

/* The longest timeout that ipset takes; nft takes any. */
#define SET_IPSET_MAX_TIMEOUT_S 2147483

/**
 * enum set_format - the program that reads it
 * @SET_IPSET: ipset restore
 * @SET_NFT: nft -f
 */
enum set_format {
	SET_IPSET,
	SET_NFT,
};

/**
 * struct set_writer - sets on their way to stdout
 * @format: how
 * @name: of the set of IPv4; that of IPv6 has a 6 behind it. Of nft also of the table
 * @has_ends: some element has a timeout
 * @has_comments: some element has a comment
 * @is_ip6: the family at hand
 * @n: elements of it so far
 */
struct set_writer {
	enum set_format format;
	const char *name;
	bool has_ends;
	bool has_comments;
	bool is_ip6;
	u64 n;
};

/**
 * struct set_extra - what is said of an element beside its addresses
 * @timeout_s: how long it stays; 0 for ever
 * @comment: NULL or "" for none; cut to what the program takes
 * @is_exception: nomatch, of ipset
 */
struct set_extra {
	u64 timeout_s;
	const char *comment;
	bool is_exception;
};

/* Is this the name of a set? 0, or EXIT_USAGE after a message that points to @command. */
int set_check_name(const struct command *command, const char *name);

/* How many elements addresses become: ipset has prefixes alone. */
u64 set_elements(enum set_format format, const struct baleen_span *span);

/* Around all sets. */
void set_table_begin(const struct set_writer *writer);
void set_table_end(const struct set_writer *writer);

/* Around the set of a family; @n: how many elements come. */
void set_begin(struct set_writer *writer, bool is_ip6, u64 n);
void set_end(struct set_writer *writer);

/* An element, or those that it takes; @extra: NULL for nothing. Returns 0 while there is use in
 * going on: not with a full disk or a closed pipe.
 */
int set_put(struct set_writer *writer, const struct baleen_span *span,
	    const struct set_extra *extra);

#endif /* BALEEN_CLI_SET_TEXT_H */
