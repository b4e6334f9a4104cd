// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter with a change made, built aside. */
#include <errno.h>
#include <stdlib.h>

#include "filter/estimate.h"
#include "filter/compat.h"
#include "filter/live.h"
#include "filter/plan.h"
#include "filter/quotient_table.h"
#include "filter/recent.h"
#include "list/list_algebra.h"
#include "ops/build.h"
#include "ops/edit.h"
#include "ops/refit.h"

/* Tables of keys that are stored as hashes. */
static const u32 hashed[] = { BALEEN_IP6, BALEEN_TUPLE };

#define N_HASHED (sizeof(hashed) / sizeof(hashed[0]))

bool baleen_filter_has_bloom(const struct baleen_filter *filter)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (baleen_table_is_bit_array(&filter->image.table[domain]))
			return true;
	return false;
}

/* Is it changed key by key, since it can be neither listed nor moved? */
static bool is_copied(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	if (!table->kind)
		return false;
	if (filter->image.flags & BALEEN_FLAG_COPIES)
		return true;
	return !baleen_table_is_exact(&filter->image, domain) &&
	       !baleen_table_keeps_hashes(table, domain);
}

static bool has_copied(const struct baleen_filter *filter)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (is_copied(filter, domain))
			return true;
	return false;
}

static bool has_hashes(const struct baleen_filter *filter)
{
	for (u32 i = 0; i < N_HASHED; i++)
		if (filter->image.table[hashed[i]].kind)
			return true;
	return false;
}

int baleen_filter_list_exact(const struct baleen_filter *filter, struct baleen_list *list,
			     struct baleen_error *error)
{
	struct baleen_filter rest = *filter;

	for (u32 i = 0; i < N_HASHED; i++)
		rest.image.table[hashed[i]] = (struct baleen_table){ 0 };
	return baleen_filter_to_list(&rest, list, error);
}

u64 baleen_filter_room(const struct baleen_filter *filter)
{
	u64 room = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (filter->image.table[domain].kind == BALEEN_KIND_CUCKOO ||
		    filter->image.table[domain].kind == BALEEN_KIND_QUOTIENT ||
		    baleen_kind_has_chains(filter->image.table[domain].kind))
			room += baleen_table_capacity(&filter->image.table[domain]);
	return room;
}

/* --- one by one: keys of a list in tables that are not listed --------------- */

typedef int each_fn(struct baleen_filter *filter, const struct baleen_key *key,
		    struct baleen_error *error);

static int each_key(const struct baleen_list *list, struct baleen_filter *filter, each_fn *visit,
		    struct baleen_error *error)
{
	int err = 0;

	for (size_t i = 0; i < list->n_ip4 && !err; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = list->ip4[i] };

		err = visit(filter, &key, error);
	}
	for (size_t i = 0; i < list->n_ip6 && !err; i++) {
		struct baleen_key key = { .domain = BALEEN_IP6,
					  .hi = list->ip6[i].hi,
					  .lo = list->ip6[i].lo };

		err = visit(filter, &key, error);
	}
	for (size_t i = 0; i < list->n_key && !err; i++)
		err = visit(filter, &list->key[i], error);
	return err;
}

static bool is_hashed(u32 domain)
{
	return domain == BALEEN_IP6 || domain == BALEEN_TUPLE;
}

static int forget_hash(struct baleen_filter *filter, const struct baleen_key *key,
		       struct baleen_error *error)
{
	bool changed;

	if (is_hashed(key->domain) && filter->image.table[key->domain].kind &&
	    !baleen_live_del(filter, key, &changed))
		filter->image.table[key->domain].n_entries -= changed;
	return 0;
}

void baleen_filter_note_change(struct baleen_filter *filter, u32 domain, enum baleen_set_op op)
{
	struct baleen_table *table = &filter->image.table[domain];

	if (!baleen_table_is_bit_array(table))
		return;
	if (op == BALEEN_SET_UNION)
		table->n_entries++;
	else if (table->n_entries)
		table->n_entries--;
}

static bool is_beside_prefixes(const struct baleen_filter *filter, u32 domain)
{
	return domain == BALEEN_IP4 && filter->image.table[BALEEN_IP4_GROUPS].kind;
}

static int add_key(struct baleen_filter *filter, const struct baleen_key *key,
		   struct baleen_error *error)
{
	struct baleen_table *table = &filter->image.table[key->domain];
	bool changed;
	int err;

	/* Beside prefixes a key is more than its bits. */
	if (table->kind == BALEEN_KIND_QUOTIENT && !is_beside_prefixes(filter, key->domain))
		err = baleen_quotient_add(filter, key, &changed);
	else
		err = baleen_live_add(filter, key, &changed);
	if (!err) {
		if (changed)
			baleen_filter_note_change(filter, key->domain, BALEEN_SET_UNION);
		return 0;
	}
	if (!table->kind)
		return baleen_fail(error, EOPNOTSUPP,
				   "the %s filter has no table for this family: build it again "
				   "from its lists",
				   baleen_filter_has_bloom(filter) ? "Bloom" : "lossy");
	if (err == -EOPNOTSUPP)
		return baleen_fail(error, EOPNOTSUPP,
				   "hosts beside IPv4 prefixes cannot be added to a quotient "
				   "filter: build it again from its lists");
	return baleen_fail(error, ENOSPC,
			   "the keys find no room beside what it has: build it again from its "
			   "lists");
}

static int forget_key(struct baleen_filter *filter, const struct baleen_key *key,
		      struct baleen_error *error)
{
	struct baleen_table *table = &filter->image.table[key->domain];
	bool changed = false;
	int err;

	if (table->kind == BALEEN_KIND_QUOTIENT && !is_beside_prefixes(filter, key->domain))
		err = baleen_quotient_del(filter, key, &changed);
	else
		err = baleen_live_del(filter, key, &changed);
	if (err)
		return baleen_fail(error, EOPNOTSUPP,
				   "part of a prefix beside hosts that cannot be listed: build it "
				   "again from its lists");
	if (changed)
		baleen_filter_note_change(filter, key->domain, BALEEN_SET_DIFFERENCE);
	return 0;
}

/* --- edit: a copy changed key by key ---------------------------------------- */

/* A table with too few slots gets more when it keeps enough of its keys. */
static int make_room(struct baleen_filter *filter, const struct baleen_list *change,
		     struct baleen_error *error)
{
	u64 n[BALEEN_TUPLE + 1] = { [BALEEN_IP4] = change->n_ip4, [BALEEN_IP6] = change->n_ip6 };
	bool is_full = false;
	struct baleen_filter roomy;
	int err;

	for (size_t i = 0; i < change->n_key; i++)
		n[change->key[i].domain]++;
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &filter->image.table[domain];

		n[domain] += baleen_filter_count(filter, domain);
		if (n[domain] <= baleen_table_capacity(table) ||
		    !(table->kind == BALEEN_KIND_QUOTIENT || baleen_kind_has_chains(table->kind) ||
		      baleen_table_keeps_hashes(table, domain)))
			n[domain] = 0;
		is_full |= n[domain] != 0;
	}
	if (!is_full)
		return 0;
	err = baleen_filter_refit(filter, n, &roomy, error);
	if (err)
		return err;
	baleen_filter_free(filter);
	*filter = roomy;
	return 0;
}

/* A body that makes no sense would be searched for ever. */
static int check_quotients(const struct baleen_filter *filter, struct baleen_error *error)
{
	int err = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE && !err; domain++)
		if (filter->image.table[domain].kind == BALEEN_KIND_QUOTIENT)
			err = baleen_quotient_check_body(filter, domain, error);
	return err;
}

static int edit_copied(const struct baleen_filter *filter, const struct baleen_list *change,
		       enum baleen_set_op op, struct baleen_filter *out, struct baleen_error *error)
{
	bool adds = op == BALEEN_SET_UNION;
	struct baleen_filter copy;
	int err;

	err = check_quotients(filter, error);
	if (!err)
		err = baleen_filter_copy(filter, &copy, error);
	if (err)
		return err;
	if (adds)
		err = make_room(&copy, change, error);
	if (!err)
		err = each_key(change, &copy, adds ? add_key : forget_key, error);
	if (err) {
		baleen_filter_free(&copy);
		return err;
	}
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		copy.image.table[domain].n_entries = baleen_filter_count(&copy, domain);
	baleen_filter_seal(&copy);
	*out = copy;
	return 0;
}

static int check_copied(const struct baleen_filter *filter, const struct baleen_list *change,
			enum baleen_set_op op, struct baleen_error *error)
{
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &filter->image.table[domain];
		bool is_bloom = baleen_table_is_bit_array(table);

		if (!is_copied(filter, domain))
			continue;
		if (is_bloom && op != BALEEN_SET_UNION && table->kind != BALEEN_KIND_COUNTING)
			return baleen_fail(error, EOPNOTSUPP,
					   "a Bloom filter cannot forget: build it again from its "
					   "lists");
		if ((table->kind == BALEEN_KIND_QUOTIENT || table->kind == BALEEN_KIND_COMPACT) &&
		    op == BALEEN_SET_DIFFERENCE &&
		    baleen_quotient_check_del(filter, domain, change, error))
			return -EOPNOTSUPP;
		if (table->kind == BALEEN_KIND_CUCKOO && !has_copies && op != BALEEN_SET_UNION)
			return baleen_fail(error, EOPNOTSUPP,
					   "in slots of %u bits two keys may look the same, and "
					   "deleting one would lose the other: build the filter "
					   "again from its lists, or with --copies",
					   table->slot_bits);
		if (op == BALEEN_SET_INTERSECTION)
			return baleen_fail(error, EOPNOTSUPP,
					   "its keys cannot be listed: build it from lists");
		if (change->n_net4 || change->n_prefix6)
			return baleen_fail(error, EOPNOTSUPP,
					   "prefixes cannot be %s a %s filter: build it again "
					   "from its lists",
					   op == BALEEN_SET_UNION ? "added to" : "deleted from",
					   is_bloom ? "Bloom" : "lossy");
	}
	return 0;
}

/* --- edit: a list built again ------------------------------------------------ */

static int check_hashed(const struct baleen_filter *filter, const struct baleen_list *change,
			enum baleen_set_op op, struct baleen_error *error)
{
	if (op == BALEEN_SET_INTERSECTION)
		return baleen_fail(error, EOPNOTSUPP,
				   "keys stored as hashes cannot be listed: build it from lists");
	if (filter->image.table[BALEEN_IP6].kind && change->n_prefix6)
		return baleen_fail(error, EOPNOTSUPP,
				   "its IPv6 hosts are stored as hashes, which prefixes cannot "
				   "change: build it again from its lists");
	return 0;
}

/* Tables of the same kind and shape; those that fit others go on to do so. */
static void copy_shape(const struct baleen_filter *filter, struct baleen_build_options *options)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &filter->image.table[domain];

		if (!table->kind)
			continue;
		options->kind = table->kind;
		baleen_table_shape(table, &options->shape);
	}
	if (options->kind == BALEEN_KIND_QUOTIENT)
		options->seed = &filter->image.seed;
}

/* Builds @changed, beside the tables that cannot be listed. */
static int build_changed(const struct baleen_filter *filter, const struct baleen_list *change,
			 const struct baleen_list *changed, enum baleen_set_op op, u64 capacity,
			 struct baleen_filter *out, struct baleen_error *error)
{
	u64 n = changed->n_ip4 + changed->n_ip6 + changed->n_key;
	struct baleen_build_options options = {
		.name = filter->image.name,
		.key_spec = filter->image.key_spec,
		.kind = BALEEN_KIND_CUCKOO,
		.capacity = capacity > n ? capacity : 0,
		.keep = has_hashes(filter) ? filter : NULL,
	};
	struct baleen_filter built;
	int err;

	copy_shape(filter, &options);
	err = baleen_build(changed, &options, &built, error);
	if (err)
		return err;
	if (op == BALEEN_SET_DIFFERENCE && options.keep) {
		each_key(change, &built, forget_hash, error);
		baleen_filter_seal(&built);
	}
	*out = built;
	return 0;
}

int baleen_filter_check_edit(const struct baleen_filter *filter, const struct baleen_list *change,
			     enum baleen_set_op op, struct baleen_error *error)
{
	if (change->key_spec && change->key_spec != filter->image.key_spec)
		return baleen_fail(error, EINVAL, "the keys are other ones than the filter's");
	if (has_copied(filter))
		return check_copied(filter, change, op, error);
	return has_hashes(filter) ? check_hashed(filter, change, op, error) : 0;
}

int baleen_filter_edit(const struct baleen_filter *filter, const struct baleen_list *change,
		       enum baleen_set_op op, u64 capacity, struct baleen_filter *out,
		       struct baleen_error *error)
{
	struct baleen_list listed = { 0 }, changed = { 0 };
	int err = baleen_filter_check_edit(filter, change, op, error);

	if (!err && has_copied(filter))
		return edit_copied(filter, change, op, out, error);
	if (!err)
		err = baleen_filter_list_exact(filter, &listed, error);
	if (err)
		return err;
	listed.key_spec = change->key_spec;
	err = baleen_list_combine(&listed, change, op, &changed);
	if (err)
		err = baleen_fail(error, -err, "no memory for the changed list");
	changed.key_spec = filter->image.key_spec;
	if (!err)
		err = build_changed(filter, change, &changed, op, capacity, out, error);
	baleen_list_free(&changed);
	baleen_list_free(&listed);
	return err;
}

/* --- what an image holds of a set ------------------------------------------- */

/* The hosts of @set that an image holds. */
static int held_hosts(const struct baleen_filter *image, const struct baleen_list *set,
		      struct baleen_list *held)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };

	held->ip4 = calloc(set->n_ip4 + 1, sizeof(*held->ip4));
	held->ip6 = calloc(set->n_ip6 + 1, sizeof(*held->ip6));
	held->key = calloc(set->n_key + 1, sizeof(*held->key));
	if (!held->ip4 || !held->ip6 || !held->key)
		return -ENOMEM;
	held->room_ip4 = set->n_ip4 + 1;
	held->room_ip6 = set->n_ip6 + 1;
	held->room_key = set->n_key + 1;
	for (size_t i = 0; i < set->n_ip4; i++) {
		key.ip4 = set->ip4[i];
		if (baleen_filter_test(image, &key))
			held->ip4[held->n_ip4++] = key.ip4;
	}
	key = (struct baleen_key){ .domain = BALEEN_IP6 };
	for (size_t i = 0; i < set->n_ip6; i++) {
		key.hi = set->ip6[i].hi;
		key.lo = set->ip6[i].lo;
		if (baleen_filter_test(image, &key))
			held->ip6[held->n_ip6++] = set->ip6[i];
	}
	for (size_t i = 0; i < set->n_key; i++)
		if (baleen_filter_test(image, &set->key[i]))
			held->key[held->n_key++] = set->key[i];
	return 0;
}

/* The prefixes of @set, as far as the image has them. */
static int held_prefixes(const struct baleen_filter *image, const struct baleen_list *set,
			 struct baleen_list *held, struct baleen_error *error)
{
	struct baleen_list listed = { 0 }, prefixes = *set, common = { 0 };
	int err = baleen_filter_list_exact(image, &listed, error);

	if (err)
		return err;
	listed.key_spec = set->key_spec;
	prefixes.n_ip4 = prefixes.n_ip6 = prefixes.n_key = 0;
	if (baleen_list_combine(&prefixes, &listed, BALEEN_SET_INTERSECTION, &common) ||
	    baleen_list_unite(held, &common))
		err = baleen_no_memory(error);
	baleen_list_free(&common);
	baleen_list_free(&listed);
	return err;
}

int baleen_filter_held(const struct baleen_filter *image, const struct baleen_list *set,
		       bool is_optional, struct baleen_list *held, struct baleen_error *error)
{
	int err;

	*held = (struct baleen_list){ .key_spec = set->key_spec };
	if (held_hosts(image, set, held))
		return baleen_no_memory(error);
	if (!set->n_net4 && !set->n_prefix6)
		return 0;
	err = baleen_filter_check_edit(image, set, BALEEN_SET_DIFFERENCE, error);
	if (err)
		return is_optional ? 0 : err;
	return held_prefixes(image, set, held, error);
}

int baleen_filter_edit_self(struct baleen_filter *image, const struct baleen_list *change,
			    enum baleen_set_op op, struct baleen_error *error)
{
	u64 n = op == BALEEN_SET_UNION ? change->n_ip4 + change->n_ip6 + change->n_key : 0;
	struct baleen_filter edited;
	int err;

	if (baleen_list_is_empty(change))
		return 0;
	err = baleen_filter_edit(image, change, op, baleen_filter_room(image) + n, &edited, error);
	if (err)
		return err;
	baleen_filter_free(image);
	*image = edited;
	return 0;
}

int baleen_filter_snapshot(const struct baleen_filter *filter, struct baleen_filter *image,
			   struct baleen_error *error)
{
	const struct baleen_list nothing = { .key_spec = filter->image.key_spec };

	if (baleen_recent_is_empty(filter))
		return baleen_filter_copy(filter, image, error);
	return baleen_filter_edit(filter, &nothing, BALEEN_SET_UNION, baleen_filter_room(filter),
				  image, error);
}
