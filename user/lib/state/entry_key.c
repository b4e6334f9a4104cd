// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys of single entries: from people's text, and back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "list/list_entry.h"
#include "state/entry_key.h"

/* Bytes of a refused text that are printed. */
#define SHOWN 64

static bool is_mapped(struct baleen_ip6 address)
{
	return !address.hi && address.lo >> 32 == 0xffff;
}

static char *format_address(bool is_ip6, struct baleen_ip6 address, char *text)
{
	struct baleen_key key = { .domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4 };

	if (is_ip6) {
		key.hi = address.hi;
		key.lo = address.lo;
	} else {
		key.ip4 = address.lo;
	}
	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	return text + strlen(text);
}

static void format_span(const struct baleen_span *span, char *text)
{
	char *end = format_address(span->is_ip6, span->first, text);
	int length = baleen_span_length(span);

	if (!baleen_ip6_compare(span->first, span->last))
		return;
	if (length >= 0) {
		sprintf(end, "/%d", length);
	} else {
		*end = '-';
		format_address(span->is_ip6, span->last, end + 1);
	}
}

struct baleen_entry_text baleen_entry_key_text(const struct baleen_entry_key *key)
{
	struct baleen_entry_text made;

	if (baleen_entry_key_is_addresses(key))
		format_span(&key->span, made.text);
	else
		strcpy(made.text, key->fields);
	return made;
}

static struct baleen_entry_text mark_exception(const struct baleen_rule_entry *entry,
					       struct baleen_entry_text made)
{
	if (entry->is_exception) {
		memmove(made.text + 1, made.text, strlen(made.text) + 1);
		made.text[0] = '!';
	}
	return made;
}

struct baleen_entry_text baleen_rule_entry_text(const struct baleen_rule_entry *entry)
{
	return mark_exception(entry, baleen_entry_key_text(&entry->key));
}

struct baleen_entry_text baleen_rule_entry_asked_text(const struct baleen_rule_entry *entry)
{
	struct baleen_entry_key asked = entry->key;
	struct baleen_entry_text made;

	baleen_entry_key_fit(&asked, 128);
	made = baleen_entry_key_text(&asked);
	if (baleen_entry_key_is_addresses(&asked) && asked.span.is_ip6 && !asked.is_lone &&
	    !entry->is_exception && baleen_entry_key_is_alone(&asked))
		strcat(made.text, "/128");
	return mark_exception(entry, made);
}

void baleen_entry_key_fit(struct baleen_entry_key *key, u32 width)
{
	const struct baleen_span alone = { .is_ip6 = true,
					   .first = key->asked,
					   .last = key->asked };

	if (key->is_lone)
		key->span = baleen_span_prefix(&alone, width);
}

int baleen_entry_key_compare(const struct baleen_entry_key *a, const struct baleen_entry_key *b)
{
	int order = strcmp(a->fields, b->fields);

	if (!order && !baleen_entry_key_is_addresses(a))
		order = (int)a->key_spec - (int)b->key_spec;
	if (!order)
		order = a->span.is_ip6 - b->span.is_ip6;
	if (!order)
		order = baleen_ip6_compare(a->is_lone ? a->asked : a->span.first,
					   b->is_lone ? b->asked : b->span.first);
	if (!order)
		order = baleen_ip6_compare(a->is_lone ? a->asked : a->span.last,
					   b->is_lone ? b->asked : b->span.last);
	return order ? order : a->is_lone - b->is_lone;
}

int baleen_rule_entry_compare(const struct baleen_rule_entry *a, const struct baleen_rule_entry *b)
{
	int order = baleen_entry_key_compare(&a->key, &b->key);

	return order ? order : a->is_exception - b->is_exception;
}

bool baleen_entry_key_is_alone(const struct baleen_entry_key *key)
{
	return !baleen_entry_key_is_addresses(key) ||
	       !baleen_ip6_compare(key->span.first, key->span.last);
}

int baleen_entry_key_add(const struct baleen_entry_key *key, bool is_exception,
			 struct baleen_list *list)
{
	const struct baleen_entry entry = { .kind = BALEEN_ENTRY_SPAN,
					    .is_exception = is_exception,
					    .span = key->span };
	const char *ignored;

	if (baleen_entry_key_is_addresses(key) && list->key_spec &&
	    !baleen_spec_is_address(list->key_spec))
		return -EINVAL;
	if (baleen_entry_key_is_addresses(key))
		return baleen_list_append(list, &entry);
	return is_exception ? -EINVAL : baleen_list_add(list, key->fields, &ignored);
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

static int address_parse(const char *text, u32 width, struct baleen_entry_key *key,
			 const char **reason)
{
	if (span_parse(text, &key->span, reason))
		return -EINVAL;
	if (width != BALEEN_AS_WRITTEN && key->span.is_ip6 && !strpbrk(text, "/-")) {
		key->is_lone = true;
		key->asked = key->span.first;
		baleen_entry_key_fit(key, width);
	}
	return 0;
}

static int fields_parse(const char *text, u32 key_spec, struct baleen_entry_key *key,
			const char **reason)
{
	struct baleen_key fields;

	if (baleen_key_parse(text, strlen(text), key_spec, &fields, reason))
		return -EINVAL;
	baleen_key_format(&fields, key_spec, key->fields);
	key->key_spec = key_spec;
	return 0;
}

int baleen_rule_entry_parse(const char *text, u32 key_spec, u32 width,
			    struct baleen_rule_entry *entry, struct baleen_error *error)
{
	bool is_exception = *text == '!', is_address = baleen_spec_is_address(key_spec);
	const char *reason = "exception from keys of several fields";
	struct baleen_entry_key key = { .fields = "" };
	int err = -EINVAL;

	if (is_address)
		err = address_parse(text + is_exception, is_exception ? BALEEN_AS_WRITTEN : width,
				    &key, &reason);
	else if (!is_exception)
		err = fields_parse(text, key_spec, &key, &reason);
	if (err)
		return baleen_fail(error, EINVAL, "'%.*s%s': %s", SHOWN, text,
				   strlen(text) > SHOWN ? "..." : "", reason);
	entry->key = key;
	entry->is_exception = is_exception;
	return 0;
}
