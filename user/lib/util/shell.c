// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words for a shell. */
#include <baleen/port.h>
#include <stdio.h>
#include <string.h>

#include "util/foreign.h"
#include "util/shell.h"

/* No shell gives these a meaning, wherever they stand in a word, except a first `~` or `=`. */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "_@%+=:,./-";

/* A quote ends the quoted part, stands for itself behind a backslash, and begins another. */
static const char quote[] = "'\\''";

/* Bytes of a word in `$'...'`, where no quote ends it: controls would not be seen, or not pass
 * through the terminal.
 */
static size_t quote_byte_ansi(char byte, char *out)
{
	if (byte == '\'' || byte == '\\')
		return sprintf(out, "\\%c", byte);
	return sprintf(out, byte >= ' ' && byte <= '~' ? "%c" : "\\%03o", (u8)byte);
}

static size_t quote_byte(char byte, char *out)
{
	return sprintf(out, byte == '\'' ? quote : "%c", byte);
}

struct baleen_shell_word baleen_shell_word(const char *word)
{
	bool is_plain = baleen_foreign_is_plain(word);
	struct baleen_shell_word quoted;
	char bytes[8];
	size_t n, n_bytes;

	if (*word && *word != '=' && !word[strspn(word, plain)] &&
	    strlen(word) < sizeof(quoted.text)) {
		strcpy(quoted.text, word);
		return quoted;
	}
	n = sprintf(quoted.text, is_plain ? "'" : "$'");
	for (; *word; word++, n += n_bytes) {
		n_bytes = is_plain ? quote_byte(*word, bytes) : quote_byte_ansi(*word, bytes);
		if (n + n_bytes + sizeof("'") > sizeof(quoted.text)) {
			strcpy(quoted.text, "'...'");
			return quoted;
		}
		memcpy(quoted.text + n, bytes, n_bytes);
	}
	strcpy(quoted.text + n, "'");
	return quoted;
}
