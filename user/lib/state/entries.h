/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single entries of a rule: a key, who asked for it, why, since when, until when.
 *
 * An entry is named by rule, key and origin: two origins can list one key, and
 * what one takes back the other still holds. Keys are stored as they are
 * written in their shortest form; `!` makes an exception, which takes its
 * addresses out of what feeds and shorter entries hold; one of a shared scope, as of
 * unban of a part of a ban, only out of shorter entries.
 *
 * A lone IPv6 address is stored as it was asked for, and read as wide as the rule has it that is
 * read (ban-width): two of them are two entries, also where they stand for one prefix.
 *
 * A rule that takes bans, or those of a fleet, has those of its own and those of shared scopes
 * (scope.h), which are of no rule: who reads by its name reads all, who writes by its name writes
 * its own. The name NULL is for the shared scope of the state alone. Of a state without rules, as
 * of baleen_book_open(), each name is for what is its own.
 */
#ifndef BALEEN_RULE_ENTRIES_H
#define BALEEN_RULE_ENTRIES_H

#include "list/list.h"
#include "state/entry_key.h"
#include "state/rule_store.h"

/**
 * baleen_now_ms() - the time of day
 *
 * Return: milliseconds since the epoch.
 */
u64 baleen_now_ms(void);

/**
 * baleen_rule_entry_check() - may an entry have this origin and reason?
 * @origin: its origin
 * @reason: its reason
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_rule_entry_check(const char *origin, const char *reason, struct baleen_error *error);

/**
 * baleen_origin_is_of_fleet() - is it the origin of what another host has banned?
 * @origin: its name
 *
 * Return: true or false.
 */
bool baleen_origin_is_of_fleet(const char *origin);

/**
 * baleen_origin_is_reserved() - do entries of an origin come from Baleen itself?
 * @origin: its name
 *
 * Those of a prefix come by the bans in it (deploy/widen.h), those of a fleet by its messages.
 *
 * Return: true when nobody else may put some.
 */
bool baleen_origin_is_reserved(const char *origin);

/**
 * baleen_rule_entries_put() - add an entry, or give it another reason and time
 * @state: with a transaction
 * @rule: name of the rule
 * @entry: the entry; one of the same key and origin keeps its time of adding, and its reason
 *         when this has none; its end becomes this, which may be none
 * @is_new: whether there was none of this key and origin
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_put(const struct baleen_rule_store *state, const char *rule,
			    const struct baleen_rule_entry *entry, bool *is_new,
			    struct baleen_error *error);

/**
 * baleen_rule_entries_remove() - forget an entry
 * @state: with a transaction
 * @rule: name of the rule
 * @entry: its key and is_exception
 * @origin: its origin; NULL for all origins
 * @n: how many there were
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_remove(const struct baleen_rule_store *state, const char *rule,
			       const struct baleen_rule_entry *entry, const char *origin, u64 *n,
			       struct baleen_error *error);

/**
 * baleen_rule_entries_flush() - forget all entries of an origin
 * @state: with a transaction
 * @rule: name of the rule
 * @origin: name of the origin; NULL for all
 * @n: how many there were
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_flush(const struct baleen_rule_store *state, const char *rule,
			      const char *origin, u64 *n, struct baleen_error *error);

/**
 * baleen_rule_entries_expired() - the entries whose time has come
 * @state: opened
 * @rule: name of the rule
 * @now_ms: until when
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_expired(const struct baleen_rule_store *state, const char *rule, u64 now_ms,
				int (*visit)(const struct baleen_rule_entry *entry, void *data),
				void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_expire() - forget the entries of a device whose time has come
 * @state: with a transaction of the book
 * @now_ms: until when
 * @n: how many have ended in all, those that the caller has removed included; filled in with
 *     what is left, too, and counted
 * @error: filled in on failure
 *
 * What is left is parked: no rule has it.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_expire(const struct baleen_rule_store *state, u64 now_ms, u64 *n,
			       struct baleen_error *error);

/**
 * baleen_rule_entries_n_ended() - how many entries of a device have ended
 * @state: opened
 *
 * Since the book was begun.
 *
 * Return: how many.
 */
u64 baleen_rule_entries_n_ended(const struct baleen_rule_store *state);

/**
 * baleen_rule_entries_next_expiry() - when the next entry of any rule ends
 * @state: opened
 *
 * Those of shared scopes are not asked about: see baleen_bans_next_expiry().
 *
 * Return: milliseconds since the epoch; 0 when none ends.
 */
u64 baleen_rule_entries_next_expiry(const struct baleen_rule_store *state);

/**
 * baleen_bans_next_expiry() - when the next entry of a shared scope ends
 * @state: opened, or of baleen_book_open()
 *
 * Return: milliseconds since the epoch; 0 when none ends.
 */
u64 baleen_bans_next_expiry(const struct baleen_rule_store *state);

/**
 * baleen_rule_entries_count_ended() - count entries that have ended for a device
 * @state: its state, with a transaction of the book
 * @n: how many
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_count_ended(const struct baleen_rule_store *state, u64 n,
				    struct baleen_error *error);

/**
 * baleen_rule_entries_each() - the entries of a rule, by origin, then key
 * @state: opened
 * @rule: name of the rule
 * @origin: name of the origin; NULL for all
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_each(const struct baleen_rule_store *state, const char *rule,
			     const char *origin,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_of_key() - the entries of one key, by origin
 * @state: opened
 * @rule: name of the rule
 * @entry: its key and is_exception; longer and shorter prefixes are other keys
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_of_key(const struct baleen_rule_store *state, const char *rule,
			       const struct baleen_rule_entry *entry,
			       int (*visit)(const struct baleen_rule_entry *entry, void *data),
			       void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_find() - the entries that hold a key
 * @state: opened
 * @rule: name of the rule
 * @key: an address, or a key of several fields
 * @now_ms: skips entries that have ended by then
 * @visit: called with each, the longest prefix first; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * By index: as many looks as there are prefix lengths, however many entries.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_find(const struct baleen_rule_store *state, const char *rule,
			     const struct baleen_key *key, u64 now_ms,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_lone() - the lone IPv6 addresses that stand for a prefix in a rule
 * @state: opened
 * @rule: name of the rule
 * @net: an entry of the prefix; one of another length than the rule has them, or an exception,
 *       has none
 * @origin: name of the origin; NULL for all
 * @visit: called with each, ended or not; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_lone(const struct baleen_rule_store *state, const char *rule,
			     const struct baleen_rule_entry *net, const char *origin,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_disagree() - does an entry inside a prefix say something else?
 * @state: opened
 * @rule: name of the rule
 * @span: the prefix
 * @is_exception: what is looked for
 * @now_ms: skips entries that have ended by then
 * @found: whether an entry that is shorter than the prefix, or a range that is in it with
 *         one end, is an exception, or is none
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_disagree(const struct baleen_rule_store *state, const char *rule,
				 const struct baleen_span *span, bool is_exception, u64 now_ms,
				 bool *found, struct baleen_error *error);

/**
 * baleen_rule_entries_inside() - how many keys inside a prefix have entries?
 * @state: opened
 * @rule: name of the rule
 * @span: the prefix; itself it does not count, nor do exceptions
 * @but_of: nor do entries of this origin
 * @now_ms: skips entries that have ended by then
 * @n: a number of keys, from 1 on
 * @n_keys: filled in: how many there are; one of two origins counts once
 * @end_ms: filled in: when fewer than @n are left; 0 for never; untouched when there are fewer
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_inside(const struct baleen_rule_store *state, const char *rule,
			       const struct baleen_span *span, const char *but_of, u64 now_ms,
			       u32 n, u64 *n_keys, u64 *end_ms, struct baleen_error *error);

/**
 * baleen_rule_entries_count() - entries of a rule
 * @state: opened
 * @rule: name of the rule
 * @origin: name of the origin; NULL for all
 *
 * Return: how many.
 */
u64 baleen_rule_entries_count(const struct baleen_rule_store *state, const char *rule,
			      const char *origin);

/**
 * baleen_rules_count_entries() - entries of all rules of a device
 * @state: opened
 * @rules: its rules
 *
 * Return: how many; one that several take counts as often.
 */
u64 baleen_rules_count_entries(const struct baleen_rule_store *state,
			       const struct baleen_stored_rules *rules);

/**
 * baleen_rule_entries_ending() - entries of a rule that have an end
 * @state: opened
 * @rule: name of the rule
 *
 * Return: how many.
 */
u64 baleen_rule_entries_ending(const struct baleen_rule_store *state, const char *rule);

/**
 * baleen_rule_entries_wide() - IPv4 prefixes up to a length, and all ranges
 * @state: opened, a transaction included
 * @rule: name of a rule
 * @length: of the longest of these prefixes
 * @visit: called with each, ended ones among them, but no exceptions; a nonzero return ends
 *         the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * By index: hosts cost nothing.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_wide(const struct baleen_rule_store *state, const char *rule, u32 length,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_yield() - does any entry yield to what is protected?
 * @state: opened
 * @rule: name of the rule
 *
 * Return: true when one does.
 */
bool baleen_rule_entries_yield(const struct baleen_rule_store *state, const char *rule);

/**
 * baleen_rule_entries_origins() - who has entries in a rule
 * @state: opened
 * @rule: name of the rule
 * @visit: called with each origin and how many it has; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_origins(const struct baleen_rule_store *state, const char *rule,
				int (*visit)(const char *origin, u64 n, void *data), void *data,
				struct baleen_error *error);

/**
 * baleen_rule_entries_seed() - let bans of a fleet hold where they are kept for another time
 * @state: opened for writing, without a transaction of the book, or a draft
 * @fleet: which a rule is about to take
 * @error: filled in on failure
 *
 * Another longest time is another scope. Where that has nothing, it begins with what there is of
 * the set, which ends no later than it may: otherwise all of it would pass until somebody has asked
 * the fleet again.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_seed(const struct baleen_rule_store *state,
			     const struct baleen_rule_fleet *fleet, struct baleen_error *error);

/**
 * baleen_rule_entries_follow() - give the entries of a device the name that it has now
 * @state: opened for writing, without a transaction
 * @error: filled in on failure; until another writer has done it they are found by the old one
 *
 * A state that ends with the boot is of a device, not of a name.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_follow(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_rule_entries_keep() - let the entries of a device outlive the boot
 * @state: its state, which is kept now
 *
 * What cannot be written is until the boot still.
 */
void baleen_rule_entries_keep(const struct baleen_rule_store *state);

/**
 * baleen_rule_entries_count_device() - entries of all rules that a device has or had
 * @device: its name
 * @n: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_count_device(const char *device, u64 *n, struct baleen_error *error);

/**
 * baleen_rule_entries_forget_device() - forget them
 * @device: its name
 * @n: filled in: how many there were
 * @error: filled in on failure
 *
 * Return: 1 when there were some; 0 or a negative errno.
 */
int baleen_rule_entries_forget_device(const char *device, u64 *n, struct baleen_error *error);

/**
 * struct baleen_entry_lists - the sets that entries make
 * @keys: finished lists of those that yield to the same, by enum baleen_entry_yields:
 *        entries and exceptions, the longest prefix decides
 * @exceptions: a finished list of all that exceptions of the rule itself cover
 */
struct baleen_entry_lists {
	struct baleen_list keys[BALEEN_N_YIELDS];
	struct baleen_list exceptions;
};

/**
 * baleen_entry_lists_free() - free the lists
 * @lists: made, or all zeros
 */
void baleen_entry_lists_free(struct baleen_entry_lists *lists);

/**
 * baleen_rule_entries_to_lists() - the sets that the entries make
 * @state: opened
 * @rule: name of the rule
 * @key_spec: fields of its keys
 * @now_ms: skips entries that have ended by then
 * @made: filled in
 * @error: filled in on failure
 *
 * Return: 0, -ENOMEM or a negative errno; @made is untouched on failure.
 */
int baleen_rule_entries_to_lists(const struct baleen_rule_store *state, const char *rule,
				 u32 key_spec, u64 now_ms, struct baleen_entry_lists *made,
				 struct baleen_error *error);

#endif /* BALEEN_RULE_ENTRIES_H */
