// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The entries of a set as nft -j prints it. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key/span.h"
#include "list/import_formats.h"
#include "list/import_sets.h"

#define NAME_BYTES 256
#define KEY_BYTES 128

/* nft 1.1 prints of `timeout never` the milliseconds that the kernel keeps, ~0, as seconds. */
#define NEVER_S (~0ull / 1000)

/**
 * struct reader - a set that is read
 * @importer: the set to read
 * @file: name of the file in messages
 * @error: for the first failure
 * @name: name of the set in messages
 * @is_ip6: the type of its keys
 * @is_typed: @is_ip6 is known; of `typeof` the first key tells it
 * @timeout_s: timeout of entries that have none; 0: they stay
 * @hands_on: all has been understood
 */
struct reader {
	const struct baleen_importer *importer;
	const char *file;
	struct baleen_error *error;
	char name[NAME_BYTES];
	bool is_ip6;
	bool is_typed;
	u64 timeout_s;
	bool hands_on;
};

/* @json in the message: what is not understood. */
static int fail_json(const struct reader *reader, const json_t *json, const char *reason)
{
	char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
	int err = baleen_fail(reader->error, EINVAL, "%s: set %s: %.100s: %s", reader->file,
			      reader->name, text ?: "?", reason);

	free(text);
	return err;
}

/* --- keys --- */

static bool put_address(char *key, const char *address, const char *separator, const char *rest)
{
	return snprintf(key, KEY_BYTES, "%s%s%s", address, separator, rest) < KEY_BYTES;
}

/* {"prefix": {"addr": A, "len": N}} */
static bool put_prefix(char *key, const json_t *prefix)
{
	const json_t *address = json_object_get(prefix, "addr");
	const json_t *length = json_object_get(prefix, "len");
	char text[24];

	if (!json_is_string(address) || !json_is_integer(length))
		return false;
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(length));
	return put_address(key, json_string_value(address), "/", text);
}

/* {"range": [A, B]} */
static bool put_range(char *key, const json_t *range)
{
	const json_t *first = json_array_get(range, 0), *last = json_array_get(range, 1);

	return json_array_size(range) == 2 && json_is_string(first) && json_is_string(last) &&
	       put_address(key, json_string_value(first), "-", json_string_value(last));
}

static int make_key(struct reader *reader, const json_t *value, char *key)
{
	const json_t *prefix = json_object_get(value, "prefix");
	const json_t *range = json_object_get(value, "range");
	const char *reason =
		reader->is_typed ? "not an address, prefix or range" : "keys that are no addresses";
	struct baleen_span span;
	bool is_put;

	if (json_object_get(value, "concat"))
		return fail_json(reader, value, "a concatenation, which Baleen does not support");
	if (json_is_string(value))
		is_put = put_address(key, json_string_value(value), "", "");
	else
		is_put = prefix ? put_prefix(key, prefix) : put_range(key, range);
	if (!is_put || *key == '!' || baleen_span_parse(key, strlen(key), &span, &reason))
		return fail_json(reader, value, reason);
	if (!reader->is_typed)
		reader->is_ip6 = span.is_ip6;
	reader->is_typed = true;
	if (span.is_ip6 != reader->is_ip6)
		return fail_json(reader, value, "not of the type of the set");
	return 0;
}

/* --- elements --- */

/* Less than a second counts as one: 0 would mean for ever. */
static int parse_seconds(const struct reader *reader, const json_t *json, u64 *seconds)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return fail_json(reader, json, "not a number of seconds");
	*seconds = json_integer_value(json) ?: 1;
	if (*seconds == NEVER_S)
		*seconds = 0;
	return 0;
}

/* Statements such as a limit make an element match at times only. */
static int check_members(const struct reader *reader, json_t *elem)
{
	static const char *const known[] = { "val",	"timeout", "expires",
					     "comment", "counter", "last" };
	const char *name;
	json_t *value;

	json_object_foreach(elem, name, value) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(name, known[i]))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return fail_json(reader, elem,
					 "has more than an address, a time and a comment");
	}
	return 0;
}

/* {"elem": {"val": KEY, "timeout": N, "expires": N, "comment": TEXT}} */
static int parse_members(const struct reader *reader, json_t *elem,
			 struct baleen_import_entry *entry)
{
	const json_t *expires = json_object_get(elem, "expires");
	const json_t *comment = json_object_get(elem, "comment");
	int err = check_members(reader, elem);

	if (!expires)
		expires = json_object_get(elem, "timeout");
	if (!err && expires)
		err = parse_seconds(reader, expires, &entry->expires_s);
	if (!err && comment && !json_is_string(comment))
		err = fail_json(reader, elem, "its comment is no text");
	if (!err && comment)
		entry->comment = json_string_value(comment);
	return err;
}

static int parse_element(struct reader *reader, json_t *element)
{
	json_t *elem = json_object_get(element, "elem");
	char key[KEY_BYTES];
	struct baleen_import_entry entry = {
		.key = key,
		.expires_s = reader->timeout_s,
		.comment = "",
	};
	int err = elem ? parse_members(reader, elem, &entry) : 0;

	if (!err)
		err = make_key(reader, elem ? json_object_get(elem, "val") : element, key);
	if (err || !reader->hands_on)
		return err;
	return reader->importer->on_entry(reader->importer->data, &entry, reader->error);
}

static int parse_elements(struct reader *reader, const json_t *elements)
{
	json_t *element;
	size_t i;
	int err = 0;

	json_array_foreach(elements, i, element) {
		err = parse_element(reader, element);
		if (err)
			break;
	}
	return err;
}

/* --- sets --- */

static int parse_type(struct reader *reader, const json_t *set)
{
	const json_t *type = json_object_get(set, "type");
	const json_t *expression = json_object_get(type, "typeof");
	const char *text = json_is_string(type) ? json_string_value(type) : "";

	/* nft 1.1 prints the expression of `typeof`, where 1.0 prints its type. */
	reader->is_typed = !expression;
	reader->is_ip6 = !strcmp(text, "ipv6_addr");
	if (json_is_array(type) || json_object_get(expression, "concat"))
		return fail_json(reader, type, "concatenations, which Baleen does not support");
	if (!expression && !reader->is_ip6 && strcmp(text, "ipv4_addr"))
		return fail_json(reader, type, "keys that are no addresses");
	return 0;
}

static int parse_set(struct reader *reader, const json_t *set)
{
	const json_t *elements = json_object_get(set, "elem");
	const json_t *timeout = json_object_get(set, "timeout");
	int err = parse_type(reader, set);

	if (!err && timeout)
		err = parse_seconds(reader, timeout, &reader->timeout_s);
	if (!err && elements && !json_is_array(elements))
		err = fail_json(reader, elements, "not an array");
	if (!err)
		err = parse_elements(reader, elements);
	reader->hands_on = true;
	return err ? err : parse_elements(reader, elements);
}

static const char *member(const json_t *set, const char *name)
{
	return json_string_value(json_object_get(set, name)) ?: "?";
}

/* FAMILY/TABLE/NAME */
static void full_name(const json_t *set, char *name)
{
	snprintf(name, NAME_BYTES, "%s/%s/%s", member(set, "family"), member(set, "table"),
		 member(set, "name"));
}

/* The next set of the ruleset from @i on, or NULL. */
static const json_t *next_set(const json_t *objects, size_t *i)
{
	const json_t *set = NULL;

	while (!set && *i < json_array_size(objects))
		set = json_object_get(json_array_get(objects, (*i)++), "set");
	return set;
}

static const json_t *choose_set(struct reader *reader, const json_t *objects, int *err)
{
	struct baleen_import_sets sets = { 0 };
	const char *wanted = reader->importer->set;
	const json_t *set, *chosen = NULL;
	size_t i = 0;

	while ((set = next_set(objects, &i))) {
		bool is_named;

		full_name(set, reader->name);
		is_named = !wanted || !strcmp(wanted, reader->name) ||
			   !strcmp(wanted, member(set, "name"));
		baleen_import_sets_add(&sets, reader->name, is_named);
		chosen = is_named ? set : chosen;
	}
	*err = baleen_import_sets_choose(&sets, reader->importer->set, reader->file, reader->error);
	if (chosen)
		full_name(chosen, reader->name);
	return chosen;
}

int baleen_import_nft(const struct baleen_importer *importer, struct baleen_import_text *text,
		      struct baleen_error *error)
{
	struct reader reader = { .importer = importer, .file = text->name, .error = error };
	const json_t *objects, *set;
	json_error_t what;
	json_t *json = json_loadb(text->bytes, text->n_bytes, JSON_REJECT_DUPLICATES, &what);
	int err;

	objects = json_object_get(json, "nftables");
	if (!json) {
		err = baleen_fail(error, EINVAL, "%s:%d: not JSON: %s", text->name, what.line,
				  what.text);
	} else if (!json_is_array(objects)) {
		err = baleen_fail(error, EINVAL, "%s: not what nft -j prints", text->name);
	} else {
		set = choose_set(&reader, objects, &err);
		if (!err)
			err = parse_set(&reader, set);
	}
	json_decref(json);
	return err;
}
