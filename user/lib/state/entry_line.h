/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of single entries, line by line, as another program writes them for `baleen feed`.
 *
 *      add KEY [ttl=1h] [origin=NAME] [reason=TEXT to the end of the line]
 *      ban KEY ...     is the same
 *      del KEY [origin=NAME]
 *      unban KEY       of every origin
 *      flush [origin=NAME]
 *      begin
 *      commit
 *      # a comment
 */
#ifndef BALEEN_ENTRY_LINE_H
#define BALEEN_ENTRY_LINE_H

#include <sys/types.h>

#include <baleen/port.h>

#include "util/error.h"

/* A line is shorter. */
#define BALEEN_ENTRY_LINE_BYTES 1024

/**
 * enum baleen_entry_verb - what a line asks for
 * @BALEEN_ENTRY_NOTHING: blank, or a comment
 * @BALEEN_ENTRY_ADD: an entry, or that it be renewed
 * @BALEEN_ENTRY_DEL: that an entry be removed
 * @BALEEN_ENTRY_UNBAN: that all entries of a key be removed
 * @BALEEN_ENTRY_FLUSH: that all entries of an origin be removed
 * @BALEEN_ENTRY_BEGIN: a snapshot
 * @BALEEN_ENTRY_COMMIT: that the snapshot be put in force
 */
enum baleen_entry_verb {
	BALEEN_ENTRY_NOTHING,
	BALEEN_ENTRY_ADD,
	BALEEN_ENTRY_DEL,
	BALEEN_ENTRY_UNBAN,
	BALEEN_ENTRY_FLUSH,
	BALEEN_ENTRY_BEGIN,
	BALEEN_ENTRY_COMMIT,
};

/**
 * struct baleen_entry_line - a line; its texts are in the memory of that
 * @verb: what it asks for; the rest is of those before BALEEN_ENTRY_BEGIN
 * @key: not checked, not empty; NULL of a flush
 * @origin: not checked; NULL when it names none
 * @reason: not checked; NULL when it names none
 * @ttl_ms: 0 when it names none
 */
struct baleen_entry_line {
	enum baleen_entry_verb verb;
	const char *key;
	const char *origin;
	const char *reason;
	u64 ttl_ms;
};

/**
 * baleen_entry_line_parse() - take a line apart
 * @text: the line, without its newline; it is cut up
 * @line: filled in; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_entry_line_parse(char *text, struct baleen_entry_line *line, struct baleen_error *error);

/**
 * struct baleen_entry_lines - lines on the way; all zeros at the start
 * @next: start of the next line
 * @n: bytes in @text
 * @is_skipping: in the middle of a line that is too long
 * @text: the input read so far
 */
struct baleen_entry_lines {
	size_t next;
	size_t n;
	bool is_skipping;
	char text[65536];
};

/**
 * baleen_entry_lines_read() - read on, once the lines that are whole are done
 * @lines: those before are gone
 * @fd: read once
 *
 * Return: as read().
 */
ssize_t baleen_entry_lines_read(struct baleen_entry_lines *lines, int fd);

/**
 * baleen_entry_lines_next() - the next line that is whole
 * @lines: read
 * @line: its text; valid until baleen_entry_lines_read()
 *
 * Return: 1; 0 when there is none; -EINVAL when it is too long or has a NUL: the one behind it is
 * next.
 */
int baleen_entry_lines_next(struct baleen_entry_lines *lines, char **line);

/**
 * baleen_entry_lines_is_cut() - has the last line no end?
 * @lines: read to the end
 *
 * Return: whether it has none.
 */
bool baleen_entry_lines_is_cut(const struct baleen_entry_lines *lines);

#endif /* BALEEN_ENTRY_LINE_H */
