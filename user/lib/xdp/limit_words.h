/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limit of a rule as words: `limit 50/s burst 200 per src/24,src6/56 ban 10m cap 500
 * unverified`.
 */
#ifndef BALEEN_LIMIT_WORDS_H
#define BALEEN_LIMIT_WORDS_H

#include <baleen/rate_limit.h>

#include "util/error.h"

#define BALEEN_LIMIT_WORDS_TEXT 144

/* Said of a rule that lets pass. */
#define BALEEN_LIMIT_IS_NOT_FOR_ALLOW "limit: only of a rule that drops or counts"

/**
 * baleen_is_limit_word() - is this word of a limit?
 * @word: the word
 *
 * Return: how many words behind it belong to it: 0 or 1; -ENOENT when it is none.
 */
int baleen_is_limit_word(const char *word);

/**
 * baleen_limit_word_add() - add one word to a limit
 * @limit: added to; untouched on failure
 * @word: `limit`, `burst`, `per`, `ban`, `cap` or `unverified`
 * @value: the word behind it
 * @error: filled in on failure
 *
 * Return: 0; -EEXIST for one that was added before; -EINVAL for a value that makes no sense.
 */
int baleen_limit_word_add(struct baleen_rate_limit *limit, const char *word, const char *value,
			  struct baleen_error *error);

/**
 * baleen_limit_words_check() - is this a whole limit, or none?
 * @limit: from wherever
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_limit_words_check(const struct baleen_rate_limit *limit, struct baleen_error *error);

/**
 * baleen_limit_words_format() - a limit as words
 * @limit: checked; not that of no limit
 * @text: at least BALEEN_LIMIT_WORDS_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_limit_words_format(const struct baleen_rate_limit *limit, char *text);

/* The rate alone, as 50/s, with its NUL byte. */
#define BALEEN_LIMIT_RATE_TEXT 16

/**
 * baleen_limit_rate_format() - the rate of a limit as text
 * @limit: checked; not that of no limit
 * @text: at least BALEEN_LIMIT_RATE_TEXT bytes
 *
 * Return: @text, such as 50/s.
 */
const char *baleen_limit_rate_format(const struct baleen_rate_limit *limit, char *text);

#endif /* BALEEN_LIMIT_WORDS_H */
