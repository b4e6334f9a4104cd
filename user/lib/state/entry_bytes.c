// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys of single entries as bytes of the database. */
#include <string.h>

#include "state/entry_bytes.h"

/* The first byte tells what follows. */
#define FAMILY_IP4 4
#define FAMILY_IP6 6
#define FIELDS 0x80
#define IP4_BYTES 5
#define IP6_BYTES 17
/* Sorts before all last addresses. */
#define LONE 0

static size_t write_address(bool is_ip6, struct baleen_ip6 address, u8 *bytes)
{
	u64 hi_be = baleen_be64(address.hi), lo_be = baleen_be64(address.lo);

	bytes[0] = is_ip6 ? FAMILY_IP6 : FAMILY_IP4;
	if (!is_ip6) {
		memcpy(bytes + 1, (u8 *)&lo_be + 4, 4);
		return IP4_BYTES;
	}
	memcpy(bytes + 1, &hi_be, 8);
	memcpy(bytes + 9, &lo_be, 8);
	return IP6_BYTES;
}

static bool read_address(const u8 *bytes, size_t n, bool *is_ip6, struct baleen_ip6 *address)
{
	u64 hi_be, lo_be;
	u32 ip4_be;

	*is_ip6 = n == IP6_BYTES;
	if (n == IP4_BYTES && bytes[0] == FAMILY_IP4) {
		memcpy(&ip4_be, bytes + 1, sizeof(ip4_be));
		*address = baleen_span_of_ip4(baleen_be32(ip4_be)).first;
		return true;
	}
	if (!*is_ip6 || bytes[0] != FAMILY_IP6)
		return false;
	memcpy(&hi_be, bytes + 1, 8);
	memcpy(&lo_be, bytes + 9, 8);
	*address = (struct baleen_ip6){ baleen_be64(hi_be), baleen_be64(lo_be) };
	return true;
}

static int length_of(const struct baleen_span *span)
{
	int length = baleen_span_length(span);

	if (!baleen_ip6_compare(span->first, span->last))
		return BALEEN_RULE_ENTRY_ALONE;
	if (length < 0)
		return BALEEN_RULE_ENTRY_RANGE;
	return span->is_ip6 ? BALEEN_RULE_ENTRY_IP6 + length : length;
}

void baleen_entry_bytes_of_span(const struct baleen_span *span, struct baleen_entry_bytes *bytes)
{
	bytes->length = length_of(span);
	bytes->n_first = write_address(span->is_ip6, span->first, bytes->first);
	bytes->n_last = bytes->length == BALEEN_RULE_ENTRY_ALONE ?
				0 :
				write_address(span->is_ip6, span->last, bytes->last);
}

void baleen_entry_bytes_of(const struct baleen_entry_key *key, struct baleen_entry_bytes *bytes)
{
	struct baleen_entry_key alone = *key;

	if (baleen_entry_key_is_addresses(key)) {
		baleen_entry_key_fit(&alone, 128);
		baleen_entry_bytes_of_span(&alone.span, bytes);
		if (key->is_lone)
			bytes->last[bytes->n_last++] = LONE;
		return;
	}
	bytes->length = BALEEN_RULE_ENTRY_ALONE;
	bytes->first[0] = FIELDS | key->key_spec;
	bytes->n_first = 1 + strlen(key->fields);
	memcpy(bytes->first + 1, key->fields, bytes->n_first - 1);
	bytes->n_last = 0;
}

static bool read_fields(const u8 *bytes, size_t n, struct baleen_entry_key *key)
{
	struct baleen_entry_key made = { .key_spec = bytes[0] & ~FIELDS };

	if (n < 2 || n > sizeof(made.fields) || memchr(bytes, '\0', n))
		return false;
	memcpy(made.fields, bytes + 1, n - 1);
	*key = made;
	return true;
}

bool baleen_entry_bytes_read(const u8 *first, size_t n_first, const u8 *last, size_t n_last,
			     struct baleen_entry_key *key)
{
	bool is_ip6, is_lone = n_last == 1 && *last == LONE;
	struct baleen_span span;

	if (n_first && first[0] & FIELDS)
		return !n_last && read_fields(first, n_first, key);
	if (!read_address(first, n_first, &span.is_ip6, &span.first) || (is_lone && !span.is_ip6))
		return false;
	span.last = span.first;
	if (n_last && !is_lone &&
	    (!read_address(last, n_last, &is_ip6, &span.last) || is_ip6 != span.is_ip6 ||
	     baleen_ip6_compare(span.first, span.last) >= 0))
		return false;
	*key = (struct baleen_entry_key){ .span = span,
					  .is_lone = is_lone,
					  .asked =
						  is_lone ? span.first : (struct baleen_ip6){ 0 } };
	return true;
}
