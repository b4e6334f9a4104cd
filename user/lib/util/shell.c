// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words for a shell. */
#include <string.h>

#include "util/shell.h"

/* No shell gives these a meaning, wherever they stand in a word, except a first `~` or `=`. */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "_@%+=:,./-";

/* A quote ends the quoted part, stands for itself behind a backslash, and begins another. */
static const char quote[] = "'\\''";

struct baleen_shell_word baleen_shell_word(const char *word)
{
	struct baleen_shell_word quoted;
	size_t n = 0, n_bytes;

	if (*word && *word != '=' && !word[strspn(word, plain)] &&
	    strlen(word) < sizeof(quoted.text)) {
		strcpy(quoted.text, word);
		return quoted;
	}
	quoted.text[n++] = '\'';
	for (; *word; word++, n += n_bytes) {
		n_bytes = *word == '\'' ? strlen(quote) : 1;
		if (n + n_bytes + sizeof("'") > sizeof(quoted.text)) {
			strcpy(quoted.text, "'...'");
			return quoted;
		}
		memcpy(quoted.text + n, *word == '\'' ? quote : word, n_bytes);
	}
	strcpy(quoted.text + n, "'");
	return quoted;
}
