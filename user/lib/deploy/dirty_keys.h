/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys whose rows were changed: what becomes of them in the map.
 *
 * A change of an entry is not yet a change of the set: another entry, or a feed,
 * may hold the key, too. So rows are changed first, in a transaction; then each
 * key that they name is asked for anew, and put into the map or taken out of it.
 */
#ifndef BALEEN_DIRTY_KEYS_H
#define BALEEN_DIRTY_KEYS_H

#include "deploy/deploy.h"
#include "list/list.h"

/**
 * struct baleen_dirty_span - addresses of an entry that was changed
 * @span: the addresses
 * @is_new: it was put, and was not there
 */
struct baleen_dirty_span {
	struct baleen_span span;
	bool is_new;
};

/**
 * struct baleen_dirty_keys - keys of a rule whose place may have changed
 * @deploy: device and state, with a transaction
 * @rules: rules of the state
 * @index: index of the rule among them
 * @now_ms: single entries that have ended by then take no part
 * @rebuild: other rules that are derived anew where this one is; NULL for none
 * @error: the caller's, filled in by all that fails
 * @span: the addresses of each entry
 * @n: how many
 * @fields: keys of several fields
 *
 * The first six are given.
 */
struct baleen_dirty_keys {
	struct baleen_deploy *deploy;
	const struct baleen_stored_rules *rules;
	u32 index;
	u64 now_ms;
	const bool *rebuild;
	struct baleen_error *error;
	struct baleen_dirty_span *span;
	size_t n;
	struct baleen_list fields;
};

/**
 * baleen_dirty_keys_add() - add the key of an entry
 * @dirty: what is given is given
 * @entry: the entry
 * @is_new: it was put, and was not there
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_dirty_keys_add(struct baleen_dirty_keys *dirty, const struct baleen_rule_entry *entry,
			  bool is_new);

/**
 * baleen_dirty_keys_end() - free the keys
 * @dirty: all zeros but for what was given, or added to
 */
void baleen_dirty_keys_end(struct baleen_dirty_keys *dirty);

/**
 * baleen_dirty_keys_agree() - make the map what the rows say
 * @dirty: what is given is given
 * @is_atomic: in one step, also what could change in place
 * @in_place: filled in, also on failure: the map was changed in place, not replaced
 *
 * Hosts that go in come before those that go out. Does nothing when the rule is
 * not on the device.
 *
 * Return: 0 or a negative errno; then part of it may have been done in place.
 */
int baleen_dirty_keys_agree(struct baleen_dirty_keys *dirty, bool is_atomic, bool *in_place);

/**
 * baleen_dirty_keys_undo() - make the map again what the rows say
 * @dirty: started; its rows are what they were before
 * @in_place: as baleen_dirty_keys_agree() said
 *
 * Return: 0 or a negative errno.
 */
int baleen_dirty_keys_undo(struct baleen_dirty_keys *dirty, bool in_place);

#endif /* BALEEN_DIRTY_KEYS_H */
