/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last good copy of a signed set.
 */
#ifndef BALEEN_FEED_SET_COPY_H
#define BALEEN_FEED_SET_COPY_H

#include "set/set_file.h"
#include "state/feeds.h"

/**
 * struct baleen_set_copy - a copy
 * @is_there: there is one, and it can be read
 * @head: what it says of itself
 * @canon: its entries
 */
struct baleen_set_copy {
	bool is_there;
	struct baleen_set_head head;
	struct baleen_canon canon;
};

/**
 * baleen_set_copy_open() - read the last good copy
 * @state: opened
 * @feed: feed of the state
 * @copy: filled in; of a copy that cannot be read only @is_there; to be closed by the caller
 */
void baleen_set_copy_open(const struct baleen_rule_store *state, const struct baleen_feed *feed,
			  struct baleen_set_copy *copy);

/**
 * baleen_set_copy_close() - free a copy
 * @copy: opened, or all zeros
 */
void baleen_set_copy_close(struct baleen_set_copy *copy);

/**
 * baleen_set_copy_head() - what a copy says of itself
 * @fd: the copy
 * @head: filled in
 *
 * Return: true; false when it is no set.
 */
bool baleen_set_copy_head(int fd, struct baleen_set_head *head);

/**
 * baleen_set_copy_generation() - which generation a copy is
 * @fd: the copy
 *
 * Return: the generation; 0 when it is no set.
 */
u64 baleen_set_copy_generation(int fd);

/**
 * baleen_set_copy_list() - the entries of a copy
 * @fd: the copy
 * @name: name of the source in messages
 * @list: of addresses; appended to, and not finished
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a damaged one; -ENOMEM.
 */
int baleen_set_copy_list(int fd, const char *name, struct baleen_list *list,
			 struct baleen_error *error);

/**
 * baleen_set_copy_lines() - the entries of a copy as lines of text
 * @fd: the copy
 * @name: name of the source in messages
 * @out: the lines, at their start, to be closed by the caller
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a damaged one; -ENOMEM; a negative errno.
 */
int baleen_set_copy_lines(int fd, const char *name, int *out, struct baleen_error *error);

#endif /* BALEEN_FEED_SET_COPY_H */
