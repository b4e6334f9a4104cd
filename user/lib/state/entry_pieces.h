/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single entries as other programs can hold them: one element a prefix, whoever asked for it.
 *
 * Ranges fall into prefixes. Of entries of one prefix the one that stays longest is left, and of
 * an entry and an exception the exception. Prefixes are in each other or apart, so they make a
 * tree, in which the longest decides.
 *
 * A program without exceptions gets spans: for each stretch of addresses with the same prefixes
 * around it, how long it is in the set from now on. What comes back later, when an exception ends,
 * has no such form.
 */
#ifndef BALEEN_ENTRY_PIECES_H
#define BALEEN_ENTRY_PIECES_H

#include "state/entry_key.h"

/**
 * struct baleen_entry_piece - a prefix
 * @span: its addresses
 * @is_exception: they are not in the set
 * @expires_ms: since the epoch; 0 for never
 * @reason: of the entry, which has to stay
 */
struct baleen_entry_piece {
	struct baleen_span span;
	bool is_exception;
	u64 expires_ms;
	const char *reason;
};

/**
 * struct baleen_entry_pieces - prefixes in ascending order, wider ones first
 * @piece: each
 * @n: how many
 * @n_lost: entries that come back when an exception ends, which was left out
 */
struct baleen_entry_pieces {
	struct baleen_entry_piece *piece;
	size_t n;
	u64 n_lost;
};

/**
 * baleen_entry_pieces_make() - the prefixes of entries
 * @entry: entries of addresses; they have to stay
 * @n: how many
 * @pieces: filled in, to be freed by baleen_entry_pieces_free() also on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_entry_pieces_make(const struct baleen_rule_entry *entry, size_t n,
			     struct baleen_entry_pieces *pieces);

/**
 * baleen_entry_pieces_spans() - stretches of addresses that are in the set now
 * @pieces: made; its n_lost counts those that come back later
 * @is_ip6: the family
 * @now_ms: what has ended by then is nothing
 * @visit: called with each in ascending order, until when it stays (0: for ever) and the reason of
 *         the prefix that decides first; a nonzero return ends the walk
 * @data: passed to @visit
 *
 * Return: 0 or what @visit returned.
 */
int baleen_entry_pieces_spans(struct baleen_entry_pieces *pieces, bool is_ip6, u64 now_ms,
			      int (*visit)(const struct baleen_entry_piece *span, void *data),
			      void *data);

/**
 * baleen_entry_pieces_free() - free them
 * @pieces: made, or all zeros
 */
void baleen_entry_pieces_free(struct baleen_entry_pieces *pieces);

#endif /* BALEEN_ENTRY_PIECES_H */
