/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a source was last seen being dropped, among the sampled ones.
 *
 * baleend writes it from sampled events, 'baleen why' reads it. It is in memory
 * (/run/baleen/drops.db) and ends with the boot.
 */
#ifndef BALEEN_DROPS_H
#define BALEEN_DROPS_H

#include <sqlite3.h>

#include "xdp/events.h"

/* Sources remembered of a device; those not seen for longest give way. */
#define BALEEN_MAX_DROPS 10000

/**
 * struct baleen_drop - the last sampled drop of a source by a rule
 * @rule: name of the rule; empty for the default verdict
 * @last_ms: when, since the epoch
 * @n: sampled drops so far
 * @dport: destination port of the last one; 0 without
 * @proto: its protocol
 */
struct baleen_drop {
	char rule[BALEEN_NAME_BYTES];
	u64 last_ms;
	u64 n;
	u16 dport;
	u8 proto;
};

/**
 * baleen_drops_open() - open what was seen
 * @db: filled in; close with baleen_drops_close()
 * @for_writing: make it if it is not there
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when nobody has written any; a negative errno.
 */
int baleen_drops_open(sqlite3 **db, bool for_writing, struct baleen_error *error);

/**
 * baleen_drops_close() - close it
 * @db: opened, or NULL
 */
void baleen_drops_close(sqlite3 *db);

/**
 * baleen_drops_begin() - begin to write several at once
 * @db: opened for writing
 */
void baleen_drops_begin(sqlite3 *db);

/**
 * baleen_drops_key_spec() - by which address drops are kept
 * @ifindex: the device, or what goes out by it
 *
 * Return: BALEEN_KEY_SRC, of what goes out BALEEN_KEY_DST: the other end, which is what
 * "source" means in this file.
 */
u32 baleen_drops_key_spec(int ifindex);

/**
 * baleen_drops_add() - a sampled drop
 * @db: opened for writing
 * @netns_cookie: cookie of the device's network namespace
 * @ifindex: the device
 * @sighting: the event
 *
 * Return: 0 or a negative errno.
 */
int baleen_drops_add(sqlite3 *db, u64 netns_cookie, int ifindex,
		     const struct baleen_sighting *sighting);

/**
 * baleen_drops_end() - end what baleen_drops_begin() began; forget the oldest
 * @db: opened for writing
 */
void baleen_drops_end(sqlite3 *db);

/**
 * baleen_drops_find() - the last sampled drop of a source
 * @db: opened
 * @netns_cookie: cookie of the device's network namespace
 * @ifindex: the device
 * @source: its address
 * @drop: filled in when there is one
 *
 * Return: 1 or 0, or a negative errno.
 */
int baleen_drops_find(sqlite3 *db, u64 netns_cookie, int ifindex, const struct baleen_key *source,
		      struct baleen_drop *drop);

/**
 * baleen_drops_each() - the sampled drops of a device
 * @db: opened
 * @netns_cookie: cookie of the device's network namespace
 * @ifindex: the device
 * @visit: called with each source and rule, by rule; a nonzero return ends the walk
 * @data: passed to @visit
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_drops_each(sqlite3 *db, u64 netns_cookie, int ifindex,
		      int (*visit)(const struct baleen_key *source, const struct baleen_drop *drop,
				   void *data),
		      void *data);

#endif /* BALEEN_DROPS_H */
