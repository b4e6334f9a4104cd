/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that were let go inside wider bans: the ban stays, without the key.
 */
#ifndef BALEEN_FLEET_EXCEPTION_H
#define BALEEN_FLEET_EXCEPTION_H

#include "fleet/fleet_entry.h"
#include "fleet/fleet_store.h"

/**
 * baleen_fleet_exception_is() - is a key to be taken out of wider bans?
 * @store: opened
 * @entry: set and key of the pardon
 * @base_ms: of the pardon
 * @now_ms: broker's time
 * @error: filled in on failure
 *
 * Return: 1 when a wider ban that counts is not newer, and none of the key, or around it, is newer;
 * 0; a negative errno.
 */
int baleen_fleet_exception_is(const struct baleen_fleet_store *store,
			      const struct baleen_fleet_entry *entry, u64 base_ms, u64 now_ms,
			      struct baleen_error *error);

/**
 * baleen_fleet_exceptions_each() - all keys that are to be taken out of wider bans
 * @store: opened
 * @now_ms: broker's time
 * @visit: called with the pardon of each, by set, family and address; a nonzero return ends the
 * walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Without wider bans no pardon is looked at.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_exceptions_each(const struct baleen_fleet_store *store, u64 now_ms,
				 int (*visit)(const struct baleen_fleet_entry *pardon, void *data),
				 void *data, struct baleen_error *error);

#endif /* BALEEN_FLEET_EXCEPTION_H */
