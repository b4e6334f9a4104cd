// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A snapshot of a cache's objects, and the events that came meanwhile. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "icp/icp_journal.h"

#define FIRST_SLOTS 1024

void baleen_icp_journal_init(struct baleen_icp_journal *journal, u32 sibling, bool counts)
{
	*journal = (struct baleen_icp_journal){ .sibling = sibling, .counts = counts };
	/* Without one it is only slower for who could choose the keys. */
	if (getrandom(journal->salt, sizeof(journal->salt), GRND_NONBLOCK) < 0)
		journal->salt[0] = (u64)(uintptr_t)journal;
	journal->salt[1] |= 1;
}

void baleen_icp_journal_free(struct baleen_icp_journal *journal)
{
	free(journal->key);
	free(journal->slot);
	free(journal->open);
	memset(journal, 0, sizeof(*journal));
}

/* --- keys -------------------------------------------------------------------- */

static size_t first_slot(const struct baleen_icp_journal *journal, u64 hi, u64 lo)
{
	u64 hash = (lo ^ journal->salt[0]) * journal->salt[1];

	hash = (hash ^ hash >> 32 ^ hi) * journal->salt[1];
	return hash >> 32 & (journal->n_slots - 1);
}

/* The slot that has the key, or the free one where it belongs. */
static u32 *find_slot(const struct baleen_icp_journal *journal, u64 hi, u64 lo)
{
	size_t i = first_slot(journal, hi, lo);

	for (;; i = (i + 1) & (journal->n_slots - 1)) {
		const struct baleen_icp_journal_key *key;

		if (!journal->slot[i])
			return &journal->slot[i];
		key = &journal->key[journal->slot[i] - 1];
		if (key->hi == hi && key->lo == lo)
			return &journal->slot[i];
	}
}

/* Half of the slots stay free. */
static int make_slots(struct baleen_icp_journal *journal)
{
	size_t n_slots = journal->n_slots ? 2 * journal->n_slots : FIRST_SLOTS;
	u32 *slot = calloc(n_slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	free(journal->slot);
	journal->slot = slot;
	journal->n_slots = n_slots;
	for (size_t i = 0; i < journal->n_keys; i++)
		*find_slot(journal, journal->key[i].hi, journal->key[i].lo) = i + 1;
	return 0;
}

static int make_room(void **array, size_t *room, size_t n, size_t size)
{
	size_t wanted = *room ? *room + *room / 2 : 512;
	void *bytes;

	if (n < *room)
		return 0;
	bytes = reallocarray(*array, wanted, size);
	if (!bytes)
		return -ENOMEM;
	*array = bytes;
	*room = wanted;
	return 0;
}

/* The number of a key, which is new when nothing was heard of it. */
static int get_key(struct baleen_icp_journal *journal, u64 hi, u64 lo, u32 *number)
{
	u32 *slot;

	if (2 * journal->n_keys >= journal->n_slots && make_slots(journal))
		return -ENOMEM;
	slot = find_slot(journal, hi, lo);
	if (!*slot) {
		if (journal->n_keys == UINT32_MAX - 1 ||
		    make_room((void **)&journal->key, &journal->room, journal->n_keys,
			      sizeof(*journal->key)))
			return -ENOMEM;
		journal->key[journal->n_keys++] =
			(struct baleen_icp_journal_key){ .hi = hi, .lo = lo };
		*slot = journal->n_keys;
	}
	*number = *slot - 1;
	return 0;
}

int baleen_icp_journal_object(struct baleen_icp_journal *journal, u64 hi, u64 lo, u32 feeder)
{
	u16 bit = 1u << feeder;
	u32 number;

	if (get_key(journal, hi, lo, &number))
		return -ENOMEM;
	if (!(journal->key[number].reported & bit))
		journal->key[number].present |= bit;
	return 0;
}

u32 baleen_icp_journal_wanted(const struct baleen_icp_journal *journal,
			      const struct baleen_icp_journal_key *key)
{
	return journal->counts ? __builtin_popcount(key->present) : !!key->present;
}

/* --- events ------------------------------------------------------------------ */

/* Room was made before. */
static void open_key(struct baleen_icp_journal *journal, u32 number)
{
	if (journal->key[number].is_open)
		return;
	journal->key[number].is_open = true;
	journal->open[journal->n_open++] = number;
}

int baleen_icp_journal_event(struct baleen_icp_journal *journal,
			     const struct baleen_icp_event *event)
{
	bool is_insert = event->event == BALEEN_STORE_INSERT;
	u32 bit = 1u << journal->sibling, number;
	struct baleen_icp_journal_key *key;

	if (event->feeder >= BALEEN_ICP_MAX_FEEDERS ||
	    (!is_insert && event->event != BALEEN_STORE_DELETE))
		return -EINVAL;
	if (!(event->siblings & bit))
		return 0;
	if (make_room((void **)&journal->open, &journal->room_open, journal->n_open,
		      sizeof(*journal->open)) ||
	    get_key(journal, event->key_hi, event->key_lo, &number))
		return -ENOMEM;
	key = &journal->key[number];
	if (journal->is_built && event->generation == journal->generation) {
		if (!key->is_new)
			key->before = key->present;
		key->is_new = true;
		if (event->changed & bit) {
			key->n_in += is_insert ? 1 : -1;
			journal->n_new += is_insert ? 1 : -1;
		}
	}
	key->reported |= 1u << event->feeder;
	if (is_insert)
		key->present |= 1u << event->feeder;
	else
		key->present &= ~(1u << event->feeder);
	if (journal->is_built)
		open_key(journal, number);
	return 0;
}

/* --- the new filter ------------------------------------------------------------ */

void baleen_icp_journal_built(struct baleen_icp_journal *journal, u32 generation)
{
	for (size_t i = 0; i < journal->n_keys; i++)
		journal->key[i].n_in = baleen_icp_journal_wanted(journal, &journal->key[i]);
	journal->is_built = true;
	journal->generation = generation;
}

u64 baleen_icp_journal_entries(const struct baleen_icp_journal *journal)
{
	s64 n = 0;

	for (size_t i = 0; i < journal->n_keys; i++)
		n += journal->key[i].n_in;
	return n < 0 ? 0 : n;
}

/* How many of it are missing, or too many when below zero. */
static int difference(const struct baleen_icp_journal *journal,
		      const struct baleen_icp_journal_key *key)
{
	int wanted = baleen_icp_journal_wanted(journal, key);

	/* A set has a key or has it not. */
	return journal->counts ? wanted - key->n_in : wanted - (key->n_in > 0);
}

void baleen_icp_journal_round(struct baleen_icp_journal *journal)
{
	journal->at = 0;
	journal->kept = 0;
}

u32 baleen_icp_journal_next(struct baleen_icp_journal *journal, struct baleen_icp_batch *batch)
{
	*batch = (struct baleen_icp_batch){ .siblings = 1u << journal->sibling };
	while (journal->at < journal->n_open) {
		u32 number = journal->open[journal->at];
		struct baleen_icp_journal_key *key = &journal->key[number];
		int missing = difference(journal, key);
		u32 n = missing < 0 ? -missing : missing;

		if (n > BALEEN_ICP_BATCH)
			n = BALEEN_ICP_BATCH;
		if (n > BALEEN_ICP_BATCH - batch->n)
			return batch->n;
		journal->at++;
		key->is_open = n;
		if (n)
			journal->open[journal->kept++] = number;
		for (u32 i = 0; i < n; i++, batch->n++) {
			batch->event[batch->n] =
				missing > 0 ? BALEEN_STORE_INSERT : BALEEN_STORE_DELETE;
			batch->key[batch->n][0] = key->hi;
			batch->key[batch->n][1] = key->lo;
			journal->asked[batch->n].key = number;
			journal->asked[batch->n].sign = missing > 0 ? 1 : -1;
		}
	}
	if (!batch->n)
		journal->n_open = journal->kept;
	return batch->n;
}

void baleen_icp_journal_applied(struct baleen_icp_journal *journal,
				const struct baleen_icp_batch *batch)
{
	for (u32 i = 0; i < batch->n; i++)
		if (batch->event[i] != BALEEN_STORE_OTHER)
			journal->key[journal->asked[i].key].n_in += journal->asked[i].sign;
}
