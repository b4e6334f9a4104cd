/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key of a single entry as the database has it: bytes that sort and that
 * are found.
 */
#ifndef BALEEN_SINGLE_KEY_H
#define BALEEN_SINGLE_KEY_H

#include "state/entries.h"

/* Lengths of IPv6 prefixes stand apart from those of IPv4. */
#define BALEEN_SINGLE_IP6 1000
#define BALEEN_SINGLE_RANGE (-1)
#define BALEEN_SINGLE_ALONE (-2)

/**
 * struct baleen_single_key - a key, or all keys of a prefix or range
 * @text: in its shortest form
 * @length: of a prefix, BALEEN_SINGLE_IP6 more for IPv6; BALEEN_SINGLE_RANGE;
 *          BALEEN_SINGLE_ALONE
 * @first: the lowest; see state_schema.h
 * @n_first: bytes of it
 * @last: the highest
 * @n_last: bytes of it; 0 for a key alone
 */
struct baleen_single_key {
	char text[BALEEN_SINGLE_TEXT];
	int length;
	u8 first[BALEEN_SINGLE_TEXT];
	size_t n_first;
	u8 last[BALEEN_SINGLE_TEXT];
	size_t n_last;
};

/**
 * baleen_single_key_of_span() - the key of addresses side by side
 * @span: the addresses
 * @key: filled in
 */
void baleen_single_key_of_span(const struct baleen_span *span, struct baleen_single_key *key);

/**
 * baleen_single_key_of_text() - the key of what is stored, or to be
 * @text: that baleen_single_parse() gave
 * @key: filled in
 */
void baleen_single_key_of_text(const char *text, struct baleen_single_key *key);

#endif /* BALEEN_SINGLE_KEY_H */
