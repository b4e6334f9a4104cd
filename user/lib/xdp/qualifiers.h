/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Qualifiers of a rule as words: `proto tcp dport ssh,443,8000-8010`,
 * `tcp-syn`, `vlan 100`, `established`, `conntrack`; and a limit, limit_words.h.
 */
#ifndef BALEEN_QUALIFIERS_H
#define BALEEN_QUALIFIERS_H

#include <baleen/stats.h>

#include "util/error.h"

/* Every qualifier at once, with ranges of five digits, a limit, and the NUL byte. */
#define BALEEN_QUALIFIERS_TEXT 320

/**
 * baleen_is_qualifier() - does this word begin a qualifier?
 * @word: the word
 *
 * Return: how many words behind it belong to it: 0 or 1; -ENOENT when it is
 * none.
 */
int baleen_is_qualifier(const char *word);

/**
 * baleen_qualifier_add() - add one qualifier
 * @qualifiers: added to; untouched on failure
 * @limit: added to, by a word of a limit; untouched on failure
 * @word: `proto`, `dport`, `tcp-syn`, `vlan`, `established`, `conntrack`, or one of
 *        a limit
 * @value: the word behind it; NULL where none belongs to it or none is left
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT for an unknown word; -EEXIST for one that was added
 * before; -EINVAL for a value that is missing or makes no sense.
 */
int baleen_qualifier_add(struct baleen_qualifiers *qualifiers, struct baleen_rate_limit *limit,
			 const char *word, const char *value, struct baleen_error *error);

/**
 * baleen_qualifiers_parse() - qualifiers from one text, as formatted
 * @text: words with single spaces between them; may be empty
 * @qualifiers: filled in; untouched on failure
 * @limit: as @qualifiers; all zero for none
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno, as baleen_qualifier_add() and
 * baleen_qualifiers_check().
 */
int baleen_qualifiers_parse(const char *text, struct baleen_qualifiers *qualifiers,
			    struct baleen_rate_limit *limit, struct baleen_error *error);

/**
 * baleen_qualifiers_check() - can any frame have all this?
 * @qualifiers: from wherever
 * @limit: from wherever
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when a value is out of range or two of them contradict
 * each other.
 */
int baleen_qualifiers_check(const struct baleen_qualifiers *qualifiers,
			    const struct baleen_rate_limit *limit, struct baleen_error *error);

/**
 * baleen_qualifiers_format() - qualifiers as words
 * @qualifiers: checked
 * @limit: checked
 * @text: at least BALEEN_QUALIFIERS_TEXT bytes; empty when there are none
 */
void baleen_qualifiers_format(const struct baleen_qualifiers *qualifiers,
			      const struct baleen_rate_limit *limit, char *text);

#endif /* BALEEN_QUALIFIERS_H */
