/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The journal of the book: which entries came and went, when, by whom.
 *
 * It is written in the transaction that changes the entries, so it has what is so, and nothing
 * else. It is bounded: BALEEN_JOURNAL_MAX changes, of which one origin has a fifth at the most,
 * and BALEEN_JOURNAL_DAYS. What was refused is in a ring of its own, of BALEEN_JOURNAL_REFUSED, so
 * that it makes nothing else forgotten. Of a transaction that changes very many, and of one that
 * replaces all entries of an origin, one record has the numbers.
 */
#ifndef BALEEN_JOURNAL_H
#define BALEEN_JOURNAL_H

#include "state/entry_key.h"
#include "state/scope.h"
#include "state/sql.h"

#define BALEEN_JOURNAL_MAX 100000
#define BALEEN_JOURNAL_DAYS 30
#define BALEEN_JOURNAL_REFUSED 1000

/* The same once more within this time is not noted again. */
#define BALEEN_JOURNAL_REPEAT_S 3600

/* Changes of one transaction that have a record each. */
#define BALEEN_JOURNAL_EACH 1000

/* Room for who it was. */
#define BALEEN_JOURNAL_BY 96

/**
 * enum baleen_journal_what - what became of an entry
 * @BALEEN_JOURNAL_PUT: it came
 * @BALEEN_JOURNAL_RENEW: it got another reason or end
 * @BALEEN_JOURNAL_TAKE: it was taken back
 * @BALEEN_JOURNAL_EXPIRE: its time had come
 * @BALEEN_JOURNAL_REFUSE: it was to come, and must not: its reason says why
 * @BALEEN_N_JOURNAL: how many there are
 */
enum baleen_journal_what {
	BALEEN_JOURNAL_PUT,
	BALEEN_JOURNAL_RENEW,
	BALEEN_JOURNAL_TAKE,
	BALEEN_JOURNAL_EXPIRE,
	BALEEN_JOURNAL_REFUSE,
	BALEEN_N_JOURNAL,
};

/**
 * baleen_journal_text() - in words
 * @what: what became of an entry
 *
 * Return: a constant string: "added", "renewed", "deleted", "ended", "refused".
 */
const char *baleen_journal_text(enum baleen_journal_what what);

/**
 * struct baleen_journal_record - one record
 * @id: its number; those of a transaction follow each other; of what was refused another one
 * @at_ms: when, since the epoch
 * @scope: DEV:RULE
 * @what: what became of @entry, where @n is 0
 * @entry: key, is_exception, origin, reason and end; but for the origin nothing where @n is not 0
 * @n: of many: how many entries; 0 for the one
 * @by: who it was: "fail2ban-server, uid 0: ban"
 */
struct baleen_journal_record {
	u64 id;
	u64 at_ms;
	char scope[BALEEN_SCOPE_BYTES];
	enum baleen_journal_what what;
	struct baleen_rule_entry entry;
	u64 n;
	char by[BALEEN_JOURNAL_BY];
};

/**
 * baleen_journal_by() - say who changes entries in this process from here on
 * @command: the command, a constant string: "ban"
 *
 * With the user and the process that called it; without this it is the process itself.
 */
void baleen_journal_by(const char *command);

/**
 * baleen_journal_many() - many entries are to be changed at once
 * @state: with a transaction of the book
 *
 * One record will have their number, for each origin, and each thing that became of them.
 */
void baleen_journal_many(const struct baleen_rule_store *state);

/**
 * baleen_journal_note() - note a change of an entry
 * @state: with a transaction of the book
 * @what: what became of it
 * @scope: name of its scope
 * @entry: the entry
 * @n: of how many entries of its origin; 0 for the one
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_journal_note(const struct baleen_rule_store *state, enum baleen_journal_what what,
			const char *scope, const struct baleen_rule_entry *entry, u64 n,
			struct baleen_error *error);

/**
 * enum baleen_journal_repeat - what is the same refusal once more
 * @BALEEN_REPEAT_OF_KEY: of the same key, for the same reason
 * @BALEEN_REPEAT_OF_REASON: for the same reason, whatever key
 * @BALEEN_REPEAT_OF_ORIGIN: of the same origin
 */
enum baleen_journal_repeat {
	BALEEN_REPEAT_OF_KEY,
	BALEEN_REPEAT_OF_REASON,
	BALEEN_REPEAT_OF_ORIGIN,
};

/**
 * baleen_journal_refuse() - note that an entry was refused
 * @state: with a transaction of the book
 * @scope: name of the scope that it was for
 * @entry: its key and origin
 * @why: why
 * @repeat: which of those before is the same
 * @n_noted: counted up, unless the same was noted within BALEEN_JOURNAL_REPEAT_S
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_journal_refuse(const struct baleen_rule_store *state, const char *scope,
			  const struct baleen_rule_entry *entry, const char *why,
			  enum baleen_journal_repeat repeat, u64 *n_noted,
			  struct baleen_error *error);

/* Two statements about the entries of a condition: who they are, and their end. */
#define BALEEN_JOURNAL_ENTRIES(CONDITION)                                                           \
	"SELECT scope.name, origin, 1 FROM single JOIN scope ON scope.id = scope WHERE " CONDITION, \
		"DELETE FROM single WHERE " CONDITION

/**
 * baleen_journal_remove() - remove entries, and note how many of each scope and origin
 * @state: with a transaction of the book
 * @what: what becomes of them
 * @select: the first of BALEEN_JOURNAL_ENTRIES
 * @delete: the second
 * @error: filled in on failure
 * @value: values of both
 * @n_values: how many
 *
 * Return: 0 or a negative errno.
 */
int baleen_journal_remove(const struct baleen_rule_store *state, enum baleen_journal_what what,
			  const char *select, const char *delete, struct baleen_error *error,
			  const struct baleen_sql_value *value, size_t n_values);

/**
 * baleen_journal_end() - note what has no record yet, and forget what is old
 * @state: with a transaction of the book that is about to be committed
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_journal_end(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_journal_each() - read the journal, the oldest first
 * @state: of baleen_book_open()
 * @since_ms: from when on
 * @visit: called with each record; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_journal_each(const struct baleen_rule_store *state, u64 since_ms,
			int (*visit)(const struct baleen_journal_record *record, void *data),
			void *data, struct baleen_error *error);

#endif /* BALEEN_JOURNAL_H */
