// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which columns of a table are meant. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "key/key_text.h"
#include "list/csv_columns.h"

#define KNOWN_COLUMNS 8
#define NO_COLUMN BALEEN_CSV_NO_COLUMN

/* --- what the options say --- */

/* A number of a column, from 1, as an index; NO_COLUMN for what is none. */
static u32 number_of(const char *text, size_t length)
{
	u32 number = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isdigit((u8)text[i]) || number > BALEEN_CSV_MAX_COLUMNS)
			return NO_COLUMN;
		number = 10 * number + text[i] - '0';
	}
	return number && number <= BALEEN_CSV_MAX_COLUMNS ? number - 1 : NO_COLUMN;
}

int baleen_csv_check_column(const char *text, size_t length, struct baleen_error *error)
{
	if (!length)
		return baleen_fail(error, EINVAL, "the name of the column is missing");
	if (strspn(text, "0123456789") >= length && number_of(text, length) == NO_COLUMN)
		return baleen_fail(error, EINVAL, "columns have the numbers 1 to %d",
				   BALEEN_CSV_MAX_COLUMNS);
	return 0;
}

int baleen_csv_parse_where(struct baleen_csv_options *options, const char *text,
			   struct baleen_error *error)
{
	const char *equals = strchr(text, '=');
	int err;

	if (!equals)
		return baleen_fail(error, EINVAL, "not COLUMN=VALUE");
	err = baleen_csv_check_column(text, equals - text, error);
	if (err)
		return err;
	if (options->n_where == BALEEN_CSV_MAX_WHERE)
		return baleen_fail(error, EINVAL, "more than %d conditions", BALEEN_CSV_MAX_WHERE);
	options->where[options->n_where++] = text;
	return 0;
}

int baleen_csv_parse_delimiter(struct baleen_csv_options *options, const char *text,
			       struct baleen_error *error)
{
	if (!strcmp(text, "tab") || !strcmp(text, "\t"))
		options->delimiter = '\t';
	else if (strlen(text) == 1 && strchr(",;|", *text))
		options->delimiter = *text;
	else
		return baleen_fail(error, EINVAL, "neither tab nor one of , ; |");
	return 0;
}

/* --- cells --- */

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* AS13335 is 13335. */
static const char *without_as(const char *text)
{
	return !strncasecmp(text, "AS", 2) && is_number(text + 2) ? text + 2 : text;
}

bool baleen_csv_holds(const char *where, const char *cell)
{
	return !strcasecmp(without_as(cell), without_as(strchr(where, '=') + 1));
}

static bool is_country(const char *text)
{
	return isalpha((u8)text[0]) && isalpha((u8)text[1]) && !text[2];
}

static bool is_shaped(const char *cell, char shape)
{
	struct baleen_key key;
	const char *reason;

	switch (shape) {
	case 'a': return !baleen_address_parse(cell, &key, &reason);
	case 'n': return is_number(without_as(cell));
	/* iptoasn says None of what nobody announces. */
	case 'c': return is_country(cell) || !strcmp(cell, "None");
	default: return true;
	}
}

/* --- names --- */

/**
 * struct names - what the columns are called
 * @name: name of each
 * @n: how many
 * @is_private: messages do not show them
 */
struct names {
	const char *const *name;
	u32 n;
	bool is_private;
};

/**
 * struct known - a table without names, told by the shape of its first row
 * @shape: of each column: an address, a number, a country or anything
 * @name: name of each column
 */
struct known {
	const char *shape;
	const char *name[KNOWN_COLUMNS];
};

/* Source: https://iptoasn.com/ and https://db-ip.com/db/lite.php */
static const struct known known_tables[] = {
	{ "aanc*", { "start", "end", "asn", "country", "as_name" } },
	{ "aan*", { "start", "end", "asn", "as_name" } },
	{ "aac", { "start", "end", "country" } },
	{ "aacc****",
	  { "start", "end", "continent", "country", "state", "city", "latitude", "longitude" } },
};

/* Names that columns have elsewhere. */
static const struct {
	const char *name;
	const char *alias;
} aliases[] = {
	{ "asn", "autonomous_system_number" },
	{ "asn", "as_number" },
	{ "country", "country_iso_code" },
	{ "country", "country_code" },
};

static bool is_named(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && !strncasecmp(name, text, length);
}

static const struct known *find_known(const struct names *row)
{
	for (size_t i = 0; i < sizeof(known_tables) / sizeof(known_tables[0]); i++) {
		const char *shape = known_tables[i].shape;
		u32 n = 0;

		if (row->n != strlen(shape))
			continue;
		while (n < row->n && is_shaped(row->name[n], shape[n]))
			n++;
		if (n == row->n)
			return &known_tables[i];
	}
	return NULL;
}

static u32 find_name(const struct names *names, const char *text, size_t length)
{
	for (u32 i = 0; i < names->n; i++)
		if (is_named(names->name[i], text, length))
			return i;
	return NO_COLUMN;
}

static u32 find_column(const struct names *names, const char *text, size_t length)
{
	u32 column = number_of(text, length);

	if (column == NO_COLUMN)
		column = find_name(names, text, length);
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]) && column == NO_COLUMN; i++)
		if (is_named(aliases[i].name, text, length))
			column = find_name(names, aliases[i].alias, strlen(aliases[i].alias));
	return column;
}

static int fail_column(const struct names *names, const char *text, size_t length,
		       struct baleen_error *error)
{
	char list[256] = "";
	size_t used = 0;

	if (!names->n)
		return baleen_fail(error, EINVAL, "no names here: '%.*s' needs the column's number",
				   (int)length, text);
	if (names->is_private)
		return baleen_fail(error, EINVAL, "no column '%.*s' of %u", (int)length, text,
				   names->n);
	for (u32 i = 0; i < names->n && used < sizeof(list); i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				 names->name[i]);
	return baleen_fail(error, EINVAL, "no column '%.*s': there are %s%s", (int)length, text,
			   list, used < sizeof(list) ? "" : "...");
}

/* --- columns --- */

/* One column, or two with a dash between, which names may have in them, too. */
static int find_key(const char *text, const struct names *names, struct baleen_csv_columns *columns,
		    struct baleen_error *error)
{
	size_t length = strlen(text);
	const char *dash = text;

	columns->last = NO_COLUMN;
	columns->first = find_column(names, text, length);
	while (columns->first == NO_COLUMN && (dash = strchr(dash, '-'))) {
		columns->last = find_column(names, dash + 1, text + length - dash - 1);
		if (columns->last != NO_COLUMN)
			columns->first = find_column(names, text, dash - text);
		dash++;
	}
	return columns->first == NO_COLUMN ? fail_column(names, text, length, error) : 0;
}

static int find_where(const struct baleen_csv_options *options, const struct names *names,
		      struct baleen_csv_columns *columns, struct baleen_error *error)
{
	for (u32 i = 0; i < options->n_where; i++) {
		const char *text = options->where[i];
		size_t length = strchr(text, '=') - text;

		columns->where[i] = find_column(names, text, length);
		if (columns->where[i] == NO_COLUMN)
			return fail_column(names, text, length, error);
	}
	return 0;
}

/* An address has digits, and dots or colons. A damaged one shall not pass for a
 * name.
 */
static bool has_key(const struct baleen_csv_options *options, const struct names *row)
{
	const char *column = options->column;
	u32 n = column ? number_of(column, strcspn(column, "-")) : 0;
	const char *cell = row->name[n < row->n ? n : 0];

	return strpbrk(cell, "0123456789") && strpbrk(cell, ".:");
}

int baleen_csv_columns_find(const struct baleen_csv_options *options, const char *const *cell,
			    u32 n_cells, struct baleen_csv_columns *columns,
			    struct baleen_error *error)
{
	const struct names row = { cell, n_cells, options->is_private };
	bool is_key = has_key(options, &row);
	const struct known *known = is_key ? find_known(&row) : NULL;
	struct baleen_csv_columns found = { .last = known ? 1 : NO_COLUMN };
	struct names names = { .is_private = options->is_private };
	int err = 0;

	if (known)
		names = (struct names){ known->name, n_cells, options->is_private };
	else if (!is_key)
		names = row;
	if (options->column)
		err = find_key(options->column, &names, &found, error);
	if (!err)
		err = find_where(options, &names, &found, error);
	if (err)
		return err;
	*columns = found;
	return !is_key;
}

/* --- entries --- */

/* Would the list read it as one entry, whether good or bad? */
static bool is_entry(const char *key)
{
	if (!*key || strpbrk(key, "#;\"") || !strcmp(key, "create"))
		return false;
	while (isgraph((u8)*key))
		key++;
	return !*key;
}

void baleen_csv_put_key(FILE *out, const char *key)
{
	if (is_entry(key)) {
		fputs(key, out);
		return;
	}
	putc_unlocked('"', out);
	for (; *key; key++)
		putc_unlocked(isgraph((u8)*key) && !strchr("#;\"", *key) ? *key : '?', out);
	putc_unlocked('"', out);
}
