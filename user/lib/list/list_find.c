// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lines of a list that cover a key.
 *
 * All lines are read: 0.1 s of a processor for five million. An index beside the list, 8
 * bytes a line, would be written and synced with each version of it: 0.28 s for as many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "list/list.h"
#include "list/scanner.h"
#include "util/blocks.h"
#include "util/threads.h"

/**
 * struct search - a key that is looked for
 * @key_spec: enum baleen_key_spec of the list
 * @key: the key
 * @visit: called with each line that covers it, in the order of the file
 * @data: passed to @visit
 * @blocks: the file, where threads read it
 * @ret: what @visit returned, once it is not 0
 */
struct search {
	u32 key_spec;
	const struct baleen_key *key;
	baleen_list_visit *visit;
	void *data;
	struct baleen_blocks blocks;
	int ret;
};

/* Return: 1 and @entry, which covers the key, 0 at the end, or the errno of read(). */
static int next_covering(const struct search *search, struct baleen_scanner *scan,
			 struct baleen_entry *entry)
{
	bool is_ip4 = baleen_spec_is_address(search->key_spec) && search->key->domain == BALEEN_IP4;
	int ret;

	do {
		if (is_ip4)
			baleen_scanner_skip(scan, search->key->ip4);
		ret = baleen_scanner_next(scan, entry);
	} while (ret > 0 && baleen_entry_covers(entry, search->key) < 0);
	return ret;
}

/* Return: 0, what @visit returned, or the errno of read(). */
static int visit_lines(const struct search *search, struct baleen_scanner *scan)
{
	struct baleen_entry entry;
	int ret;

	while ((ret = next_covering(search, scan, &entry)) > 0) {
		ret = search->visit(&entry, scan->line, search->data);
		if (ret)
			break;
	}
	return ret;
}

/* At the turn of a block, which orders the threads: @lines are read again, now that their
 * numbers are known. Return: as visit_lines(), of this block or of one before.
 */
static int visit_block(struct search *search, const struct baleen_lines *lines, size_t block)
{
	u64 before = baleen_blocks_wait(&search->blocks, block);
	struct baleen_scanner scan = baleen_scanner_of_block(lines, search->key_spec, before);

	if (!search->ret)
		search->ret = visit_lines(search, &scan);
	return search->ret;
}

/* Few blocks have lines that cover the key. */
static void search_blocks(void *data, u32 number, u32 thread)
{
	struct search *search = data;
	struct baleen_lines lines;
	struct baleen_entry entry;
	size_t block;
	int err = baleen_lines_start(&lines, search->blocks.fd, '\n');

	while (!err && baleen_blocks_take(&search->blocks, &lines, &block)) {
		/* Only the first line of the file may begin with a byte order mark. */
		u64 first = block > 0;
		struct baleen_scanner scan =
			baleen_scanner_of_block(&lines, search->key_spec, first);
		bool is_found = false;

		while (next_covering(search, &scan, &entry) > 0)
			is_found = true;
		if (is_found)
			err = visit_block(search, &lines, block);
		baleen_blocks_end(&search->blocks, block, scan.line - first, err);
	}
	baleen_lines_stop(&lines);
}

static int search_by_threads(struct search *search, int fd)
{
	int err;

	baleen_blocks_start(&search->blocks, fd, '\n');
	baleen_threads_run(baleen_threads(), search_blocks, search);
	err = baleen_blocks_stop(&search->blocks);
	return search->ret ?: err;
}

static int search_list(struct search *search, int fd)
{
	struct baleen_scanner scan;
	int ret;

	if (baleen_blocks_are_worth(fd) && !baleen_scanner_has_order(fd, search->key_spec))
		return search_by_threads(search, fd);
	ret = baleen_scanner_start(&scan, fd, search->key_spec);
	if (!ret)
		ret = visit_lines(search, &scan);
	free(scan.buffer);
	return ret;
}

/* The line that decides, as far as the list has been read. */
struct finding {
	const struct baleen_key *key;
	int length; /* of its prefix; -1: there is none */
	bool is_exception;
	u64 line;
	char text[BALEEN_KEY_TEXT];
};

static int update_finding(const struct baleen_entry *entry, u64 line, void *data)
{
	struct finding *finding = data;
	int length = baleen_entry_covers(entry, finding->key);

	if (length < finding->length ||
	    (length == finding->length && entry->is_exception <= finding->is_exception))
		return 0;
	finding->length = length;
	finding->is_exception = entry->is_exception;
	finding->line = line;
	snprintf(finding->text, sizeof(finding->text), "%.*s", (int)entry->length, entry->text);
	return 0;
}

int baleen_list_find(int fd, u32 key_spec, const struct baleen_key *key, u64 *line, char *text,
		     size_t text_bytes)
{
	struct finding finding = { .key = key, .length = -1 };
	struct search search = {
		.key_spec = key_spec, .key = key, .visit = update_finding, .data = &finding
	};
	int err = search_list(&search, fd);

	if (err)
		return err;
	if (finding.length < 0 || finding.is_exception)
		return -ENOENT;
	*line = finding.line;
	snprintf(text, text_bytes, "%s", finding.text);
	return 0;
}

/* A walk through the lines that cover a key. */
struct covering {
	const struct baleen_key *key;
	int (*visit)(const struct baleen_list_line *line, void *data);
	void *data;
};

static int visit_covering(const struct baleen_entry *entry, u64 number, void *data)
{
	const struct covering *covering = data;
	struct baleen_list_line line;

	line.number = number;
	line.length = baleen_entry_covers(entry, covering->key);
	line.is_exception = entry->is_exception;
	baleen_entry_format(entry, line.text, sizeof(line.text));
	return covering->visit(&line, covering->data);
}

int baleen_list_find_each(int fd, u32 key_spec, const struct baleen_key *key,
			  int (*visit)(const struct baleen_list_line *line, void *data), void *data)
{
	struct covering covering = { .key = key, .visit = visit, .data = data };
	struct search search = {
		.key_spec = key_spec, .key = key, .visit = visit_covering, .data = &covering
	};

	return search_list(&search, fd);
}
