/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wider bans around a key: one that is a part of a ban is unbanned by an exception.
 *
 * An exception is a row of the bans, of the origin BALEEN_ORIGIN_UNBAN. It ends with the last ban
 * around it, or when its key is banned anew, by itself or as a part of another ban.
 */
#ifndef BALEEN_BANS_AROUND_H
#define BALEEN_BANS_AROUND_H

#include "state/entries.h"

#define BALEEN_ORIGIN_UNBAN "unban"

/**
 * baleen_bans_find_around() - the narrowest ban, or exception, that holds all of these addresses
 * @book: the book
 * @span: the addresses
 * @but_exceptions: bans only
 * @now_ms: skips rows that have ended by then
 * @around: filled in when there is one
 * @error: filled in on failure
 *
 * Return: 1, or 0 when there is none; a negative errno.
 */
int baleen_bans_find_around(const struct baleen_rule_store *book, const struct baleen_span *span,
			    bool but_exceptions, u64 now_ms, struct baleen_rule_entry *around,
			    struct baleen_error *error);

/**
 * baleen_bans_each_exception() - exceptions in a span
 * @book: the book, a transaction included
 * @in: the span
 * @visit: called with each, which it may remove; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_bans_each_exception(const struct baleen_rule_store *book, const struct baleen_span *in,
			       int (*visit)(const struct baleen_rule_entry *entry, void *data),
			       void *data, struct baleen_error *error);

/**
 * baleen_bans_each_stray() - exceptions that have no ban around them any more
 * @book: the book, a transaction included
 * @now_ms: the time
 * @visit: called with each, which it may remove; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_bans_each_stray(const struct baleen_rule_store *book, u64 now_ms,
			   int (*visit)(const struct baleen_rule_entry *entry, void *data),
			   void *data, struct baleen_error *error);

/**
 * baleen_bans_forget_stray() - forget them, where no rule takes bans
 * @book: the book, with a transaction
 * @now_ms: the time
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_bans_forget_stray(const struct baleen_rule_store *book, u64 now_ms,
			     struct baleen_error *error);

#endif /* BALEEN_BANS_AROUND_H */
