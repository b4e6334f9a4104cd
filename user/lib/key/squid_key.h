/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of Squid's objects as text: a URL, which is fetched by GET, or the key itself
 * in hexadecimal digits, as store.log has it.
 *
 *      http://10.9.0.3/obj/1                    MD5 of the byte 1 and this text
 *      271B10FA47F72704CF53F2C5EACD81B0         that MD5
 *
 * The URL is hashed as it stands: Squid has put it into its own form before (lower
 * case host, no default port), and only that form finds the object. A key in hex cannot
 * be turned back into its URL.
 */
#ifndef BALEEN_SQUID_KEY_H
#define BALEEN_SQUID_KEY_H

#include <baleen/squid.h>

/* Bytes of the longest URL that Squid takes: its MAX_URL less the NUL. */
#define BALEEN_SQUID_MAX_URL 8191

#define BALEEN_SQUID_HEX_DIGITS 32

/**
 * baleen_squid_key_url() - the key of a URL
 * @url: any bytes
 * @n_bytes: how many
 * @key: filled in
 */
void baleen_squid_key_url(const char *url, size_t n_bytes, struct baleen_key *key);

/**
 * baleen_squid_key_hex() - the key that stands there
 * @text: its hexadecimal digits, of either case
 * @n_bytes: bytes of @text
 * @key: untouched on failure
 *
 * Return: 0, or -EINVAL unless there are 32 such digits and nothing else.
 */
int baleen_squid_key_hex(const char *text, size_t n_bytes, struct baleen_key *key);

/**
 * baleen_squid_key_text() - a key as people give it
 * @text: a URL or hexadecimal digits and nothing else
 * @n_bytes: bytes of @text
 * @key: untouched on failure
 * @reason: why not, a constant string; untouched on success
 *
 * Return: 0 or -EINVAL.
 */
int baleen_squid_key_text(const char *text, size_t n_bytes, struct baleen_key *key,
			  const char **reason);

/**
 * baleen_squid_key_format() - a key as hexadecimal digits
 * @key: the key
 * @text: room for BALEEN_SQUID_HEX_DIGITS and a NUL; upper case, as in store.log
 */
void baleen_squid_key_format(const struct baleen_key *key, char *text);

#endif /* BALEEN_SQUID_KEY_H */
