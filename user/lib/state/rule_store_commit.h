/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transactions of a state, and the mark of a change in place.
 */
#ifndef BALEEN_RULE_STORE_COMMIT_H
#define BALEEN_RULE_STORE_COMMIT_H

#include "state/rule_store_path.h"

/* In the directory of a state that has never been committed. */
#define BALEEN_RULE_STORE_UNFINISHED "unfinished"

/**
 * baleen_rule_store_tidy() - remove what killed writers left
 * @state: opened for writing, without a transaction
 *
 * Marks, and copies of feeds that no row speaks of.
 */
void baleen_rule_store_tidy(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_read_owner() - the device when it was committed last
 * @state: opened
 * @owner: filled in, but for a state that has never been committed
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_read_owner(const struct baleen_rule_store *state,
				 struct baleen_rule_store_owner *owner, struct baleen_error *error);

/**
 * baleen_rule_store_begin() - begin a transaction
 * @state: opened; one that is only read stays as it is until the commit
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno (-ENOSPC on a full disk).
 */
int baleen_rule_store_begin(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_rule_store_prepare() - all of a commit that a disk may refuse, but for a name
 * @state: with a transaction, which baleen_rule_store_commit() or baleen_rule_store_rollback()
 *         is to end
 * @error: filled in on failure; the transaction is undone then
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_prepare(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_rule_store_commit() - end a transaction: it is on disk afterwards
 * @state: with a transaction, written or not
 * @error: filled in on failure; the transaction is undone then
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_commit(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_rule_store_sync() - what was found is on the disk afterwards
 * @state: opened
 *
 * A commit does this, too, and the close.
 */
void baleen_rule_store_sync(struct baleen_rule_store *state);

/**
 * baleen_rule_store_rollback() - undo a transaction, if there is one
 * @state: opened for writing
 */
void baleen_rule_store_rollback(struct baleen_rule_store *state);

/**
 * baleen_rule_store_mark() - say that a map is about to change in place
 * @state: opened for writing
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_mark(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_rule_store_unmark() - say that map and database agree
 * @state: opened for writing
 */
void baleen_rule_store_unmark(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_is_marked() - was a change in place begun and not finished?
 * @state: opened
 *
 * Return: true when the live maps are to be derived anew.
 */
bool baleen_rule_store_is_marked(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_leave_behind() - say that the book has more than the maps
 * @state: opened, perhaps by another for writing, or a name in @now alone; with a transaction of
 *         the book, which has what they are to have
 * @error: filled in on failure
 *
 * Who is the next to write to the device finds it, and derives the maps anew.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_leave_behind(const struct baleen_rule_store *state,
				   struct baleen_error *error);

/**
 * baleen_rule_store_catch_up() - the maps are about to be derived anew
 * @state: opened for writing, without a transaction of the book
 *
 * What the book has when this returns is to be in them, and what comes to it later leaves them
 * behind once more: the mark goes first, then whoever has left it has committed, or has died.
 */
void baleen_rule_store_catch_up(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_take_marks() - there are no maps any more that could differ
 * @state: opened for writing
 */
void baleen_rule_store_take_marks(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_is_behind() - has the book more than the maps?
 * @state: opened
 *
 * Return: true when it has.
 */
bool baleen_rule_store_is_behind(const struct baleen_rule_store *state);

#endif /* BALEEN_RULE_STORE_COMMIT_H */
