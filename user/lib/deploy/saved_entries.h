/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The single entries of what is saved: beside copies of its feeds.
 *
 *      entries.json        a line each, as baleen export prints them (state/entry_json.h); `rule`
 * is DEV:RULE, of the device that was saved, or bans
 *
 * They come back with origin, reason and end, each where it is not there already. Those of a fleet
 * are the fleet's.
 */
#ifndef BALEEN_SAVED_ENTRIES_H
#define BALEEN_SAVED_ENTRIES_H

#include "deploy/manifest.h"
#include "state/entry_key.h"

#define BALEEN_SAVED_ENTRIES "entries.json"

/**
 * baleen_saved_entries_collect() - the entries of the rules of a device
 * @saved: its configuration; entries are filled in
 * @state: its state
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_saved_entries_collect(struct baleen_saved *saved, const struct baleen_rule_store *state,
				 struct baleen_error *error);

/**
 * baleen_saved_entries_check() - can they be put back?
 * @saved: its configuration and entries were read
 * @path: path of the directory, for messages
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int baleen_saved_entries_check(const struct baleen_saved *saved, const char *path,
			       struct baleen_error *error);

/**
 * struct baleen_saved_counts - what became of them
 * @n_put: are there now
 * @n_there: were there
 * @n_ended: have ended meanwhile
 * @n_refused: must not be dropped here
 * @refused: the first of these
 */
struct baleen_saved_counts {
	u64 n_put;
	u64 n_there;
	u64 n_ended;
	u64 n_refused;
	char refused[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * baleen_saved_entries_put() - put them back
 * @saved: read
 * @device: the device that has the rules now
 * @counts: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_saved_entries_put(const struct baleen_saved *saved, const char *device,
			     struct baleen_saved_counts *counts, struct baleen_error *error);

#endif /* BALEEN_SAVED_ENTRIES_H */
