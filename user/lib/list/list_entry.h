/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One line of a list, parsed; list.h describes the syntax.
 */
#ifndef BALEEN_LIST_ENTRY_H
#define BALEEN_LIST_ENTRY_H

#include "key/key_text.h"
#include "key/span.h"

/* Room for any entry and its newline. */
#define BALEEN_ENTRY_ROOM 8193

/**
 * enum baleen_entry_kind - sort of a line
 * @BALEEN_ENTRY_NONE: blank, a comment, or ipset's create
 * @BALEEN_ENTRY_SPAN: an address, prefix or range
 * @BALEEN_ENTRY_KEY: a key of several fields, or of Squid
 * @BALEEN_ENTRY_BAD: none of these
 */
enum baleen_entry_kind {
	BALEEN_ENTRY_NONE,
	BALEEN_ENTRY_SPAN,
	BALEEN_ENTRY_KEY,
	BALEEN_ENTRY_BAD,
};

/**
 * struct baleen_entry - a parsed line
 * @kind: which of the others hold something
 * @is_exception: exclude @span from the set
 * @is_ipset: a line of `ipset save`
 * @set: of such a line that adds a key: the name of its set, up to a blank
 * @has_end: of such a line: it has a timeout, which a list does not keep
 * @is_unending: of such a line: its timeout is 0, whatever that of its set
 * @text: the entry as it stands in the line, or what is bad
 * @length: length of @text in bytes; below BALEEN_KEY_TEXT unless bad
 *          or a URL
 * @span: of BALEEN_ENTRY_SPAN
 * @key: key of BALEEN_ENTRY_KEY
 * @reason: reason of BALEEN_ENTRY_BAD, a constant string
 */
struct baleen_entry {
	enum baleen_entry_kind kind;
	bool is_exception;
	bool is_ipset;
	bool has_end;
	bool is_unending;
	const char *set;
	const char *text;
	size_t length;
	struct baleen_span span;
	struct baleen_key key;
	const char *reason;
};

/**
 * baleen_entry_parse() - read one line
 * @entry: filled in; its text points into the line
 * @key_spec: enum baleen_key_spec
 * @line: the line
 * @end: its newline
 */
void baleen_entry_parse(struct baleen_entry *entry, u32 key_spec, const char *line,
			const char *end);

/**
 * baleen_entry_covers() - does a line speak of a key?
 * @entry: the parsed line
 * @key: the key
 *
 * Return: length of the prefix of it that covers @key, 0 for a key of several fields; -1
 * when it does not.
 */
int baleen_entry_covers(const struct baleen_entry *entry, const struct baleen_key *key);

/**
 * baleen_entry_format() - the entry of a line, behind `!` when it is an exception
 * @entry: the parsed line
 * @text: filled in
 * @bytes: size of @text
 */
void baleen_entry_format(const struct baleen_entry *entry, char *text, size_t bytes);

#endif /* BALEEN_LIST_ENTRY_H */
