/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is what the fleet has banned in force here? The live filters say so, not the database.
 */
#ifndef BALEEN_FLEET_LIVE_H
#define BALEEN_FLEET_LIVE_H

#include "fleet/fleet_entry.h"

#define BALEEN_FLEET_WHY_BYTES 352

/**
 * struct baleen_fleet_held - rules of this host, and a key
 * @n_rules: how many should hold it
 * @n_hold: how many do, all of it
 * @why: of the first that does not: why not
 */
struct baleen_fleet_held {
	u32 n_rules;
	u32 n_hold;
	char why[BALEEN_FLEET_WHY_BYTES];
};

/**
 * struct baleen_fleet_live - how a key of a set fares here
 * @taken: the rules that take the set
 * @own: those whose bans this host publishes to it
 */
struct baleen_fleet_live {
	struct baleen_fleet_held taken;
	struct baleen_fleet_held own;
};

/**
 * baleen_fleet_live_ask() - ask the rules
 * @set: name of the set
 * @key: an address or prefix
 * @live: filled in
 * @error: filled in on failure
 *
 * An address is looked up in the filter that packets meet. Of a prefix that is done with its first
 * and last address; what is excepted or protected between them the book and the state say.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_live_ask(const char *set, const struct baleen_fleet_key *key,
			  struct baleen_fleet_live *live, struct baleen_error *error);

/**
 * baleen_fleet_live_holds() - is a ban in force?
 * @live: asked
 * @is_own: this host made it: one rule is enough; else all that take it have to hold it
 *
 * Return: true or false.
 */
bool baleen_fleet_live_holds(const struct baleen_fleet_live *live, bool is_own);

#endif /* BALEEN_FLEET_LIVE_H */
