/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The book: the single entries of all rules of this network namespace, and the journal of what
 * became of them.
 *
 *      /var/lib/baleen/book-of-the-host/book.db
 *      /var/lib/baleen/network-namespaces/NAME/book-of-the-host/book.db
 *
 * An entry is of a scope (scope.h), DEV:RULE or a shared one, and not of a state: it stays when its
 * rule goes, is parked then, and is in force again with a rule of that name, or one that takes the
 * scope. It goes when somebody takes it back, or at its end; bans of a fleet go where none takes
 * them. Each state sees the book as if it were part of it, by entries.h.
 *
 * One writer at a time: the lock of the directory, which is held for a transaction, comes after
 * those of a device.
 */
#ifndef BALEEN_BOOK_H
#define BALEEN_BOOK_H

#include "state/rule_store_handle.h"

/* No device can be called so: it is too long. */
#define BALEEN_BOOK_DIRECTORY "book-of-the-host"

/**
 * baleen_book_read() - have the book open to read
 * @state: opened, or of baleen_book_open(); its book is opened if it is not yet
 * @error: filled in on failure
 *
 * Where there is none it is empty.
 *
 * Return: 0; -EINVAL when it is damaged; -EPROTO when a newer release made it; a negative errno.
 */
int baleen_book_read(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_do_without() - have an empty book in place of one that cannot be read
 * @state: opened
 * @error: filled in on failure
 *
 * For a device that comes up: without a filter it would drop nothing at all. Nothing can be
 * written to such a book.
 *
 * Return: 0 or a negative errno.
 */
int baleen_book_do_without(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_open() - the book without a state
 * @state: filled in: serves entries.h as a state without rules does; close with
 *         baleen_book_close()
 * @error: filled in on failure
 *
 * Return: as baleen_book_read().
 */
int baleen_book_open(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_of() - the book as a state sees it, without the rules of the state
 * @state: opened; outlives what is returned, which is not closed
 *
 * Return: serves entries.h: of each rule what is its own, without the bans of all.
 */
struct baleen_rule_store baleen_book_of(const struct baleen_rule_store *state);

/**
 * baleen_book_share() - let a state use the book that another has opened
 * @state: opened
 * @with: it, which is closed later
 *
 * Transactions of the one are those of the other, and so is the shared scope that they mean.
 */
void baleen_book_share(struct baleen_rule_store *state, const struct baleen_rule_store *with);

/**
 * baleen_book_draft() - have a copy of the book in memory, to be changed there alone
 * @state: a draft (rule_store_draft.h), whose book is open to read
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_book_draft(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_make() - a book in a directory of its own
 * @path: path of the directory, which is made
 * @state: filled in, with a transaction of the book; close with baleen_book_close()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_book_make(const char *path, struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_close() - let go; what was not committed is undone
 * @state: of baleen_book_open()
 */
void baleen_book_close(struct baleen_rule_store *state);

/**
 * baleen_book_lock() - keep writers of the book out
 * @path: filled in, of BALEEN_RULE_STORE_PATH_BYTES: its directory
 * @fd: filled in: closed by the caller, which lets go
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is no book; -ETIMEDOUT; a negative errno.
 */
int baleen_book_lock(char *path, int *fd, struct baleen_error *error);

/**
 * baleen_book_begin_reading() - let what is read from here on be of one commit
 * @state: opened
 *
 * And read in one transaction, which is cheaper.
 *
 * Return: what baleen_book_end_reading() is to be given.
 */
bool baleen_book_begin_reading(const struct baleen_rule_store *state);

/**
 * baleen_book_end_reading() - of one commit up to here
 * @state: opened
 * @is_first: what baleen_book_begin_reading() returned
 */
void baleen_book_end_reading(const struct baleen_rule_store *state, bool is_first);

/**
 * baleen_book_wait() - let a transaction of others end
 * @error: filled in on failure
 *
 * Return: 0, also when there is no book; -ETIMEDOUT; a negative errno.
 */
int baleen_book_wait(struct baleen_error *error);

/**
 * baleen_book_version() - has another written the book since?
 * @state: opened
 *
 * Return: a number that is another one when somebody else has; of a book that is not there it is
 *         0.
 */
u64 baleen_book_version(const struct baleen_rule_store *state);

/**
 * baleen_book_begin() - begin a transaction of the book, which is made if there is none
 * @state: opened
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno (-ENOSPC on a full disk).
 */
int baleen_book_begin(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_commit() - end a transaction: it is on disk afterwards
 * @state: with a transaction of the book
 * @error: filled in on failure; the transaction is undone then
 *
 * Return: 0 or a negative errno.
 */
int baleen_book_commit(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_follow_boot() - forget entries that were to stay until the boot
 * @state: opened
 *
 * Before a filter is derived for a device that has none. What the disk refuses is tried again by
 * the next transaction, which does this, too.
 */
void baleen_book_follow_boot(const struct baleen_rule_store *state);

/**
 * baleen_book_be_there() - make a book where there is none
 * @state: opened
 *
 * So that on a disk that is full later bans go on in memory.
 */
void baleen_book_be_there(const struct baleen_rule_store *state);

/**
 * baleen_book_rollback() - undo a transaction, if there is one
 * @state: opened
 */
void baleen_book_rollback(const struct baleen_rule_store *state);

/**
 * baleen_book_end() - end a transaction: commit it, or undo it when something has failed
 * @state: with a transaction of the book
 * @err: what has failed so far; 0 for nothing
 * @error: filled in when the commit fails
 *
 * Return: @err, or as baleen_book_commit().
 */
int baleen_book_end(const struct baleen_rule_store *state, int err, struct baleen_error *error);

/**
 * baleen_book_refused() - note whether the disk had no room for a statement
 * @state: with a transaction of the book, which is to be undone
 * @err: of the statement
 *
 * begin and commit do this themselves.
 *
 * Return: @err.
 */
int baleen_book_refused(const struct baleen_rule_store *state, int err);

/**
 * baleen_book_sync() - what was found is on the disk afterwards
 * @state: opened
 *
 * For a command that changes nothing, and reports as done what it saw.
 */
void baleen_book_sync(const struct baleen_rule_store *state);

/**
 * baleen_book_goes_on() - is what failed to be done again in memory?
 * @state: opened, without a transaction of the book
 * @err: what came of the last one
 *
 * Where the disk has no room, the book goes on in memory, and nobody is protected less.
 *
 * Return: true when @err was a lack of room and the book goes on in memory.
 */
bool baleen_book_goes_on(const struct baleen_rule_store *state, int err);

/**
 * baleen_book_keep() - bring a book that is in memory to the disk
 * @state: opened
 * @error: filled in on failure
 *
 * Each transaction does this, too.
 *
 * Return: 0, also when it is on the disk; -ENOSPC; a negative errno.
 */
int baleen_book_keep(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_book_unkept_why() - why is the book not kept?
 * @state: opened
 *
 * Return: such as "disk full"; NULL when it is kept, or there is none.
 */
const char *baleen_book_unkept_why(const struct baleen_rule_store *state);

#endif /* BALEEN_BOOK_H */
