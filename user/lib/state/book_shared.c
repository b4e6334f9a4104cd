// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The book between several who read and write it, in one process and in others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/book.h"
#include "state/sql.h"
#include "util/fd.h"

struct baleen_rule_store baleen_book_of(const struct baleen_rule_store *state)
{
	struct baleen_rule_store book = {
		.is_kept = state->is_kept, .lock_fd = -1, .book = state->book, .shares_book = true
	};

	strcpy(book.scope, state->scope);
	return book;
}

void baleen_book_share(struct baleen_rule_store *state, const struct baleen_rule_store *with)
{
	state->shared = with->shared;
	if (state->book == with->book)
		return;
	if (state->book)
		baleen_sql_close(state->book);
	free(state->book);
	state->book = with->book;
	state->shares_book = true;
}

int baleen_book_draft(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store *book = state->book, copy;
	int err;

	if (book->is_draft)
		return 0;
	copy = (struct baleen_rule_store){
		.file = book->file, .is_kept = book->is_kept, .lock_fd = -1, .is_draft = true
	};
	strcpy(copy.path, book->path);
	strcpy(copy.device, book->device);
	err = baleen_sql_open_memory(&copy, error);
	if (err)
		return err;
	err = baleen_sql_copy(book, &copy, error);
	if (err) {
		baleen_sql_close(&copy);
		return err;
	}
	baleen_sql_close(book);
	*book = copy;
	return 0;
}

int baleen_book_wait(struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	int fd, err = baleen_book_lock(path, &fd, error);

	if (!err)
		baleen_close_fd(&fd);
	return err == -ENOENT ? 0 : err;
}

bool baleen_book_begin_reading(const struct baleen_rule_store *state)
{
	bool is_first = false;

	return !baleen_book_read(state, NULL) &&
	       !baleen_sql_begin_reading(state->book, &is_first, NULL) && is_first;
}

void baleen_book_end_reading(const struct baleen_rule_store *state, bool is_first)
{
	if (is_first)
		baleen_sql_end_reading(state->book, true);
}

u64 baleen_book_version(const struct baleen_rule_store *state)
{
	u64 version = 0;

	if (!baleen_book_read(state, NULL) && !state->book->is_new)
		baleen_sql_do(state->book, "PRAGMA data_version", &version, NULL, NULL, 0);
	return version;
}
