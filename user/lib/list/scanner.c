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
	entry->is_exception = false;
	entry->text = start;
	entry->length = end - start;
	entry->span = baleen_span_of_ip4(ip4);
	return end;
}

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
