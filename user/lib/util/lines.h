/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a file, many at a time.
 *
 *      buffer [ done | whole lines | start of a line | free ]
 *             0      next          complete          filled
 */
#ifndef BALEEN_LINES_H
#define BALEEN_LINES_H

#include <baleen/port.h>

/* No key is longer. */
#define BALEEN_LINE_MAX (1u << 20)

/**
 * struct baleen_lines - a file on the way
 * @fd: read from where it is
 * @end: the byte that ends a line: a newline, or NUL
 * @at_end: there is no more to read
 * @buffer: memory of @room bytes, see above
 * @room: grows when a line does not fit, up to twice BALEEN_LINE_MAX
 * @next: start of the next line
 * @complete: end of the last whole line
 * @filled: end of what was read
 */
struct baleen_lines {
	int fd;
	char end;
	bool at_end;
	char *buffer;
	size_t room;
	size_t next;
	size_t complete;
	size_t filled;
};

/**
 * baleen_lines_start() - begin to read
 * @lines: set up; end with baleen_lines_stop(), also after a failure
 * @fd: open for reading
 * @end: the byte that ends a line
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_lines_start(struct baleen_lines *lines, int fd, char end);

/**
 * baleen_lines_fill() - read on when all whole lines are done
 * @lines: started, and @next is @complete: what was before is gone
 *
 * The last line of the file gets the end that it lacks. The middle of a line of
 * more than BALEEN_LINE_MAX bytes is dropped: it stays longer than that.
 *
 * Return: 1 when there are whole lines, 0 at the end of the file, -ENOMEM, or
 * the negative errno of a failed read.
 */
int baleen_lines_fill(struct baleen_lines *lines);

/**
 * baleen_lines_next() - one line
 * @lines: with whole lines
 * @n_bytes: its length without its end
 *
 * Return: where it starts, or NULL when all whole lines are done; it stays there
 * until they are filled again.
 */
static inline char *baleen_lines_next(struct baleen_lines *lines, size_t *n_bytes)
{
	char *start = lines->buffer + lines->next;
	const char *end;

	if (lines->next == lines->complete)
		return NULL;
	end = memchr(start, lines->end, lines->complete - lines->next);
	*n_bytes = end - start;
	lines->next += *n_bytes + 1;
	return start;
}

/**
 * baleen_lines_stop() - free the buffer
 * @lines: started, or all zeros; the file stays open
 */
void baleen_lines_stop(struct baleen_lines *lines);

#endif /* BALEEN_LINES_H */
