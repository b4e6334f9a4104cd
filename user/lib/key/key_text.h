/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys as text.
 *
 * The fields of a key stand in the order proto, src, dst, sport, dport, with
 * commas between: `192.0.2.1` for src, `192.0.2.1,443` for src,dport,
 * `tcp,192.0.2.1,198.51.100.2,40000,443` for flow. Protocols go by name or
 * number (protocol.h). ipset's `192.0.2.1,tcp:443` is read for keys of proto,
 * one address and one port; without proto in the key it would be tcp and udp
 * alike, so it is refused there. A key of Squid is a URL or 32 hexadecimal digits
 * (squid_key.h). A fingerprint is 1 to 32 binary digits, the highest first, with a colon
 * between quotient and remainder for who likes: `10001:001010`.
 */
#ifndef BALEEN_KEY_TEXT_H
#define BALEEN_KEY_TEXT_H

#include <baleen/key.h>

#define BALEEN_KEY_TEXT 128

/**
 * baleen_key_parse() - a key from text
 * @text: the fields of the key and nothing else
 * @length: bytes of @text
 * @spec: enum baleen_key_spec; not BALEEN_KEY_STRING, see baleen_string_key()
 * @key: the key; untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * An IPv4-mapped IPv6 address (::ffff:192.0.2.1) is the IPv4 address. Both
 * addresses of a key are of one family; the ports of a protocol without ports
 * are 0.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_key_parse(const char *text, size_t length, u32 spec, struct baleen_key *key,
		     const char **reason);

/**
 * baleen_key_format() - a key as text
 * @key: the key
 * @spec: enum baleen_key_spec that it was made with
 * @text: at least BALEEN_KEY_TEXT bytes; addresses in the form of RFC 5952; of a
 *        string, which a key does not hold, its hash; of Squid, hexadecimal digits
 */
void baleen_key_format(const struct baleen_key *key, u32 spec, char *text);

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
 * baleen_address_parse() - the key of an address from text
 * @text: an IPv4 or IPv6 address and nothing else, NUL-terminated
 * @key: key of domain BALEEN_IP4, also when it is IPv4-mapped, or BALEEN_IP6;
 *       untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * Return: 0 or -EINVAL.
 */
int baleen_address_parse(const char *text, struct baleen_key *key, const char **reason);

/**
 * baleen_ip4_scan() - the IPv4 address at the start of a text
 * @text: ends with any byte that is neither a digit nor a dot
 * @ip4: the address as a number; untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * Return: where the address ends, or NULL.
 */
const char *baleen_ip4_scan(const char *text, u32 *ip4, const char **reason);

/**
 * baleen_fingerprint_digits() - how long the text of a fingerprint was
 * @key: a key of BALEEN_KEY_FINGERPRINT
 *
 * Return: 1 to 32 binary digits.
 */
u32 baleen_fingerprint_digits(const struct baleen_key *key);

#endif /* BALEEN_KEY_TEXT_H */
