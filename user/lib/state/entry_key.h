/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key of a single entry as the database has it: bytes that sort and that
 * are found.
 */
#ifndef BALEEN_RULE_ENTRY_KEY_H
#define BALEEN_RULE_ENTRY_KEY_H

#include "key/key_text.h"
#include "key/span.h"
#include "util/error.h"

#define BALEEN_ORIGIN_BYTES 64
#define BALEEN_REASON_BYTES 256
#define BALEEN_ORIGIN_MANUAL "manual"

/* Longest time to live, a thousand years of seconds: sums do not overflow. */
#define BALEEN_MAX_TTL_S 31557600000ull

/* Room for a key: two IPv6 addresses, a dash and an exclamation mark. */
#define BALEEN_RULE_ENTRY_TEXT (2 * BALEEN_KEY_TEXT)

/**
 * struct baleen_rule_entry - a single entry
 * @key: in its shortest form, such as 192.0.2.0/24, 2001:db8::/64 or
 *       tcp,192.0.2.1,198.51.100.7,40000,443
 * @is_exception: exclude @key from the set
 * @origin: 1 to BALEEN_ORIGIN_BYTES - 1 printable bytes without blanks
 * @reason: UTF-8 without control characters; may be empty
 * @added_ms: since the epoch
 * @expires_ms: since the epoch; 0 for never
 * @yields: what is taken out of it where it is wider: enum baleen_entry_yields
 */
struct baleen_rule_entry {
	char key[BALEEN_RULE_ENTRY_TEXT];
	bool is_exception;
	char origin[BALEEN_ORIGIN_BYTES];
	char reason[BALEEN_REASON_BYTES];
	u64 added_ms;
	u64 expires_ms;
	u32 yields;
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

/* Lengths of IPv6 prefixes stand apart from those of IPv4. */
#define BALEEN_RULE_ENTRY_IP6 1000
#define BALEEN_RULE_ENTRY_RANGE (-1)
#define BALEEN_RULE_ENTRY_ALONE (-2)

/**
 * struct baleen_entry_key - a key, or all keys of a prefix or range
 * @text: in its shortest form
 * @length: length of a prefix, BALEEN_RULE_ENTRY_IP6 more for IPv6; BALEEN_RULE_ENTRY_RANGE;
 *          BALEEN_RULE_ENTRY_ALONE
 * @first: the lowest; see state_schema.h
 * @n_first: bytes of it
 * @last: the highest
 * @n_last: bytes of it; 0 for a key alone
 */
struct baleen_entry_key {
	char text[BALEEN_RULE_ENTRY_TEXT];
	int length;
	u8 first[BALEEN_RULE_ENTRY_TEXT];
	size_t n_first;
	u8 last[BALEEN_RULE_ENTRY_TEXT];
	size_t n_last;
};

/**
 * baleen_entry_key_of_span() - the key of addresses side by side
 * @span: the addresses
 * @key: filled in
 */
void baleen_entry_key_of_span(const struct baleen_span *span, struct baleen_entry_key *key);

/**
 * baleen_entry_key_of_text() - the key of what is stored, or to be
 * @text: that baleen_rule_entry_parse() gave
 * @key: filled in
 */
void baleen_entry_key_of_text(const char *text, struct baleen_entry_key *key);

/**
 * baleen_rule_entry_parse() - a key from text, in its shortest form
 * @text: KEY or !KEY
 * @key_spec: enum baleen_key_spec of the rule
 * @width: a lone IPv6 address, without a length, stands for its prefix of this length, 32 to
 *         128
 * @entry: key and is_exception are filled in; untouched on failure
 * @is_widened: whether it was; may be NULL
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_rule_entry_parse(const char *text, u32 key_spec, u32 width,
			    struct baleen_rule_entry *entry, bool *is_widened,
			    struct baleen_error *error);

#endif /* BALEEN_RULE_ENTRY_KEY_H */
