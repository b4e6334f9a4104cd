/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single entries as sets of ipset or nftables.
 */
#ifndef BALEEN_CLI_EXPORT_SETS_H
#define BALEEN_CLI_EXPORT_SETS_H

#include "cli/common/set_text.h"
#include "state/entry_key.h"

/**
 * struct export_sets - what is printed, and how
 * @format: the program that reads it
 * @name: of the set; that of IPv6 has a 6 behind it
 * @entry: entries of addresses
 * @n: how many
 * @n_lost: stretches of addresses that were left out before, and would come back
 * @now_ms: the time
 */
struct export_sets {
	enum set_format format;
	const char *name;
	const struct baleen_rule_entry *entry;
	size_t n;
	u64 n_lost;
	u64 now_ms;
};

/* Prints them, and warnings of what has no form there; 0, or EXIT_FAILED after a message. */
int export_sets_print(const struct export_sets *export);

#endif /* BALEEN_CLI_EXPORT_SETS_H */
