/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that were let go: bans that were made before do not count.
 */
#ifndef BALEEN_FLEET_PARDON_H
#define BALEEN_FLEET_PARDON_H

#include "fleet/fleet_store.h"

/**
 * struct baleen_fleet_pardon - a key that was let go
 * @set: name of the set
 * @key: the key
 * @made_ms: bans that were made by then do not count; broker's time
 * @by: HOST/ORIGIN who asked for it
 * @reason: why
 * @is_exception: a wider ban in force covers it, which was made before: it is to be an exception
 */
struct baleen_fleet_pardon {
	char set[BALEEN_FLEET_NAME_BYTES];
	struct baleen_fleet_key key;
	u64 made_ms;
	char by[BALEEN_FLEET_PUBLISHER_BYTES];
	char reason[BALEEN_FLEET_REASON_BYTES];
	bool is_exception;
};

/**
 * struct baleen_fleet_pardons - all pardons
 * @pardon: they, by set, family, length and address
 * @n: how many
 * @has: by length, of IPv4 and of IPv6: there is one
 */
struct baleen_fleet_pardons {
	struct baleen_fleet_pardon *pardon;
	size_t n;
	bool has[2][129];
};

/**
 * baleen_fleet_pardons_load() - read all pardons that still count
 * @store: opened
 * @now_ms: broker's time
 * @pardons: filled in, is_exception false; to be freed with baleen_fleet_pardons_free()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_pardons_load(const struct baleen_fleet_store *store, u64 now_ms,
			      struct baleen_fleet_pardons *pardons, struct baleen_error *error);

/**
 * baleen_fleet_pardons_share() - the same, read when somebody has changed them
 * @store: opened; keeps them
 * @now_ms: broker's time
 * @pardons: filled in; belongs to @store, until the next call, or a change by it
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_pardons_share(struct baleen_fleet_store *store, u64 now_ms,
			       const struct baleen_fleet_pardons **pardons,
			       struct baleen_error *error);

/**
 * baleen_fleet_pardons_free() - free them
 * @pardons: loaded, or all zeros
 */
void baleen_fleet_pardons_free(struct baleen_fleet_pardons *pardons);

/**
 * baleen_fleet_pardons_hold() - was an entry let go after it was made?
 * @pardons: loaded
 * @entry: set and key count
 * @base_ms: when it was made
 *
 * Return: true when a pardon of the key, or of a prefix that it is in, is not older.
 */
bool baleen_fleet_pardons_hold(const struct baleen_fleet_pardons *pardons,
			       const struct baleen_fleet_entry *entry, u64 base_ms);

/**
 * baleen_fleet_pardons_put() - let a key go
 * @store: with a transaction
 * @message: the control message
 * @is_new: filled in: there was none of this key that is as new
 * @error: filled in on failure
 *
 * Those that no longer count are forgotten.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_pardons_put(struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *message, bool *is_new,
			     struct baleen_error *error);

#endif /* BALEEN_FLEET_PARDON_H */
