/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A walk over the states of all devices.
 */
#ifndef BALEEN_RULE_STORE_EACH_H
#define BALEEN_RULE_STORE_EACH_H

#include "state/rule_store.h"

/**
 * struct baleen_rule_store_found - a device that has a state
 * @device: its name
 * @is_kept: which of the two it is
 * @err: 0, or why it cannot be opened, a negative errno
 * @error: the same as text
 * @state: opened for reading, when @err is 0; closed after the visit unless it is @is_taken
 * @is_taken: set by the visit, which then closes @state
 */
struct baleen_rule_store_found {
	char device[BALEEN_POINT_BYTES];
	bool is_kept;
	int err;
	struct baleen_error error;
	struct baleen_rule_store state;
	bool is_taken;
};

/**
 * baleen_rule_store_each() - the devices that have a state
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Kept states that are not another network namespace's, and the volatile ones
 * of this one.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_store_each(int (*visit)(struct baleen_rule_store_found *found, void *data),
			   void *data, struct baleen_error *error);

/**
 * baleen_rule_store_let_go() - close the state before the visit ends
 * @found: passed to the visit
 *
 * For a visit that opens it again: on a full disk a database is for one alone (sql.c).
 */
void baleen_rule_store_let_go(struct baleen_rule_store_found *found);

/**
 * struct baleen_rule_store_stamps - states as they were at one time; all zeros at the start
 * @stamp: the device of each, and the stamp of its database
 * @n: how many
 */
struct baleen_rule_store_stamps {
	struct baleen_rule_store_stamp *stamp;
	size_t n;
};

/**
 * baleen_rule_store_stamps_add() - take down how a state is
 * @stamps: added to; free with baleen_rule_store_stamps_free()
 * @found: the state, as it is visited
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_rule_store_stamps_add(struct baleen_rule_store_stamps *stamps,
				 const struct baleen_rule_store_found *found,
				 struct baleen_error *error);

/**
 * baleen_rule_store_stamps_free() - free what was taken down
 * @stamps: taken, or all zeros
 */
void baleen_rule_store_stamps_free(struct baleen_rule_store_stamps *stamps);

/**
 * baleen_rule_store_each_news() - the devices whose state came, or was committed, since then
 * @stamps: of all that were visited
 * @visit: called with the name of each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_rule_store_each_news(const struct baleen_rule_store_stamps *stamps,
				int (*visit)(const char *device, void *data), void *data,
				struct baleen_error *error);

#endif /* BALEEN_RULE_STORE_EACH_H */
