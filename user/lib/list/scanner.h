/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a list in a file or in memory, one by one, parsed.
 *
 *      buffer [ lines done | whole lines | start of a line | free ]
 *             0            next          complete          filled
 *
 * A whole line ends with a newline, which stops every parser.
 *
 * Of `ipset save`, a host of a set with a netmask is its network. The line that creates such a
 * set must not stand behind lines of another format: a file that begins with those is read in
 * blocks, which do not know of each other.
 */
#ifndef BALEEN_SCANNER_H
#define BALEEN_SCANNER_H

#include "list/ipset_set.h"
#include "list/list_entry.h"
#include "util/lines.h"

/* Sets of a file that have a netmask or a timeout. */
#define BALEEN_SCANNER_SETS 64

/**
 * struct baleen_scanner - a list on the way
 * @fd: read from where it is
 * @key_spec: enum baleen_key_spec of the list
 * @at_end: there is no more to read
 * @line: number of the line that was read last, from 1
 * @buffer: memory of 256 KiB, or of a text
 * @next: start of the next line
 * @complete: end of the last whole line
 * @filled: end of what was read
 * @n_saved: lines so far that are of `ipset save`, blank, or comments
 * @n_ends: of these, those of entries with a timeout, which a list does not keep
 * @n_sets: how many
 * @set: sets whose entries mean something else than they say
 */
struct baleen_scanner {
	int fd;
	u32 key_spec;
	bool at_end;
	u64 line;
	char *buffer;
	size_t next;
	size_t complete;
	size_t filled;
	u64 n_saved;
	u64 n_ends;
	u32 n_sets;
	struct baleen_ipset_set set[BALEEN_SCANNER_SETS];
};

/**
 * baleen_scanner_start() - begin to read a file
 * @scan: set up; free its buffer afterwards
 * @fd: open for reading
 * @key_spec: enum baleen_key_spec; not BALEEN_KEY_STRING
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_scanner_start(struct baleen_scanner *scan, int fd, u32 key_spec);

/**
 * baleen_scanner_start_text() - begin to read a text
 * @scan: set up; free its buffer afterwards
 * @text: lines, of which the last may lack its newline
 * @key_spec: as for baleen_scanner_start()
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_scanner_start_text(struct baleen_scanner *scan, const char *text, u32 key_spec);

/**
 * baleen_scanner_next() - the next line
 * @scan: started
 * @entry: what it says; its text is in the buffer
 *
 * Return: 1 and @entry, 0 at the end, or the errno of read().
 */
int baleen_scanner_next(struct baleen_scanner *scan, struct baleen_entry *entry);

/**
 * baleen_scanner_has_order() - must the lines of a file be read in their order?
 * @fd: a regular file; stays where it is
 * @key_spec: as for baleen_scanner_start()
 *
 * What a line of `ipset save` adds depends on the line that creates its set.
 *
 * Return: true of a file that begins with such a line.
 */
bool baleen_scanner_has_order(int fd, u32 key_spec);

/**
 * baleen_scanner_skip() - pass over lines that hold another IPv4 address and nothing else
 * @scan: started
 * @ip4: the address that is looked for
 *
 * Only lines that have been read are passed over: the next one may be such a line, too.
 */
void baleen_scanner_skip(struct baleen_scanner *scan, u32 ip4);

/**
 * baleen_scanner_of_block() - the lines of a block from its first on
 * @lines: whole lines; stay where they are
 * @key_spec: as for baleen_scanner_start()
 * @line: number of the line before the first
 *
 * Return: the scanner, of which nothing is to be freed.
 */
static inline struct baleen_scanner baleen_scanner_of_block(const struct baleen_lines *lines,
							    u32 key_spec, u64 line)
{
	return (struct baleen_scanner){
		.fd = -1,
		.key_spec = key_spec,
		.at_end = true,
		.line = line,
		.buffer = lines->buffer,
		.complete = lines->complete,
		.filled = lines->complete,
	};
}

#endif /* BALEEN_SCANNER_H */
