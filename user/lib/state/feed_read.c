// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the bytes of a feed to lines, and to a set. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "list/csv_table.h"
#include "list/written.h"
#include "state/feed_set_copy.h"
#include "state/set_feed.h"
#include "util/unpack.h"

/* Options of a table, and the text that they point into. */
struct table {
	struct baleen_csv_options options;
	char where[BALEEN_FEED_OPTION_BYTES];
};

static int table_of(const struct baleen_feed_source *wanted, bool is_private, struct table *table,
		    struct baleen_error *error)
{
	char *condition, *rest = NULL;
	int err = 0;

	memset(table, 0, sizeof(*table));
	snprintf(table->where, sizeof(table->where), "%s", wanted->where);
	table->options.delimiter = wanted->delimiter;
	table->options.is_private = is_private;
	if (*wanted->column)
		err = baleen_csv_parse_column(&table->options, wanted->column, error);
	for (condition = strtok_r(table->where, "\n", &rest); condition && !err;
	     condition = strtok_r(NULL, "\n", &rest))
		err = baleen_csv_parse_where(&table->options, condition, error);
	return err;
}

/* Unpacked, and a table turned into lines. */
static int open_lines(int fd, const char *name, const struct baleen_feed_source *wanted,
		      bool is_private, int *out, struct baleen_error *error)
{
	struct table table;
	const char *reason;
	int plain, err;

	if (baleen_feed_set_is(wanted->source))
		return baleen_set_copy_lines(fd, name, out, error);
	err = table_of(wanted, is_private, &table, error);
	if (!err)
		err = baleen_unpack(fd, name, BALEEN_UNPACK_MAX_BYTES, &plain, error);
	if (err)
		return err;
	reason = baleen_unpack_refuse(plain, baleen_csv_is_json(&table.options));
	if (reason)
		err = baleen_fail(error, EINVAL, "%s: %s", name, reason);
	if (err || !baleen_csv_is_wanted(&table.options)) {
		if (err)
			close(plain);
		else
			*out = plain;
		return err;
	}
	err = baleen_csv_read(plain, name, &table.options, NULL, out, error);
	close(plain);
	return err;
}

int baleen_feed_open_lines(const struct baleen_rule_store *state, const struct baleen_feed *feed,
			   struct baleen_error *error)
{
	int fd = baleen_feed_open(state, feed, error), lines, err;

	if (fd < 0)
		return fd;
	err = open_lines(fd, baleen_feed_name(feed).text, &feed->wanted, true, &lines, error);
	close(fd);
	return err ? err : lines;
}

/* The first bad line is the reason, whoever else wants to know of all. */
struct first_bad {
	const struct baleen_list_reader *reader;
	struct baleen_error why;
};

static void note_bad(void *data, const struct baleen_list_problem *problem)
{
	struct first_bad *first = data;

	if (!*first->why.text)
		baleen_list_problem_fail(problem, &first->why);
	if (first->reader && first->reader->on_bad)
		first->reader->on_bad(first->reader->data, problem);
}

static int finish(const struct baleen_list_reader *reader, struct baleen_list *list)
{
	int err = reader && reader->written ? baleen_written_copy(list, reader->written) : 0;

	return err ? err : baleen_list_finish(list);
}

static int read_lines(int fd, const char *name, bool skip_bad,
		      const struct baleen_list_reader *reader, struct baleen_list *list,
		      struct baleen_error *error)
{
	struct first_bad first = { .reader = reader };
	const struct baleen_list_reader noting = { .on_bad = note_bad,
						   .data = &first,
						   .is_private = !reader || reader->is_private,
						   .max_entries =
							   reader ? reader->max_entries : 0 };
	int err = baleen_list_read(list, fd, name, &noting, error);

	if (!err && list->n_bad && !skip_bad)
		err = baleen_fail(error, EINVAL, "%.900s; %llu bad line%s of %llu", first.why.text,
				  (unsigned long long)list->n_bad, list->n_bad == 1 ? "" : "s",
				  (unsigned long long)list->n_lines);
	if (!err && finish(reader, list))
		err = baleen_fail(error, ENOMEM, "%s: %s", name, strerror(ENOMEM));
	return err;
}

/* Its head says how many there are. */
static int read_set(int fd, const char *name, const struct baleen_list_reader *reader,
		    struct baleen_list *list, struct baleen_error *error)
{
	u64 max_entries = reader ? reader->max_entries : 0;
	struct baleen_set_head head;
	int err;

	if (max_entries && baleen_set_copy_head(fd, &head) && head.n_entries > max_entries)
		return baleen_fail(error, E2BIG, "%s: more than %llu entries", name,
				   (unsigned long long)max_entries);
	err = baleen_set_copy_list(fd, name, list, error);

	return !err && finish(reader, list) ? baleen_no_memory(error) : err;
}

int baleen_feed_read(int fd, const char *name, const struct baleen_feed_source *wanted,
		     u32 key_spec, const struct baleen_list_reader *reader,
		     struct baleen_list *list, struct baleen_error *error)
{
	struct baleen_list read = { .key_spec = key_spec };
	int lines, err;

	if (baleen_feed_set_is(wanted->source)) {
		err = read_set(fd, name, reader, &read, error);
	} else {
		err = open_lines(fd, name, wanted, !reader || reader->is_private, &lines, error);
		if (err)
			return err;
		err = read_lines(lines, name, wanted->skip_bad, reader, &read, error);
		close(lines);
	}
	if (err)
		baleen_list_free(&read);
	else
		*list = read;
	return err;
}

/* --- one line ------------------------------------------------------------------ */

struct widest {
	struct baleen_list_line line;
	bool is_found;
};

static int keep_wider(const struct baleen_list_line *line, void *data)
{
	struct widest *widest = data;

	if (line->is_exception || (widest->is_found && line->length >= widest->line.length))
		return 0;
	widest->line = *line;
	widest->is_found = true;
	return 0;
}

int baleen_feed_find_line(int fd, const struct baleen_feed *feed, u32 key_spec,
			  const struct baleen_key *key, struct baleen_list_line *line)
{
	struct widest widest = { .is_found = false };
	int lines, err;

	err = open_lines(fd, baleen_feed_name(feed).text, &feed->wanted, true, &lines, NULL);
	if (err)
		return err;
	err = baleen_list_find_each(lines, key_spec, key, keep_wider, &widest);
	close(lines);
	if (!err && !widest.is_found)
		err = -ENOENT;
	if (!err)
		*line = widest.line;
	return err;
}
