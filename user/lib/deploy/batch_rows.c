// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Batches of single entries: whose they are, repeats and leftovers of snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/batch_rows.h"
#include "deploy/gate.h"
#include "state/book.h"
#include "state/journal.h"
#include "util/array.h"

void baleen_batch_begin(struct baleen_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		batch->change[i].result = 0;
		batch->change[i].answer = BALEEN_GATE_OPEN;
	}
	batch->n_flushed = 0;
	batch->in_place = true;
	batch->widened[0] = '\0';
}

int baleen_batch_check_origins(const struct baleen_batch *batch, struct baleen_error *error)
{
	for (size_t i = 0; i < batch->n && batch->asker != BALEEN_ASKER_FLEET; i++)
		if (batch->change[i].op == BALEEN_RULE_ENTRY_PUT &&
		    baleen_origin_is_reserved(batch->change[i].entry.origin))
			return baleen_fail(error, EINVAL, "the origin '%s' is Baleen's own",
					   batch->change[i].entry.origin);
	return 0;
}

const char *baleen_batch_flushed(const struct baleen_batch *batch)
{
	return batch->flush_of && batch->flush_of[0] ? batch->flush_of : NULL;
}

/* --- repeats ----------------------------------------------------------------- */

static int compare_changes(const void *a, const void *b)
{
	const struct baleen_rule_entry_change *x =
		*(const struct baleen_rule_entry_change *const *)a;
	const struct baleen_rule_entry_change *y =
		*(const struct baleen_rule_entry_change *const *)b;
	int order = baleen_rule_entry_compare(&x->entry, &y->entry);

	return order ? order : (x > y) - (x < y);
}

int baleen_batch_repeats(const struct baleen_batch *batch, bool **repeats,
			 struct baleen_error *error)
{
	const struct baleen_rule_entry_change *change = batch->change;
	const struct baleen_rule_entry_change **sorted;
	size_t n = batch->n;

	*repeats = NULL;
	if (!batch->snapshot_of || !n)
		return 0;
	*repeats = calloc(n, sizeof(**repeats));
	sorted = calloc(n, sizeof(*sorted));
	if (!*repeats || !sorted) {
		free(sorted);
		return baleen_no_memory(error);
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = &change[i];
	qsort(sorted, n, sizeof(*sorted), compare_changes);
	for (size_t i = 1; i < n; i++)
		(*repeats)[sorted[i] - change] =
			!baleen_rule_entry_compare(&sorted[i]->entry, &sorted[i - 1]->entry);
	free(sorted);
	return 0;
}

/* --- leftovers --------------------------------------------------------------- */

/**
 * struct leftovers - entries of an origin that a snapshot does not name
 * @put: the entries that it names, sorted
 * @n_put: how many
 * @of_origin: those that it does not
 */
struct leftovers {
	const struct baleen_rule_entry **put;
	size_t n_put;
	struct baleen_entry_array of_origin;
};

static int compare_entries(const void *a, const void *b)
{
	return baleen_rule_entry_compare(*(const struct baleen_rule_entry *const *)a,
					 *(const struct baleen_rule_entry *const *)b);
}

static int keep_leftover(const struct baleen_rule_entry *entry, void *data)
{
	struct leftovers *left = data;

	if (left->n_put &&
	    bsearch(&entry, left->put, left->n_put, sizeof(*left->put), compare_entries))
		return 0;
	return baleen_entry_array_keep(entry, &left->of_origin);
}

static void sort_put(const struct baleen_batch *batch, struct leftovers *left)
{
	for (size_t i = 0; i < batch->n; i++) {
		const struct baleen_rule_entry_change *change = &batch->change[i];

		if (change->op == BALEEN_RULE_ENTRY_PUT && change->result != -EPERM &&
		    !strcmp(change->entry.origin, batch->snapshot_of))
			left->put[left->n_put++] = &change->entry;
	}
	qsort(left->put, left->n_put, sizeof(*left->put), compare_entries);
}

int baleen_batch_leftovers(const struct baleen_batch *batch, const struct baleen_rule_store *book,
			   const char *rule,
			   int (*remove)(const struct baleen_rule_entry *entry, void *data),
			   void *data, struct baleen_error *error)
{
	struct leftovers left = { 0 };
	int err;

	if (!batch->snapshot_of)
		return 0;
	left.put = calloc(batch->n + 1, sizeof(*left.put));
	if (!left.put)
		return baleen_no_memory(error);
	sort_put(batch, &left);
	err = baleen_rule_entries_each(book, rule, batch->snapshot_of, keep_leftover, &left, error);
	if (err == -ENOMEM)
		baleen_no_memory(error);
	for (size_t i = 0; i < left.of_origin.n && !err; i++)
		err = remove(&left.of_origin.entry[i], data);
	free(left.of_origin.entry);
	free(left.put);
	return err;
}

/* --- refused ----------------------------------------------------------------- */

static bool is_refused(const struct baleen_rule_entry_change *change)
{
	return change->op == BALEEN_RULE_ENTRY_PUT && change->result == -EPERM &&
	       change->answer != BALEEN_GATE_OPEN;
}

/* A flood is not noted address by address. */
static enum baleen_journal_repeat repeat_of(const struct baleen_batch *batch,
					    const struct baleen_rule_entry_change *change)
{
	if (batch->asker == BALEEN_ASKER_LIMIT)
		return BALEEN_REPEAT_OF_ORIGIN;
	return change->answer == BALEEN_GATE_FULL ? BALEEN_REPEAT_OF_REASON : BALEEN_REPEAT_OF_KEY;
}

static int note_refused(const struct baleen_batch *batch, const struct baleen_rule_store *book,
			const char *rule, u64 *n_noted)
{
	const struct baleen_scope scope = baleen_scope_of(book, rule);
	u32 n = 0;
	int err = 0;

	for (size_t i = 0; i < batch->n && n < BALEEN_BATCH_NOTED && !err; i++) {
		const struct baleen_rule_entry_change *change = &batch->change[i];
		char why[BALEEN_GATE_TEXT];

		if (!is_refused(change))
			continue;
		n++;
		baleen_gate_text(change->answer, &change->protected, why);
		err = baleen_journal_refuse(book, scope.name, &change->entry, why,
					    repeat_of(batch, change), n_noted, NULL);
	}
	return err;
}

void baleen_batch_note_refused(const struct baleen_batch *batch,
			       const struct baleen_rule_store *book, const char *rule)
{
	bool lacked_room = book->book->lacks_room;
	u64 n_noted = 0;
	size_t i = 0;

	while (i < batch->n && !is_refused(&batch->change[i]))
		i++;
	if (batch->is_trial || i == batch->n)
		return;
	if (!baleen_book_begin(book, NULL)) {
		if (!note_refused(batch, book, rule, &n_noted) && n_noted)
			baleen_book_commit(book, NULL);
		else
			baleen_book_rollback(book);
	}
	/* The next batch is not told of a note that had no room. */
	book->book->lacks_room = lacked_room;
}
