/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of the book.
 *
 * Numbers of scopes are of this database and mean nothing elsewhere. Durations and times end in
 * their unit. A newer release may add to it and then counts BALEEN_BOOK_SCHEMA up.
 */
#ifndef BALEEN_BOOK_SCHEMA_H
#define BALEEN_BOOK_SCHEMA_H

#define BALEEN_BOOK_SCHEMA 2

/* A single entry is found by its address: `first` is 4 and the IPv4 address, 6 and
 * the IPv6 address, or which fields a key has and these as text; `last` is the same of the
 * last address, empty for one address alone, and a byte of 0 for an IPv6 address that was asked
 * for without a length, of which the rule says how wide it is. So IPv4 sorts before IPv6, and a
 * prefix is one look. `length` tells which looks are worth it: the length of an
 * IPv4 prefix, 1000 more of an IPv6 prefix, -1 of a range, none of what is alone.
 * Whoever looks for an origin or an end has an index, too.
 *
 * `until_boot` is 1 of what was added by hand to a rule that ends with the boot: the first
 * writer of another boot removes it. `ended` counts, by device, entries whose time has come.
 * `change` and `refusal` are the journal (journal.h).
 */
#define BALEEN_BOOK_TABLES                                                            \
	"CREATE TABLE meta ("                                                         \
	"	one INTEGER PRIMARY KEY CHECK (one = 1),"                                   \
	"	boot TEXT NOT NULL);"                                                       \
	"CREATE TABLE scope ("                                                        \
	"	id INTEGER PRIMARY KEY,"                                                    \
	"	name TEXT NOT NULL UNIQUE);"                                                \
	"CREATE TABLE single ("                                                       \
	"	scope INTEGER NOT NULL,"                                                    \
	"	first BLOB NOT NULL,"                                                       \
	"	last BLOB NOT NULL,"                                                        \
	"	is_exception INTEGER NOT NULL,"                                             \
	"	length INTEGER,"                                                            \
	"	origin TEXT NOT NULL,"                                                      \
	"	reason TEXT NOT NULL,"                                                      \
	"	added_ms INTEGER NOT NULL,"                                                 \
	"	expires_ms INTEGER NOT NULL,"                                               \
	"	yields INTEGER NOT NULL,"                                                   \
	"	until_boot INTEGER NOT NULL,"                                               \
	"	PRIMARY KEY (scope, first, last, is_exception, origin)) WITHOUT ROWID;"     \
	"CREATE INDEX single_origin ON single (scope, origin);"                       \
	"CREATE INDEX single_end ON single (scope, expires_ms) WHERE expires_ms > 0;" \
	"CREATE INDEX single_net ON single (scope, length, first, last)"              \
	" WHERE length IS NOT NULL;"                                                  \
	"CREATE INDEX single_lone ON single (scope, first) WHERE last = x'00';"       \
	"CREATE INDEX single_boot ON single (until_boot) WHERE until_boot = 1;"       \
	"CREATE TABLE change ("                                                       \
	"	id INTEGER PRIMARY KEY,"                                                    \
	"	at_ms INTEGER NOT NULL,"                                                    \
	"	what INTEGER NOT NULL,"                                                     \
	"	scope INTEGER,"                                                             \
	"	first BLOB NOT NULL,"                                                       \
	"	last BLOB NOT NULL,"                                                        \
	"	is_exception INTEGER NOT NULL,"                                             \
	"	origin TEXT NOT NULL,"                                                      \
	"	reason TEXT NOT NULL,"                                                      \
	"	expires_ms INTEGER NOT NULL,"                                               \
	"	n INTEGER NOT NULL,"                                                        \
	"	by TEXT NOT NULL);"                                                         \
	"CREATE TABLE refusal ("                                                      \
	"	id INTEGER PRIMARY KEY,"                                                    \
	"	at_ms INTEGER NOT NULL,"                                                    \
	"	scope TEXT NOT NULL,"                                                       \
	"	first BLOB NOT NULL,"                                                       \
	"	last BLOB NOT NULL,"                                                        \
	"	origin TEXT NOT NULL,"                                                      \
	"	reason TEXT NOT NULL,"                                                      \
	"	by TEXT NOT NULL);"                                                         \
	"CREATE TABLE ended ("                                                        \
	"	device TEXT PRIMARY KEY,"                                                   \
	"	n INTEGER NOT NULL) WITHOUT ROWID;"                                         \
	"PRAGMA user_version = 2;"

#endif /* BALEEN_BOOK_SCHEMA_H */
