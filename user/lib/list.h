/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a list as people write it to sorted canonical keys.
 *
 * One entry a line: an address, ADDR/LEN, or a range A-B; then, after white
 * space, anything (a score, a comment). `#` and `;` start a comment. Blank
 * lines, CRLF and a UTF-8 byte order mark are fine. `ipset save` files are
 * read: `add NAME KEY ...` gives KEY, whatever its timeout; `create` lines are
 * passed over. Bits below a prefix length are masked, as ipset does.
 *
 * What could be meant in two ways is a bad line, never a guess: 010.0.0.1,
 * `A - B` with white space, exceptions (`!KEY`, ipset's nomatch), ports, zones,
 * a carriage return or NUL byte in the line, more than 4096 bytes.
 *
 * Until prefixes are probed as such, a prefix or range is held as its
 * addresses, up to BALEEN_LIST_EXPAND of them; a wider one is a bad line.
 */
#ifndef BALEEN_LIST_H
#define BALEEN_LIST_H

#include "error.h"
#include "key_text.h"

#define BALEEN_LIST_EXPAND 65536

/**
 * struct baleen_ip6 - an IPv6 address as two numbers
 * @hi: bits 127..64
 * @lo: bits 63..0
 */
struct baleen_ip6 {
	u64 hi;
	u64 lo;
};

/**
 * struct baleen_list - the keys of one or more lists
 * @ip4: IPv4 addresses as numbers; sorted and distinct after baleen_list_finish()
 * @n_ip4: how many
 * @room_ip4: allocated
 * @ip6: IPv6 addresses; sorted and distinct after baleen_list_finish()
 * @n_ip6: how many
 * @room_ip6: allocated
 * @n_lines: lines read
 * @n_bad: bad lines that were passed over
 * @n_unheld: those of them that are right, but say what cannot be held yet: an
 *            exception, or a prefix wider than BALEEN_LIST_EXPAND. A list
 *            without them would not be that list
 * @n_duplicates: keys that came more than once; valid after baleen_list_finish()
 *
 * All zeros is an empty list. baleen_list_free() frees the arrays.
 */
struct baleen_list {
	u32 *ip4;
	size_t n_ip4, room_ip4;
	struct baleen_ip6 *ip6;
	size_t n_ip6, room_ip6;
	u64 n_lines;
	u64 n_bad;
	u64 n_unheld;
	u64 n_duplicates;
};

/**
 * struct baleen_list_problem - one bad line
 * @file: the name given to baleen_list_read()
 * @line: line number, from 1
 * @text: the offending text in printable ASCII, cut to 64 bytes and "..."
 * @reason: what is wrong with it, a constant string
 * @is_unheld: it is right, but cannot be held yet; see struct baleen_list
 *
 * @file and @text are valid during the callback.
 */
struct baleen_list_problem {
	const char *file;
	u64 line;
	const char *text;
	const char *reason;
	bool is_unheld;
};

/**
 * struct baleen_list_reader - what to do with bad lines
 * @on_bad: called for each bad line; may be NULL
 * @data: passed to @on_bad
 */
struct baleen_list_reader {
	void (*on_bad)(void *data, const struct baleen_list_problem *problem);
	void *data;
};

/**
 * baleen_list_read() - append the keys of one list
 * @list: appended to, also when some lines are bad
 * @fd: open for reading; a file, pipe or terminal; read to its end
 * @name: of the list in messages
 * @reader: what to do with bad lines
 * @error: filled in on failure
 *
 * Bad lines are reported to @reader, counted in @list->n_bad and passed over;
 * the caller decides whether the list may be used. After a failure the list
 * holds the keys read so far.
 *
 * Return: 0, -ENOMEM, or the negative errno of a failed read.
 */
int baleen_list_read(struct baleen_list *list, int fd, const char *name,
		     const struct baleen_list_reader *reader, struct baleen_error *error);

/**
 * baleen_list_finish() - sort, and drop and count duplicates
 * @list: the list
 *
 * In place, without further memory. More lists may be read after it.
 */
void baleen_list_finish(struct baleen_list *list);

/**
 * baleen_list_free() - free the arrays and make the list empty
 * @list: the list
 */
void baleen_list_free(struct baleen_list *list);

/**
 * baleen_list_find() - which line of a list holds a key
 * @fd: open for reading; read from where it is
 * @key: the key to look for
 * @line: number of the first line whose address, prefix or range holds @key
 * @text: that line's entry, NUL-terminated, cut to @text_bytes
 * @text_bytes: size of @text
 *
 * Return: 0, -ENOENT when no line holds it, -ENOMEM, or the negative errno of a
 * failed read. Outputs are untouched on failure.
 */
int baleen_list_find(int fd, const struct baleen_key *key, u64 *line, char *text,
		     size_t text_bytes);

#endif /* BALEEN_LIST_H */
