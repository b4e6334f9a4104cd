// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A table of comma or tab separated values as a list of keys. */
#include <ctype.h>
#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "key/key_text.h"
#include "list/csv_table.h"
#include "list/json_list.h"
#include "list/list_format.h"
#include "util/unpack.h"

#define MAX_COLUMNS BALEEN_CSV_MAX_COLUMNS
#define MAX_ROW_BYTES (64 * 1024)

/* --- rows --- */

/**
 * struct row - the row at hand
 * @line: where it begins
 * @n_lines: how many it takes up
 * @n_bytes: their length
 * @n_cells: how many; may be more than MAX_COLUMNS
 * @cell: each, NUL-terminated
 * @used: used bytes of @text
 * @text: text of the cells
 */
struct row {
	u64 line;
	u64 n_lines;
	size_t n_bytes;
	u32 n_cells;
	const char *cell[MAX_COLUMNS];
	size_t used;
	char text[MAX_ROW_BYTES + MAX_COLUMNS];
};

/**
 * struct table - a table that is read
 * @name: its name in messages
 * @options: the columns and rows to read
 * @error: for the first failure
 * @err: its code
 * @parser: parser of libcsv
 * @out: the list
 * @row: the row at hand
 * @n_ended: rows that ended in the line at hand
 * @has_columns: @columns are known
 * @columns: columns to look at in each row
 * @counts: so far
 */
struct table {
	const char *name;
	const struct baleen_csv_options *options;
	struct baleen_error *error;
	int err;
	struct csv_parser parser;
	FILE *out;
	struct row row;
	u32 n_ended;
	bool has_columns;
	struct baleen_csv_columns columns;
	struct baleen_csv_counts counts;
};

static int fail_row(const struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail_row(const struct table *table, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return baleen_fail(table->error, EINVAL, "%s:%llu: %s", table->name,
			   (unsigned long long)table->row.line, text);
}

/* --- rows to lines --- */

/* NULL after a failure: the row has no such column. */
static const char *cell_of(const struct table *table, u32 column)
{
	if (column < table->row.n_cells)
		return table->row.cell[column];
	fail_row(table, "%u column%s, column %u is asked for", table->row.n_cells,
		 table->row.n_cells == 1 ? "" : "s", column + 1);
	return NULL;
}

/* Return: 1 when all conditions hold, 0 when not, or -EINVAL. */
static int is_wanted(const struct table *table)
{
	for (u32 i = 0; i < table->options->n_where; i++) {
		const char *cell = cell_of(table, table->columns.where[i]);

		if (!cell)
			return -EINVAL;
		if (!baleen_csv_holds(table->options->where[i], cell))
			return 0;
	}
	return 1;
}

/* The host of a network would be read, and be all of it. */
static bool has_netmask_behind(const struct table *table)
{
	u32 behind = table->columns.first + 1;
	struct baleen_key mask;
	const char *ignored;

	return behind < table->row.n_cells && !strchr(table->row.cell[behind - 1], '/') &&
	       !strncmp(table->row.cell[behind], "255.", 4) &&
	       !baleen_address_parse(table->row.cell[behind], &mask, &ignored) &&
	       !(~mask.ip4 & (~mask.ip4 + 1));
}

static int put_row(struct table *table)
{
	const struct baleen_csv_columns *columns = &table->columns;
	const char *first = cell_of(table, columns->first), *last = first;

	if (first && columns->last == BALEEN_CSV_NO_COLUMN && has_netmask_behind(table))
		return fail_row(table, "a netmask in the column behind the address; "
				       "baleen-lists(5) has the command for it");
	if (first && columns->last != BALEEN_CSV_NO_COLUMN)
		last = cell_of(table, columns->last);
	if (!last)
		return -EINVAL;
	baleen_csv_put_key(table->out, first);
	if (strcmp(first, last)) {
		putc_unlocked('-', table->out);
		baleen_csv_put_key(table->out, last);
	}
	return 0;
}

/* Return: 1 when the row has the names, 0 when it has a key, or -EINVAL. */
static int find_columns(struct table *table)
{
	const struct row *row = &table->row;
	struct baleen_error error;
	int ret = baleen_csv_columns_find(table->options, row->cell, row->n_cells, &table->columns,
					  &error);

	table->has_columns = true;
	return ret < 0 ? fail_row(table, "%s", error.text) : ret;
}

static int read_row(struct table *table)
{
	int ret = 0;

	if (table->row.n_cells > MAX_COLUMNS)
		return fail_row(table, "more than %d columns", MAX_COLUMNS);
	if (!table->has_columns)
		ret = find_columns(table);
	if (ret)
		return ret < 0 ? ret : 0;
	table->counts.n_rows++;
	ret = is_wanted(table);
	if (ret <= 0)
		return ret;
	table->counts.n_wanted++;
	return put_row(table);
}

/* --- libcsv --- */

static void on_cell(void *bytes, size_t n_bytes, void *data)
{
	struct table *table = data;
	struct row *row = &table->row;

	/* The row has no more bytes than fit. */
	if (row->n_cells++ >= MAX_COLUMNS)
		return;
	row->cell[row->n_cells - 1] = row->text + row->used;
	memcpy(row->text + row->used, bytes, n_bytes);
	row->used += n_bytes;
	row->text[row->used++] = '\0';
}

static void on_row(int terminator, void *data)
{
	struct table *table = data;

	if (!table->n_ended++ && !table->err)
		table->err = read_row(table);
}

/* --- lines --- */

static bool is_blank(const char *line)
{
	return !line[strspn(line, " \t\r\n")];
}

static void start_row(struct table *table, u64 line)
{
	table->row.line = line;
	table->row.n_lines = 0;
	table->row.n_bytes = 0;
	table->row.n_cells = 0;
	table->row.used = 0;
}

static void end_row(struct table *table)
{
	for (u64 i = 0; i < table->row.n_lines; i++)
		putc_unlocked('\n', table->out);
	table->row.n_lines = 0;
}

static int parse_line(struct table *table, const char *line, size_t n_bytes)
{
	struct row *row = &table->row;

	row->n_lines++;
	row->n_bytes += n_bytes;
	if (row->n_bytes > MAX_ROW_BYTES)
		return fail_row(table, "a row of more than %d bytes: is a quote not closed?",
				MAX_ROW_BYTES);
	table->n_ended = 0;
	if (csv_parse(&table->parser, line, n_bytes, on_cell, on_row, table) != n_bytes)
		return csv_error(&table->parser) == CSV_EPARSE ?
			       fail_row(table, "column %u: a quote that neither begins nor ends it",
					row->n_cells + 1) :
			       baleen_fail(table->error, ENOMEM, "%s: no memory", table->name);
	if (table->err)
		return table->err;
	if (table->n_ended > 1)
		return fail_row(table, "carriage return in the line");
	if (table->n_ended)
		end_row(table);
	return 0;
}

/* A line that is not in the middle of a row may be none of the table. */
static int receive_line(struct table *table, u64 number, const char *line, size_t n_bytes)
{
	bool in_row = table->row.n_lines;

	if (!in_row)
		start_row(table, number);
	if (strlen(line) != n_bytes)
		return fail_row(table, "NUL byte");
	if (!in_row && (*line == '#' || is_blank(line))) {
		putc_unlocked('\n', table->out);
		return 0;
	}
	return parse_line(table, line, n_bytes);
}

/* sep=; is what Excel begins a table with. Return: the delimiter, or NUL. */
static char excel_delimiter(const char *line)
{
	const char *sign = line + 4;

	if (strncmp(line, "sep=", 4) || !*sign || !strchr(",;|\t", *sign) || !is_blank(sign + 1))
		return '\0';
	return *sign;
}

/* The first of these that stands outside quotes: a key has none of them. */
static char first_delimiter(const char *line)
{
	bool is_quoted = false;

	for (; *line; line++) {
		is_quoted ^= *line == '"';
		if (!is_quoted && strchr(",;|", *line))
			return *line;
	}
	return ',';
}

static char find_delimiter(const struct table *table, const char *line)
{
	const char *dot = strrchr(table->name, '.');

	if (table->options->delimiter)
		return table->options->delimiter;
	if ((dot && !strcasecmp(dot, ".tsv")) || strchr(line, '\t'))
		return '\t';
	return first_delimiter(line);
}

/* Tables with tabs know no quotes, and NUL bytes do not get this far. */
static void set_delimiter(struct table *table, char delimiter)
{
	csv_set_delim(&table->parser, delimiter);
	if (delimiter == '\t')
		csv_set_quote(&table->parser, '\0');
}

/* The last line need not have its newline. */
static ssize_t next_line(FILE *in, char *line)
{
	size_t n = 0;
	int c = 0;

	while (n < MAX_ROW_BYTES && c != '\n' && (c = getc_unlocked(in)) != EOF)
		line[n++] = c;
	if (ferror(in))
		return -EIO;
	if (c == EOF && n)
		line[n++] = '\n';
	line[n] = '\0';
	return n;
}

/* The first line that is no comment tells it. Return: it does that alone, and is no row. */
static bool take_delimiter(struct table *table, const char *line)
{
	char sign = excel_delimiter(line);

	if (sign && !table->options->delimiter)
		set_delimiter(table, sign);
	else
		set_delimiter(table, find_delimiter(table, line));
	if (sign)
		putc_unlocked('\n', table->out);
	return sign;
}

static int read_lines(struct table *table, FILE *in)
{
	char *line = malloc(MAX_ROW_BYTES + 2);
	bool has_delimiter = false;
	ssize_t n = 0;
	int err = line ? 0 : baleen_fail(table->error, ENOMEM, "%s: no memory", table->name);

	for (u64 number = 1; !err && (n = next_line(in, line)) > 0; number++) {
		const char *text = line + (number == 1 ? baleen_unpack_mark(line, n) : 0);

		if (line[n - 1] != '\n') {
			table->row.line = number;
			err = fail_row(table, "more than %d bytes", MAX_ROW_BYTES);
			break;
		}
		if (!has_delimiter && *text != '#' && !is_blank(text)) {
			has_delimiter = true;
			if (take_delimiter(table, text))
				continue;
		}
		err = receive_line(table, number, text, n - (text - line));
	}
	free(line);
	if (!err && n < 0)
		err = baleen_fail(table->error, -n, "%s: %s", table->name, strerror(-n));
	if (!err && table->row.n_lines)
		err = fail_row(table, "a quote is not closed");
	return err;
}

/* --- all of it --- */

int baleen_csv_parse_column(struct baleen_csv_options *options, const char *text,
			    struct baleen_error *error)
{
	int err;

	if (*text == '.')
		err = baleen_json_check(text, error);
	else if (*text == '@')
		err = baleen_list_format_find(text + 1, error) ? 0 : -EINVAL;
	else
		err = baleen_csv_check_column(text, strlen(text), error);
	if (!err)
		options->column = text;
	return err;
}

/* Closes @fd when it cannot. */
static FILE *open_stream(int fd, const char *mode)
{
	FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

static int parse_table(struct table *table, FILE *in, FILE *out)
{
	int err;

	if (csv_init(&table->parser, CSV_STRICT))
		return baleen_fail(table->error, ENOMEM, "%s: no memory", table->name);
	rewind(in);
	table->out = out;
	err = read_lines(table, in);
	csv_free(&table->parser);
	return err;
}

static int parse_any(struct table *table, FILE *in, FILE *out)
{
	struct baleen_csv_options options;
	int err = baleen_list_format_resolve(table->options, &options, table->error);

	table->options = &options;
	if (!err && options.column && *options.column == '.')
		err = baleen_json_read(fileno(in), table->name, &options, &table->counts, out,
				       table->error);
	else if (!err)
		err = parse_table(table, in, out);
	if (!err && (fflush(out) || fseek(out, 0, SEEK_SET)))
		err = baleen_fail(table->error, errno, "%s: %m", table->name);
	table->options = NULL;
	return err;
}

int baleen_csv_read(int fd, const char *name, const struct baleen_csv_options *options,
		    struct baleen_csv_counts *counts, int *out, struct baleen_error *error)
{
	FILE *in = open_stream(fcntl(fd, F_DUPFD_CLOEXEC, 0), "r");
	FILE *list = open_stream(memfd_create("baleen-table", MFD_CLOEXEC), "w");
	struct table *table = calloc(1, sizeof(*table));
	int err = in && list && table ? 0 : baleen_fail(error, ENOMEM, "%s: no memory", name);
	int copy = -1;

	if (!err) {
		table->name = name;
		table->options = options;
		table->error = error;
		err = parse_any(table, in, list);
	}
	if (!err) {
		copy = fcntl(fileno(list), F_DUPFD_CLOEXEC, 0);
		if (copy < 0)
			err = baleen_fail(error, errno, "%s: %m", name);
	}
	if (!err) {
		*out = copy;
		if (counts)
			*counts = table->counts;
	}
	if (in)
		fclose(in);
	if (list)
		fclose(list);
	free(table);
	return err;
}
