/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of other formats, told from those of a list.
 *
 * A line is read as a whole or not at all. Most of what stands behind an address says something
 * of it: a count, a country, a comment. A netmask, a length or a second address makes it another
 * entry; and then the reason says how to write it, or how to read the file. baleen-lists(5) has
 * a command for each format that is named here.
 */
#ifndef BALEEN_FOREIGN_H
#define BALEEN_FOREIGN_H

#include <baleen/port.h>

/**
 * baleen_foreign_behind() - does what stands behind a key make it another one?
 * @key_spec: enum baleen_key_spec
 * @key: the key, or its exception
 * @p: what stands behind it in its line
 * @end: end of the line
 *
 * A comment behind `#` is nothing; one behind `;` must not begin with a key.
 *
 * Return: the reason, a constant string, or NULL.
 */
const char *baleen_foreign_behind(u32 key_spec, const char *key, const char *p, const char *end);

/**
 * baleen_foreign_reason() - a better reason why a line has no address
 * @line: the line, from its first word on
 * @word: end of that word
 * @end: end of the line
 * @reason: the reason, a constant string
 *
 * Return: @reason, or one that says what the line is.
 */
const char *baleen_foreign_reason(const char *line, const char *word, const char *end,
				  const char *reason);

#endif /* BALEEN_FOREIGN_H */
