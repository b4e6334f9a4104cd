// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lines of a list in a file or in memory, one by one, parsed. */
#include <stdlib.h>
#include <unistd.h>

#include "list/scanner.h"

/* Stays in the L2 cache between the kernel's copy and us. */
#define BUFFER_BYTES (256 * 1024)

int baleen_scanner_start(struct baleen_scanner *scan, int fd, u32 key_spec)
{
	*scan = (struct baleen_scanner){ .fd = fd, .key_spec = key_spec };
	scan->buffer = malloc(BUFFER_BYTES);
	return scan->buffer ? 0 : -ENOMEM;
}

/* The last line may lack its newline, as that of a file may. */
int baleen_scanner_start_text(struct baleen_scanner *scan, const char *text, u32 key_spec)
{
	size_t n_bytes = strlen(text);

	*scan = (struct baleen_scanner){ .fd = -1, .key_spec = key_spec, .at_end = true };
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

/* When all whole lines are done: what was before is gone, and of a line that fills the buffer
 * the middle. Return: 1 when there is a whole line, 0 at the end, or the errno of read().
 */
static int fill(struct baleen_scanner *scan)
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
	entry->is_exception = entry->is_ipset = false;
	entry->text = start;
	entry->length = end - start;
	entry->span = baleen_span_of_ip4(ip4);
	return end;
}

/* --- sets of ipset --- */

static void entry_is_bad(struct baleen_entry *entry, const char *text, size_t length,
			 const char *reason)
{
	entry->kind = BALEEN_ENTRY_BAD;
	entry->text = text;
	entry->length = length;
	entry->reason = reason;
}

/* Is the name behind @text this one? It ends at a blank. */
static bool is_of_set(const char *text, const struct baleen_ipset_set *set)
{
	size_t length = strlen(set->name);

	return !strncmp(text, set->name, length) && (text[length] == ' ' || text[length] == '\t');
}

static struct baleen_ipset_set *find_scanned(struct baleen_scanner *scan, const char *name)
{
	for (u32 i = 0; i < scan->n_sets; i++)
		if (is_of_set(name, &scan->set[i]))
			return &scan->set[i];
	return NULL;
}

/* Return: NULL, or why not. */
static const char *keep_set(struct baleen_scanner *scan, const struct baleen_ipset_set *set)
{
	if (!set->netmask && !set->timeout_s)
		return NULL;
	if (scan->n_saved + 1 < scan->line)
		return "a set with a netmask or timeout behind other lines: put it first";
	if (scan->n_sets == BALEEN_SCANNER_SETS)
		return "more than 64 sets with a netmask or timeout";
	for (u32 i = 0; i < scan->n_sets; i++)
		if (!strcmp(scan->set[i].name, set->name))
			return "a set that is created twice";
	scan->set[scan->n_sets++] = *set;
	return NULL;
}

static int split_uncommented(char *line, struct baleen_ipset_line *words,
			     struct baleen_ipset_problem *problem)
{
	int err = baleen_ipset_split(line, words, problem);

	for (u32 i = 0; i < words->n && !err; i++)
		if (*words->word[i] == '#' || *words->word[i] == ';')
			words->n = i;
	return err;
}

/* A line that creates a set and, as one, is no entry. */
static void create_set(struct baleen_scanner *scan, struct baleen_entry *entry, const char *line,
		       const char *end)
{
	struct baleen_ipset_problem problem = { 0 };
	struct baleen_ipset_line words;
	struct baleen_ipset_set set;
	char copy[BALEEN_ENTRY_ROOM];
	size_t length = end - line;

	memcpy(copy, line, length);
	copy[length] = '\0';
	copy[strcspn(copy, "\r")] = '\0';
	if (split_uncommented(copy, &words, &problem) ||
	    baleen_ipset_create(&words, &set, &problem)) {
		if (problem.word)
			entry_is_bad(entry, line + (problem.word - copy), strlen(problem.word),
				     problem.reason);
		else
			entry_is_bad(entry, line, length, problem.reason);
		return;
	}
	problem.reason = keep_set(scan, &set);
	if (problem.reason)
		entry_is_bad(entry, line, length, problem.reason);
}

static void mask_host(const struct baleen_ipset_set *set, struct baleen_entry *entry)
{
	if (!set->netmask || set->netmask > (entry->span.is_ip6 ? 128 : 32) ||
	    memchr(entry->text, '/', entry->length) || memchr(entry->text, '-', entry->length))
		return;
	entry->span = baleen_span_prefix(&entry->span, set->netmask);
}

static void apply_set(struct baleen_scanner *scan, struct baleen_entry *entry, const char *line,
		      const char *end)
{
	const struct baleen_ipset_set *set;

	if (entry->kind == BALEEN_ENTRY_NONE)
		return create_set(scan, entry, line, end);
	set = entry->set ? find_scanned(scan, entry->set) : NULL;
	if (set && entry->kind == BALEEN_ENTRY_SPAN)
		mask_host(set, entry);
	scan->n_ends += entry->has_end || (set && set->timeout_s && !entry->is_unending);
}

bool baleen_scanner_has_order(int fd, u32 key_spec)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct baleen_entry entry = { 0 };
	struct baleen_scanner scan;
	int ret = at < 0 ? -errno : baleen_scanner_start(&scan, fd, key_spec);

	if (ret)
		return false;
	do
		ret = baleen_scanner_next(&scan, &entry);
	while (ret > 0 && entry.kind == BALEEN_ENTRY_NONE && !entry.is_ipset);
	free(scan.buffer);
	lseek(fd, at, SEEK_SET);
	return ret > 0 && entry.is_ipset;
}

/* --- lines --- */

int baleen_scanner_next(struct baleen_scanner *scan, struct baleen_entry *entry)
{
	static const char bom[] = { '\xef', '\xbb', '\xbf' };
	const char *start, *end;

	if (scan->next == scan->complete) {
		int ret = fill(scan);

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
		if (entry->is_ipset)
			apply_set(scan, entry, start, end);
		scan->n_saved += entry->is_ipset || entry->kind == BALEEN_ENTRY_NONE;
	}
	scan->next = end + 1 - scan->buffer;
	return 1;
}

void baleen_scanner_skip(struct baleen_scanner *scan, u32 ip4)
{
	const char *reason;

	while (scan->next < scan->complete) {
		const char *start = scan->buffer + scan->next;
		u32 other = ip4;
		const char *end = baleen_ip4_scan(start, &other, &reason);

		if (!end || *end != '\n' || other == ip4)
			return;
		scan->line++;
		scan->next += end + 1 - start;
	}
}
