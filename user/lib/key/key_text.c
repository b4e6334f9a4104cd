// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys as text. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <baleen/image.h>
#include <baleen/packet.h>

#include "key/key_text.h"
#include "key/squid_key.h"
#include "util/protocol.h"

/* Every key that can be right fits, and a NUL. */
#define TEXT_ROOM BALEEN_KEY_TEXT

/* One more than a key can have. */
#define MAX_WORDS 6

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
		return "port behind the address";
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

int baleen_address_parse(const char *text, struct baleen_key *key, const char **reason)
{
	if (!*text)
		return invalid(reason, not_an_address);
	return strchr(text, ':') ? ip6_parse(text, key, reason) : ip4_parse(text, key, reason);
}

/* --- keys of several fields --- */

static bool is_prefix_or_range(const char *text)
{
	size_t length = strcspn(text, "/-");
	struct baleen_key key;
	const char *ignored;
	char address[TEXT_ROOM];

	memcpy(address, text, length);
	address[length] = '\0';
	return text[length] && !baleen_address_parse(address, &key, &ignored);
}

static int address_field(const char *text, u64 *hi, u64 *lo, bool *is_ip6, const char **reason)
{
	struct baleen_key key;

	if (is_prefix_or_range(text))
		return invalid(reason, "prefix or range in a key of several fields");
	if (baleen_address_parse(text, &key, reason))
		return -EINVAL;
	*is_ip6 = key.domain == BALEEN_IP6;
	*hi = key.hi;
	*lo = *is_ip6 ? key.lo : key.ip4;
	return 0;
}

static int port_field(const char *text, u16 *port, const char **reason)
{
	size_t n_digits = strspn(text, "0123456789");

	if (n_digits && text[n_digits] == '-')
		return invalid(reason, "range of ports in a key");
	if (text[n_digits] && strchr(text, ':'))
		return invalid(reason, "a protocol, but the key has none");
	if (!n_digits || text[n_digits])
		return invalid(reason, "port is not a number");
	if (text[0] == '0' && n_digits > 1)
		return invalid(reason, "port with a leading zero");
	if (n_digits > 5 || strtoul(text, NULL, 10) > 0xffff)
		return invalid(reason, "port above 65535");
	*port = strtoul(text, NULL, 10);
	return 0;
}

static int field_parse(u32 field, const char *text, struct baleen_fields *fields, bool *is_ip6,
		       const char **reason)
{
	switch (field) {
	case BALEEN_KEY_SRC:
		return address_field(text, &fields->src_hi, &fields->src_lo, is_ip6, reason);
	case BALEEN_KEY_DST:
		return address_field(text, &fields->dst_hi, &fields->dst_lo, is_ip6, reason);
	case BALEEN_KEY_SPORT: return port_field(text, &fields->sport, reason);
	case BALEEN_KEY_DPORT: return port_field(text, &fields->dport, reason);
	default:
		if (baleen_protocol_parse(text, &fields->proto))
			return invalid(reason, "protocol is no known name or number up to 255");
		return 0;
	}
}

/* The order in which the fields are written. */
static const u32 field_order[] = {
	BALEEN_KEY_PROTO, BALEEN_KEY_SRC, BALEEN_KEY_DST, BALEEN_KEY_SPORT, BALEEN_KEY_DPORT,
};

#define N_FIELDS (sizeof(field_order) / sizeof(field_order[0]))

/* Splits @text, which is changed, at its commas. */
static u32 split_words(char *text, char *words[MAX_WORDS])
{
	u32 n = 0;

	do {
		words[n++] = text;
		text = strchr(text, ',');
		if (text)
			*text++ = '\0';
	} while (text && n < MAX_WORDS);
	return n;
}

/* Turns `192.0.2.1`, `tcp:80` into `tcp`, `192.0.2.1`, `80`. */
static u32 from_ipset(u32 spec, char *words[MAX_WORDS], u32 n)
{
	u32 addresses = spec & (BALEEN_KEY_SRC | BALEEN_KEY_DST), ports = spec & BALEEN_KEY_PORTS;
	char *colon = n == 2 ? strchr(words[1], ':') : NULL;

	if (!colon || !(spec & BALEEN_KEY_PROTO) || !addresses || !ports ||
	    addresses == (BALEEN_KEY_SRC | BALEEN_KEY_DST) || ports == BALEEN_KEY_PORTS)
		return n;
	*colon = '\0';
	words[2] = colon + 1;
	colon = words[1];
	words[1] = words[0];
	words[0] = colon;
	return 3;
}

static int fields_parse(char *text, u32 spec, struct baleen_fields *fields, const char **reason)
{
	bool is_ip6 = false, has_address = false;
	char *words[MAX_WORDS];
	u32 n = from_ipset(spec, words, split_words(text, words)), next = 0;

	for (size_t i = 0; i < N_FIELDS; i++) {
		u32 field = spec & field_order[i];

		if (!field)
			continue;
		if (next == n)
			return invalid(reason, "fewer fields than the key has");
		if (field_parse(field, words[next++], fields, &is_ip6, reason))
			return -EINVAL;
		if (!(field & (BALEEN_KEY_SRC | BALEEN_KEY_DST)))
			continue;
		if (has_address && is_ip6 != fields->is_ip6)
			return invalid(reason, "addresses of two families");
		fields->is_ip6 = is_ip6;
		has_address = true;
	}
	if (next < n)
		return invalid(reason, "more fields than the key has");
	if (spec & BALEEN_KEY_PROTO && !baleen_proto_has_ports(fields->proto) &&
	    (fields->sport || fields->dport))
		return invalid(reason, "protocol without ports: 0 stands for them");
	return 0;
}

/* --- fingerprints --- */

/* As many of the highest bits as there are digits, and in the lowest how many: a table does
 * not come so far, see BALEEN_FORM_BITS.
 */
static int fingerprint_parse(const char *text, struct baleen_key *key, const char **reason)
{
	u64 bits = 0, n_bits = 0;

	for (; *text; text++) {
		if (*text == ':')
			continue;
		if (*text != '0' && *text != '1')
			return invalid(reason, "a fingerprint is binary digits");
		if (n_bits == BALEEN_FORM_BITS)
			return invalid(reason, "a fingerprint of more than 32 bits");
		bits = bits << 1 | (*text - '0');
		n_bits++;
	}
	if (!n_bits)
		return invalid(reason, "a fingerprint without a digit");
	*key = (struct baleen_key){
		.domain = BALEEN_WORD,
		.lo = baleen_unmix64(bits << (64 - n_bits) | n_bits),
	};
	return 0;
}

u32 baleen_fingerprint_digits(const struct baleen_key *key)
{
	return baleen_mix64(key->lo) & 63;
}

static void fingerprint_format(const struct baleen_key *key, char *text)
{
	u64 bits = baleen_mix64(key->lo);
	u32 n_bits = baleen_fingerprint_digits(key);

	for (; n_bits; n_bits--, bits <<= 1)
		*text++ = '0' + (bits >> 63);
	*text = '\0';
}

/* --- keys --- */

int baleen_key_parse(const char *text, size_t length, u32 spec, struct baleen_key *key,
		     const char **reason)
{
	struct baleen_fields fields = { 0 };
	char copy[TEXT_ROOM];

	if (spec == BALEEN_KEY_STRING)
		return invalid(reason, "a string, whose key depends on the filter");
	if (spec == BALEEN_KEY_SQUID)
		return baleen_squid_key_text(text, length, key, reason);
	if (memchr(text, '\0', length))
		return invalid(reason, "NUL byte");
	if (length >= TEXT_ROOM)
		return invalid(reason, baleen_spec_is_address(spec) ? not_an_address : "not a key");
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (spec == BALEEN_KEY_FINGERPRINT)
		return fingerprint_parse(copy, key, reason);
	if (fields_parse(copy, spec, &fields, reason))
		return -EINVAL;
	*key = baleen_key_fields(spec, &fields);
	return 0;
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

/* Return: the end of the text, where its NUL is. */
static char *address_format(bool is_ip6, u64 hi, u64 lo, char *text)
{
	u64 half_be[2] = { baleen_be64(hi), baleen_be64(lo) };

	if (is_ip6) {
		inet_ntop(AF_INET6, half_be, text, INET6_ADDRSTRLEN);
		return text + strlen(text);
	}
	for (int shift = 24; shift >= 0; shift -= 8) {
		text = octet_format(text, lo >> shift & 255);
		*text++ = '.';
	}
	*--text = '\0';
	return text;
}

/* Undoes baleen_key_pack(). */
static struct baleen_fields word_fields(u64 word, u32 spec)
{
	struct baleen_fields fields = { 0 };

	if (spec & BALEEN_KEY_DPORT) {
		fields.dport = word;
		word >>= 16;
	}
	if (spec & BALEEN_KEY_SPORT) {
		fields.sport = word;
		word >>= 16;
	}
	if (spec & BALEEN_KEY_DST) {
		fields.dst_lo = (u32)word;
		word >>= 32;
	}
	if (spec & BALEEN_KEY_SRC) {
		fields.src_lo = (u32)word;
		word >>= 32;
	}
	fields.proto = word;
	return fields;
}

static struct baleen_fields key_fields(const struct baleen_key *key, u32 spec)
{
	if (key->domain == BALEEN_WORD)
		return word_fields(key->lo, spec);
	return (struct baleen_fields){
		.is_ip6 = key->rest >> 40,
		.src_hi = key->hi,
		.src_lo = key->lo,
		.dst_hi = key->dst_hi,
		.dst_lo = key->dst_lo,
		.sport = key->rest >> 16,
		.dport = key->rest,
		.proto = key->rest >> 32,
	};
}

static char *field_format(u32 field, const struct baleen_fields *fields, char *text)
{
	switch (field) {
	case BALEEN_KEY_SRC:
		return address_format(fields->is_ip6, fields->src_hi, fields->src_lo, text);
	case BALEEN_KEY_DST:
		return address_format(fields->is_ip6, fields->dst_hi, fields->dst_lo, text);
	case BALEEN_KEY_SPORT: return text + sprintf(text, "%u", fields->sport);
	case BALEEN_KEY_DPORT: return text + sprintf(text, "%u", fields->dport);
	default: baleen_protocol_text(fields->proto, text); return text + strlen(text);
	}
}

void baleen_key_format(const struct baleen_key *key, u32 spec, char *text)
{
	struct baleen_fields fields;
	bool is_first = true;

	if (spec == BALEEN_KEY_STRING) {
		sprintf(text, "string of hash %016llx", (unsigned long long)key->hi);
		return;
	}
	if (spec == BALEEN_KEY_SQUID) {
		baleen_squid_key_format(key, text);
		return;
	}
	if (spec == BALEEN_KEY_FINGERPRINT) {
		fingerprint_format(key, text);
		return;
	}
	if (key->domain <= BALEEN_IP6) {
		bool is_ip6 = key->domain == BALEEN_IP6;

		address_format(is_ip6, key->hi, is_ip6 ? key->lo : key->ip4, text);
		return;
	}
	fields = key_fields(key, spec);
	*text = '\0';
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (!(spec & field_order[i]))
			continue;
		if (!is_first)
			*text++ = ',';
		text = field_format(field_order[i], &fields, text);
		is_first = false;
	}
}

int baleen_key_compare(const struct baleen_key *a, const struct baleen_key *b)
{
	const u64 x[] = { a->domain, a->ip4, a->hi, a->lo, a->dst_hi, a->dst_lo, a->rest };
	const u64 y[] = { b->domain, b->ip4, b->hi, b->lo, b->dst_hi, b->dst_lo, b->rest };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}
