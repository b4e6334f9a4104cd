/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of batches of a rule, and of bans of all rules.
 */
#ifndef BALEEN_BATCH_ROWS_H
#define BALEEN_BATCH_ROWS_H

#include "deploy/deploy.h"
#include "state/entries.h"
#include "state/entry_array.h"

/**
 * baleen_batch_begin() - nothing has come of a batch yet
 * @batch: what is to be filled in is reset
 */
void baleen_batch_begin(struct baleen_batch *batch);

/**
 * baleen_batch_check_origins() - are its origins those of who asks?
 * @batch: the batch
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_batch_check_origins(const struct baleen_batch *batch, struct baleen_error *error);

/**
 * baleen_batch_flushed() - whose entries go first
 * @batch: with its flush_of
 *
 * Return: the origin; NULL for all.
 */
const char *baleen_batch_flushed(const struct baleen_batch *batch);

/**
 * baleen_batch_repeats() - which changes of a snapshot name a key again
 * @batch: the batch
 * @repeats: filled in: of each change; freed by the caller; NULL when it is no snapshot
 * @error: filled in on failure
 *
 * A snapshot may name a key twice, which is one entry.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_batch_repeats(const struct baleen_batch *batch, bool **repeats,
			 struct baleen_error *error);

/**
 * baleen_batch_leftovers() - what the origin of a snapshot has besides
 * @batch: the batch, whose entries are in the book
 * @book: the book
 * @rule: name of the rule; NULL for the bans of all
 * @remove: called with each entry that the snapshot does not name; a nonzero return ends the walk
 * @data: passed to @remove
 * @error: filled in on failure
 *
 * Return: 0, also when it is no snapshot; what @remove returned; a negative errno.
 */
int baleen_batch_leftovers(const struct baleen_batch *batch, const struct baleen_rule_store *book,
			   const char *rule,
			   int (*remove)(const struct baleen_rule_entry *entry, void *data),
			   void *data, struct baleen_error *error);

/* So many refusals of a batch are noted. */
#define BALEEN_BATCH_NOTED 100

/**
 * baleen_batch_note_refused() - note in the journal what was refused
 * @batch: its results are filled in
 * @book: the book, without a transaction
 * @rule: name of the rule; NULL for the shared scope of @book
 *
 * The first BALEEN_BATCH_NOTED of them. They are told already: what cannot be written is left out.
 */
void baleen_batch_note_refused(const struct baleen_batch *batch,
			       const struct baleen_rule_store *book, const char *rule);

#endif /* BALEEN_BATCH_ROWS_H */
