/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A state that is damaged, or of an older Baleen: set aside, so that another can be made.
 */
#ifndef BALEEN_RULE_STORE_MEND_H
#define BALEEN_RULE_STORE_MEND_H

#include "state/rule_store_path.h"

/**
 * struct baleen_rule_store_aside - a state that was set aside
 * @path: path of its directory now
 * @has_rules: its rules could be read, so a new state has them
 */
struct baleen_rule_store_aside {
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	bool has_rules;
};

/**
 * baleen_rule_store_is_damaged() - is the state of a device one that cannot be used?
 * @device: name of the device
 *
 * Reads all of it.
 *
 * Return: true when it is damaged, or was made by an older Baleen; false also when there is none,
 * or it is of a newer one.
 */
bool baleen_rule_store_is_damaged(const char *device);

/**
 * baleen_rule_store_set_aside() - set a damaged state aside
 * @device: name of the device
 * @timeout_ms: how long to wait for its writer
 * @aside: filled in when it was
 * @error: filled in on failure
 *
 * Rules and copies of feeds that can still be read are in a new state afterwards. Single entries
 * are in the book.
 *
 * Return: 1; 0 when it is not damaged; a negative errno.
 */
int baleen_rule_store_set_aside(const char *device, u64 timeout_ms,
				struct baleen_rule_store_aside *aside, struct baleen_error *error);

/**
 * baleen_rule_store_discard() - forget a damaged state, or one of a newer Baleen
 * @device: name of the device
 * @timeout_ms: how long to wait for its writer
 * @error: filled in on failure
 *
 * Return: 1; 0 when it can be used, or there is none; a negative errno.
 */
int baleen_rule_store_discard(const char *device, u64 timeout_ms, struct baleen_error *error);

#endif /* BALEEN_RULE_STORE_MEND_H */
