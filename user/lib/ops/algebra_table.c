// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One table made of two. */
#include <errno.h>
#include <stdlib.h>

#include "filter/bloom_bits.h"
#include "filter/estimate.h"
#include "filter/compat.h"
#include "filter/fingerprints.h"
#include "filter/plan.h"
#include "filter/chains.h"
#include "filter/quotient_table.h"
#include "ops/algebra_table.h"

/* Times that a table which finds no room for a hash gets more. */
#define MAX_TRIES 64

const char baleen_no_count_down[] =
	"a counting filter does not know which of these keys it has, and counting down what "
	"another key has set would lose that key: 'baleen del' takes out keys that are known to "
	"be in it";

static struct baleen_block *blocks_of(const struct baleen_filter *filter, u32 domain)
{
	return (struct baleen_block *)filter->bytes + filter->image.table[domain].first_block;
}

int baleen_table_alone(const struct baleen_image *like, const struct baleen_table *table,
		       u32 domain, struct baleen_filter *part, struct baleen_error *error)
{
	struct baleen_image image = {
		.n_blocks = BALEEN_HEADER_BLOCKS + table->n_blocks,
		.key_spec = like->key_spec,
		.flags = like->flags & BALEEN_FLAG_COPIES,
		.seed = like->seed,
	};

	image.table[domain] = *table;
	image.table[domain].first_block = BALEEN_HEADER_BLOCKS;
	if (baleen_table_has_groups(table))
		image.table[domain].leaf_block -= table->first_block - BALEEN_HEADER_BLOCKS;
	if (domain == BALEEN_IP6_PREFIXES) {
		memcpy(image.prefix_lengths, like->prefix_lengths, sizeof(image.prefix_lengths));
		memcpy(image.length_tree, like->length_tree, sizeof(image.length_tree));
	}
	return baleen_filter_alloc(part, &image, error);
}

int baleen_table_copy(const struct baleen_filter *filter, u32 domain, struct baleen_filter *part,
		      struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	int err = baleen_table_alone(&filter->image, table, domain, part, error);

	if (err)
		return err;
	memcpy(blocks_of(part, domain), blocks_of(filter, domain),
	       (size_t)table->n_blocks * BALEEN_BLOCK_BYTES);
	part->image.table[domain].n_entries = table->n_entries;
	return 0;
}

/* --- cuckoo ---------------------------------------------------------------- */

int baleen_table_put(const struct baleen_image *like, u32 domain,
		     const struct baleen_fingerprints *fingerprints, u64 n,
		     struct baleen_filter *part, struct baleen_error *error)
{
	const struct baleen_table *model = &like->table[domain];
	struct baleen_shape shape;
	int err = -ENOSPC;

	baleen_table_shape(model, &shape);
	if (domain != BALEEN_IP4)
		shape.slot_bits = model->slot_bits;
	n = n > fingerprints->n ? n : fingerprints->n;
	for (u32 i = 0; i < MAX_TRIES && err == -ENOSPC; i++, n += n / 20 + 1) {
		struct baleen_table table;

		err = baleen_plan_shaped(domain, model->kind, n ? n : 1, 0, &shape, &table, error);
		if (!err)
			err = baleen_table_alone(like, &table, domain, part, error);
		if (err)
			return err;
		err = baleen_fingerprints_put(fingerprints, part, domain);
		if (err)
			baleen_filter_free(part);
	}
	return err ? baleen_fail(error, -err, "%zu hashes find no room", fingerprints->n) : 0;
}

static int put_narrow(const struct baleen_image *like, u32 domain,
		      const struct baleen_fingerprints *fingerprints, struct baleen_filter *part,
		      struct baleen_error *error)
{
	const struct baleen_table *model = &like->table[domain];
	int err = baleen_table_alone(like, model, domain, part, error);

	if (err || !baleen_fingerprints_put(fingerprints, part, domain))
		return err;
	baleen_filter_free(part);
	return baleen_fail(error, ENOSPC,
			   "%zu keys find no room in %u buckets, and slots of %u bits keep too "
			   "little of a key to move it: build the filter again from its lists",
			   fingerprints->n, model->n_buckets, model->slot_bits);
}

static int combine_cuckoo(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain,
			  enum baleen_set_op op, struct baleen_filter *part,
			  struct baleen_error *error)
{
	const struct baleen_image *like = a->image.table[domain].kind ? &a->image : &b->image;
	struct baleen_fingerprints of_a = { 0 }, of_b = { 0 }, kept = { 0 };
	int err = baleen_fingerprints_read(a, domain, &of_a, error);

	if (!err)
		err = baleen_fingerprints_read(b, domain, &of_b, error);
	if (!err)
		err = baleen_fingerprints_combine(&of_a, &of_b, op,
						  like->flags & BALEEN_FLAG_COPIES, &kept, error);
	if (!err && baleen_table_keeps_hashes(&like->table[domain], domain))
		err = baleen_table_put(like, domain, &kept,
				       baleen_table_capacity(&like->table[domain]), part, error);
	else if (!err)
		err = put_narrow(like, domain, &kept, part, error);
	free(of_a.print);
	free(of_b.print);
	free(kept.print);
	return err;
}

/* --- bits ------------------------------------------------------------------ */

static int combine_bits(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain,
			enum baleen_set_op op, struct baleen_filter *part,
			struct baleen_error *error)
{
	int err = baleen_table_copy(a, domain, part, error);

	if (err)
		return err;
	if (op == BALEEN_SET_UNION)
		baleen_bits_unite(part, b, domain);
	else
		baleen_bits_intersect(part, b, domain);
	return 0;
}

/* --- quotient -------------------------------------------------------------- */

struct baleen_filter baleen_table_view(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_filter view = *filter;

	for (u32 other = 0; other < BALEEN_N_DOMAINS; other++)
		if (other != domain)
			view.image.table[other] = (struct baleen_table){ 0 };
	return view;
}

static int combine_quotient(const struct baleen_filter *a, const struct baleen_filter *b,
			    u32 domain, enum baleen_set_op op, struct baleen_filter *part,
			    struct baleen_error *error)
{
	const struct baleen_filter of_a = baleen_table_view(a, domain);
	const struct baleen_filter of_b = baleen_table_view(b, domain);
	const struct baleen_filter *const both[] = { &of_a, &of_b };

	return baleen_quotient_merge(both, 2, op, 0, part, error);
}

/* Tables of @a and @b that are there fit, and are quotient tables. */
static bool is_quotient_pair(const struct baleen_image *a, const struct baleen_image *b)
{
	if (baleen_compat_keys(a, b, "", NULL) || baleen_compat_seeds(a, b, "", NULL))
		return false;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *x = &a->table[domain], *y = &b->table[domain];

		if ((x->kind && x->kind != BALEEN_KIND_QUOTIENT) ||
		    (y->kind && y->kind != BALEEN_KIND_QUOTIENT) ||
		    (x->kind && y->kind && baleen_compat_tables(a, b, domain, "", NULL)))
			return false;
	}
	return true;
}

bool baleen_filters_are_one_pass(const struct baleen_filter *const *filters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (!is_quotient_pair(&filters[i]->image, &filters[j]->image))
				return false;
	return true;
}

/* --- chains ---------------------------------------------------------------- */

static int combine_chains(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain,
			  enum baleen_set_op op, struct baleen_filter *part,
			  struct baleen_error *error)
{
	const struct baleen_filter *const both[] = { a, b };

	if (op != BALEEN_SET_UNION)
		return baleen_fail(error, EOPNOTSUPP,
				   "chains are only merged: build it again from the lists");
	return baleen_chains_unite(both, 2, domain, 0, part, error);
}

/* --- any kind -------------------------------------------------------------- */

static bool is_narrow(const struct baleen_table *table, u32 domain)
{
	return table->kind == BALEEN_KIND_CUCKOO && !baleen_table_keeps_hashes(table, domain);
}

static int check_difference(const struct baleen_filter *b, u32 domain, struct baleen_error *error)
{
	const struct baleen_table *table = &b->image.table[domain];

	if (table->kind == BALEEN_KIND_COUNTING)
		return baleen_fail(error, EOPNOTSUPP, "%s", baleen_no_count_down);
	if (baleen_table_is_bit_array(table))
		return baleen_fail(
			error, EOPNOTSUPP,
			"a Bloom filter cannot forget: a bit that is cleared for one key "
			"is lost for all others that have set it");
	if (is_narrow(table, domain))
		return baleen_fail(
			error, EOPNOTSUPP,
			"slots of %u bits keep too little of a key: those that only look "
			"the same would go as well",
			table->slot_bits);
	return 0;
}

/* The other has no table of this domain. */
static int combine_one(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain,
		       enum baleen_set_op op, struct baleen_filter *part,
		       struct baleen_error *error)
{
	bool in_a = a->image.table[domain].kind;

	if (op == BALEEN_SET_INTERSECTION || (op == BALEEN_SET_DIFFERENCE && !in_a)) {
		*part = (struct baleen_filter){ 0 };
		return 0;
	}
	return baleen_table_copy(in_a ? a : b, domain, part, error);
}

int baleen_tables_combine(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain,
			  enum baleen_set_op op, struct baleen_filter *part,
			  struct baleen_error *error)
{
	struct baleen_filter made;
	int err;

	if (!a->image.table[domain].kind || !b->image.table[domain].kind) {
		err = combine_one(a, b, domain, op, &made, error);
	} else {
		err = op == BALEEN_SET_DIFFERENCE ? check_difference(b, domain, error) : 0;
		if (!err && baleen_table_is_bit_array(&a->image.table[domain]))
			err = combine_bits(a, b, domain, op, &made, error);
		else if (!err && a->image.table[domain].kind == BALEEN_KIND_QUOTIENT)
			err = combine_quotient(a, b, domain, op, &made, error);
		else if (!err && baleen_kind_has_chains(a->image.table[domain].kind))
			err = combine_chains(a, b, domain, op, &made, error);
		else if (!err)
			err = combine_cuckoo(a, b, domain, op, &made, error);
	}
	if (!err)
		*part = made;
	return err;
}

/* --- assemble -------------------------------------------------------------- */

static int place_parts(const struct baleen_filter *parts, u32 n_parts, struct baleen_image *image,
		       struct baleen_error *error)
{
	for (u32 i = 0; i < n_parts; i++)
		for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
			if (parts[i].image.table[domain].kind)
				image->table[domain] = parts[i].image.table[domain];
	return baleen_tables_place(image, error);
}

static void copy_tables(const struct baleen_filter *part, struct baleen_filter *to)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &part->image.table[domain];

		if (!table->kind)
			continue;
		memcpy(blocks_of(to, domain), blocks_of(part, domain),
		       (size_t)table->n_blocks * BALEEN_BLOCK_BYTES);
		to->image.table[domain].n_entries = table->n_entries;
	}
}

int baleen_tables_assemble(const struct baleen_filter *parts, u32 n_parts,
			   const struct baleen_image *like, struct baleen_filter *out,
			   struct baleen_error *error)
{
	struct baleen_image image = { .key_spec = like->key_spec,
				      .flags = like->flags & BALEEN_FLAG_COPIES,
				      .seed = parts[0].image.seed };
	struct baleen_filter made;
	int err = place_parts(parts, n_parts, &image, error);

	memcpy(image.name, like->name, sizeof(image.name));
	for (u32 i = 0; i < n_parts; i++) {
		if (!parts[i].image.table[BALEEN_IP6_PREFIXES].kind)
			continue;
		memcpy(image.prefix_lengths, parts[i].image.prefix_lengths,
		       sizeof(image.prefix_lengths));
		memcpy(image.length_tree, parts[i].image.length_tree, sizeof(image.length_tree));
	}
	if (!err)
		err = baleen_filter_alloc(&made, &image, error);
	if (err)
		return err;
	for (u32 i = 0; i < n_parts; i++)
		copy_tables(&parts[i], &made);
	baleen_filter_seal(&made);
	*out = made;
	return 0;
}
