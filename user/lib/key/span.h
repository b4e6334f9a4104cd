/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses that one entry of a list stands for: an address, prefix or
 * range.
 */
#ifndef BALEEN_SPAN_H
#define BALEEN_SPAN_H

#include <baleen/key.h>

/**
 * struct baleen_ip6 - an IPv6 address as two numbers
 * @hi: bits 127..64
 * @lo: bits 63..0
 */
struct baleen_ip6 {
	u64 hi;
	u64 lo;
};

/**
 * struct baleen_span - addresses side by side
 * @is_ip6: they are IPv6; else each stands as an IPv4-mapped IPv6 address
 * @first: lowest address
 * @last: highest address; equals @first for one address
 */
struct baleen_span {
	bool is_ip6;
	struct baleen_ip6 first;
	struct baleen_ip6 last;
};

/**
 * baleen_span_of_ip4() - one IPv4 address
 * @ip4: as a number
 *
 * Return: the span of it.
 */
static inline struct baleen_span baleen_span_of_ip4(u32 ip4)
{
	struct baleen_ip6 mapped = { 0, 0xffff00000000ull | ip4 };

	return (struct baleen_span){ .first = mapped, .last = mapped };
}

/**
 * baleen_ip6_compare() - order of two addresses
 * @a: one address
 * @b: the other
 *
 * Return: -1, 0 or 1 as @a comes before, is or comes after @b.
 */
static inline int baleen_ip6_compare(struct baleen_ip6 a, struct baleen_ip6 b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return a.lo < b.lo ? -1 : a.lo > b.lo;
}

/**
 * baleen_ip6_of_key() - an address as a number
 * @key: an address, of domain BALEEN_IP4 or BALEEN_IP6
 *
 * Return: the number; of an IPv4 address that of the mapped IPv6 address.
 */
struct baleen_ip6 baleen_ip6_of_key(const struct baleen_key *key);

/**
 * baleen_span_parse() - an address, prefix or range from text
 * @text: ADDR, ADDR/LEN or ADDR-ADDR and nothing else
 * @length: bytes of @text
 * @span: its addresses, however many; untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * Bits below the prefix length are masked. An IPv4-mapped IPv6 address, also
 * with /128, is the IPv4 address; a shorter prefix or a range of them is IPv6,
 * as it is written.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_span_parse(const char *text, size_t length, struct baleen_span *span,
		      const char **reason);

/**
 * baleen_span_has_host_bits() - is a prefix written with bits below its length?
 * @text: ADDR, ADDR/LEN or ADDR-ADDR and nothing else
 *
 * Return: true of 10.1.2.3/8, which stands for 10.0.0.0/8.
 */
bool baleen_span_has_host_bits(const char *text);

/**
 * baleen_span_holds() - is an address in a span?
 * @span: the span
 * @key: an address, of domain BALEEN_IP4 or BALEEN_IP6
 *
 * Return: true or false.
 */
bool baleen_span_holds(const struct baleen_span *span, const struct baleen_key *key);

/**
 * baleen_span_first_key() - the lowest address of a span
 * @span: the span
 *
 * Return: the address.
 */
struct baleen_key baleen_span_first_key(const struct baleen_span *span);

/**
 * baleen_span_covers() - is a span in another one?
 * @outer: the other one
 * @inner: the span
 *
 * Return: true or false.
 */
bool baleen_span_covers(const struct baleen_span *outer, const struct baleen_span *inner);

/**
 * baleen_span_prefix() - the prefix that an address is in
 * @span: its lowest address is asked for
 * @length: length of the prefix: 0 to 32 for IPv4, 0 to 128 for IPv6
 *
 * Return: the prefix.
 */
struct baleen_span baleen_span_prefix(const struct baleen_span *span, u32 length);

/**
 * baleen_span_length() - is a span a prefix?
 * @span: the span
 *
 * Return: the prefix length, 0 to 32 for IPv4 or 0 to 128 for IPv6; -1 when it is none.
 */
int baleen_span_length(const struct baleen_span *span);

/**
 * baleen_span_split() - take the first prefix off a span
 * @span: becomes what is left
 * @prefix: the prefix
 *
 * The widest prefix that begins where @span does and is in it; so a range falls
 * into the fewest prefixes: 62 of IPv4, 254 of IPv6 at most.
 *
 * Return: the prefix length, 0 to 32 for IPv4 or 0 to 128 for IPv6. When
 * @prefix ends where @span did, @span is left as it was.
 */
u32 baleen_span_split(struct baleen_span *span, struct baleen_span *prefix);

#endif /* BALEEN_SPAN_H */
