/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a state.
 *
 * Numbers of rules and feeds are of this database and mean nothing elsewhere.
 * Durations and times end in their unit. A newer release may add to it and then
 * counts BALEEN_RULE_STORE_SCHEMA up.
 */
#ifndef BALEEN_RULE_STORE_SCHEMA_H
#define BALEEN_RULE_STORE_SCHEMA_H

#define BALEEN_RULE_STORE_SCHEMA 4

/* Known to the database as its user_version; 0 until the first commit. */
#define BALEEN_RULE_STORE_SCHEMA_TEXT "4"

/* Names of texts that several files ask for. */
#define BALEEN_TEXT_MAX_MEMORY "max-memory"
#define BALEEN_TEXT_ICP "icp"

#define BALEEN_RULE_STORE_TABLES                                         \
	"CREATE TABLE owner ("                                           \
	"	one INTEGER PRIMARY KEY CHECK (one = 1),"                      \
	"	device TEXT NOT NULL,"                                         \
	"	boot TEXT NOT NULL,"                                           \
	"	netns_cookie INTEGER NOT NULL,"                                \
	"	ifindex INTEGER NOT NULL);"                                    \
	"CREATE TABLE policy ("                                          \
	"	one INTEGER PRIMARY KEY CHECK (one = 1),"                      \
	"	default_drop INTEGER NOT NULL,"                                \
	"	dry_run INTEGER NOT NULL,"                                     \
	"	sample_interval_ns INTEGER NOT NULL,"                          \
	"	mode INTEGER NOT NULL,"                                        \
	"	place INTEGER NOT NULL,"                                       \
	"	never_path TEXT NOT NULL);"                                    \
	"CREATE TABLE text ("                                            \
	"	name TEXT PRIMARY KEY,"                                        \
	"	value TEXT NOT NULL) WITHOUT ROWID;"                           \
	"CREATE TABLE rule ("                                            \
	"	id INTEGER PRIMARY KEY,"                                       \
	"	place INTEGER NOT NULL,"                                       \
	"	name TEXT NOT NULL UNIQUE,"                                    \
	"	action INTEGER NOT NULL,"                                      \
	"	qualifiers TEXT NOT NULL,"                                     \
	"	key_spec TEXT NOT NULL,"                                       \
	"	kind INTEGER NOT NULL,"                                        \
	"	fpp REAL NOT NULL,"                                            \
	"	capacity INTEGER NOT NULL,"                                    \
	"	is_any INTEGER NOT NULL,"                                      \
	"	min_entries INTEGER NOT NULL,"                                 \
	"	max_shrink REAL NOT NULL,"                                     \
	"	max_coverage REAL NOT NULL,"                                   \
	"	keep_special INTEGER NOT NULL,"                                \
	"	guards_feeds INTEGER NOT NULL);"                               \
	"CREATE TABLE feed ("                                            \
	"	id INTEGER PRIMARY KEY AUTOINCREMENT,"                         \
	"	rule INTEGER NOT NULL REFERENCES rule (id) ON DELETE CASCADE," \
	"	generation INTEGER NOT NULL DEFAULT 0,"                        \
	"	source TEXT NOT NULL,"                                         \
	"	key_column TEXT NOT NULL,"                                     \
	"	key_where TEXT NOT NULL,"                                      \
	"	delimiter INTEGER NOT NULL,"                                   \
	"	skip_bad INTEGER NOT NULL,"                                    \
	"	every_s INTEGER NOT NULL,"                                     \
	"	timeout_s INTEGER NOT NULL,"                                   \
	"	file TEXT NOT NULL,"                                           \
	"	format INTEGER NOT NULL,"                                      \
	"	etag TEXT NOT NULL,"                                           \
	"	last_modified TEXT NOT NULL,"                                  \
	"	n_entries INTEGER NOT NULL,"                                   \
	"	n_ip4 INTEGER NOT NULL,"                                       \
	"	n_bytes INTEGER NOT NULL,"                                     \
	"	n_special INTEGER NOT NULL,"                                   \
	"	checked_ms INTEGER NOT NULL,"                                  \
	"	received_ms INTEGER NOT NULL,"                                 \
	"	confirmed_ms INTEGER NOT NULL,"                                \
	"	n_failures INTEGER NOT NULL,"                                  \
	"	failure TEXT NOT NULL);"                                       \
	"CREATE INDEX feed_rule ON feed (rule);"

#endif /* BALEEN_RULE_STORE_SCHEMA_H */
