// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Strings of JSON as a list of keys. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "list/json_list.h"
#include "util/unpack.h"

#define MAX_PATHS 8
#define MAX_STEPS 12
#define NAME_BYTES 64

/**
 * struct step - a step of a path
 * @is_each: to each element; else to the member
 * @name: its name
 */
struct step {
	bool is_each;
	char name[NAME_BYTES];
};

/**
 * struct path - a way to values
 * @step: its steps
 * @n: how many
 * @text: as typed, to its comma
 * @length: of @text
 * @leads: something was found at its end, or an empty array on the way
 */
struct path {
	struct step step[MAX_STEPS];
	u32 n;
	const char *text;
	size_t length;
	bool leads;
};

/**
 * struct reader - a file that is read
 * @name: its name in messages
 * @options: the conditions
 * @has_member: of each condition: a member of its name was found
 * @path: the paths
 * @n_paths: how many
 * @parent: the objects and arrays around the value at hand, outermost first
 * @n_parents: how many
 * @line: where the text at hand begins
 * @n_lines: lines of the list so far
 * @counts: so far
 * @out: the list
 * @error: for the first failure
 */
struct reader {
	const char *name;
	const struct baleen_csv_options *options;
	bool has_member[BALEEN_CSV_MAX_WHERE];
	struct path path[MAX_PATHS];
	u32 n_paths;
	const json_t *parent[MAX_STEPS];
	u32 n_parents;
	u64 line;
	u64 n_lines;
	struct baleen_csv_counts counts;
	FILE *out;
	struct baleen_error *error;
};

/* --- paths --- */

static int fail_path(const char *text, struct baleen_error *error)
{
	return baleen_fail(error, EINVAL,
			   "'%.100s' is no path of JSON: .prefixes[].ip_prefix, .[].value, or "
			   "several with commas between",
			   text);
}

/* `.name`, `[]` or `.[]`; a dot alone is none. Return: what is behind it, or NULL. */
static const char *parse_step(const char *p, bool is_first, struct step *step)
{
	size_t length;

	*step = (struct step){ 0 };
	if (is_first && *p != '.')
		return NULL;
	if (is_first && p[1] == '[')
		p++;
	if (!strncmp(p, "[]", 2)) {
		step->is_each = true;
		return p + 2;
	}
	if (*p++ != '.')
		return NULL;
	length = strcspn(p, ".[],\"\n");
	if (!length || length >= sizeof(step->name))
		return NULL;
	memcpy(step->name, p, length);
	return p + length;
}

static const char *parse_path(const char *p, struct path *path)
{
	*path = (struct path){ .text = p };
	while (p && *p && *p != ',') {
		if (path->n == MAX_STEPS)
			return NULL;
		p = parse_step(p, !path->n, &path->step[path->n]);
		path->n++;
	}
	if (p)
		path->length = p - path->text;
	return path->n ? p : NULL;
}

static int parse_paths(const char *text, struct path *path, u32 *n, struct baleen_error *error)
{
	const char *p = text;

	for (*n = 0; *n < MAX_PATHS; p++) {
		p = parse_path(p, &path[(*n)++]);
		if (!p)
			return fail_path(text, error);
		if (!*p)
			return 0;
	}
	return baleen_fail(error, EINVAL, "more than %d paths", MAX_PATHS);
}

int baleen_json_check(const char *text, struct baleen_error *error)
{
	struct path path[MAX_PATHS];
	u32 n;

	return parse_paths(text, path, &n, error);
}

/* --- values --- */

/* A value of a member as a condition has it. */
static void member_text(const json_t *value, char *text, size_t bytes)
{
	if (json_is_integer(value))
		snprintf(text, bytes, "%lld", (long long)json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(text, bytes, "%s", json_is_true(value) ? "true" : "false");
	else
		snprintf(text, bytes, "%s", json_string_value(value) ?: "");
}

static bool does_hold(struct reader *reader, u32 i)
{
	const char *where = reader->options->where[i];
	size_t length = strchr(where, '=') - where;
	char name[NAME_BYTES], text[256];

	if (length >= sizeof(name))
		return false;
	memcpy(name, where, length);
	name[length] = '\0';
	for (u32 n = reader->n_parents; n-- > 0;) {
		const json_t *value = json_object_get(reader->parent[n], name);

		if (!value)
			continue;
		reader->has_member[i] = true;
		member_text(value, text, sizeof(text));
		return baleen_csv_holds(where, text);
	}
	return false;
}

static int put_value(struct reader *reader, const json_t *value)
{
	bool is_wanted = true;

	reader->counts.n_rows++;
	for (u32 i = 0; i < reader->options->n_where; i++)
		is_wanted &= does_hold(reader, i);
	if (!is_wanted)
		return 0;
	for (; reader->n_lines + 1 < reader->line; reader->n_lines++)
		putc_unlocked('\n', reader->out);
	reader->counts.n_wanted++;
	reader->n_lines++;
	baleen_csv_put_key(reader->out, json_string_value(value));
	putc_unlocked('\n', reader->out);
	return 0;
}

static int fail_value(const struct reader *reader, const struct path *path, const char *reason)
{
	return baleen_fail(reader->error, EINVAL, "%s:%llu: %.*s: %s", reader->name,
			   (unsigned long long)reader->line, (int)path->length, path->text, reason);
}

static int walk(struct reader *reader, struct path *path, u32 i, const json_t *value);

static int walk_each(struct reader *reader, struct path *path, u32 i, const json_t *value)
{
	const char *name;
	json_t *one;
	size_t n;
	int err = 0;

	if (!json_is_array(value) && !json_is_object(value))
		return fail_value(reader, path, "[] stands for no array or object");
	path->leads |= !json_array_size(value) && !json_object_size(value);
	if (json_is_array(value)) {
		json_array_foreach(value, n, one) {
			if ((err = walk(reader, path, i + 1, one)))
				break;
		}
	} else {
		json_object_foreach((json_t *)value, name, one) {
			if ((err = walk(reader, path, i + 1, one)))
				break;
		}
	}
	return err;
}

/* A text of another sort, such as the last line of Spamhaus' lists, lacks the member. */
static int walk_member(struct reader *reader, struct path *path, u32 i, const json_t *value)
{
	const json_t *member = json_object_get(value, path->step[i].name);

	if (!json_is_object(value))
		return fail_value(reader, path, "a member of what is no object");
	return member && !json_is_null(member) ? walk(reader, path, i + 1, member) : 0;
}

/* As deep as the path has steps. */
static int walk(struct reader *reader, struct path *path, u32 i, const json_t *value)
{
	int err;

	if (i == path->n) {
		path->leads = true;
		return json_is_string(value) ? put_value(reader, value) :
					       fail_value(reader, path, "a value is no string");
	}
	reader->parent[reader->n_parents++] = value;
	err = path->step[i].is_each ? walk_each(reader, path, i, value) :
				      walk_member(reader, path, i, value);
	reader->n_parents--;
	return err;
}

/* --- texts --- */

static u64 count_newlines(const char *p, const char *end)
{
	u64 n = 0;

	while (p < end)
		n += *p++ == '\n';
	return n;
}

static int fail_text(const struct reader *reader, const json_error_t *what)
{
	unsigned long long line = reader->line + (what->line > 0 ? what->line - 1 : 0);

	if (reader->options->is_private)
		return baleen_fail(reader->error, EINVAL, "%s:%llu: not JSON", reader->name, line);
	return baleen_fail(reader->error, EINVAL, "%s:%llu: not JSON: %s", reader->name, line,
			   what->text);
}

static int read_texts(struct reader *reader, const char *p, const char *end)
{
	static const char blank[] = " \t\r\n";
	json_error_t what;
	int err = 0;

	reader->line = 1;
	while (!err) {
		const char *start = p;
		json_t *text;

		while (p < end && *p && strchr(blank, *p))
			p++;
		reader->line += count_newlines(start, p);
		if (p == end)
			return 0;
		text = json_loadb(p, end - p, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES,
				  &what);
		if (!text)
			return fail_text(reader, &what);
		for (u32 i = 0; i < reader->n_paths && !err; i++)
			err = walk(reader, &reader->path[i], 0, text);
		json_decref(text);
		reader->line += count_newlines(p, p + what.position);
		p += what.position;
	}
	return err;
}

/* A path that leads nowhere was mistyped, or is of another file. */
static int check_found(const struct reader *reader)
{
	for (u32 i = 0; i < reader->n_paths; i++)
		if (!reader->path[i].leads)
			return baleen_fail(reader->error, EINVAL, "%s: nothing at %.*s",
					   reader->name, (int)reader->path[i].length,
					   reader->path[i].text);
	for (u32 i = 0; i < reader->options->n_where && reader->counts.n_rows; i++) {
		const char *where = reader->options->where[i];

		if (!reader->has_member[i])
			return baleen_fail(reader->error, EINVAL,
					   "%s: no member '%.*s' beside or around a key",
					   reader->name, (int)(strchr(where, '=') - where), where);
	}
	return 0;
}

static int read_bytes(int fd, char **bytes, size_t *n_bytes)
{
	struct stat stat;
	size_t n = 0;
	ssize_t got;

	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_size > BALEEN_JSON_MAX_BYTES)
		return -EFBIG;
	*bytes = malloc(stat.st_size + 1);
	if (!*bytes)
		return -ENOMEM;
	do {
		got = pread(fd, *bytes + n, stat.st_size - n, n);
		n += got > 0 ? got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	*n_bytes = n;
	return got < 0 ? -errno : 0;
}

int baleen_json_read(int fd, const char *name, const struct baleen_csv_options *options,
		     struct baleen_csv_counts *counts, FILE *out, struct baleen_error *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	char *bytes = NULL;
	size_t n_bytes = 0, start;
	int err = reader ? read_bytes(fd, &bytes, &n_bytes) : -ENOMEM;

	if (err) {
		err = baleen_fail(error, -err, "%s: %s", name, strerror(-err));
	} else {
		*reader = (struct reader){
			.name = name, .options = options, .out = out, .error = error
		};
		start = baleen_unpack_mark(bytes, n_bytes);
		err = parse_paths(options->column, reader->path, &reader->n_paths, error);
		if (!err)
			err = read_texts(reader, bytes + start, bytes + n_bytes);
		if (!err)
			err = check_found(reader);
		if (!err)
			*counts = reader->counts;
	}
	free(bytes);
	free(reader);
	return err;
}
