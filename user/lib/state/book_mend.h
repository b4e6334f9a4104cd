/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A book that is damaged: set aside, and what can be read of it is in another.
 */
#ifndef BALEEN_BOOK_MEND_H
#define BALEEN_BOOK_MEND_H

#include "state/rule_store_path.h"

/**
 * struct baleen_book_aside - a book that was set aside
 * @path: path of its directory now
 * @n_entries: single entries that could be read, and that the new one has
 */
struct baleen_book_aside {
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	u64 n_entries;
};

/* Room for what became of it. */
#define BALEEN_BOOK_ASIDE_TEXT (BALEEN_RULE_STORE_NAME_BYTES + 128)

/**
 * baleen_book_aside_text() - say that it was set aside
 * @aside: filled in
 * @text: BALEEN_BOOK_ASIDE_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_book_aside_text(const struct baleen_book_aside *aside, char *text);

/**
 * baleen_book_is_damaged() - read all of the book: is it one that cannot be used?
 *
 * Return: true when it is damaged; false also when there is none, or it is of a newer Baleen.
 */
bool baleen_book_is_damaged(void);

/**
 * baleen_book_set_aside() - set a damaged book aside
 * @aside: filled in when it was
 * @error: filled in on failure
 *
 * Filters stay as they are until they are derived anew.
 *
 * Return: 1; 0 when it is not damaged; a negative errno.
 */
int baleen_book_set_aside(struct baleen_book_aside *aside, struct baleen_error *error);

#endif /* BALEEN_BOOK_MEND_H */
