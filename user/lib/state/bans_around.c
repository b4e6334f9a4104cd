// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Wider bans around a key, and exceptions of them. */
#include <errno.h>
#include <stdlib.h>

#include "state/bans_around.h"
#include "state/entry_array.h"

/**
 * struct search - for a row around a key
 * @span: the key
 * @but_exceptions: bans only
 * @around: the row
 */
struct search {
	const struct baleen_span *span;
	bool but_exceptions;
	struct baleen_rule_entry *around;
};

static int look_at(const struct baleen_rule_entry *entry, void *data)
{
	const struct search *search = data;

	if ((search->but_exceptions && entry->is_exception) ||
	    !baleen_span_covers(&entry->key.span, search->span))
		return 0;
	*search->around = *entry;
	return 1;
}

int baleen_bans_find_around(const struct baleen_rule_store *book, const struct baleen_span *span,
			    bool but_exceptions, u64 now_ms, struct baleen_rule_entry *around,
			    struct baleen_error *error)
{
	const struct baleen_key first = baleen_span_first_key(span);
	struct search search = { span, but_exceptions, around };

	return baleen_rule_entries_find(book, NULL, &first, now_ms, look_at, &search, error);
}

static int keep_exception(const struct baleen_rule_entry *entry, void *array)
{
	return entry->is_exception ? baleen_entry_array_keep(entry, array) : 0;
}

static int find_exceptions(const struct baleen_rule_store *book,
			   struct baleen_entry_array *exceptions, struct baleen_error *error)
{
	int err = baleen_rule_entries_each(book, NULL, BALEEN_ORIGIN_UNBAN, keep_exception,
					   exceptions, error);

	return err == -ENOMEM ? baleen_no_memory(error) : err;
}

int baleen_bans_each_exception(const struct baleen_rule_store *book, const struct baleen_span *in,
			       int (*visit)(const struct baleen_rule_entry *entry, void *data),
			       void *data, struct baleen_error *error)
{
	struct baleen_entry_array exceptions = { 0 };
	int ret = find_exceptions(book, &exceptions, error);

	for (size_t i = 0; i < exceptions.n && !ret; i++)
		if (baleen_span_covers(in, &exceptions.entry[i].key.span))
			ret = visit(&exceptions.entry[i], data);
	free(exceptions.entry);
	return ret;
}

int baleen_bans_each_stray(const struct baleen_rule_store *book, u64 now_ms,
			   int (*visit)(const struct baleen_rule_entry *entry, void *data),
			   void *data, struct baleen_error *error)
{
	struct baleen_entry_array exceptions = { 0 };
	int ret = find_exceptions(book, &exceptions, error);

	for (size_t i = 0; i < exceptions.n && !ret; i++) {
		const struct baleen_rule_entry *exception = &exceptions.entry[i];
		struct baleen_rule_entry ignored;

		ret = baleen_bans_find_around(book, &exception->key.span, true, now_ms, &ignored,
					      error);
		ret = ret > 0 ? 0 : ret < 0 ? ret : visit(exception, data);
	}
	free(exceptions.entry);
	return ret;
}

/**
 * struct forgetting - stray exceptions on their way out
 * @book: the book
 * @error: the caller's
 */
struct forgetting {
	const struct baleen_rule_store *book;
	struct baleen_error *error;
};

static int forget(const struct baleen_rule_entry *exception, void *data)
{
	const struct forgetting *forgetting = data;
	u64 n;

	return baleen_rule_entries_remove(forgetting->book, NULL, exception, BALEEN_ORIGIN_UNBAN,
					  &n, forgetting->error);
}

int baleen_bans_forget_stray(const struct baleen_rule_store *book, u64 now_ms,
			     struct baleen_error *error)
{
	struct forgetting forgetting = { book, error };
	struct baleen_rule_store widest = *book;

	/* The rule that comes again may have lone addresses as wide as this. */
	widest.ban_width = BALEEN_BAN_WIDTH_MIN;
	return baleen_bans_each_stray(&widest, now_ms, forget, &forgetting, error);
}
