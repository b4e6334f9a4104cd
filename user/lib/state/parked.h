/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parked entries: those of the book whose rule is not there, or whose shared scope no rule takes.
 * They are in force again with a rule of that name, or one that takes the scope, unless somebody
 * takes them back before.
 */
#ifndef BALEEN_PARKED_H
#define BALEEN_PARKED_H

#include "state/entries.h"
#include "state/scope.h"

/**
 * struct baleen_scopes - names of scopes, in order
 * @scope: the scopes
 * @n: how many
 */
struct baleen_scopes {
	struct baleen_scope *scope;
	size_t n;
};

/**
 * baleen_scopes_free() - free the names
 * @scopes: filled in, or all zeros
 */
void baleen_scopes_free(struct baleen_scopes *scopes);

/**
 * baleen_scopes_add_taken() - add the shared scopes that a rule takes
 * @scopes: added to
 * @rule: the rule
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_scopes_add_taken(struct baleen_scopes *scopes, const struct baleen_stored_rule *rule);

/**
 * baleen_scopes_split() - the device and the rule of a scope
 * @scope: the scope
 * @device: filled in, of BALEEN_POINT_BYTES; empty of a shared one
 *
 * Return: the name of the rule, in @scope; NULL of a shared one.
 */
const char *baleen_scopes_split(const struct baleen_scope *scope, char *device);

/**
 * baleen_scopes_with_entries() - the scopes of this network namespace that have entries
 * @book: of baleen_book_open()
 * @scopes: filled in; free with baleen_scopes_free()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_scopes_with_entries(const struct baleen_rule_store *book, struct baleen_scopes *scopes,
			       struct baleen_error *error);

/**
 * baleen_scopes_with_ended() - those that have an entry that has ended
 * @book: of baleen_book_open()
 * @now_ms: by then
 * @scopes: filled in; free with baleen_scopes_free()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_scopes_with_ended(const struct baleen_rule_store *book, u64 now_ms,
			     struct baleen_scopes *scopes, struct baleen_error *error);

/**
 * struct baleen_takers - the rules that take a shared scope
 * @n: how many; one at least where a state cannot be read
 * @n_drop: of them, those that drop
 * @ban_width: how wide a lone IPv6 address is in that which has it the widest; BALEEN_BAN_WIDTH
 *             where there is none
 */
struct baleen_takers {
	u64 n;
	u64 n_drop;
	u32 ban_width;
};

/**
 * baleen_scope_takers() - which rules take a shared scope?
 * @scope: its name
 * @takers: filled in
 * @error: filled in on failure
 *
 * Entries that none takes are parked.
 *
 * Return: 0 or a negative errno.
 */
int baleen_scope_takers(const char *scope, struct baleen_takers *takers,
			struct baleen_error *error);

/**
 * baleen_scopes_count() - how often is a scope among others?
 * @scopes: the others
 * @name: its name
 *
 * Return: how often.
 */
u64 baleen_scopes_count(const struct baleen_scopes *scopes, const char *name);

/**
 * baleen_parked_open() - open the book at the entries of a rule that is not there
 * @device: its device, as the scope has it
 * @rule: its name
 * @book: filled in, for functions that take a state; close with baleen_book_close()
 * @error: filled in on failure
 *
 * Rules of a device whose state cannot be read may be there.
 *
 * Return: 1; 0 when the rule may be there, or the book has no entries of it; a negative errno.
 */
int baleen_parked_open(const char *device, const char *rule, struct baleen_rule_store *book,
		       struct baleen_error *error);

/**
 * struct baleen_parked_key - a key that is to be taken out of the entries that are parked
 * @entry: its key, is_exception and origin; an empty origin is any
 * @n: filled in: how many scopes had it
 */
struct baleen_parked_key {
	const struct baleen_rule_entry *entry;
	u64 n;
};

/**
 * baleen_parked_remove() - forget entries that are parked
 * @key: the keys
 * @n: how many
 * @taken: filled in: the scopes that had one of them, each time; free with
 *         baleen_scopes_free()
 * @error: filled in on failure
 *
 * The rules of a device whose state cannot be read may be there.
 *
 * Return: 0; a negative errno, then nothing has changed.
 */
int baleen_parked_remove(struct baleen_parked_key *key, size_t n, struct baleen_scopes *taken,
			 struct baleen_error *error);

/**
 * baleen_parked_expire() - forget entries that are parked and whose time has come
 * @book: of baleen_book_open()
 * @now_ms: until when
 * @error: filled in on failure
 *
 * Entries of a rule that is there end with baleen_rule_entries_expire().
 *
 * Return: 0 or a negative errno.
 */
int baleen_parked_expire(const struct baleen_rule_store *book, u64 now_ms,
			 struct baleen_error *error);

#endif /* BALEEN_PARKED_H */
