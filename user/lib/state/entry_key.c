// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys of single entries: from people's text to bytes that are found. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state/entry_key.h"

#define FAMILY_IP4 4
#define FAMILY_IP6 6

/* Bytes of a refused text that are printed. */
#define SHOWN 64

static bool is_mapped(struct baleen_ip6 address)
{
	return !address.hi && address.lo >> 32 == 0xffff;
}

static size_t address_bytes(bool is_ip6, struct baleen_ip6 address, u8 *bytes)
{
	u64 hi_be = baleen_be64(address.hi), lo_be = baleen_be64(address.lo);

	bytes[0] = is_ip6 ? FAMILY_IP6 : FAMILY_IP4;
	if (!is_ip6) {
		memcpy(bytes + 1, (u8 *)&lo_be + 4, 4);
		return 5;
	}
	memcpy(bytes + 1, &hi_be, 8);
	memcpy(bytes + 9, &lo_be, 8);
	return 17;
}

static size_t address_text(bool is_ip6, struct baleen_ip6 address, char *text)
{
	struct baleen_key key = { .domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4 };

	if (is_ip6) {
		key.hi = address.hi;
		key.lo = address.lo;
	} else {
		key.ip4 = address.lo;
	}
	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	return strlen(text);
}

/* BALEEN_RULE_ENTRY_RANGE when the span is no prefix. */
static int prefix_length(struct baleen_span span)
{
	struct baleen_ip6 last = span.last;
	struct baleen_span prefix;
	int length = baleen_span_split(&span, &prefix);

	return baleen_ip6_compare(prefix.last, last) ? BALEEN_RULE_ENTRY_RANGE : length;
}

void baleen_entry_key_of_span(const struct baleen_span *span, struct baleen_entry_key *key)
{
	bool is_alone = !baleen_ip6_compare(span->first, span->last);
	int length = is_alone ? BALEEN_RULE_ENTRY_ALONE : prefix_length(*span);
	char *end = key->text + address_text(span->is_ip6, span->first, key->text);

	key->n_first = address_bytes(span->is_ip6, span->first, key->first);
	key->n_last = is_alone ? 0 : address_bytes(span->is_ip6, span->last, key->last);
	key->length = length >= 0 && span->is_ip6 ? BALEEN_RULE_ENTRY_IP6 + length : length;
	if (length >= 0) {
		sprintf(end, "/%d", length);
	} else if (length == BALEEN_RULE_ENTRY_RANGE) {
		*end = '-';
		address_text(span->is_ip6, span->last, end + 1);
	}
}

static int span_parse(const char *text, struct baleen_span *span, const char **reason)
{
	int err = baleen_span_parse(text, strlen(text), span, reason);

	/* A range of one mapped address is an IPv4 address, too: there is no
	 * other way to write it.
	 */
	if (!err && is_mapped(span->first) && !baleen_ip6_compare(span->first, span->last))
		span->is_ip6 = false;
	return err;
}

/* No key of several fields is an address, and none of them a prefix or range. */
void baleen_entry_key_of_text(const char *text, struct baleen_entry_key *key)
{
	struct baleen_span span;
	const char *reason;

	if (!span_parse(text, &span, &reason)) {
		baleen_entry_key_of_span(&span, key);
		return;
	}
	snprintf(key->text, sizeof(key->text), "%s", text);
	key->length = BALEEN_RULE_ENTRY_ALONE;
	key->n_first = strlen(key->text);
	memcpy(key->first, key->text, key->n_first);
	key->n_last = 0;
}

/* A lone address to the prefix of a length that it is in. */
static bool widen(const char *text, u32 width, struct baleen_span *span)
{
	if (strpbrk(text, "/-") || !span->is_ip6 || width >= 128)
		return false;
	*span = baleen_span_prefix(span, width);
	return true;
}

static int address_parse(const char *text, u32 width, struct baleen_entry_key *key,
			 bool *is_widened, const char **reason)
{
	struct baleen_span span;

	if (span_parse(text, &span, reason))
		return -EINVAL;
	*is_widened = widen(text, width, &span);
	baleen_entry_key_of_span(&span, key);
	return 0;
}

static int fields_parse(const char *text, u32 key_spec, struct baleen_entry_key *key,
			const char **reason)
{
	struct baleen_key fields;

	if (baleen_key_parse(text, strlen(text), key_spec, &fields, reason))
		return -EINVAL;
	baleen_key_format(&fields, key_spec, key->text);
	return 0;
}

int baleen_rule_entry_parse(const char *text, u32 key_spec, u32 width,
			    struct baleen_rule_entry *entry, bool *is_widened,
			    struct baleen_error *error)
{
	bool is_exception = *text == '!', is_address = baleen_spec_is_address(key_spec);
	const char *reason = "exception from keys of several fields";
	struct baleen_entry_key key;
	bool widened = false;
	int err = -EINVAL;

	/* Nobody is banned by an exception, so it says what it means. */
	if (is_address)
		err = address_parse(text + is_exception, is_exception ? 128 : width, &key, &widened,
				    &reason);
	else if (!is_exception)
		err = fields_parse(text, key_spec, &key, &reason);
	if (err)
		return baleen_fail(error, EINVAL, "'%.*s%s': %s", SHOWN, text,
				   strlen(text) > SHOWN ? "..." : "", reason);
	strcpy(entry->key, key.text);
	entry->is_exception = is_exception;
	if (is_widened)
		*is_widened = widened;
	return 0;
}
