// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Union, intersection and difference of two filters. */
#include <errno.h>
#include <math.h>

#include "filter/compat.h"
#include "filter/estimate.h"
#include "filter/plan.h"
#include "filter/quotient_table.h"
#include "list/list_algebra.h"
#include "ops/algebra.h"
#include "ops/algebra_table.h"
#include "ops/build.h"

#define N_KEYED (BALEEN_TUPLE + 1)

/**
 * enum how - how the tables of hosts and keys of one domain are combined
 * @HOW_NONE: there are none
 * @HOW_LIST: as lists
 * @HOW_TABLE: as tables
 * @HOW_MIXED: one of them can be listed, the other not
 */
enum how {
	HOW_NONE,
	HOW_LIST,
	HOW_TABLE,
	HOW_MIXED,
};

/**
 * struct pair - two filters that are combined
 * @a: the first, not live
 * @b: the other, not live
 * @op: set operation
 * @a_name: in messages
 * @how: by domain
 * @part: the parts made so far
 * @n_parts: how many
 */
struct pair {
	const struct baleen_filter *a;
	const struct baleen_filter *b;
	enum baleen_set_op op;
	const char *a_name;
	enum how how[N_KEYED];
	struct baleen_filter part[N_KEYED + 1];
	u32 n_parts;
};

/* --- how ------------------------------------------------------------------- */

static bool is_listed(const struct baleen_filter *filter, u32 domain)
{
	/* A list has no copies. */
	return baleen_table_is_exact(&filter->image, domain) &&
	       !(filter->image.flags & BALEEN_FLAG_COPIES);
}

/* Fingerprints of one seed and length are sorted already. */
static bool is_one_pass(const struct pair *pair, u32 domain)
{
	const struct baleen_image *a = &pair->a->image, *b = &pair->b->image;

	return a->table[domain].kind == BALEEN_KIND_QUOTIENT && !a->table[BALEEN_IP4_GROUPS].kind &&
	       !b->table[BALEEN_IP4_GROUPS].kind &&
	       !baleen_compat_tables(a, b, domain, pair->a_name, NULL);
}

static enum how how_to(const struct pair *pair, u32 domain)
{
	bool has_a = pair->a->image.table[domain].kind, has_b = pair->b->image.table[domain].kind;
	bool list_a = is_listed(pair->a, domain), list_b = is_listed(pair->b, domain);

	if (!has_a && !has_b)
		return HOW_NONE;
	if (has_a && has_b && is_one_pass(pair, domain))
		return HOW_TABLE;
	if (has_a && has_b && list_a != list_b)
		return HOW_MIXED;
	return list_a || list_b ? HOW_LIST : HOW_TABLE;
}

static bool has_any(const struct pair *pair, enum how how)
{
	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (pair->how[domain] == how)
			return true;
	return false;
}

static bool either_has(const struct pair *pair, u32 domain)
{
	return pair->a->image.table[domain].kind || pair->b->image.table[domain].kind;
}

/* Is there a table that is not listed and taken as it is, from b alone or from a? */
static bool copies_tables(const struct pair *pair, bool of_b_alone)
{
	for (u32 domain = 0; domain < N_KEYED; domain++) {
		bool has_a = pair->a->image.table[domain].kind;

		if (pair->how[domain] == HOW_TABLE && has_a != of_b_alone)
			return true;
	}
	return false;
}

/* All tables of a filter have one seed. */
static const struct baleen_seed *seed_of(const struct pair *pair)
{
	if (pair->op == BALEEN_SET_UNION && !copies_tables(pair, false) &&
	    copies_tables(pair, true))
		return &pair->b->image.seed;
	return &pair->a->image.seed;
}

/* Do the tables go together? */
static int check_pair(const struct pair *pair, struct baleen_error *error)
{
	const struct baleen_image *a = &pair->a->image, *b = &pair->b->image;
	int err = 0;

	if (either_has(pair, BALEEN_IP6_STEMS) && either_has(pair, BALEEN_IP6))
		return baleen_fail(error, EOPNOTSUPP,
				   "prefixes cannot change IPv6 hosts that are stored as hashes: "
				   "build %s again from its lists",
				   b->table[BALEEN_IP6].kind ? "it" : pair->a_name);
	if (either_has(pair, BALEEN_IP4_GROUPS) && pair->how[BALEEN_IP4] == HOW_TABLE)
		return baleen_fail(error, EOPNOTSUPP,
				   "prefixes stand beside hosts that cannot be listed: build it "
				   "again from its lists");
	for (u32 domain = 0; domain < N_KEYED && !err; domain++)
		if (pair->how[domain] == HOW_TABLE && a->table[domain].kind &&
		    b->table[domain].kind)
			err = baleen_compat_tables(a, b, domain, pair->a_name, error);
	if (!err && pair->op == BALEEN_SET_UNION && copies_tables(pair, false) &&
	    copies_tables(pair, true))
		err = baleen_compat_seeds(a, b, pair->a_name, error);
	return err;
}

/* --- as lists -------------------------------------------------------------- */

static int list_of(const struct pair *pair, const struct baleen_filter *filter,
		   struct baleen_list *list, struct baleen_error *error)
{
	struct baleen_filter rest = *filter;

	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (pair->how[domain] != HOW_LIST)
			rest.image.table[domain] = (struct baleen_table){ 0 };
	return baleen_filter_to_list(&rest, list, error);
}

/* Kind, shape and room of the tables that the lists came from. */
static void set_options(const struct pair *pair, const struct baleen_list *list,
			struct baleen_build_options *options)
{
	u64 room = 0, n = list->n_ip4 + list->n_ip6 + list->n_key;

	for (u32 domain = 0; domain < N_KEYED; domain++) {
		const struct baleen_table *table = &pair->a->image.table[domain];

		if (pair->how[domain] != HOW_LIST)
			continue;
		if (table->kind)
			room += baleen_table_capacity(table);
		else
			table = &pair->b->image.table[domain];
		options->kind = table->kind;
		baleen_table_shape(table, &options->shape);
	}
	options->capacity = room > n ? room : 0;
	/* So that it goes on to fit what it was made like. */
	if (copies_tables(pair, false) || copies_tables(pair, true) ||
	    options->kind == BALEEN_KIND_QUOTIENT)
		options->seed = seed_of(pair);
}

static int build_list(struct pair *pair, const struct baleen_list *list, struct baleen_error *error)
{
	struct baleen_build_options options = { .key_spec = pair->a->image.key_spec,
						.kind = BALEEN_KIND_CUCKOO };

	if (baleen_list_is_empty(list))
		return 0;
	set_options(pair, list, &options);
	return baleen_build(list, &options, &pair->part[pair->n_parts++], error);
}

static int combine_lists(struct pair *pair, struct baleen_error *error)
{
	struct baleen_list of_a = { 0 }, of_b = { 0 }, kept = { 0 };
	int err = list_of(pair, pair->a, &of_a, error);

	if (!err)
		err = list_of(pair, pair->b, &of_b, error);
	if (!err && baleen_list_combine(&of_a, &of_b, pair->op, &kept))
		err = baleen_fail(error, ENOMEM, "no memory for the combined list");
	if (!err)
		err = build_list(pair, &kept, error);
	baleen_list_free(&kept);
	baleen_list_free(&of_b);
	baleen_list_free(&of_a);
	return err;
}

/* --- all tables ------------------------------------------------------------ */

/* In which nothing is. */
static int make_empty(struct pair *pair, struct baleen_error *error)
{
	const struct baleen_image *image = &pair->a->image;
	const struct baleen_build_options options = { .key_spec = image->key_spec,
						      .kind = BALEEN_KIND_CUCKOO };
	const struct baleen_list nothing = { .key_spec = image->key_spec };
	struct baleen_filter *part = &pair->part[pair->n_parts++];

	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (image->table[domain].kind)
			return baleen_table_alone(image, &image->table[domain], domain, part,
						  error);
	return baleen_build(&nothing, &options, part, error);
}

static int combine_tables(struct pair *pair, struct baleen_error *error)
{
	int err = 0;

	for (u32 domain = 0; domain < N_KEYED && !err; domain++) {
		struct baleen_filter *part = &pair->part[pair->n_parts];

		if (pair->how[domain] != HOW_TABLE)
			continue;
		err = baleen_tables_combine(pair->a, pair->b, domain, pair->op, part, error);
		pair->n_parts += part->bytes != NULL;
	}
	if (!err)
		err = combine_lists(pair, error);
	if (!err && !pair->n_parts)
		err = make_empty(pair, error);
	return err;
}

static int combine_pair(struct pair *pair, struct baleen_filter *out, struct baleen_error *error)
{
	int err = check_pair(pair, error);

	if (!err)
		err = combine_tables(pair, error);
	if (!err)
		err = baleen_tables_assemble(pair->part, pair->n_parts, &pair->a->image, out,
					     error);
	for (u32 i = 0; i < pair->n_parts; i++)
		baleen_filter_free(&pair->part[i]);
	return err;
}

/* --- one of them as a list ------------------------------------------------- */

static void copy_name(const struct baleen_filter *from, struct baleen_filter *filter)
{
	memcpy(filter->image.name, from->image.name, sizeof(filter->image.name));
	baleen_filter_seal(filter);
}

/* A filter like @a of the keys of the list that @a holds. */
static int keep_held(const struct baleen_filter *a, const struct baleen_list *list,
		     struct baleen_filter *out, struct baleen_error *error)
{
	const struct baleen_build_options options = { .name = a->image.name, .like = &a->image };
	struct baleen_list held = { 0 };
	int err;

	if (list->n_net4 || list->n_prefix6)
		return baleen_fail(error, EOPNOTSUPP,
				   "prefixes cannot be looked up in a filter that cannot be "
				   "listed");
	err = baleen_filter_held(a, list, false, &held, error);
	if (!err)
		err = baleen_build(&held, &options, out, error);
	baleen_list_free(&held);
	return err;
}

static bool has_counting(const struct baleen_filter *filter)
{
	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (filter->image.table[domain].kind == BALEEN_KIND_COUNTING)
			return true;
	return false;
}

int baleen_filter_combine_list(const struct baleen_filter *a, const struct baleen_list *list,
			       enum baleen_set_op op, struct baleen_filter *out,
			       struct baleen_error *error)
{
	bool is_whole = true;

	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (a->image.table[domain].kind && !is_listed(a, domain))
			is_whole = false;
	if (op == BALEEN_SET_DIFFERENCE && has_counting(a))
		return baleen_fail(error, EOPNOTSUPP, "%s", baleen_no_count_down);
	if (op == BALEEN_SET_INTERSECTION && !is_whole)
		return keep_held(a, list, out, error);
	return baleen_filter_edit(a, list, op, baleen_filter_room(a), out, error);
}

/* The one that can be listed goes into the one that cannot. */
static int combine_mixed(const struct pair *pair, struct baleen_filter *out,
			 struct baleen_error *error)
{
	struct baleen_list list = { 0 };
	int err = baleen_filter_to_list(pair->b, &list, error);

	if (!err) {
		err = baleen_filter_combine_list(pair->a, &list, pair->op, out, error);
		baleen_list_free(&list);
		return err;
	}
	if (pair->op == BALEEN_SET_DIFFERENCE)
		return baleen_fail(
			error, EOPNOTSUPP,
			"cannot be listed, and keys that only look as if they were in it "
			"would be deleted as well");
	err = baleen_filter_to_list(pair->a, &list, error);
	if (err)
		return err;
	err = baleen_filter_combine_list(pair->b, &list, pair->op, out, error);
	baleen_list_free(&list);
	if (!err)
		copy_name(pair->a, out);
	return err;
}

/* --- combine --------------------------------------------------------------- */

static void make_pair(struct pair *pair)
{
	for (u32 domain = 0; domain < N_KEYED; domain++)
		pair->how[domain] = how_to(pair, domain);
}

int baleen_filter_combine(const struct baleen_filter *a, const struct baleen_filter *b,
			  enum baleen_set_op op, const char *a_name, struct baleen_filter *out,
			  struct baleen_error *error)
{
	struct pair pair = { .a = a, .b = b, .op = op, .a_name = a_name };
	int err = baleen_compat_keys(&a->image, &b->image, a_name, error);

	if (err)
		return err;
	make_pair(&pair);
	return has_any(&pair, HOW_MIXED) ? combine_mixed(&pair, out, error) :
					   combine_pair(&pair, out, error);
}

/* Do keys look the same that are not? Of a whole hash hardly ever. */
static bool is_vague(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return table->kind && !baleen_table_tells_apart(table, domain);
}

const char *baleen_combine_caveat(const struct baleen_filter *made, enum baleen_set_op op)
{
	bool has_bits = false, has_vague = false;

	for (u32 domain = 0; domain < N_KEYED; domain++) {
		bool is_plane = baleen_table_is_bit_array(&made->image.table[domain]);

		has_bits |= is_plane;
		has_vague |= !is_plane && is_vague(made, domain);
	}
	if (op == BALEEN_SET_INTERSECTION && has_bits)
		return "a bit of both may come from two different keys: it errs more than a filter "
		       "built of the common keys";
	if (op == BALEEN_SET_INTERSECTION && has_vague)
		return "a key of one with the fingerprint of another key of the other is in it";
	if (op == BALEEN_SET_DIFFERENCE && has_vague && made->image.flags & BALEEN_FLAG_COPIES)
		return "for a deleted key that was not in it, one with its fingerprint is gone";
	if (op == BALEEN_SET_DIFFERENCE && has_vague)
		return "keys with the fingerprint of a deleted key are gone as well";
	return NULL;
}

/* --- compare --------------------------------------------------------------- */

int baleen_lists_compare(const struct baleen_list *a, const struct baleen_list *b,
			 struct baleen_comparison *comparison)
{
	struct baleen_list both;
	int err = baleen_list_combine(a, b, BALEEN_SET_INTERSECTION, &both);

	if (err)
		return err;
	*comparison = (struct baleen_comparison){ .n_a = baleen_list_size(a),
						  .n_b = baleen_list_size(b),
						  .n_both = baleen_list_size(&both) };
	baleen_list_free(&both);
	return 0;
}

static int compare_listed(const struct pair *pair, struct baleen_comparison *sum,
			  struct baleen_error *error)
{
	struct baleen_list of_a = { 0 }, of_b = { 0 };
	int err = list_of(pair, pair->a, &of_a, error);

	if (!err)
		err = list_of(pair, pair->b, &of_b, error);
	if (!err && baleen_lists_compare(&of_a, &of_b, sum))
		err = baleen_fail(error, ENOMEM, "no memory for what both have");
	baleen_list_free(&of_b);
	baleen_list_free(&of_a);
	return err;
}

/* Keys of a table, as far as it says. */
static double keys_of(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return baleen_table_is_bit_array(table) ? baleen_estimate_keys(filter, domain) :
						  baleen_filter_count(filter, domain);
}

static int count_both(const struct pair *pair, u32 domain, double *n, struct baleen_error *error)
{
	const struct baleen_filter a = baleen_table_view(pair->a, domain);
	const struct baleen_filter b = baleen_table_view(pair->b, domain);
	const struct baleen_filter *const filters[] = { &a, &b };
	struct baleen_filter both;
	u64 n_both = 0;
	int err;

	if (a.image.table[domain].kind == BALEEN_KIND_QUOTIENT) {
		err = baleen_quotient_count(filters, 2, BALEEN_SET_INTERSECTION, &n_both, error);
	} else {
		err = baleen_tables_combine(&a, &b, domain, BALEEN_SET_INTERSECTION, &both, error);
		if (!err) {
			n_both = baleen_filter_count(&both, domain);
			baleen_filter_free(&both);
		}
	}
	*n += n_both;
	return err;
}

static int compare_tables(const struct pair *pair, u32 domain, struct baleen_comparison *sum,
			  struct baleen_error *error)
{
	const struct baleen_table *a = &pair->a->image.table[domain];
	const struct baleen_table *b = &pair->b->image.table[domain];
	struct baleen_overlap overlap;

	sum->is_estimate |= baleen_table_is_bit_array(a) || baleen_table_is_bit_array(b);
	sum->rate = fmax(sum->rate, fmax(baleen_filter_fpp(pair->a, domain),
					 baleen_filter_fpp(pair->b, domain)));
	sum->n_a += keys_of(pair->a, domain);
	sum->n_b += keys_of(pair->b, domain);
	if (!a->kind || !b->kind)
		return 0;
	if (baleen_table_is_bit_array(a)) {
		baleen_estimate_overlap(pair->a, pair->b, domain, &overlap);
		sum->n_both += overlap.both;
		return 0;
	}
	return count_both(pair, domain, &sum->n_both, error);
}

int baleen_filters_compare(const struct baleen_filter *a, const struct baleen_filter *b,
			   const char *a_name, struct baleen_comparison *comparison,
			   struct baleen_error *error)
{
	struct pair pair = { .a = a, .b = b, .op = BALEEN_SET_INTERSECTION, .a_name = a_name };
	struct baleen_comparison sum = { 0 };
	int err = baleen_compat_keys(&a->image, &b->image, a_name, error);

	make_pair(&pair);
	for (u32 domain = 0; domain < N_KEYED && !err; domain++)
		if (pair.how[domain] == HOW_MIXED)
			err = baleen_compat_tables(&a->image, &b->image, domain, a_name, error);
	if (!err)
		err = check_pair(&pair, error);
	if (!err)
		err = compare_listed(&pair, &sum, error);
	for (u32 domain = 0; domain < N_KEYED && !err; domain++)
		if (pair.how[domain] == HOW_TABLE)
			err = compare_tables(&pair, domain, &sum, error);
	if (!err)
		*comparison = sum;
	return err;
}
