/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key of a single entry as the database has it: bytes that sort and that
 * are found.
 */
#ifndef BALEEN_RULE_ENTRY_BYTES_H
#define BALEEN_RULE_ENTRY_BYTES_H

#include "state/entry_key.h"

/* Lengths of IPv6 prefixes stand apart from those of IPv4. */
#define BALEEN_RULE_ENTRY_IP6 1000
#define BALEEN_RULE_ENTRY_RANGE (-1)
#define BALEEN_RULE_ENTRY_ALONE (-2)

/**
 * struct baleen_entry_bytes - a key, or all keys of a prefix or range
 * @length: length of a prefix, BALEEN_RULE_ENTRY_IP6 more for IPv6; BALEEN_RULE_ENTRY_RANGE;
 *          BALEEN_RULE_ENTRY_ALONE
 * @first: the lowest: the family, 4 or 6, and the address; or which fields, 128 more than their
 *         enum baleen_key_spec, and these as text
 * @n_first: bytes of it
 * @last: the highest
 * @n_last: bytes of it; 0 for a key alone, and 1, of 0, for a lone IPv6 address, of which the
 *          rule says how wide it is
 */
struct baleen_entry_bytes {
	int length;
	u8 first[BALEEN_KEY_TEXT];
	size_t n_first;
	u8 last[BALEEN_KEY_TEXT];
	size_t n_last;
};

/**
 * baleen_entry_bytes_of() - a key as bytes
 * @key: the key
 * @bytes: filled in
 */
void baleen_entry_bytes_of(const struct baleen_entry_key *key, struct baleen_entry_bytes *bytes);

/**
 * baleen_entry_bytes_of_span() - addresses as bytes
 * @span: the addresses
 * @bytes: filled in
 */
void baleen_entry_bytes_of_span(const struct baleen_span *span, struct baleen_entry_bytes *bytes);

/**
 * baleen_entry_bytes_read() - a key of bytes
 * @first: as of struct baleen_entry_bytes
 * @n_first: bytes of it
 * @last: as there
 * @n_last: bytes of it
 * @key: filled in
 *
 * Return: false when they are none.
 */
bool baleen_entry_bytes_read(const u8 *first, size_t n_first, const u8 *last, size_t n_last,
			     struct baleen_entry_key *key);

#endif /* BALEEN_RULE_ENTRY_BYTES_H */
