/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of a damaged database: as many as can be read.
 */
#ifndef BALEEN_SALVAGE_H
#define BALEEN_SALVAGE_H

#include "state/rule_store_handle.h"

/**
 * baleen_salvage() - copy what can be read of a table
 * @from: opened, maybe damaged
 * @to: opened for writing, with a transaction; rows that it has stay
 * @table: name of the table, of the same columns in both
 *
 * Return: how many rows.
 */
u64 baleen_salvage(const struct baleen_rule_store *from, const struct baleen_rule_store *to,
		   const char *table);

#endif /* BALEEN_SALVAGE_H */
