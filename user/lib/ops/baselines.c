// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets of 64-bit keys that filters are compared with. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/baselines.h"

const char *baleen_baseline_name(enum baleen_baseline_kind kind)
{
	static const char *const names[BALEEN_N_BASELINES] = { "sorted", "dictionary", "compact" };

	return names[kind];
}

u32 baleen_compact_bytes(double n, double fpp)
{
	double bits = log2(n / fpp);

	return bits <= 8 ? 1 : bits >= 64 ? 8 : ceil(bits / 8);
}

static double slots_of(double n)
{
	return ceil(n / BALEEN_COMPACT_LOAD) + 1;
}

double baleen_baseline_bits(enum baleen_baseline_kind kind, double n, double fpp)
{
	switch (kind) {
	case BALEEN_BASELINE_SORTED: return 64;
	case BALEEN_BASELINE_DICTIONARY: return 64 + 32 + 32;
	default: return slots_of(n) * 8 * baleen_compact_bytes(n, fpp) / n;
	}
}

/* Where the chain of a key begins: by its high bits. */
static u32 place_of(const struct baleen_baseline *baseline, u64 key)
{
	return (key >> 32) * baseline->n_slots >> 32;
}

/* --- sorted ---------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool sorted_has(const struct baleen_baseline *baseline, u64 key)
{
	const u64 *first = baseline->key;
	u32 n = baseline->n;

	/* No branch on the outcome: a mispredicted one costs more than a load from a cache. */
	while (n > 1) {
		u32 half = n / 2;

		first += first[half] <= key ? half : 0;
		n -= half;
	}
	return n && *first == key;
}

/* --- dictionary -------------------------------------------------------------- */

static int link_keys(struct baleen_baseline *baseline)
{
	baseline->n_slots = baseline->n;
	baseline->head = calloc(baseline->n + 1, sizeof(*baseline->head));
	baseline->next = calloc(baseline->n + 1, sizeof(*baseline->next));
	if (!baseline->head || !baseline->next)
		return -ENOMEM;
	for (u32 i = 0; i < baseline->n; i++) {
		u32 *head = &baseline->head[place_of(baseline, baseline->key[i])];

		baseline->next[i] = *head;
		*head = i + 1;
	}
	return 0;
}

static bool dictionary_has(const struct baleen_baseline *baseline, u64 key)
{
	u32 at = baseline->head[place_of(baseline, key)];

	while (at && baseline->key[at - 1] != key)
		at = baseline->next[at - 1];
	return at;
}

/* --- compact ----------------------------------------------------------------- */

static u64 slot_mask(const struct baleen_baseline *baseline)
{
	return ~0ull >> (64 - 8 * baseline->slot_bytes);
}

/* The low bits of the hash; never 0. */
static u64 signature(const struct baleen_baseline *baseline, u64 key)
{
	u64 bits = key & slot_mask(baseline);

	return bits ? bits : 1;
}

/* By one load, of which the slot is the low bytes. */
static u64 read_slot(const struct baleen_baseline *baseline, u32 i)
{
	u64 slot;

	memcpy(&slot, baseline->slot + (size_t)i * baseline->slot_bytes, sizeof(slot));
	return slot & slot_mask(baseline);
}

/* Where the probing of a signature begins: it says that, too, so that any two keys with one
 * signature look the same.
 */
static u32 place_of_signature(const struct baleen_baseline *baseline, u64 signature)
{
	return place_of(baseline, signature * 0x9e3779b97f4a7c15ull);
}

/* The slot of a key, or the empty one where it would be. */
static u32 find_slot(const struct baleen_baseline *baseline, u64 key, u64 *slot)
{
	u64 wanted = signature(baseline, key);
	u32 at = place_of_signature(baseline, wanted);

	for (*slot = read_slot(baseline, at); *slot && *slot != wanted;
	     *slot = read_slot(baseline, at))
		at = at + 1 == baseline->n_slots ? 0 : at + 1;
	return at;
}

static int fill_slots(struct baleen_baseline *baseline, const u64 *keys, double fpp)
{
	baseline->slot_bytes = baleen_compact_bytes(baseline->n, fpp);
	baseline->n_slots = slots_of(baseline->n);
	/* The last slot, too, is read by a load of 8 bytes. */
	baseline->slot = calloc(baseline->n_slots + 8, baseline->slot_bytes);
	if (!baseline->slot)
		return -ENOMEM;
	for (u32 i = 0; i < baseline->n; i++) {
		u64 there, own = signature(baseline, keys[i]);
		u32 at = find_slot(baseline, keys[i], &there);

		memcpy(baseline->slot + (size_t)at * baseline->slot_bytes, &own,
		       baseline->slot_bytes);
	}
	return 0;
}

/* --- all ----------------------------------------------------------------------- */

int baleen_baseline_make(enum baleen_baseline_kind kind, const u64 *keys, u32 n, double fpp,
			 struct baleen_baseline *baseline)
{
	struct baleen_baseline made = { .kind = kind, .n = n };
	int err = 0;

	if (kind == BALEEN_BASELINE_COMPACT) {
		err = fill_slots(&made, keys, fpp);
	} else {
		made.key = reallocarray(NULL, n + 1, sizeof(*made.key));
		if (made.key)
			memcpy(made.key, keys, n * sizeof(*keys));
		else
			err = -ENOMEM;
		if (!err && kind == BALEEN_BASELINE_SORTED)
			qsort(made.key, n, sizeof(*made.key), compare);
		else if (!err)
			err = link_keys(&made);
	}
	if (err)
		baleen_baseline_free(&made);
	else
		*baseline = made;
	return err;
}

bool baleen_baseline_test(const struct baleen_baseline *baseline, u64 key)
{
	u64 slot;

	switch (baseline->kind) {
	case BALEEN_BASELINE_SORTED: return sorted_has(baseline, key);
	case BALEEN_BASELINE_DICTIONARY: return dictionary_has(baseline, key);
	default: find_slot(baseline, key, &slot); return slot;
	}
}

void baleen_baseline_free(struct baleen_baseline *baseline)
{
	free(baseline->key);
	free(baseline->head);
	free(baseline->next);
	free(baseline->slot);
	*baseline = (struct baleen_baseline){ 0 };
}
