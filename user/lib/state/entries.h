/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single entries of a rule: a key, who asked for it, why, since when, until when.
 *
 * An entry is named by rule, key and origin: two origins can list one key, and
 * what one takes back the other still holds. Keys are stored as they are
 * written in their shortest form; `!` makes an exception, which takes its
 * addresses out of what feeds and shorter entries hold.
 */
#ifndef BALEEN_RULE_ENTRIES_H
#define BALEEN_RULE_ENTRIES_H

#include "list/list.h"
#include "state/rule_store.h"

#define BALEEN_ORIGIN_BYTES 64
#define BALEEN_REASON_BYTES 256
#define BALEEN_ORIGIN_MANUAL "manual"

/* Longest time to live, a thousand years of seconds: sums do not overflow. */
#define BALEEN_MAX_TTL_S 31557600000ull

/* Of a key: two IPv6 addresses, a dash and an exclamation mark. */
#define BALEEN_RULE_ENTRY_TEXT (2 * BALEEN_KEY_TEXT)

/**
 * struct baleen_rule_entry - a single entry
 * @key: in its shortest form, such as 192.0.2.0/24, 2001:db8::/64 or
 *       tcp,192.0.2.1,198.51.100.7,40000,443
 * @is_exception: what @key holds shall not be in the set
 * @origin: 1 to BALEEN_ORIGIN_BYTES - 1 printable bytes without blanks
 * @reason: UTF-8 without control characters; may be empty
 * @added_ms: since the epoch
 * @expires_ms: since the epoch; 0 for never
 */
struct baleen_rule_entry {
	char key[BALEEN_RULE_ENTRY_TEXT];
	bool is_exception;
	char origin[BALEEN_ORIGIN_BYTES];
	char reason[BALEEN_REASON_BYTES];
	u64 added_ms;
	u64 expires_ms;
};

/**
 * baleen_now_ms() - the time of day
 *
 * Return: milliseconds since the epoch.
 */
u64 baleen_now_ms(void);

/**
 * baleen_rule_entry_parse() - a key from text, in its shortest form
 * @text: KEY or !KEY
 * @key_spec: enum baleen_key_spec of the rule
 * @widens: a lone IPv6 address, without a length, stands for its /64
 * @single: key and is_exception are filled in; untouched on failure
 * @is_widened: whether it was; may be NULL
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_rule_entry_parse(const char *text, u32 key_spec, bool widens,
			    struct baleen_rule_entry *single, bool *is_widened,
			    struct baleen_error *error);

/**
 * baleen_rule_entry_check() - may an entry have this origin and reason?
 * @origin: of it
 * @reason: of it
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_rule_entry_check(const char *origin, const char *reason, struct baleen_error *error);

/**
 * baleen_rule_entries_put() - add an entry, or give it another reason and time
 * @state: with a transaction
 * @rule: name of the rule
 * @single: the entry; one of the same key and origin keeps its time of adding
 * @is_new: whether there was none of this key and origin
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_put(struct baleen_rule_store *state, const char *rule,
			    const struct baleen_rule_entry *single, bool *is_new,
			    struct baleen_error *error);

/**
 * baleen_rule_entries_remove() - forget an entry
 * @state: with a transaction
 * @rule: name of the rule
 * @single: its key and is_exception
 * @origin: of it; NULL for all origins
 * @n: how many there were
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_remove(struct baleen_rule_store *state, const char *rule,
			       const struct baleen_rule_entry *single, const char *origin, u64 *n,
			       struct baleen_error *error);

/**
 * baleen_rule_entries_flush() - forget all entries of an origin
 * @state: with a transaction
 * @rule: name of the rule
 * @origin: whose; NULL for all
 * @n: how many there were
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_entries_flush(struct baleen_rule_store *state, const char *rule, const char *origin,
			      u64 *n, struct baleen_error *error);

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
				int (*visit)(const struct baleen_rule_entry *single, void *data),
				void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_next_expiry() - when the next entry of any rule ends
 * @state: opened
 *
 * Return: milliseconds since the epoch; 0 when none ends.
 */
u64 baleen_rule_entries_next_expiry(const struct baleen_rule_store *state);

/**
 * baleen_rule_entries_each() - the entries of a rule, by origin, then key
 * @state: opened
 * @rule: name of the rule
 * @origin: whose; NULL for all
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_entries_each(const struct baleen_rule_store *state, const char *rule,
			     const char *origin,
			     int (*visit)(const struct baleen_rule_entry *single, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_find() - the entries that hold a key
 * @state: opened
 * @rule: name of the rule
 * @key: an address, or a key of several fields
 * @now_ms: what has ended by then is passed over
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
			     int (*visit)(const struct baleen_rule_entry *single, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_rule_entries_count() - entries of a rule
 * @state: opened
 * @rule: name of the rule
 * @origin: whose; NULL for all
 *
 * Return: how many.
 */
u64 baleen_rule_entries_count(const struct baleen_rule_store *state, const char *rule,
			      const char *origin);

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
 * baleen_rule_entries_to_lists() - the set that the entries make
 * @state: opened
 * @rule: name of the rule
 * @key_spec: of its keys
 * @now_ms: what has ended by then is passed over
 * @keys: a finished list: entries and exceptions, the longest prefix decides
 * @exceptions: a finished list of all that exceptions cover
 * @error: filled in on failure
 *
 * Return: 0, -ENOMEM or a negative errno; outputs are untouched on failure.
 */
int baleen_rule_entries_to_lists(const struct baleen_rule_store *state, const char *rule,
				 u32 key_spec, u64 now_ms, struct baleen_list *keys,
				 struct baleen_list *exceptions, struct baleen_error *error);

#endif /* BALEEN_RULE_ENTRIES_H */
