// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a list as people write it to sorted canonical keys. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "list.h"

#define BUFFER_BYTES (256 * 1024)
#define LINE_BYTES 4096
#define PROBLEM_BYTES 64

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

#define WIDEST STRING(BALEEN_LIST_EXPAND)
#define LONGEST STRING(LINE_BYTES)

static const char too_wide[] = "more than " WIDEST " addresses: wider prefixes cannot be held yet";
static const char too_long[] = "line longer than " LONGEST " bytes";
static const char exception[] = "exceptions are not supported yet";

/* --- one line --- */

enum entry_kind {
	ENTRY_NONE,
	ENTRY_HELD,
	ENTRY_BAD,
	ENTRY_UNHELD, /* right, but cannot be held yet */
};

/* What a line says; @text points into the line. */
struct entry {
	enum entry_kind kind;
	const char *text;
	size_t length;
	struct baleen_span span;
	const char *reason;
};

struct word {
	const char *start;
	const char *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_comment(char c)
{
	return c == '#' || c == ';';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* An entry ends at white space or a comment. */
static struct word entry_word(const char *p, const char *end)
{
	struct word word = { .start = p, .end = p };

	while (word.end < end && !is_blank(*word.end) && !is_comment(*word.end))
		word.end++;
	return word;
}

/* A word of an ipset line ends at white space outside double quotes; ipset
 * has no way to escape a quote.
 */
static struct word ipset_word(const char *p, const char *end)
{
	struct word word = { .start = p, .end = p };
	bool quoted = false;

	while (word.end < end && (quoted || !is_blank(*word.end)))
		quoted ^= *word.end++ == '"';
	return word;
}

static bool has_open_quote(const char *p, const char *end)
{
	bool quoted = false;

	while (p < end)
		quoted ^= *p++ == '"';
	return quoted;
}

static bool word_is(struct word word, const char *text)
{
	size_t length = word.end - word.start;

	return length == strlen(text) && !memcmp(word.start, text, length);
}

static void entry_bad(struct entry *entry, struct word word, const char *reason)
{
	entry->kind = ENTRY_BAD;
	entry->text = word.start;
	entry->length = word.end - word.start;
	entry->reason = reason;
}

static void entry_unheld(struct entry *entry, struct word word, const char *reason)
{
	entry_bad(entry, word, reason);
	entry->kind = ENTRY_UNHELD;
}

static void entry_held(struct entry *entry, struct word word)
{
	entry->kind = ENTRY_HELD;
	entry->text = word.start;
	entry->length = word.end - word.start;
}

static bool is_too_wide(const struct baleen_span *span)
{
	u64 lo = span->last.lo - span->first.lo;
	u64 hi = span->last.hi - span->first.hi - (span->last.lo < span->first.lo);

	if (span->first.domain == BALEEN_IP4)
		return span->last.ip4 - span->first.ip4 >= BALEEN_LIST_EXPAND;
	return hi || lo >= BALEEN_LIST_EXPAND;
}

static void entry_parse(struct entry *entry, struct word word)
{
	const char *reason = NULL;

	if (*word.start == '!')
		entry_unheld(entry, word, exception);
	else if (baleen_span_parse(word.start, word.end - word.start, &entry->span, &reason))
		entry_bad(entry, word, reason);
	else if (is_too_wide(&entry->span))
		entry_unheld(entry, word, too_wide);
	else
		entry_held(entry, word);
}

/* Another column is ignored, but `A - B` must not be read as A alone. */
static bool is_spaced_range(const char *p, const char *end)
{
	const char *reason, *comma;
	struct baleen_key key;
	struct word word;

	p = skip_blanks(p, end);
	if (p == end || *p != '-')
		return false;
	word = entry_word(skip_blanks(p + 1, end), end);
	comma = memchr(word.start, ',', word.end - word.start);
	if (comma)
		word.end = comma;
	return !baleen_key_parse(word.start, word.end - word.start, &key, &reason);
}

/* `create NAME TYPE ...` or `add NAME KEY [timeout N] [comment "..."] [nomatch]`,
 * with -exist or -! anywhere.
 */
static void ipset_parse(struct entry *entry, const char *p, const char *end)
{
	struct word word, key = { p, end };
	u32 n_words = 0;
	bool nomatch = false;

	for (p = skip_blanks(p, end); p < end && !is_comment(*p); p = skip_blanks(p, end)) {
		word = ipset_word(p, end);
		p = word.end;
		if (word_is(word, "-exist") || word_is(word, "-!"))
			continue;
		if (n_words == 0 && word_is(word, "create"))
			return;
		if (n_words == 0 && !word_is(word, "add")) {
			entry_bad(entry, word, "not an address");
			return;
		}
		if (n_words == 2)
			key = entry_word(word.start, word.end);
		nomatch |= n_words > 2 && word_is(word, "nomatch");
		n_words++;
	}
	if (n_words < 3)
		entry_bad(entry, key, "ipset line without a key");
	else if (has_open_quote(key.end, end))
		entry_bad(entry, key, "quote without its end");
	else if (nomatch)
		entry_unheld(entry, key, exception);
	else
		entry_parse(entry, key);
}

static bool is_ipset(struct word word)
{
	return word_is(word, "add") || word_is(word, "create") || word_is(word, "-exist") ||
	       word_is(word, "-!");
}

static void line_parse(struct entry *entry, const char *p, const char *end)
{
	struct word word = { p, end };

	entry->kind = ENTRY_NONE;
	if (end - p > LINE_BYTES) {
		entry_bad(entry, word, too_long);
		return;
	}
	while (end > p && (is_blank(end[-1]) || end[-1] == '\r'))
		word.end = --end;
	/* Also in comments: else a file with the line ends of another system,
	 * or in UTF-16, could be one long comment.
	 */
	if (memchr(p, '\0', end - p)) {
		entry_bad(entry, word, "NUL byte");
		return;
	}
	if (memchr(p, '\r', end - p)) {
		entry_bad(entry, word, "carriage return in the line");
		return;
	}
	p = skip_blanks(p, end);
	word = entry_word(p, end);
	if (p == end || is_comment(*p))
		return;
	if (is_ipset(word))
		ipset_parse(entry, p, end);
	else if (is_spaced_range(word.end, end))
		entry_bad(entry, word, "range with white space: write it A-B");
	else
		entry_parse(entry, word);
}

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
	bool at_end;
	u64 line;
	char *buffer;
	size_t next;
	size_t complete;
	size_t filled;
};

static int scan_start(struct scanner *scan, int fd)
{
	*scan = (struct scanner){ .fd = fd };
	scan->buffer = malloc(BUFFER_BYTES);
	return scan->buffer ? 0 : -ENOMEM;
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

/* Return: 1 and @entry, 0 at the end, or the errno of read(). */
static int scan_next(struct scanner *scan, struct entry *entry)
{
	static const char bom[] = { '\xef', '\xbb', '\xbf' };
	struct baleen_key key = { .domain = BALEEN_IP4 };
	const char *start, *end, *reason;

	if (scan->next == scan->complete) {
		int ret = scan_fill(scan);

		if (ret <= 0)
			return ret;
	}
	scan->line++;
	start = scan->buffer + scan->next;

	/* Most lines of most lists: an IPv4 address and nothing else. */
	end = baleen_ip4_scan(start, &key.ip4, &reason);
	if (end && *end == '\n') {
		entry->kind = ENTRY_HELD;
		entry->text = start;
		entry->length = end - start;
		entry->span.first = entry->span.last = key;
	} else {
		end = memchr(start, '\n', scan->complete - scan->next);
		if (scan->line == 1 && (size_t)(end - start) >= sizeof(bom) &&
		    !memcmp(start, bom, sizeof(bom)))
			start += sizeof(bom);
		line_parse(entry, start, end);
	}
	scan->next = end + 1 - scan->buffer;
	return 1;
}

static void scan_stop(struct scanner *scan)
{
	free(scan->buffer);
}

/* --- the list --- */

/* Return: @array, moved when it had to grow to hold @more than @n, or NULL. */
static void *grow(void *array, size_t *room, size_t n, size_t more, size_t key_bytes)
{
	size_t want, grown;

	if (more <= *room - n)
		return array;
	if (__builtin_add_overflow(n, more, &want) || __builtin_mul_overflow(*room, 2, &grown))
		return NULL;
	if (grown < want)
		grown = want;
	if (grown < 1024)
		grown = 1024;
	if (grown > PTRDIFF_MAX / key_bytes)
		return NULL;
	array = realloc(array, grown * key_bytes);
	if (array)
		*room = grown;
	return array;
}

static int append_ip4(struct baleen_list *list, const struct baleen_span *span)
{
	size_t n = (size_t)(span->last.ip4 - span->first.ip4) + 1;
	u32 *ip4 = grow(list->ip4, &list->room_ip4, list->n_ip4, n, sizeof(*ip4));

	if (!ip4)
		return -ENOMEM;
	list->ip4 = ip4;
	for (size_t i = 0; i < n; i++)
		ip4[list->n_ip4++] = span->first.ip4 + i;
	return 0;
}

static int append_ip6(struct baleen_list *list, const struct baleen_span *span)
{
	size_t n = (size_t)(span->last.lo - span->first.lo) + 1;
	struct baleen_ip6 *ip6 = grow(list->ip6, &list->room_ip6, list->n_ip6, n, sizeof(*ip6));

	if (!ip6)
		return -ENOMEM;
	list->ip6 = ip6;
	for (size_t i = 0; i < n; i++) {
		u64 lo = span->first.lo + i;

		ip6[list->n_ip6++] = (struct baleen_ip6){
			.hi = span->first.hi + (lo < span->first.lo),
			.lo = lo,
		};
	}
	return 0;
}

static int list_append(struct baleen_list *list, const struct baleen_span *span)
{
	return span->first.domain == BALEEN_IP4 ? append_ip4(list, span) : append_ip6(list, span);
}

static void report(const struct baleen_list_reader *reader, const char *name, u64 line,
		   const struct entry *entry)
{
	char text[PROBLEM_BYTES + sizeof("...")];
	struct baleen_list_problem problem = {
		name, line, text, entry->reason, entry->kind == ENTRY_UNHELD,
	};
	size_t length = entry->length < PROBLEM_BYTES ? entry->length : PROBLEM_BYTES;

	if (!reader || !reader->on_bad)
		return;
	for (size_t i = 0; i < length; i++)
		text[i] = entry->text[i] >= ' ' && entry->text[i] <= '~' ? entry->text[i] : '?';
	strcpy(text + length, entry->length > length ? "..." : "");
	reader->on_bad(reader->data, &problem);
}

int baleen_list_read(struct baleen_list *list, int fd, const char *name,
		     const struct baleen_list_reader *reader, struct baleen_error *error)
{
	struct scanner scan;
	struct entry entry;
	int ret;

	ret = scan_start(&scan, fd);
	if (ret)
		return baleen_fail(error, -ret, "%s: %s", name, strerror(-ret));
	while ((ret = scan_next(&scan, &entry)) > 0) {
		if (entry.kind == ENTRY_BAD || entry.kind == ENTRY_UNHELD) {
			list->n_bad++;
			list->n_unheld += entry.kind == ENTRY_UNHELD;
			report(reader, name, scan.line, &entry);
		} else if (entry.kind == ENTRY_HELD) {
			ret = list_append(list, &entry.span);
			if (ret)
				break;
		}
	}
	list->n_lines += scan.line;
	scan_stop(&scan);
	return ret ? baleen_fail(error, -ret, "%s: %s", name, strerror(-ret)) : 0;
}

int baleen_list_find(int fd, const struct baleen_key *key, u64 *line, char *text, size_t text_bytes)
{
	struct scanner scan;
	struct entry entry;
	int ret;

	ret = scan_start(&scan, fd);
	if (ret)
		return ret;
	while ((ret = scan_next(&scan, &entry)) > 0) {
		if (entry.kind == ENTRY_HELD && baleen_key_compare(&entry.span.first, key) <= 0 &&
		    baleen_key_compare(key, &entry.span.last) <= 0)
			break;
	}
	if (ret > 0) {
		*line = scan.line;
		snprintf(text, text_bytes, "%.*s", (int)entry.length, entry.text);
	}
	scan_stop(&scan);
	return ret > 0 ? 0 : ret ? ret : -ENOENT;
}

void baleen_list_free(struct baleen_list *list)
{
	free(list->ip4);
	free(list->ip6);
	*list = (struct baleen_list){ 0 };
}
