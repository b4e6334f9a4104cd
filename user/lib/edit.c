// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter with a change made, built aside. */
#include <errno.h>
#include <stdlib.h>

#include "build.h"
#include "edit.h"
#include "hashes.h"
#include "live.h"
#include "plan.h"

/* Tables of keys that are stored as hashes. */
static const u32 hashed[] = { BALEEN_IP6, BALEEN_TUPLE };

/* Times as much room as keys that a merge tries before it gives up. */
#define MAX_SPARE 1000

#define N_HASHED (sizeof(hashed) / sizeof(hashed[0]))

bool baleen_filter_has_bloom(const struct baleen_filter *filter)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (filter->image.table[domain].kind == BALEEN_KIND_BLOOM)
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
		rest.image.table[hashed[i]].kind = BALEEN_KIND_NONE;
	return baleen_filter_to_list(&rest, list, error);
}

u64 baleen_filter_room(const struct baleen_filter *filter)
{
	u64 room = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (filter->image.table[domain].kind == BALEEN_KIND_CUCKOO)
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

static int add_bit(struct baleen_filter *filter, const struct baleen_key *key,
		   struct baleen_error *error)
{
	struct baleen_table *table = &filter->image.table[key->domain];
	bool changed;

	/* Beside prefixes a key is more than its bits. */
	if (!baleen_live_add(filter, key, &changed)) {
		if (table->kind == BALEEN_KIND_BLOOM)
			table->n_entries += changed;
		return 0;
	}
	if (!table->kind)
		return baleen_fail(error, EOPNOTSUPP,
				   "the Bloom filter has no table for this family: build it again "
				   "from its lists");
	return baleen_fail(error, ENOSPC,
			   "the keys find no room beside what it has: build it again from its "
			   "lists");
}

/* --- edit ------------------------------------------------------------------ */

static int edit_bloom(const struct baleen_filter *filter, const struct baleen_list *change,
		      struct baleen_filter *out, struct baleen_error *error)
{
	struct baleen_filter copy;
	int err;

	err = baleen_filter_copy(filter, &copy, error);
	if (err)
		return err;
	err = each_key(change, &copy, add_bit, error);
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

static int check_bloom(const struct baleen_list *change, enum baleen_set_op op,
		       struct baleen_error *error)
{
	if (op != BALEEN_SET_UNION)
		return baleen_fail(error, EOPNOTSUPP,
				   "a Bloom filter cannot forget: build it again from its lists");
	if (change->n_net4 || change->n_prefix6)
		return baleen_fail(error, EOPNOTSUPP,
				   "prefixes cannot be added to a Bloom filter: build it again "
				   "from its lists");
	return 0;
}

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

/* What was @listed, changed, and what cannot be listed beside it. */
static int build_changed(const struct baleen_filter *filter, const struct baleen_list *change,
			 const struct baleen_list *changed, enum baleen_set_op op, u64 capacity,
			 struct baleen_filter *out, struct baleen_error *error)
{
	u64 n = changed->n_ip4 + changed->n_ip6 + changed->n_key;
	const struct baleen_build_options options = {
		.name = filter->image.name,
		.key_spec = filter->image.key_spec,
		.kind = BALEEN_KIND_CUCKOO,
		.capacity = capacity > n ? capacity : 0,
		.keep = has_hashes(filter) ? filter : NULL,
	};
	struct baleen_filter built;
	int err = baleen_build(changed, &options, &built, error);

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
	if (baleen_filter_has_bloom(filter))
		return check_bloom(change, op, error);
	return has_hashes(filter) ? check_hashed(filter, change, op, error) : 0;
}

int baleen_filter_edit(const struct baleen_filter *filter, const struct baleen_list *change,
		       enum baleen_set_op op, u64 capacity, struct baleen_filter *out,
		       struct baleen_error *error)
{
	struct baleen_list listed = { 0 }, changed = { 0 };
	int err = baleen_filter_check_edit(filter, change, op, error);

	if (!err && baleen_filter_has_bloom(filter))
		return edit_bloom(filter, change, out, error);
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

/* --- merge ----------------------------------------------------------------- */

static bool is_twin(const struct baleen_image *a, const struct baleen_image *b)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (memcmp(&a->table[domain], &b->table[domain],
			   offsetof(struct baleen_table, n_entries)))
			return false;
	return !memcmp(a->seed.word, b->seed.word, sizeof(a->seed.word));
}

/* Bloom tables of one geometry and seed: the bits of both. Beside them there
 * may be no other tables, whose bits mean something else.
 */
static int merge_bits(const struct baleen_filter *a, const struct baleen_filter *b,
		      struct baleen_filter *out, struct baleen_error *error)
{
	struct baleen_filter copy;
	u64 *to;
	const u64 *from = b->bytes;
	int err = baleen_filter_copy(a, &copy, error);

	if (err)
		return err;
	to = copy.bytes;
	for (size_t i = BALEEN_HEADER_BYTES / 8; i < copy.n_bytes / 8; i++)
		to[i] |= from[i];
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		copy.image.table[domain].n_entries += b->image.table[domain].n_entries;
	baleen_filter_seal(&copy);
	*out = copy;
	return 0;
}

static bool is_only_bloom(const struct baleen_filter *filter)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (filter->image.table[domain].kind &&
		    filter->image.table[domain].kind != BALEEN_KIND_BLOOM)
			return false;
	return true;
}

/* @b's hashes into @built, which has @a's and the same seed. */
static int add_hashes(const struct baleen_filter *b, struct baleen_filter *built,
		      struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < N_HASHED && !err; i++) {
		struct baleen_hashes hashes = { 0 };

		err = baleen_hashes_read(b, hashed[i], &hashes, error);
		if (!err && hashes.n && baleen_hashes_insert(built, hashed[i], &hashes))
			err = baleen_fail(error, ENOSPC, "the merged keys find no room");
		free(hashes.hash);
	}
	if (!err)
		baleen_filter_seal(built);
	return err;
}

/* With this capacity; -ENOSPC when it leaves too little for @b's hashes. */
static int merge_within(const struct baleen_filter *a, const struct baleen_filter *b,
			const struct baleen_list *rest, u64 capacity, struct baleen_filter *out,
			struct baleen_error *error)
{
	struct baleen_filter built;
	int err = baleen_filter_edit(a, rest, BALEEN_SET_UNION, capacity, &built, error);

	if (err)
		return err;
	err = add_hashes(b, &built, error);
	if (err)
		baleen_filter_free(&built);
	else
		*out = built;
	return err;
}

/* Both have hashes: of one seed they are as good as keys. */
static int merge_hashed(const struct baleen_filter *a, const struct baleen_filter *b,
			struct baleen_filter *out, struct baleen_error *error)
{
	struct baleen_list rest = { 0 };
	u64 n = 0, capacity;
	int err;

	if (memcmp(a->image.seed.word, b->image.seed.word, sizeof(a->image.seed.word)))
		return baleen_fail(error, EOPNOTSUPP,
				   "both keep hashes of their keys, with different seeds: build "
				   "one --like the other");
	for (u32 i = 0; i < N_HASHED; i++)
		if (!a->image.table[hashed[i]].kind != !b->image.table[hashed[i]].kind)
			return baleen_fail(error, EOPNOTSUPP,
					   "only one of them has a table of hashed keys of this "
					   "family: build one --like the other");
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		n += baleen_filter_used(a, domain) + baleen_filter_used(b, domain);
	err = baleen_filter_list_exact(b, &rest, error);
	if (err)
		return err;
	/* The seed is settled, and @b's share of hashes may be another than @a's. */
	capacity = n + n / 10 + 16;
	do {
		err = merge_within(a, b, &rest, capacity, out, error);
		capacity *= 2;
	} while (err == -ENOSPC && capacity < n * MAX_SPARE);
	baleen_list_free(&rest);
	return err;
}

int baleen_filter_merge(const struct baleen_filter *a, const struct baleen_filter *b,
			struct baleen_filter *out, struct baleen_error *error)
{
	struct baleen_list list = { 0 };
	struct baleen_filter made;
	int err;

	if (a->image.key_spec != b->image.key_spec)
		return baleen_fail(error, EINVAL, "they have different keys");
	if (is_only_bloom(a) && is_only_bloom(b) && is_twin(&a->image, &b->image))
		return merge_bits(a, b, out, error);
	if (has_hashes(a) && has_hashes(b) && !baleen_filter_has_bloom(a) &&
	    !baleen_filter_has_bloom(b))
		return merge_hashed(a, b, out, error);
	/* The one that can be listed goes into the one that cannot. */
	err = baleen_filter_to_list(b, &list, error);
	if (!err) {
		err = baleen_filter_edit(a, &list, BALEEN_SET_UNION, baleen_filter_room(a), out,
					 error);
		baleen_list_free(&list);
		return err;
	}
	err = baleen_filter_to_list(a, &list, error);
	if (!err)
		err = baleen_filter_edit(b, &list, BALEEN_SET_UNION, baleen_filter_room(b), &made,
					 error);
	baleen_list_free(&list);
	if (err)
		return err;
	memcpy(made.image.name, a->image.name, sizeof(made.image.name));
	baleen_filter_seal(&made);
	*out = made;
	return 0;
}
