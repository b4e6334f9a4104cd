/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key of a single entry as the database has it: bytes that sort and that
 * are found.
 */
#ifndef BALEEN_RULE_ENTRY_KEY_H
#define BALEEN_RULE_ENTRY_KEY_H

#include "state/entries.h"

/* Lengths of IPv6 prefixes stand apart from those of IPv4. */
#define BALEEN_RULE_ENTRY_IP6 1000
#define BALEEN_RULE_ENTRY_RANGE (-1)
#define BALEEN_RULE_ENTRY_ALONE (-2)

/**
 * struct baleen_entry_key - a key, or all keys of a prefix or range
 * @text: in its shortest form
 * @length: of a prefix, BALEEN_RULE_ENTRY_IP6 more for IPv6; BALEEN_RULE_ENTRY_RANGE;
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

#endif /* BALEEN_RULE_ENTRY_KEY_H */
