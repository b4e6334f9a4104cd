/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A row of the database as a single entry.
 */
#ifndef BALEEN_RULE_ENTRY_ROW_H
#define BALEEN_RULE_ENTRY_ROW_H

#include "state/entry_key.h"
#include "state/rule_scopes.h"
#include "state/sql.h"

/* Columns that baleen_entry_row() reads. */
#define BALEEN_RULE_ENTRY_COLUMNS                                                  \
	"first, last, is_exception, origin, reason, added_ms, expires_ms, yields," \
	" scope IN (SELECT id FROM scope WHERE name = '" BALEEN_SCOPE_BANS "'"     \
	" OR name GLOB '" BALEEN_SCOPE_FLEET "*')"

/* Rows of the scopes that a rule has (rule_scopes.h), and the first three values of a statement
 * about them; others follow. No scope has an empty name.
 */
#define BALEEN_TAKEN "scope IN (SELECT id FROM scope WHERE name IN (?1, ?2, ?3))"
#define BALEEN_TAKEN_VALUES(TAKEN, ...)                                                          \
	BALEEN_SQL_VALUES(baleen_sql_text((TAKEN).own.name), baleen_sql_text((TAKEN).bans.name), \
			  baleen_sql_text((TAKEN).fleet.name), ##__VA_ARGS__)

/**
 * baleen_entry_row() - read a row
 * @state: that it is of
 * @row: a statement with BALEEN_RULE_ENTRY_COLUMNS first, at a row
 * @width: of lone IPv6 addresses
 * @entry: filled in
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL when it is damaged.
 */
int baleen_entry_row(const struct baleen_rule_store *state, sqlite3_stmt *row, u32 width,
		     struct baleen_rule_entry *entry, struct baleen_error *error);

/**
 * baleen_entry_rows_each() - visit the entries of a statement
 * @rows: asked, with BALEEN_RULE_ENTRY_COLUMNS first; ended
 * @width: of lone IPv6 addresses
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_entry_rows_each(struct baleen_sql_rows *rows, u32 width,
			   int (*visit)(const struct baleen_rule_entry *entry, void *data),
			   void *data);

#endif /* BALEEN_RULE_ENTRY_ROW_H */
