// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys of Squid's objects as text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "key/squid_key.h"
#include "util/md5_stream.h"

void baleen_squid_key_url(const char *url, size_t n_bytes, struct baleen_key *key)
{
	const u8 method = BALEEN_SQUID_GET;
	struct baleen_md5_stream stream;
	struct baleen_md5 md5;

	baleen_md5_start(&stream);
	baleen_md5_update(&stream, &method, sizeof(method));
	baleen_md5_update(&stream, url, n_bytes);
	md5 = baleen_md5_end(&stream);
	*key = baleen_squid_key(baleen_md5_hi(&md5), baleen_md5_lo(&md5));
}

/* Above 15 when it is none. */
static u32 hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	/* Upper and lower case differ in one bit. */
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

int baleen_squid_key_hex(const char *text, size_t n_bytes, struct baleen_key *key)
{
	u64 half[2] = { 0 };

	if (n_bytes != BALEEN_SQUID_HEX_DIGITS)
		return -EINVAL;
	for (u32 i = 0; i < BALEEN_SQUID_HEX_DIGITS; i++) {
		u32 digit = hex_digit(text[i]);

		if (digit > 15)
			return -EINVAL;
		half[i / 16] = half[i / 16] << 4 | digit;
	}
	*key = baleen_squid_key(half[0], half[1]);
	return 0;
}

/* Squid's store has no URL with white space or control characters in it. */
static bool has_white_space(const char *text, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		if ((u8)text[i] <= ' ' || text[i] == 0x7f)
			return true;
	return false;
}

/* RFC 3986 section 3.1. */
static bool is_scheme(const char *text, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++) {
		char lower = text[i] | 0x20;
		bool is_letter = lower >= 'a' && lower <= 'z';
		bool is_other = (text[i] >= '0' && text[i] <= '9') || text[i] == '+' ||
				text[i] == '-' || text[i] == '.';

		if (!is_letter && (!i || !is_other))
			return false;
	}
	return n_bytes;
}

static bool is_hex(const char *text, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		if (hex_digit(text[i]) > 15)
			return false;
	return n_bytes;
}

int baleen_squid_key_text(const char *text, size_t n_bytes, struct baleen_key *key,
			  const char **reason)
{
	const char *colon;

	if (!baleen_squid_key_hex(text, n_bytes, key))
		return 0;
	colon = memmem(text, n_bytes, "://", 3);
	if (!colon && is_hex(text, n_bytes))
		*reason = "not 32 hexadecimal digits";
	else if (!colon)
		*reason = "neither a URL, which has ://, nor 32 hexadecimal digits";
	else if (!is_scheme(text, colon - text))
		*reason = "a URL without a scheme";
	else if (has_white_space(text, n_bytes))
		*reason = "white space in a URL";
	else if (n_bytes > BALEEN_SQUID_MAX_URL)
		*reason = "URL above 8191 bytes, which Squid refuses";
	else {
		baleen_squid_key_url(text, n_bytes, key);
		return 0;
	}
	return -EINVAL;
}

void baleen_squid_key_format(const struct baleen_key *key, char *text)
{
	sprintf(text, "%016llX%016llX", (unsigned long long)key->hi, (unsigned long long)key->lo);
}
