/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Strings as keys: any bytes, such as URLs, passwords or words.
 *
 * A list keeps them as they are, because the seed they are hashed under is
 * that of the filter they go into. They stand one behind the other, each behind
 * its length: seven bits a byte, the lowest first, the highest bit set where
 * more follow.
 *
 *      [ 5 | h e l l o | 3 | n e t | ... ]
 *
 * 14 million passwords of 10 bytes take 154 MB, and 150 MB more while the ones
 * that are listed twice are sought.
 */
#ifndef BALEEN_STRING_KEYS_H
#define BALEEN_STRING_KEYS_H

#include <baleen/siphash.h>

/**
 * struct baleen_strings - strings of a list
 * @bytes: see above
 * @n_bytes: their length
 * @room: allocated
 * @n: how many strings
 */
struct baleen_strings {
	u8 *bytes;
	size_t n_bytes;
	size_t room;
	u64 n;
};

/**
 * struct baleen_string - one of them
 * @bytes: inside the strings it is of
 * @n_bytes: its length
 */
struct baleen_string {
	const u8 *bytes;
	size_t n_bytes;
};

/**
 * baleen_string_length() - a line without the carriage return of other systems
 * @line: the line
 * @n_bytes: its length, without its end
 *
 * Return: the length of the string that it is.
 */
static inline size_t baleen_string_length(const char *line, size_t n_bytes)
{
	return n_bytes && line[n_bytes - 1] == '\r' ? n_bytes - 1 : n_bytes;
}

/**
 * baleen_strings_add() - append a string
 * @strings: all zeros at first
 * @bytes: any bytes
 * @n_bytes: how many
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_strings_add(struct baleen_strings *strings, const void *bytes, size_t n_bytes);

/**
 * baleen_strings_next() - walk through the strings
 * @strings: the strings
 * @at: 0 for the first; moved on
 * @string: the next one; untouched at the end
 *
 * Return: false at the end.
 */
bool baleen_strings_next(const struct baleen_strings *strings, size_t *at,
			 struct baleen_string *string);

/**
 * baleen_strings_unique() - drop the strings that are there already
 * @strings: what is left stays in its order
 *
 * Return: 0 or -ENOMEM, and then nothing has changed.
 */
int baleen_strings_unique(struct baleen_strings *strings);

/**
 * baleen_strings_free() - free them
 * @strings: all zeros afterwards
 */
void baleen_strings_free(struct baleen_strings *strings);

/**
 * baleen_key_string() - where the bytes of such a key are
 * @key: of baleen_string_key() and a filter that hashes the bytes
 *
 * Return: the string.
 */
struct baleen_string baleen_key_string(const struct baleen_key *key);

/**
 * baleen_string_show() - a string in a message
 * @string: the string
 * @text: at least BALEEN_KEY_TEXT bytes: printable ASCII in quotes, cut when it
 *        is long
 */
void baleen_string_show(struct baleen_string string, char *text);

#endif /* BALEEN_STRING_KEYS_H */
