// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a journal to the filter that a sibling is to get. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "filter/live.h"
#include "icp/icp_rebuild.h"
#include "ops/build.h"

/* --- keys --------------------------------------------------------------------- */

static int make_list(const struct baleen_icp_journal *journal, struct baleen_list *list)
{
	struct baleen_list made = { .key_spec = BALEEN_KEY_SQUID };

	made.key = calloc(journal->n_keys + 1, sizeof(*made.key));
	if (!made.key)
		return -ENOMEM;
	made.room_key = journal->n_keys + 1;
	for (size_t i = 0; i < journal->n_keys; i++) {
		const struct baleen_icp_journal_key *key = &journal->key[i];

		if (baleen_icp_journal_wanted(journal, key))
			made.key[made.n_key++] = baleen_squid_key(key->hi, key->lo);
	}
	if (baleen_list_finish(&made)) {
		baleen_list_free(&made);
		return -ENOMEM;
	}
	*list = made;
	return 0;
}

/* A list has each key once; where a filter counts, it has each feeder's. */
static int add_copies(const struct baleen_icp_journal *journal, struct baleen_filter *filter,
		      struct baleen_error *error)
{
	for (size_t i = 0; journal->counts && i < journal->n_keys; i++) {
		struct baleen_key key = baleen_squid_key(journal->key[i].hi, journal->key[i].lo);
		u32 n = baleen_icp_journal_wanted(journal, &journal->key[i]);
		bool changed;

		for (; n > 1; n--) {
			int err = baleen_live_add(filter, &key, &changed);

			if (err)
				return baleen_fail(error, -err, "copies of objects do not fit");
		}
	}
	return 0;
}

/* --- geometry ------------------------------------------------------------------ */

/* The number of keys that a table has room for: a share of its slots, or the keys that set
 * half of its bits and some more.
 */
static double room_of(const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		return (double)table->n_buckets * baleen_bucket_slots(table) *
		       BALEEN_ICP_BUILD_LOAD;
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING:
		return baleen_table_bits(table) * M_LN2 / table->n_hashes * BALEEN_ICP_BUILD_EXCESS;
	default: return INFINITY;
	}
}

/* The rate that the new table is planned for. Of keyed positions their number tells it;
 * four of Squid's and the words of a block go with any rate.
 */
static double rate_of(const struct baleen_table *table)
{
	double rate = exp2(-(double)table->n_hashes);

	if (table->kind != BALEEN_KIND_BLOOM && table->hash == BALEEN_HASH_KEYED)
		return rate;
	return fmin(rate, BALEEN_ICP_BUILD_FPP);
}

static void plan(const struct baleen_table *table, u64 capacity,
		 struct baleen_build_options *options)
{
	options->kind = table->kind;
	if (table->kind == BALEEN_KIND_CUCKOO) {
		options->shape.slot_bits = table->slot_bits;
		options->shape.bucket_slots = table->bucket_slots;
		options->capacity = ceil(capacity * BALEEN_LOAD_FACTOR / BALEEN_ICP_BUILD_LOAD);
		return;
	}
	/* Only the classic kinds choose a hash; the blocked one makes a table blocked. */
	if (table->kind != BALEEN_KIND_BLOOM)
		options->shape.hash = table->hash;
	options->shape.is_blocked =
		table->kind == BALEEN_KIND_COUNTING && table->hash == BALEEN_HASH_BLOCKED;
	options->capacity = capacity;
	options->fpp = rate_of(table);
}

/* Checked here, so that the message has the number that was asked for. */
static int check_capacity(const struct baleen_list *list, u64 capacity, struct baleen_error *error)
{
	if (!capacity || list->n_key <= capacity)
		return 0;
	return baleen_fail(error, ENOSPC, "there are %zu objects, and room was asked for %llu",
			   list->n_key, (unsigned long long)capacity);
}

int baleen_icp_rebuild(const struct baleen_icp_journal *journal, const struct baleen_image *old,
		       u64 capacity, struct baleen_filter *filter, bool *has_grown,
		       struct baleen_error *error)
{
	const struct baleen_table *table = &old->table[BALEEN_TUPLE];
	struct baleen_build_options options = { .name = old->name, .key_spec = BALEEN_KEY_SQUID };
	struct baleen_filter built;
	struct baleen_list list;
	bool grows;
	int err = make_list(journal, &list);

	if (err)
		return baleen_fail(error, -err, "out of memory");
	grows = capacity || list.n_key > room_of(table);
	if (!grows)
		options.like = old;
	else
		plan(table, capacity ? capacity : list.n_key + list.n_key / 2, &options);
	err = check_capacity(&list, capacity, error);
	if (!err)
		err = baleen_build(&list, &options, &built, error);
	baleen_list_free(&list);
	if (err)
		return err;
	err = add_copies(journal, &built, error);
	if (err) {
		baleen_filter_free(&built);
		return err;
	}
	*filter = built;
	*has_grown = grows;
	return 0;
}
