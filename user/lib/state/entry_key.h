/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A single entry, and its key: addresses, or several fields.
 */
#ifndef BALEEN_RULE_ENTRY_KEY_H
#define BALEEN_RULE_ENTRY_KEY_H

#include "key/key_text.h"
#include "key/span.h"
#include "list/list.h"
#include "util/error.h"

#define BALEEN_ORIGIN_BYTES 64
#define BALEEN_REASON_BYTES 256
#define BALEEN_ORIGIN_MANUAL "manual"

/* For baleen_rule_entry_parse(). */
#define BALEEN_AS_WRITTEN 0

/* Longest time to live, a thousand years of seconds: sums do not overflow. */
#define BALEEN_MAX_TTL_S 31557600000ull

/* Room for a key as text: two IPv6 addresses and a dash, or several fields. */
#define BALEEN_RULE_ENTRY_TEXT (2 * BALEEN_KEY_TEXT)

/**
 * struct baleen_entry_key - the key of a single entry
 * @span: its addresses, of a rule whose keys are addresses
 * @is_lone: an IPv6 address that was asked for without a length: the rule says how wide it is
 * @asked: that address, somewhere in @span
 * @fields: of a key of several fields its text in the shortest form, such as
 *          tcp,192.0.2.1,198.51.100.7,40000,443; empty for addresses
 * @key_spec: enum baleen_key_spec of @fields, which might be those of another key, too
 */
struct baleen_entry_key {
	struct baleen_span span;
	bool is_lone;
	struct baleen_ip6 asked;
	char fields[BALEEN_KEY_TEXT];
	u32 key_spec;
};

/**
 * struct baleen_rule_entry - a single entry
 * @key: its key
 * @is_exception: exclude @key from the set
 * @origin: 1 to BALEEN_ORIGIN_BYTES - 1 printable bytes without blanks
 * @reason: UTF-8 without control characters; may be empty
 * @added_ms: since the epoch
 * @expires_ms: since the epoch; 0 for never
 * @yields: what is taken out of it where it is wider: enum baleen_entry_yields
 * @is_ban: filled in where it is read: of a shared scope, for all rules that take it
 */
struct baleen_rule_entry {
	struct baleen_entry_key key;
	bool is_exception;
	char origin[BALEEN_ORIGIN_BYTES];
	char reason[BALEEN_REASON_BYTES];
	u64 added_ms;
	u64 expires_ms;
	u32 yields;
	bool is_ban;
};

/**
 * enum baleen_entry_yields - protected addresses that an entry is not to drop
 * @BALEEN_YIELDS_HOST: own addresses, gateways and resolvers
 * @BALEEN_YIELDS_PEERS: peers of TCP sessions, those of the moment when it was put
 *
 * Every entry yields to the never-drop list and to never-names.
 */
enum baleen_entry_yields {
	BALEEN_YIELDS_HOST = 1,
	BALEEN_YIELDS_PEERS = 2,
};

/* Numbers of these together. */
#define BALEEN_N_YIELDS 4

/**
 * struct baleen_entry_text - a key as text
 * @text: the shortest form: 192.0.2.1, 192.0.2.0/24, 2001:db8::-2001:db8::7
 */
struct baleen_entry_text {
	char text[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * baleen_entry_key_text() - a key as text
 * @key: the key
 *
 * Return: the text.
 */
struct baleen_entry_text baleen_entry_key_text(const struct baleen_entry_key *key);

/**
 * baleen_rule_entry_text() - the key of an entry as text, behind `!` when it is an exception
 * @entry: the entry
 *
 * Return: the text.
 */
struct baleen_entry_text baleen_rule_entry_text(const struct baleen_rule_entry *entry);

/**
 * baleen_rule_entry_asked_text() - the same as it was asked for, which names the entry again
 * @entry: the entry
 *
 * Return: the text: a lone IPv6 address without a length, another one of one address with /128,
 *         and what else there is, exceptions included, as by baleen_rule_entry_text().
 */
struct baleen_entry_text baleen_rule_entry_asked_text(const struct baleen_rule_entry *entry);

/**
 * baleen_entry_key_fit() - let a lone address be as wide as a rule has it
 * @key: the key; any other stays as it is
 * @width: length of the prefix that it stands for
 */
void baleen_entry_key_fit(struct baleen_entry_key *key, u32 width);

/**
 * baleen_entry_key_compare() - order of two keys
 * @a: one key
 * @b: another of the same rule
 *
 * However wide a rule has them, two lone addresses are two keys.
 *
 * Return: below, equal to or above 0; by first address, then last.
 */
int baleen_entry_key_compare(const struct baleen_entry_key *a, const struct baleen_entry_key *b);

/**
 * baleen_rule_entry_compare() - order of two entries but for their origins
 * @a: one entry
 * @b: another of the same rule
 *
 * Return: below, equal to or above 0; by key, exceptions last.
 */
int baleen_rule_entry_compare(const struct baleen_rule_entry *a, const struct baleen_rule_entry *b);

/**
 * baleen_entry_key_is_addresses() - is it one of addresses?
 * @key: the key
 *
 * Return: true; false for a key of several fields.
 */
static inline bool baleen_entry_key_is_addresses(const struct baleen_entry_key *key)
{
	return !key->fields[0];
}

/**
 * baleen_entry_key_is_of() - is it a key of such a rule?
 * @key: the key
 * @key_spec: enum baleen_key_spec of the rule
 *
 * An entry of another key waits for a rule of its name that has such keys.
 *
 * Return: whether it is.
 */
static inline bool baleen_entry_key_is_of(const struct baleen_entry_key *key, u32 key_spec)
{
	return baleen_entry_key_is_addresses(key) ? baleen_spec_is_address(key_spec) :
						    key->key_spec == key_spec;
}

/**
 * baleen_entry_key_is_alone() - is it one address, or one key of several fields?
 * @key: the key
 *
 * Return: true; false for a prefix or range.
 */
bool baleen_entry_key_is_alone(const struct baleen_entry_key *key);

/**
 * baleen_entry_key_add() - put what a key stands for into a list
 * @key: the key
 * @is_exception: as an exception; addresses only
 * @list: of the keys of the rule
 *
 * Return: 0; -ENOMEM; -EINVAL when it is no key of the list.
 */
int baleen_entry_key_add(const struct baleen_entry_key *key, bool is_exception,
			 struct baleen_list *list);

/**
 * baleen_rule_entry_parse() - a key from text, in its shortest form
 * @text: KEY or !KEY
 * @key_spec: enum baleen_key_spec of the rule
 * @width: an IPv6 address without a length is a lone one, and stands for its prefix of this
 *         length, 32 to 128; BALEEN_AS_WRITTEN: for itself, as in a list
 * @entry: key and is_exception are filled in; untouched on failure
 * @error: filled in on failure
 *
 * Nobody is banned by an exception, so that is what is written.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_rule_entry_parse(const char *text, u32 key_spec, u32 width,
			    struct baleen_rule_entry *entry, struct baleen_error *error);

#endif /* BALEEN_RULE_ENTRY_KEY_H */
