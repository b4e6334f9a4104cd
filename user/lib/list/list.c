// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a list as people write it to its entries. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "list/list.h"
#include "list/list_entry.h"
#include "util/array.h"
#include "util/lines.h"

#define BUFFER_BYTES (256 * 1024)
#define PROBLEM_BYTES 64

/* --- lines of a file --- */

/*
 * The lines of @fd, one by one:
 *
 *      buffer [ lines done | whole lines | start of a line | free ]
 *             0            next          complete          filled
 *
 * A whole line ends with a newline, which stops every parser.
 */
struct scanner {
	int fd;
	u32 key_spec;
	bool at_end;
	u64 line;
	char *buffer;
	size_t next;
	size_t complete;
	size_t filled;
};

static int scan_start(struct scanner *scan, int fd, u32 key_spec)
{
	*scan = (struct scanner){ .fd = fd, .key_spec = key_spec };
	scan->buffer = malloc(BUFFER_BYTES);
	return scan->buffer ? 0 : -ENOMEM;
}

/* The last line may lack its newline, as that of a file may. */
static int scan_start_text(struct scanner *scan, const char *text, u32 key_spec)
{
	size_t n_bytes = strlen(text);

	*scan = (struct scanner){ .fd = -1, .key_spec = key_spec, .at_end = true };
	scan->buffer = malloc(n_bytes + 1);
	if (!scan->buffer)
		return -ENOMEM;
	memcpy(scan->buffer, text, n_bytes);
	scan->filled = n_bytes && text[n_bytes - 1] == '\n' ? n_bytes - 1 : n_bytes;
	return 0;
}

static ssize_t read_some(int fd, void *buffer, size_t bytes)
{
	ssize_t got;

	do {
		got = read(fd, buffer, bytes);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Return: 1 when there is a whole line, 0 at the end, or the errno of read(). */
static int scan_fill(struct scanner *scan)
{
	char *buffer = scan->buffer;

	scan->filled -= scan->next;
	memmove(buffer, buffer + scan->next, scan->filled);
	scan->next = scan->complete = 0;
	while (!scan->at_end) {
		char *newline;
		ssize_t got;

		/* Drop the middle of a line that is too long anyway. */
		if (scan->filled == BUFFER_BYTES)
			scan->filled = BUFFER_BYTES / 2;
		got = read_some(scan->fd, buffer + scan->filled, BUFFER_BYTES - scan->filled);
		if (got < 0)
			return got;
		scan->at_end = !got;
		newline = memrchr(buffer + scan->filled, '\n', got);
		scan->filled += got;
		if (newline) {
			scan->complete = newline + 1 - buffer;
			return 1;
		}
	}
	if (!scan->filled)
		return 0;
	/* The last line lacks its newline; a full buffer was not left full. */
	buffer[scan->filled++] = '\n';
	scan->complete = scan->filled;
	return 1;
}

/* Most lines of most lists: an IPv4 address and nothing else. Return: where it
 * ends, or NULL.
 */
static const char *scan_ip4(struct baleen_entry *entry, const char *start)
{
	const char *end, *reason;
	u32 ip4;

	end = baleen_ip4_scan(start, &ip4, &reason);
	if (!end || *end != '\n')
		return NULL;
	entry->kind = BALEEN_ENTRY_SPAN;
	entry->is_exception = false;
	entry->text = start;
	entry->length = end - start;
	entry->span = baleen_span_of_ip4(ip4);
	return end;
}

/* Return: 1 and @entry, 0 at the end, or the errno of read(). */
static int scan_next(struct scanner *scan, struct baleen_entry *entry)
{
	static const char bom[] = { '\xef', '\xbb', '\xbf' };
	const char *start, *end;

	if (scan->next == scan->complete) {
		int ret = scan_fill(scan);

		if (ret <= 0)
			return ret;
	}
	scan->line++;
	start = scan->buffer + scan->next;
	end = baleen_spec_is_address(scan->key_spec) ? scan_ip4(entry, start) : NULL;
	if (!end) {
		end = memchr(start, '\n', scan->complete - scan->next);
		if (scan->line == 1 && (size_t)(end - start) >= sizeof(bom) &&
		    !memcmp(start, bom, sizeof(bom)))
			start += sizeof(bom);
		baleen_entry_parse(entry, scan->key_spec, start, end);
	}
	scan->next = end + 1 - scan->buffer;
	return 1;
}

static void scan_stop(struct scanner *scan)
{
	free(scan->buffer);
}

/* --- the list --- */

int baleen_list_add_ip4(struct baleen_list *list, u32 host)
{
	if (baleen_array_reserve(&list->ip4, &list->room_ip4, list->n_ip4 + 1))
		return -ENOMEM;
	list->ip4[list->n_ip4++] = host;
	return 0;
}

int baleen_list_add_ip6(struct baleen_list *list, struct baleen_ip6 host)
{
	if (baleen_array_reserve(&list->ip6, &list->room_ip6, list->n_ip6 + 1))
		return -ENOMEM;
	list->ip6[list->n_ip6++] = host;
	return 0;
}

int baleen_list_add_prefix4(struct baleen_list *list, u32 address, u32 length, bool is_exception)
{
	if (baleen_array_reserve(&list->prefix4, &list->room_prefix4, list->n_prefix4 + 1))
		return -ENOMEM;
	list->prefix4[list->n_prefix4++] = (struct baleen_prefix4){ address, length, is_exception };
	return 0;
}

int baleen_list_add_prefix6(struct baleen_list *list, struct baleen_ip6 address, u32 length,
			    bool is_exception)
{
	if (baleen_array_reserve(&list->prefix6, &list->room_prefix6, list->n_prefix6 + 1))
		return -ENOMEM;
	list->prefix6[list->n_prefix6++] =
		(struct baleen_prefix6){ address.hi, address.lo, length, is_exception };
	return 0;
}

static int append_key(struct baleen_list *list, const struct baleen_key *key)
{
	if (baleen_array_reserve(&list->key, &list->room_key, list->n_key + 1))
		return -ENOMEM;
	list->key[list->n_key++] = *key;
	list->n_listed++;
	return 0;
}

/* An empty line is no string. */
static int append_string(struct baleen_list *list, const char *bytes, size_t n_bytes)
{
	if (!n_bytes)
		return 0;
	if (baleen_strings_add(&list->strings, bytes, n_bytes))
		return -ENOMEM;
	list->n_listed++;
	return 0;
}

/* IPv4 hosts of a range stay with its prefixes, so that they join them. */
static int append_span(struct baleen_list *list, struct baleen_span rest, bool is_exception)
{
	bool is_host = !is_exception && !baleen_ip6_compare(rest.first, rest.last);
	struct baleen_span prefix;
	int ret;

	if (is_host && !rest.is_ip6) {
		ret = baleen_list_add_ip4(list, rest.first.lo);
		list->n_listed += !ret;
		return ret;
	}
	do {
		u32 length = baleen_span_split(&rest, &prefix);

		if (!rest.is_ip6)
			ret = baleen_list_add_prefix4(list, prefix.first.lo, length, is_exception);
		else if (length == 128 && !is_exception)
			ret = baleen_list_add_ip6(list, prefix.first);
		else
			ret = baleen_list_add_prefix6(list, prefix.first, length, is_exception);
		list->n_listed += !ret;
	} while (!ret && baleen_ip6_compare(prefix.last, rest.last));
	return ret;
}

static int list_append(struct baleen_list *list, const struct baleen_entry *entry)
{
	switch (entry->kind) {
	case BALEEN_ENTRY_SPAN: return append_span(list, entry->span, entry->is_exception);
	case BALEEN_ENTRY_KEY: return append_key(list, &entry->key);
	default: return 0;
	}
}

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
			if (append_string(list, entry.text, entry.length))
				ret = -ENOMEM;
		}
	}
	list->n_lines += number;
	baleen_lines_stop(&lines);
	return ret;
}

/* Stops the scanner. */
static int read_entries(struct baleen_list *list, struct scanner *scan, const char *name,
			const struct baleen_list_reader *reader)
{
	struct baleen_entry entry;
	int ret;

	while ((ret = scan_next(scan, &entry)) > 0) {
		if (entry.kind == BALEEN_ENTRY_BAD) {
			list->n_bad++;
			report(reader, name, scan->line, &entry);
		}
		ret = list_append(list, &entry);
		if (ret)
			break;
	}
	list->n_lines += scan->line;
	scan_stop(scan);
	return ret;
}

int baleen_list_read(struct baleen_list *list, int fd, const char *name,
		     const struct baleen_list_reader *reader, struct baleen_error *error)
{
	struct scanner scan;
	int err;

	if (!list->key_spec)
		list->key_spec = BALEEN_KEY_SRC;
	if (list->key_spec == BALEEN_KEY_STRING)
		err = read_strings(list, fd, name, reader);
	else if (!(err = scan_start(&scan, fd, list->key_spec)))
		err = read_entries(list, &scan, name, reader);
	return err ? baleen_fail(error, -err, "%s: %s", name, strerror(-err)) : 0;
}

int baleen_list_read_text(struct baleen_list *list, const char *text, const char *name,
			  const struct baleen_list_reader *reader, struct baleen_error *error)
{
	struct scanner scan;
	int err = scan_start_text(&scan, text, list->key_spec);

	if (!err)
		err = read_entries(list, &scan, name, reader);
	return err ? baleen_fail(error, -err, "%s: %s", name, strerror(-err)) : 0;
}

int baleen_list_add(struct baleen_list *list, const char *text, const char **reason)
{
	size_t length = strlen(text);
	struct baleen_entry entry;

	if (!list->key_spec)
		list->key_spec = BALEEN_KEY_SRC;
	if (list->key_spec == BALEEN_KEY_STRING)
		return append_string(list, text, length);
	baleen_entry_parse(&entry, list->key_spec, text, text + length);
	if (entry.kind == BALEEN_ENTRY_BAD)
		*reason = entry.reason;
	else if (entry.kind == BALEEN_ENTRY_NONE || entry.length != length || strchr(text, '\n'))
		*reason = "not a key";
	else
		return list_append(list, &entry);
	return -EINVAL;
}

bool baleen_list_has_exceptions(const struct baleen_list *list)
{
	for (size_t i = 0; i < list->n_prefix4; i++)
		if (list->prefix4[i].is_exception)
			return true;
	for (size_t i = 0; i < list->n_prefix6; i++)
		if (list->prefix6[i].is_exception)
			return true;
	return false;
}

void baleen_list_free(struct baleen_list *list)
{
	free(list->ip4);
	free(list->net4);
	free(list->ip6);
	free(list->prefix6);
	free(list->key);
	free(list->prefix4);
	baleen_strings_free(&list->strings);
	*list = (struct baleen_list){ 0 };
}

/* --- lines --- */

int baleen_list_scan(int fd, u32 key_spec, baleen_list_visit *visit, void *data)
{
	struct baleen_entry entry;
	struct scanner scan;
	int ret = scan_start(&scan, fd, key_spec);

	if (ret)
		return ret;
	while ((ret = scan_next(&scan, &entry)) > 0) {
		ret = visit(&entry, scan.line, data);
		if (ret)
			break;
	}
	scan_stop(&scan);
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

	if (length < 0 || length < finding->length ||
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
	int err = baleen_list_scan(fd, key_spec, update_finding, &finding);

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
	int length = baleen_entry_covers(entry, covering->key);
	struct baleen_list_line line;

	if (length < 0)
		return 0;
	line.number = number;
	line.length = length;
	line.is_exception = entry->is_exception;
	baleen_entry_format(entry, line.text, sizeof(line.text));
	return covering->visit(&line, covering->data);
}

int baleen_list_find_each(int fd, u32 key_spec, const struct baleen_key *key,
			  int (*visit)(const struct baleen_list_line *line, void *data), void *data)
{
	struct covering covering = { .key = key, .visit = visit, .data = data };

	return baleen_list_scan(fd, key_spec, visit_covering, &covering);
}
