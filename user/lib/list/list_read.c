// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists in files and in memory, read. */
#include <stdlib.h>

#include "list/list.h"
#include "list/scanner.h"
#include "util/blocks.h"
#include "util/foreign.h"
#include "util/threads.h"

#define PROBLEM_BYTES 64

int baleen_list_problem_fail(const struct baleen_list_problem *problem, struct baleen_error *error)
{
	unsigned long long line = problem->line;

	if (!problem->text)
		return baleen_fail(error, EINVAL, "%.600s:%llu: %s", problem->file, line,
				   problem->reason);
	return baleen_fail(error, EINVAL, "%.600s:%llu: '%s': %s", problem->file, line,
			   problem->text, problem->reason);
}

static void report(const struct baleen_list_reader *reader, const char *name, u64 line,
		   const struct baleen_entry *entry)
{
	char text[4 * PROBLEM_BYTES + sizeof("...")];
	struct baleen_list_problem problem = { name, line, text, entry->reason };
	size_t length = entry->length < PROBLEM_BYTES ? entry->length : PROBLEM_BYTES, n;

	if (!reader || !reader->on_bad)
		return;
	n = baleen_foreign_text(text, 4 * PROBLEM_BYTES + 1, entry->text, length);
	strcpy(text + n, entry->length > length ? "..." : "");
	if (reader->is_private)
		problem.text = NULL;
	reader->on_bad(reader->data, &problem);
}

static u64 most_of(const struct baleen_list_reader *reader)
{
	return reader && reader->max_entries ? reader->max_entries : ~0ull;
}

/* Return: 0, -ENOMEM, -E2BIG, or the errno of read(). */
static int read_strings(struct baleen_list *list, int fd, const char *name,
			const struct baleen_list_reader *reader)
{
	bool has_cr = !reader || !reader->ends_with_nul;
	u64 most = most_of(reader);
	struct baleen_lines lines;
	u64 number = 0;
	int ret = baleen_lines_start(&lines, fd, has_cr ? '\n' : '\0');

	while (ret >= 0 && (ret = baleen_lines_fill(&lines)) > 0) {
		struct baleen_entry entry = { .reason = "line longer than 1 MiB" };

		while (ret > 0 && (entry.text = baleen_lines_next(&lines, &entry.length))) {
			number++;
			if (entry.length > BALEEN_LINE_MAX) {
				list->n_bad++;
				report(reader, name, number, &entry);
				continue;
			}
			if (has_cr)
				entry.length = baleen_string_length(entry.text, entry.length);
			if (baleen_list_append_string(list, entry.text, entry.length))
				ret = -ENOMEM;
			else if (list->n_listed > most)
				ret = -E2BIG;
		}
	}
	list->n_lines += number;
	baleen_lines_stop(&lines);
	return ret;
}

/* Stops the scanner. */
static int read_entries(struct baleen_list *list, struct baleen_scanner *scan, const char *name,
			const struct baleen_list_reader *reader)
{
	u64 most = most_of(reader);
	struct baleen_entry entry;
	int ret;

	while ((ret = baleen_scanner_next(scan, &entry)) > 0) {
		if (entry.kind == BALEEN_ENTRY_BAD) {
			list->n_bad++;
			report(reader, name, scan->line, &entry);
		}
		ret = baleen_list_append(list, &entry);
		if (!ret && list->n_listed > most)
			ret = -E2BIG;
		if (ret)
			break;
	}
	list->n_lines += scan->line;
	list->n_ends += scan->n_ends;
	free(scan->buffer);
	return ret;
}

/* --- by threads ------------------------------------------------------------- */

/**
 * struct reading - a list that threads read
 * @blocks: the file
 * @name: name of the list in messages
 * @reader: the caller's
 * @list: gets what the first thread reads
 * @more: gets what each of the others reads: the list is sorted later
 * @n_listed: entries of all of them, of blocks that are done
 */
struct reading {
	struct baleen_blocks blocks;
	const char *name;
	const struct baleen_list_reader *reader;
	struct baleen_list *list;
	struct baleen_list more[BALEEN_MAX_THREADS];
	_Atomic u64 n_listed;
};

/* Return: 0, -ENOMEM, or -E2BIG when the block has more entries than there is room for. */
static int parse_block(struct reading *reading, struct baleen_list *list,
		       struct baleen_scanner *scan)
{
	u64 before = list->n_listed, n_done = reading->n_listed, most = most_of(reading->reader);
	u64 room = most > n_done ? most - n_done : 0;
	struct baleen_entry entry;
	int err = 0;

	while (!err && baleen_scanner_next(scan, &entry) > 0) {
		list->n_bad += entry.kind == BALEEN_ENTRY_BAD;
		err = baleen_list_append(list, &entry);
		if (!err && list->n_listed - before > room)
			err = -E2BIG;
	}
	reading->n_listed += list->n_listed - before;
	list->n_ends += scan->n_ends;
	return !err && reading->n_listed > most ? -E2BIG : err;
}

static void tell_bad(const struct reading *reading, struct baleen_scanner *scan)
{
	struct baleen_entry entry;

	while (baleen_scanner_next(scan, &entry) > 0)
		if (entry.kind == BALEEN_ENTRY_BAD)
			report(reading->reader, reading->name, scan->line, &entry);
}

/* Bad lines are told in their order, so a block that has some is read again at its turn. */
static void read_blocks(void *data, u32 number, u32 thread)
{
	struct reading *reading = data;
	struct baleen_list *list = number ? &reading->more[number] : reading->list;
	u32 key_spec = reading->list->key_spec;
	struct baleen_lines lines;
	size_t block;
	int err = baleen_lines_start(&lines, reading->blocks.fd, '\n');

	while (!err && baleen_blocks_take(&reading->blocks, &lines, &block)) {
		/* Only the first line of the file may begin with a byte order mark. */
		u64 n_bad = list->n_bad, first = block > 0;
		struct baleen_scanner scan = baleen_scanner_of_block(&lines, key_spec, first),
				      again;

		err = parse_block(reading, list, &scan);
		if (list->n_bad > n_bad) {
			again = baleen_scanner_of_block(&lines, key_spec,
							baleen_blocks_wait(&reading->blocks,
									   block));
			tell_bad(reading, &again);
		}
		baleen_blocks_end(&reading->blocks, block, scan.line - first, err);
	}
	baleen_lines_stop(&lines);
}

/* Return: 0, -ENOMEM, -E2BIG, or the errno of read(). */
static int read_by_threads(struct baleen_list *list, int fd, const char *name,
			   const struct baleen_list_reader *reader)
{
	struct reading reading = {
		.name = name, .reader = reader, .list = list, .n_listed = list->n_listed
	};
	int err;

	baleen_blocks_start(&reading.blocks, fd, '\n');
	baleen_threads_run(baleen_threads(), read_blocks, &reading);
	list->n_lines += reading.blocks.n_lines_done;
	err = baleen_blocks_stop(&reading.blocks);
	for (u32 i = 0; i < BALEEN_MAX_THREADS; i++) {
		if (baleen_list_append_all(list, &reading.more[i]) && !err)
			err = -ENOMEM;
		baleen_list_free(&reading.more[i]);
	}
	return err;
}

/* --- read ------------------------------------------------------------------- */

int baleen_list_read(struct baleen_list *list, int fd, const char *name,
		     const struct baleen_list_reader *reader, struct baleen_error *error)
{
	struct baleen_scanner scan;
	int err;

	if (!list->key_spec)
		list->key_spec = BALEEN_KEY_SRC;
	if (list->key_spec == BALEEN_KEY_STRING)
		err = read_strings(list, fd, name, reader);
	else if (baleen_blocks_are_worth(fd) && !baleen_scanner_has_order(fd, list->key_spec))
		err = read_by_threads(list, fd, name, reader);
	else if (!(err = baleen_scanner_start(&scan, fd, list->key_spec)))
		err = read_entries(list, &scan, name, reader);
	if (err == -E2BIG)
		return baleen_fail(error, E2BIG, "%s: more than %llu entries", name,
				   (unsigned long long)reader->max_entries);
	return err ? baleen_fail(error, -err, "%s: %s", name, strerror(-err)) : 0;
}

int baleen_list_read_text(struct baleen_list *list, const char *text, const char *name,
			  const struct baleen_list_reader *reader, struct baleen_error *error)
{
	struct baleen_scanner scan;
	int err = baleen_scanner_start_text(&scan, text, list->key_spec);

	if (!err)
		err = read_entries(list, &scan, name, reader);
	return err ? baleen_fail(error, -err, "%s: %s", name, strerror(-err)) : 0;
}
