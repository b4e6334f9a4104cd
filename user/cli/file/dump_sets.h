/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set as other programs read it: ipset restore, nft -f, and tables.
 */
#ifndef BALEEN_CLI_DUMP_SETS_H
#define BALEEN_CLI_DUMP_SETS_H

#include "list/list.h"

/* In the order of their words. */
enum dump_format {
	DUMP_TEXT,
	DUMP_IPSET,
	DUMP_NFT,
	DUMP_CSV,
};

/**
 * dump_sets() - print a set of addresses
 * @format: how, not DUMP_TEXT
 * @list: finished
 * @name: name of the set
 */
void dump_sets(enum dump_format format, const struct baleen_list *list, const char *name);

#endif /* BALEEN_CLI_DUMP_SETS_H */
