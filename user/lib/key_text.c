// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys as text: addresses, prefixes and ranges. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>

#include "key_text.h"

/* Two IPv6 addresses of 45 bytes, a dash and a NUL fit. */
#define TEXT_ROOM 96

static const char not_an_address[] = "not an address";

static int invalid(const char **reason, const char *why)
{
	*reason = why;
	return -EINVAL;
}

/* Above 9 when it is none. */
static inline u32 digit_at(const char *p)
{
	return (u8)*p - '0';
}

static const char *octet_missing(char found, const char **reason)
{
	if (found == '.')
		*reason = "empty octet";
	else if (found == '\0')
		*reason = "fewer than four octets";
	else
		*reason = not_an_address;
	return NULL;
}

/* Each byte is looked at only after a digit, so the end of the text stops it. */
static inline const char *octet_scan(const char *p, u32 *octet, const char **reason)
{
	u32 value = digit_at(p);
	u32 digit;

	if (value > 9)
		return octet_missing(*p, reason);
	digit = digit_at(++p);
	if (digit <= 9) {
		if (!value) {
			*reason = "octet with a leading zero: decimal or octal?";
			return NULL;
		}
		value = value * 10 + digit;
		digit = digit_at(++p);
	}
	if (digit <= 9) {
		value = value * 10 + digit;
		digit = digit_at(++p);
	}
	if (digit <= 9 || value > 255) {
		*reason = "octet above 255";
		return NULL;
	}
	*octet = value;
	return p;
}

const char *baleen_ip4_scan(const char *text, u32 *ip4, const char **reason)
{
	const char *p = text;
	u32 value = 0, octet = 0;

	for (int i = 0; i < 4; i++) {
		if (i && *p++ != '.')
			return octet_missing(p[-1], reason);
		p = octet_scan(p, &octet, reason);
		if (!p)
			return NULL;
		value = value << 8 | octet;
	}
	*ip4 = value;
	return p;
}

static bool is_host_name(const char *text)
{
	bool letter = false;

	for (; *text; text++) {
		if (!isalnum((u8)*text) && *text != '.' && *text != '_')
			return false;
		letter |= isalpha((u8)*text) != 0;
	}
	return letter;
}

static int ip4_parse(const char *text, struct baleen_key *key, const char **reason)
{
	const char *why = NULL;
	u32 ip4 = 0;
	const char *end = baleen_ip4_scan(text, &ip4, &why);

	if (!end && why == not_an_address && is_host_name(text))
		why = "a host name, not an address";
	if (!end)
		return invalid(reason, why);
	if (*end)
		return invalid(reason,
			       *end == '.' ? "more than four octets" : "text behind the address");
	*key = (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = ip4 };
	return 0;
}

static const char *ip6_reason(const char *text)
{
	const char *ignored, *end;
	u32 ip4;

	end = baleen_ip4_scan(text, &ip4, &ignored);
	if (end && *end == ':')
		return "ports are not supported";
	if (strchr(text, '%'))
		return "IPv6 zones are not supported";
	if (text[strspn(text, "0123456789abcdefABCDEF:.")])
		return not_an_address;
	return "malformed IPv6 address";
}

static int ip6_parse(const char *text, struct baleen_key *key, const char **reason)
{
	struct in6_addr address;

	if (inet_pton(AF_INET6, text, &address) != 1)
		return invalid(reason, ip6_reason(text));
	*key = IN6_IS_ADDR_V4MAPPED(&address) ? baleen_key_ip4(&address.s6_addr[12]) :
						baleen_key_ip6(&address);
	return 0;
}

static bool is_ip6(const char *text)
{
	return strchr(text, ':');
}

static int address_parse(const char *text, struct baleen_key *key, const char **reason)
{
	if (!*text)
		return invalid(reason, not_an_address);
	return is_ip6(text) ? ip6_parse(text, key, reason) : ip4_parse(text, key, reason);
}

static int prefix_length_parse(const char *text, u32 max, u32 *length, const char **reason)
{
	size_t n_digits = strspn(text, "0123456789");

	if (!n_digits || text[n_digits])
		return invalid(reason, "prefix length is not a number");
	if (text[0] == '0' && n_digits > 1)
		return invalid(reason, "prefix length with a leading zero");
	if (n_digits > 3 || strtoul(text, NULL, 10) > max)
		return invalid(reason,
			       max == 32 ? "prefix length above 32" : "prefix length above 128");
	*length = strtoul(text, NULL, 10);
	return 0;
}

static struct baleen_span span_of_prefix(struct baleen_key key, u32 length)
{
	struct baleen_span span = { .first = key, .last = key };
	u64 host_hi = length < 64 ? ~0ull >> length : 0;
	u64 host_lo = length < 64 ? ~0ull : length < 128 ? ~0ull >> (length - 64) : 0;
	u32 host_ip4 = length < 32 ? ~0u >> length : 0;

	if (key.domain == BALEEN_IP4) {
		span.first.ip4 &= ~host_ip4;
		span.last.ip4 |= host_ip4;
	} else {
		span.first.hi &= ~host_hi;
		span.first.lo &= ~host_lo;
		span.last.hi |= host_hi;
		span.last.lo |= host_lo;
	}
	return span;
}

static int prefix_parse(const char *address, const char *length_text, struct baleen_span *span,
			const char **reason)
{
	struct baleen_key key;
	u32 length = 0;
	int ret;

	ret = address_parse(address, &key, reason);
	if (!ret)
		ret = prefix_length_parse(length_text, is_ip6(address) ? 128 : 32, &length, reason);
	if (ret)
		return ret;
	if (key.domain == BALEEN_IP4 && is_ip6(address)) {
		if (length < 96)
			return invalid(reason, "prefix of more than the IPv4-mapped addresses");
		length -= 96;
	}
	*span = span_of_prefix(key, length);
	return 0;
}

static int range_parse(const char *first, const char *last, struct baleen_span *span,
		       const char **reason)
{
	struct baleen_span parsed;
	int ret;

	ret = address_parse(first, &parsed.first, reason);
	if (!ret)
		ret = address_parse(last, &parsed.last, reason);
	if (ret)
		return ret;
	if (parsed.first.domain != parsed.last.domain)
		return invalid(reason, "range from one address family to the other");
	if (baleen_key_compare(&parsed.first, &parsed.last) > 0)
		return invalid(reason, "range ends before it begins");
	*span = parsed;
	return 0;
}

/* Splits @text, which is changed, at the first @separator. */
static char *split(char *text, char separator)
{
	char *at = strchr(text, separator);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

static int span_parse(char *text, struct baleen_span *span, const char **reason)
{
	struct baleen_key key;
	char *right;
	int ret;

	right = split(text, '-');
	if (right)
		return range_parse(text, right, span, reason);
	right = split(text, '/');
	if (right)
		return prefix_parse(text, right, span, reason);
	ret = address_parse(text, &key, reason);
	if (!ret)
		*span = (struct baleen_span){ .first = key, .last = key };
	return ret;
}

static int text_copy(char *copy, const char *text, size_t length, const char **reason)
{
	if (memchr(text, '\0', length))
		return invalid(reason, "NUL byte");
	if (length >= TEXT_ROOM)
		return invalid(reason, not_an_address);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return 0;
}

int baleen_span_parse(const char *text, size_t length, struct baleen_span *span,
		      const char **reason)
{
	struct baleen_span parsed;
	char copy[TEXT_ROOM];
	char *field;
	int ret;

	ret = text_copy(copy, text, length, reason);
	if (ret)
		return ret;
	/* As in the ipset keys 192.0.2.1,tcp:80 and 192.0.2.0/24,eth0. */
	field = split(copy, ',');
	ret = span_parse(copy, &parsed, reason);
	if (!ret && field)
		return invalid(reason, "keys with a port or second field are not supported");
	if (!ret)
		*span = parsed;
	return ret;
}

int baleen_key_parse(const char *text, size_t length, struct baleen_key *key, const char **reason)
{
	char copy[TEXT_ROOM];
	int ret;

	ret = text_copy(copy, text, length, reason);
	return ret ? ret : address_parse(copy, key, reason);
}

static char *octet_format(char *p, u32 octet)
{
	if (octet >= 100)
		*p++ = '0' + octet / 100;
	if (octet >= 10)
		*p++ = '0' + octet / 10 % 10;
	*p++ = '0' + octet % 10;
	return p;
}

static void ip6_format(const struct baleen_key *key, char *text)
{
	u64 half_be[2] = { baleen_be64(key->hi), baleen_be64(key->lo) };

	inet_ntop(AF_INET6, half_be, text, BALEEN_KEY_TEXT);
}

void baleen_key_format(const struct baleen_key *key, char *text)
{
	if (key->domain != BALEEN_IP4) {
		ip6_format(key, text);
		return;
	}
	for (int shift = 24; shift >= 0; shift -= 8) {
		text = octet_format(text, key->ip4 >> shift & 255);
		*text++ = shift ? '.' : '\0';
	}
}

int baleen_key_compare(const struct baleen_key *a, const struct baleen_key *b)
{
	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	if (a->domain == BALEEN_IP4)
		return a->ip4 < b->ip4 ? -1 : a->ip4 > b->ip4;
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	return a->lo < b->lo ? -1 : a->lo > b->lo;
}
