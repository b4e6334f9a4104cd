// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A table of the same keys, with room for another number of them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "filter/bloom_bits.h"
#include "filter/chains.h"
#include "filter/estimate.h"
#include "filter/quotient_table.h"
#include "ops/algebra_table.h"
#include "ops/refit.h"

#define N_KEYED (BALEEN_TUPLE + 1)

typedef unsigned long long ull;

/* --- one table ------------------------------------------------------------- */

static u64 plane_room(const struct baleen_table *table)
{
	return baleen_table_bits(table) * M_LN2 / table->n_hashes;
}

static int fold(const struct baleen_filter *filter, u32 domain, u64 n, struct baleen_filter *part,
		struct baleen_error *error)
{
	u64 room = plane_room(&filter->image.table[domain]);
	struct baleen_filter folded, half;
	int err;

	if (room / 2 < n)
		return baleen_fail(error, EOPNOTSUPP,
				   "a Bloom filter can only be folded in half: it has room for "
				   "%llu keys, half of it for %llu: build it again from its lists",
				   (ull)room, (ull)room / 2);
	err = baleen_table_copy(filter, domain, &folded, error);
	if (err)
		return err;
	for (u32 i = 0; !err && plane_room(&folded.image.table[domain]) / 2 >= n; i++) {
		err = baleen_filter_halve(&folded, &half, error);
		/* After one fold it is smaller, as was asked for. */
		if (err == -EOPNOTSUPP && i) {
			err = 0;
			break;
		}
		if (err)
			break;
		baleen_filter_free(&folded);
		folded = half;
	}
	if (err)
		baleen_filter_free(&folded);
	else
		*part = folded;
	return err;
}

static int move_hashes(const struct baleen_filter *filter, u32 domain, u64 n,
		       struct baleen_filter *part, struct baleen_error *error)
{
	struct baleen_fingerprints fingerprints;
	int err = baleen_fingerprints_read(filter, domain, &fingerprints, error);

	if (err)
		return err;
	err = baleen_table_put(&filter->image, domain, &fingerprints, n, part, error);
	free(fingerprints.print);
	return err;
}

static int refit_table(const struct baleen_filter *filter, u32 domain, u64 n,
		       struct baleen_filter *part, struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_filter view;

	if (!n)
		return baleen_table_copy(filter, domain, part, error);
	if (baleen_table_is_bit_array(table))
		return fold(filter, domain, n, part, error);
	if (table->kind == BALEEN_KIND_QUOTIENT) {
		view = baleen_table_view(filter, domain);
		return baleen_quotient_resize(&view, n, part, error);
	}
	if (baleen_kind_has_chains(table->kind))
		return baleen_chains_unite(&filter, 1, domain, n, part, error);
	if (baleen_table_keeps_hashes(table, domain))
		return move_hashes(filter, domain, n, part, error);
	return baleen_fail(error, EOPNOTSUPP,
			   "slots of %u bits keep too little of a key to move it: build the filter "
			   "again from its lists",
			   table->slot_bits);
}

/* --- a filter -------------------------------------------------------------- */

int baleen_filter_refit(const struct baleen_filter *filter, const u64 *n, struct baleen_filter *out,
			struct baleen_error *error)
{
	struct baleen_filter part[BALEEN_N_DOMAINS];
	u32 n_parts = 0;
	int err = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++) {
		if (!filter->image.table[domain].kind)
			continue;
		err = refit_table(filter, domain, domain < N_KEYED ? n[domain] : 0, &part[n_parts],
				  error);
		n_parts += !err;
	}
	if (!err)
		err = baleen_tables_assemble(part, n_parts, &filter->image, out, error);
	while (n_parts--)
		baleen_filter_free(&part[n_parts]);
	return err;
}
