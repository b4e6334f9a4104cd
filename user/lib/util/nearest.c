// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The word that somebody meant. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/nearest.h"

/* Longer words are not asked about. */
#define MAX_LETTERS 31

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Row by row: of the first i letters of one and the first k of the other. */
static u32 distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	u32 row[MAX_LETTERS + 1][MAX_LETTERS + 1];

	for (size_t i = 0; i <= n_a; i++)
		row[i][0] = i;
	for (size_t k = 0; k <= n_b; k++)
		row[0][k] = k;
	for (size_t i = 1; i <= n_a; i++)
		for (size_t k = 1; k <= n_b; k++) {
			row[i][k] = least(row[i - 1][k - 1] + !is_same(a[i - 1], b[k - 1]),
					  1 + least(row[i - 1][k], row[i][k - 1]));
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]))
				row[i][k] = least(row[i][k], row[i - 2][k - 2] + 1);
		}
	return row[n_a][n_b];
}

void baleen_nearest_offer(struct baleen_nearest *nearest, const char *word)
{
	size_t n_typed = strlen(nearest->typed), n = strlen(word);
	u32 most = n_typed > 4 ? 2 : 1, is_off;

	if (n_typed > MAX_LETTERS || n > MAX_LETTERS || n_typed < 2)
		return;
	is_off = distance(nearest->typed, n_typed, word, n);
	if (is_off > most && n_typed > 2 && n_typed < n &&
	    !strncasecmp(nearest->typed, word, n_typed))
		is_off = most;
	if (is_off > most || (nearest->word && is_off >= nearest->distance))
		return;
	nearest->word = word;
	nearest->distance = is_off;
}

const char *baleen_nearest_text(const struct baleen_nearest *nearest,
				char text[static BALEEN_NEAREST_TEXT])
{
	text[0] = '\0';
	if (nearest->word)
		snprintf(text, BALEEN_NEAREST_TEXT, " (did you mean '%s'?)", nearest->word);
	return text;
}
