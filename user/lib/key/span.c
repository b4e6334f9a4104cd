// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The addresses that one entry of a list stands for. */
#include <stdlib.h>

#include "key/key_text.h"
#include "key/span.h"

/* Two IPv6 addresses of 45 bytes, a dash and a NUL fit. */
#define TEXT_ROOM 96

static int invalid(const char **reason, const char *why)
{
	*reason = why;
	return -EINVAL;
}

struct baleen_ip6 baleen_ip6_of_key(const struct baleen_key *key)
{
	if (key->domain == BALEEN_IP4)
		return baleen_span_of_ip4(key->ip4).first;
	return (struct baleen_ip6){ key->hi, key->lo };
}

/* Only a single IPv4-mapped address stands for the IPv4 host: lists of bogons hold
 * ::ffff:0:0/96, and whoever drops that does not mean all of IPv4.
 */
static bool is_written_as_ip6(const char *address)
{
	return strchr(address, ':');
}

/* The lowest @n_bits set, 0 to 128 of them. */
static struct baleen_ip6 low_bits(u32 n_bits)
{
	struct baleen_ip6 mask = { 0, ~0ull };

	if (n_bits < 64)
		mask.lo = (1ull << n_bits) - 1;
	else if (n_bits > 64)
		mask.hi = ~0ull >> (128 - n_bits);
	return mask;
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

static int prefix_parse(const char *address, const char *length_text, struct baleen_span *span,
			const char **reason)
{
	bool is_ip6 = is_written_as_ip6(address);
	struct baleen_ip6 number, host;
	struct baleen_key key;
	u32 length = 0;
	int ret;

	ret = baleen_address_parse(address, &key, reason);
	if (!ret)
		ret = prefix_length_parse(length_text, is_ip6 ? 128 : 32, &length, reason);
	if (ret)
		return ret;
	host = low_bits((is_ip6 ? 128 : 32) - length);
	number = baleen_ip6_of_key(&key);
	*span = (struct baleen_span){
		.is_ip6 = is_ip6 && (length < 128 || key.domain == BALEEN_IP6),
		.first = { number.hi & ~host.hi, number.lo & ~host.lo },
		.last = { number.hi | host.hi, number.lo | host.lo },
	};
	return 0;
}

static int range_parse(const char *first, const char *last, struct baleen_span *span,
		       const char **reason)
{
	struct baleen_ip6 low_number, high_number;
	struct baleen_key low, high;
	int ret;

	ret = baleen_address_parse(first, &low, reason);
	if (!ret)
		ret = baleen_address_parse(last, &high, reason);
	if (ret)
		return ret;
	if (is_written_as_ip6(first) != is_written_as_ip6(last))
		return invalid(reason, "range from one address family to the other");
	low_number = baleen_ip6_of_key(&low);
	high_number = baleen_ip6_of_key(&high);
	if (baleen_ip6_compare(low_number, high_number) > 0)
		return invalid(reason, "range ends before it begins");
	*span = (struct baleen_span){
		.is_ip6 = is_written_as_ip6(first),
		.first = low_number,
		.last = high_number,
	};
	return 0;
}

static int host_parse(const char *address, struct baleen_span *span, const char **reason)
{
	struct baleen_key key;
	int ret = baleen_address_parse(address, &key, reason);

	if (ret)
		return ret;
	*span = (struct baleen_span){
		.is_ip6 = key.domain == BALEEN_IP6,
		.first = baleen_ip6_of_key(&key),
		.last = baleen_ip6_of_key(&key),
	};
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

static int parse(char *text, struct baleen_span *span, const char **reason)
{
	char *right;

	right = split(text, '-');
	if (right)
		return range_parse(text, right, span, reason);
	right = split(text, '/');
	if (right)
		return prefix_parse(text, right, span, reason);
	return host_parse(text, span, reason);
}

int baleen_span_parse(const char *text, size_t length, struct baleen_span *span,
		      const char **reason)
{
	struct baleen_span parsed;
	char copy[TEXT_ROOM];
	char *field;
	int ret;

	if (memchr(text, '\0', length))
		return invalid(reason, "NUL byte");
	if (length >= TEXT_ROOM)
		return invalid(reason, "not an address");
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* As in the ipset keys 192.0.2.1,tcp:80 and 192.0.2.0/24,eth0. */
	field = split(copy, ',');
	ret = parse(copy, &parsed, reason);
	if (!ret && field)
		return invalid(reason, "more fields than the key has");
	if (!ret)
		*span = parsed;
	return ret;
}

bool baleen_span_has_host_bits(const char *text)
{
	const char *slash = strchr(text, '/'), *ignored;
	struct baleen_span span;
	struct baleen_key key;
	char address[TEXT_ROOM];

	if (!slash || (size_t)(slash - text) >= sizeof(address) ||
	    baleen_span_parse(text, strlen(text), &span, &ignored))
		return false;
	memcpy(address, text, slash - text);
	address[slash - text] = '\0';
	return !baleen_address_parse(address, &key, &ignored) &&
	       baleen_ip6_compare(baleen_ip6_of_key(&key), span.first);
}

bool baleen_span_holds(const struct baleen_span *span, const struct baleen_key *key)
{
	struct baleen_ip6 number = baleen_ip6_of_key(key);

	return span->is_ip6 == (key->domain == BALEEN_IP6) &&
	       baleen_ip6_compare(span->first, number) <= 0 &&
	       baleen_ip6_compare(number, span->last) <= 0;
}

struct baleen_key baleen_span_first_key(const struct baleen_span *span)
{
	if (span->is_ip6)
		return (struct baleen_key){ .domain = BALEEN_IP6,
					    .hi = span->first.hi,
					    .lo = span->first.lo };
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = span->first.lo };
}

bool baleen_span_covers(const struct baleen_span *outer, const struct baleen_span *inner)
{
	return outer->is_ip6 == inner->is_ip6 &&
	       baleen_ip6_compare(outer->first, inner->first) <= 0 &&
	       baleen_ip6_compare(inner->last, outer->last) <= 0;
}

static u32 trailing_zeros(struct baleen_ip6 number)
{
	if (number.lo)
		return __builtin_ctzll(number.lo);
	return number.hi ? 64 + __builtin_ctzll(number.hi) : 128;
}

/* Binary logarithm, rounded down, of how many addresses there are. */
static u32 log2_size(const struct baleen_span *span)
{
	u64 hi = span->last.hi - span->first.hi - (span->last.lo < span->first.lo);
	u64 lo = span->last.lo - span->first.lo + 1;

	if (!lo && !++hi)
		return 128;
	return hi ? 127 - __builtin_clzll(hi) : 63 - __builtin_clzll(lo);
}

struct baleen_span baleen_span_prefix(const struct baleen_span *span, u32 length)
{
	struct baleen_ip6 host = low_bits((span->is_ip6 ? 128 : 32) - length);
	struct baleen_span prefix = *span;

	prefix.first.hi &= ~host.hi;
	prefix.first.lo &= ~host.lo;
	prefix.last.hi = prefix.first.hi | host.hi;
	prefix.last.lo = prefix.first.lo | host.lo;
	return prefix;
}

u32 baleen_span_split(struct baleen_span *span, struct baleen_span *prefix)
{
	u32 aligned = trailing_zeros(span->first), fits = log2_size(span);
	u32 n_bits = aligned < fits ? aligned : fits;
	struct baleen_ip6 host = low_bits(n_bits);

	*prefix = *span;
	prefix->last.hi = span->first.hi | host.hi;
	prefix->last.lo = span->first.lo | host.lo;
	if (baleen_ip6_compare(prefix->last, span->last)) {
		span->first.lo = prefix->last.lo + 1;
		span->first.hi = prefix->last.hi + !span->first.lo;
	}
	return (span->is_ip6 ? 128 : 32) - n_bits;
}

int baleen_span_length(const struct baleen_span *span)
{
	struct baleen_span rest = *span, prefix;
	int length = baleen_span_split(&rest, &prefix);

	return baleen_ip6_compare(prefix.last, span->last) ? -1 : length;
}
