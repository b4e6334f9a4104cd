// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as the input of `baleen feed`, those above 127 as words of it, the first two as how
 * much comes at a time and what the keys are: each line is answered, however the pieces fell; the
 * key that is taken is read as itself again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/entries.h"
#include "state/entry_line.h"
#include "target.h"

#define MAX_BYTES 1024
/* More than is read at a time. */
#define LONG_BYTES 70000

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"add ",
	"del ",
	"begin\n",
	"commit\n",
	"# ",
	"\n",
	"\r\n",
	"\t",
	"ttl=1h ",
	"ttl=",
	"1w2d3h4m5s ",
	"origin=gate ",
	"origin=",
	"reason=\"a b\"\n",
	"reason=",
	"192.0.2.1 ",
	"192.0.2.0/24 ",
	"!192.0.2.0/25 ",
	"192.0.2.1-192.0.2.9 ",
	"2001:db8::1 ",
	"2001:db8::/48 ",
	"::ffff:192.0.2.1 ",
	"192.0.2.1,443 ",
	"tcp,192.0.2.1,198.51.100.7,40000,443 ",
	"add 192.0.2.7 ttl=1h origin=gate reason=x\n",
	"\u202e",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* Bytes that stand for many: too long for a line, and for what is read at a time. */
#define LONG_LINE 254
#define LONGER_LINE 255

/* --- a line ---------------------------------------------------------------- */

static void check_entry(const struct baleen_entry_line *line, u32 key_spec)
{
	const char *origin = line->origin ? line->origin : "feed";
	const char *reason = line->reason ? line->reason : "";
	struct baleen_rule_entry entry = { 0 }, again = { 0 };
	struct baleen_error error = { "" };

	if (baleen_rule_entry_check(origin, reason, &error)) {
		check(*error.text);
		return;
	}
	check(*origin && strlen(origin) < BALEEN_ORIGIN_BYTES && !strpbrk(origin, " \t\r"));
	check(strlen(reason) < BALEEN_REASON_BYTES && !strpbrk(reason, "\t\r\x1b\x7f"));
	if (baleen_rule_entry_parse(line->key, key_spec, 64, &entry, &error)) {
		check(*error.text && !baleen_entry_key_compare(&entry.key, &again.key));
		return;
	}
	check(!baleen_rule_entry_parse(baleen_rule_entry_asked_text(&entry).text, key_spec, 64,
				       &again, &error));
	check(!baleen_entry_key_compare(&again.key, &entry.key) &&
	      again.is_exception == entry.is_exception);
}

/* Return: a number that says what was made of it. */
static u64 take_line(char *text, u32 key_spec)
{
	size_t n_bytes = strlen(text);
	struct baleen_error error = { "" };
	struct baleen_entry_line line;
	u64 sum;

	if (baleen_entry_line_parse(text, &line, &error)) {
		check(*error.text);
		return 1;
	}
	check(line.verb <= BALEEN_ENTRY_COMMIT);
	if (!line.verb || line.verb >= BALEEN_ENTRY_FLUSH) {
		check(!line.key);
		check(line.verb == BALEEN_ENTRY_FLUSH ||
		      (!line.origin && !line.reason && !line.ttl_ms));
		return 2 + line.verb;
	}
	check(line.key > text && line.key < text + n_bytes);
	check(*line.key && !strpbrk(line.key, " \t\n"));
	check_entry(&line, key_spec);
	sum = 31 * line.ttl_ms + line.verb;
	for (const char *c = line.key; *c; c++)
		sum = 31 * sum + (u8)*c;
	return sum;
}

/* --- lines ----------------------------------------------------------------- */

/* Return: a sum of what was made of all lines that come @n_piece bytes at a time. */
static u64 take_all(const char *text, size_t n_bytes, size_t n_piece, u32 key_spec)
{
	static struct baleen_entry_lines lines;
	int ends[2], found;
	u64 sum = 0, n_lines = 0;
	char *line;

	memset(&lines, 0, offsetof(struct baleen_entry_lines, text));
	check(!pipe(ends));
	for (size_t at = 0, n; at < n_bytes; at += n) {
		n = n_bytes - at < n_piece ? n_bytes - at : n_piece;
		check(write(ends[1], text + at, n) == (ssize_t)n);
		for (size_t taken = 0; taken < n;) {
			ssize_t got = baleen_entry_lines_read(&lines, ends[0]);

			check(got > 0);
			taken += got;
			while ((found = baleen_entry_lines_next(&lines, &line))) {
				sum = 31 * sum + (found < 0 ? 7 : take_line(line, key_spec));
				n_lines++;
			}
		}
	}
	close(ends[1]);
	check(!baleen_entry_lines_read(&lines, ends[0]));
	close(ends[0]);
	check(baleen_entry_lines_is_cut(&lines) == (n_bytes && text[n_bytes - 1] != '\n'));
	for (size_t i = 0; i < n_bytes; i++)
		n_lines -= text[i] == '\n';
	check(!n_lines);
	return sum;
}

static size_t put_many(char *text, size_t n_bytes)
{
	memset(text, 'x', n_bytes);
	return n_bytes;
}

/* Of the longest lines there is room for one. */
static size_t make_text(const uint8_t *bytes, size_t n_bytes, char *text)
{
	bool has_longer = false;
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < 128) {
			text[n++] = bytes[i];
		} else if (bytes[i] == LONGER_LINE && !has_longer) {
			n += put_many(text + n, LONG_BYTES);
			has_longer = true;
		} else if (bytes[i] == LONG_LINE && n + BALEEN_ENTRY_LINE_BYTES < LONG_BYTES) {
			n += put_many(text + n, BALEEN_ENTRY_LINE_BYTES - 8);
		} else {
			n += strlen(strcpy(text + n, words[bytes[i] % N_WORDS]));
		}
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 64 + 3 * LONG_BYTES];
	u32 n_piece, key_spec;
	u64 sum;

	if (n_bytes < 2 || n_bytes > MAX_BYTES)
		return 0;
	key_spec = 1 + bytes[1] % BALEEN_KEY_FLOW;
	n_piece = 1 + bytes[0] * 64;
	n_bytes = make_text(bytes + 2, n_bytes - 2, text);
	n_piece += n_bytes / 64;
	sum = take_all(text, n_bytes, n_piece, key_spec);
	/* A pipe holds 64 KiB. */
	check(take_all(text, n_bytes, 65536, key_spec) == sum);
	return 0;
}
