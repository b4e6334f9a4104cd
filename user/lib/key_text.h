/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys as text: addresses, prefixes and ranges.
 */
#ifndef BALEEN_KEY_TEXT_H
#define BALEEN_KEY_TEXT_H

#include <baleen/key.h>

#define BALEEN_KEY_TEXT 64

/**
 * struct baleen_span - the addresses that one entry of a list stands for
 * @first: lowest address
 * @last: highest address, of the same domain; equals @first for one address
 */
struct baleen_span {
	struct baleen_key first;
	struct baleen_key last;
};

/**
 * baleen_key_parse() - one address from text
 * @text: an IPv4 or IPv6 address and nothing else
 * @length: bytes of @text
 * @key: the key; untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * An IPv4-mapped IPv6 address (::ffff:192.0.2.1) is the IPv4 key.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_key_parse(const char *text, size_t length, struct baleen_key *key, const char **reason);

/**
 * baleen_key_format() - a key as text
 * @key: the key
 * @text: at least BALEEN_KEY_TEXT bytes; the canonical form of RFC 5952
 */
void baleen_key_format(const struct baleen_key *key, char *text);

/**
 * baleen_key_compare() - order of two keys
 * @a: one key
 * @b: the other
 *
 * Return: -1, 0 or 1 as @a comes before, is or comes after @b; IPv4 comes
 * before IPv6.
 */
int baleen_key_compare(const struct baleen_key *a, const struct baleen_key *b);

/**
 * baleen_span_parse() - an address, prefix or range from text
 * @text: ADDR, ADDR/LEN or ADDR-ADDR and nothing else
 * @length: bytes of @text
 * @span: its addresses, however many; untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * Bits below the prefix length are masked. A prefix of IPv4-mapped IPv6
 * addresses is the IPv4 prefix.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_span_parse(const char *text, size_t length, struct baleen_span *span,
		      const char **reason);

/**
 * baleen_ip4_scan() - the IPv4 address at the start of a text
 * @text: ends with any byte that is neither a digit nor a dot
 * @ip4: the address as a number; untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * Return: where the address ends, or NULL.
 */
const char *baleen_ip4_scan(const char *text, u32 *ip4, const char **reason);

#endif /* BALEEN_KEY_TEXT_H */
