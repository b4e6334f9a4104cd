/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of feeds that only a draft of a state has (rule_store_draft.h), and no directory.
 */
#ifndef BALEEN_DRAFT_COPIES_H
#define BALEEN_DRAFT_COPIES_H

#include "state/rule_store_handle.h"

/**
 * struct baleen_draft_copy - a copy of a feed that only a draft has
 * @feed: id of the feed
 * @generation: which of its copies
 * @fd: its bytes
 */
struct baleen_draft_copy {
	u64 feed;
	u64 generation;
	int fd;
};

/**
 * baleen_draft_keep_copy() - have the copy of a feed in a draft
 * @state: a draft
 * @feed: id of the feed
 * @generation: which of its copies
 * @fd: its bytes, which stay the caller's
 * @n_bytes: filled in: how many
 *
 * Return: 0 or a negative errno.
 */
int baleen_draft_keep_copy(struct baleen_rule_store *state, u64 feed, u64 generation, int fd,
			   u64 *n_bytes);

/**
 * baleen_draft_open_copy() - read a copy that a draft has
 * @state: any
 * @feed: id of the feed
 * @generation: which of its copies
 *
 * Return: a descriptor of its own, at the start; -ENOENT when it has none; a negative errno.
 */
int baleen_draft_open_copy(const struct baleen_rule_store *state, u64 feed, u64 generation);

/**
 * baleen_draft_drop_copies() - let go of them
 * @state: any
 */
void baleen_draft_drop_copies(struct baleen_rule_store *state);

#endif /* BALEEN_DRAFT_COPIES_H */
