// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists in files and in memory, read. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "list/list.h"
#include "list/scanner.h"
#include "util/array.h"
#include "util/lines.h"
#include "util/threads.h"

#define PROBLEM_BYTES 64

/* A shorter file is read sooner than threads are made. */
#define LONG_BYTES (1 << 20)

/* Only printable ASCII goes to a terminal. */
static void report(const struct baleen_list_reader *reader, const char *name, u64 line,
		   const struct baleen_entry *entry)
{
	char text[PROBLEM_BYTES + sizeof("...")];
	struct baleen_list_problem problem = { name, line, text, entry->reason };
	size_t length = entry->length < PROBLEM_BYTES ? entry->length : PROBLEM_BYTES;

	if (!reader || !reader->on_bad)
		return;
	for (size_t i = 0; i < length; i++)
		text[i] = entry->text[i] >= ' ' && entry->text[i] <= '~' ? entry->text[i] : '?';
	strcpy(text + length, entry->length > length ? "..." : "");
	reader->on_bad(reader->data, &problem);
}

/* Return: 0, -ENOMEM, or the errno of read(). */
static int read_strings(struct baleen_list *list, int fd, const char *name,
			const struct baleen_list_reader *reader)
{
	bool has_cr = !reader || !reader->ends_with_nul;
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
	struct baleen_entry entry;
	int ret;

	while ((ret = baleen_scanner_next(scan, &entry)) > 0) {
		if (entry.kind == BALEEN_ENTRY_BAD) {
			list->n_bad++;
			report(reader, name, scan->line, &entry);
		}
		ret = baleen_list_append(list, &entry);
		if (ret)
			break;
	}
	list->n_lines += scan->line;
	free(scan->buffer);
	return ret;
}

/* --- by threads ------------------------------------------------------------- */

/*
 * Threads take turns to read a block of the file, and parse their blocks at the same time:
 * to read is less than a tenth of the work. A block is cut at the end of a line; what is
 * behind it belongs to the next one.
 *
 * Entries get into no order, because the list is sorted later. Bad lines are told in theirs:
 * a thread that has found some waits until all blocks before are done, which then also tells
 * the numbers of its lines.
 */

/**
 * struct reading - a file that threads read
 * @fd: the file
 * @name: name of the list in messages
 * @reader: the caller's
 * @list: gets what the first thread reads
 * @more: gets what each of the others reads
 * @lock: guards all that follows
 * @came_on: @n_done has grown
 * @at_end: the file has been read
 * @err: the first failure
 * @tail: the start of the next line, read with the last block
 * @n_tail: its length
 * @n_lines: lines of each block plus one; 0 while it is being parsed
 * @n_blocks: how many blocks have been taken
 * @room: allocated
 * @n_done: the first so many blocks are parsed, and their bad lines told
 * @n_lines_done: lines of these
 */
struct reading {
	int fd;
	const char *name;
	const struct baleen_list_reader *reader;
	struct baleen_list *list;
	struct baleen_list more[BALEEN_MAX_THREADS];
	pthread_mutex_t lock;
	pthread_cond_t came_on;
	bool at_end;
	int err;
	char *tail;
	size_t n_tail;
	u64 *n_lines;
	size_t n_blocks, room;
	size_t n_done;
	u64 n_lines_done;
};

/* Return: as baleen_scanner_fill(). */
static int read_block(struct reading *reading, struct baleen_scanner *scan)
{
	int ret;

	if (baleen_array_reserve(&reading->n_lines, &reading->room, reading->n_blocks + 1))
		return -ENOMEM;
	memcpy(scan->buffer, reading->tail, reading->n_tail);
	scan->next = 0;
	scan->filled = reading->n_tail;
	scan->at_end = reading->at_end;
	ret = baleen_scanner_fill(scan);
	if (ret <= 0)
		return ret;
	reading->at_end = scan->at_end;
	reading->n_tail = scan->filled - scan->complete;
	memcpy(reading->tail, scan->buffer + scan->complete, reading->n_tail);
	reading->n_lines[reading->n_blocks++] = 0;
	return 1;
}

/* The next block; false at the end, or after a failure. */
static bool take_block(struct reading *reading, struct baleen_scanner *scan, size_t *block)
{
	int ret = 0;

	pthread_mutex_lock(&reading->lock);
	if (!reading->err)
		ret = read_block(reading, scan);
	if (ret < 0)
		reading->err = ret;
	*block = reading->n_blocks - 1;
	pthread_mutex_unlock(&reading->lock);
	return ret > 0;
}

/* The block, from its first line on; lines are counted from behind @line. */
static void rewind_block(struct baleen_scanner *scan, size_t n_bytes, u64 line)
{
	scan->next = 0;
	scan->complete = scan->filled = n_bytes;
	scan->at_end = true;
	scan->line = line;
}

/* Return: 0 or -ENOMEM. */
static int parse_block(struct baleen_list *list, struct baleen_scanner *scan)
{
	struct baleen_entry entry;
	int err = 0;

	while (!err && baleen_scanner_next(scan, &entry) > 0) {
		list->n_bad += entry.kind == BALEEN_ENTRY_BAD;
		err = baleen_list_append(list, &entry);
	}
	return err;
}

static void tell_bad(const struct reading *reading, struct baleen_scanner *scan)
{
	struct baleen_entry entry;

	while (baleen_scanner_next(scan, &entry) > 0)
		if (entry.kind == BALEEN_ENTRY_BAD)
			report(reading->reader, reading->name, scan->line, &entry);
}

static u64 wait_for_turn(struct reading *reading, size_t block)
{
	u64 n_lines;

	pthread_mutex_lock(&reading->lock);
	while (reading->n_done < block)
		pthread_cond_wait(&reading->came_on, &reading->lock);
	n_lines = reading->n_lines_done;
	pthread_mutex_unlock(&reading->lock);
	return n_lines;
}

static void end_block(struct reading *reading, size_t block, u64 n_lines, int err)
{
	pthread_mutex_lock(&reading->lock);
	if (err && !reading->err)
		reading->err = err;
	reading->n_lines[block] = n_lines + 1;
	while (reading->n_done < reading->n_blocks && reading->n_lines[reading->n_done])
		reading->n_lines_done += reading->n_lines[reading->n_done++] - 1;
	pthread_cond_broadcast(&reading->came_on);
	pthread_mutex_unlock(&reading->lock);
}

static void read_blocks(void *data, u32 number, u32 thread)
{
	struct reading *reading = data;
	struct baleen_list *list = number ? &reading->more[number] : reading->list;
	struct baleen_scanner scan;
	size_t block;
	int err = baleen_scanner_start(&scan, reading->fd, reading->list->key_spec);

	while (!err && take_block(reading, &scan, &block)) {
		u64 n_bad = list->n_bad, first = block > 0, n_lines;
		size_t n_bytes = scan.complete;

		/* Only the first line of the file may begin with a byte order mark. */
		rewind_block(&scan, n_bytes, first);
		err = parse_block(list, &scan);
		n_lines = scan.line - first;
		if (list->n_bad > n_bad) {
			rewind_block(&scan, n_bytes, wait_for_turn(reading, block));
			tell_bad(reading, &scan);
		}
		end_block(reading, block, n_lines, err);
	}
	if (!scan.buffer) {
		pthread_mutex_lock(&reading->lock);
		reading->err = reading->err ?: err;
		pthread_mutex_unlock(&reading->lock);
	}
	free(scan.buffer);
}

/* Return: 0, -ENOMEM, or the errno of read(). */
static int read_by_threads(struct baleen_list *list, int fd, const char *name,
			   const struct baleen_list_reader *reader)
{
	struct reading reading = {
		.fd = fd,
		.name = name,
		.reader = reader,
		.list = list,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.came_on = PTHREAD_COND_INITIALIZER,
		.tail = malloc(BALEEN_SCANNER_BYTES),
	};

	if (!reading.tail)
		return -ENOMEM;
	baleen_threads_run(baleen_threads(), read_blocks, &reading);
	for (u32 i = 0; i < BALEEN_MAX_THREADS; i++) {
		if (baleen_list_append_all(list, &reading.more[i]) && !reading.err)
			reading.err = -ENOMEM;
		baleen_list_free(&reading.more[i]);
	}
	list->n_lines += reading.n_lines_done;
	free(reading.n_lines);
	free(reading.tail);
	return reading.err;
}

/* --- read ------------------------------------------------------------------- */

static bool is_long(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct stat stat;

	return at >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode) &&
	       stat.st_size - at >= LONG_BYTES;
}

int baleen_list_read(struct baleen_list *list, int fd, const char *name,
		     const struct baleen_list_reader *reader, struct baleen_error *error)
{
	struct baleen_scanner scan;
	int err;

	if (!list->key_spec)
		list->key_spec = BALEEN_KEY_SRC;
	if (list->key_spec == BALEEN_KEY_STRING)
		err = read_strings(list, fd, name, reader);
	else if (is_long(fd) && baleen_threads() > 1)
		err = read_by_threads(list, fd, name, reader);
	else if (!(err = baleen_scanner_start(&scan, fd, list->key_spec)))
		err = read_entries(list, &scan, name, reader);
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
