// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries as baleen export writes them: an object of JSON a line. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "list/import_formats.h"
#include "util/unpack.h"
#include "util/utc.h"

/**
 * struct reader - a file that is read
 * @importer: what to do with its entries
 * @name: of the file in messages
 * @line: number of the line at hand
 * @hands_on: all has been understood
 * @error: for the first failure
 */
struct reader {
	const struct baleen_importer *importer;
	const char *name;
	u64 line;
	bool hands_on;
	struct baleen_error *error;
};

static int fail_line(const struct reader *reader, const char *what, const char *reason)
{
	return baleen_fail(reader->error, EINVAL, "%s:%llu: %s: %s", reader->name,
			   (unsigned long long)reader->line, what, reason);
}

/* A member that may be missing, or null. */
static int get_text(const struct reader *reader, const json_t *object, const char *name,
		    const char **text)
{
	const json_t *member = json_object_get(object, name);

	if (!member || json_is_null(member))
		return 0;
	if (!json_is_string(member))
		return fail_line(reader, name, "no text");
	*text = json_string_value(member);
	return 0;
}

static int get_time(const struct reader *reader, const json_t *object, const char *name, u64 *ms)
{
	const char *text = NULL;
	int err = get_text(reader, object, name, &text);

	if (err || !text)
		return err;
	if (baleen_utc_parse(text, ms) || !*ms)
		return fail_line(reader, name, "not a time such as 2026-11-27T18:00:00Z");
	return 0;
}

/* A member that is not known may change what is meant. */
static int check_names(const struct reader *reader, json_t *object)
{
	static const char *const known[] = { "rule", "key", "origin", "reason", "since", "end" };
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(name, known[i]))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return fail_line(reader, name, "not a member that export writes");
	}
	return 0;
}

static int parse_object(const struct reader *reader, json_t *object)
{
	struct baleen_import_entry entry = { .comment = "", .line = reader->line };
	int err;

	if (!json_is_object(object))
		return fail_line(reader, "JSON", "no object: baleen export prints one a line");
	err = check_names(reader, object);
	if (!err)
		err = get_text(reader, object, "key", &entry.key);
	if (!err && !entry.key)
		err = fail_line(reader, "key", "is missing");
	if (!err)
		err = get_text(reader, object, "rule", &entry.rule);
	if (!err)
		err = get_text(reader, object, "origin", &entry.origin);
	if (!err)
		err = get_text(reader, object, "reason", &entry.comment);
	if (!err)
		err = get_time(reader, object, "since", &entry.since_ms);
	if (!err)
		err = get_time(reader, object, "end", &entry.end_ms);
	if (err || !reader->hands_on)
		return err;
	entry.is_exception = *entry.key == '!';
	entry.key += entry.is_exception;
	return reader->importer->on_entry(reader->importer->data, &entry, reader->error);
}

static int parse_line(const struct reader *reader, const char *line, size_t length)
{
	json_error_t what;
	json_t *object;
	int err;

	if (strspn(line, " \t\r") >= length)
		return 0;
	object = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &what);
	if (!object && line[strspn(line, " \t")] == '[')
		return fail_line(reader, "JSON", "an array: baleen export prints an object a line");
	if (!object)
		return fail_line(reader, "not JSON", what.text);
	err = parse_object(reader, object);
	json_decref(object);
	return err;
}

static int parse_lines(struct reader *reader, const char *text)
{
	int err = 0;

	for (reader->line = 1; *text && !err; reader->line++) {
		size_t length = strcspn(text, "\n");

		err = parse_line(reader, text, length);
		text += length + (text[length] == '\n');
	}
	return err;
}

/* Twice: nothing is handed on before all has been understood. */
int baleen_import_json(const struct baleen_importer *importer, struct baleen_import_text *text,
		       struct baleen_error *error)
{
	struct reader reader = { .importer = importer, .name = text->name, .error = error };
	const char *start = text->bytes + baleen_unpack_mark(text->bytes, text->n_bytes);
	int err = parse_lines(&reader, start);

	reader.hands_on = true;
	return err ? err : parse_lines(&reader, start);
}
