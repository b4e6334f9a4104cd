// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lines of a file, many at a time. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/lines.h"

/* Stays in the L2 cache between the kernel's copy and us. */
#define FIRST_ROOM (256 * 1024)
#define MAX_ROOM (2 * BALEEN_LINE_MAX)

int baleen_lines_start(struct baleen_lines *lines, int fd, char end)
{
	*lines = (struct baleen_lines){ .fd = fd, .end = end, .room = FIRST_ROOM };
	lines->buffer = malloc(lines->room);
	return lines->buffer ? 0 : -ENOMEM;
}

void baleen_lines_stop(struct baleen_lines *lines)
{
	free(lines->buffer);
	*lines = (struct baleen_lines){ 0 };
}

/* Room for more bytes of a line that is longer than the buffer. */
static int make_room(struct baleen_lines *lines)
{
	char *grown;

	if (lines->filled < lines->room)
		return 0;
	if (lines->room == MAX_ROOM) {
		lines->filled = BALEEN_LINE_MAX + 1;
		return 0;
	}
	grown = realloc(lines->buffer, lines->room * 2);
	if (!grown)
		return -ENOMEM;
	lines->buffer = grown;
	lines->room *= 2;
	return 0;
}

static ssize_t read_some(const struct baleen_lines *lines)
{
	ssize_t got;

	do {
		got = read(lines->fd, lines->buffer + lines->filled, lines->room - lines->filled);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int baleen_lines_fill(struct baleen_lines *lines)
{
	lines->filled -= lines->next;
	memmove(lines->buffer, lines->buffer + lines->next, lines->filled);
	lines->next = lines->complete = 0;
	for (;;) {
		const char *end;
		ssize_t got;
		int err = make_room(lines);

		if (err)
			return err;
		if (lines->at_end)
			break;
		got = read_some(lines);
		if (got < 0)
			return got;
		lines->at_end = !got;
		end = memrchr(lines->buffer + lines->filled, lines->end, got);
		lines->filled += got;
		if (end) {
			lines->complete = end + 1 - lines->buffer;
			return 1;
		}
	}
	if (!lines->filled)
		return 0;
	lines->buffer[lines->filled++] = lines->end;
	lines->complete = lines->filled;
	return 1;
}
