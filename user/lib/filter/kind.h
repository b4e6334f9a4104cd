/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of kinds: the functions of each kind of table.
 *
 * Everything that is the same for all kinds calls these through
 * baleen_kind_ops(), and asks for NULL where a kind cannot do something. One
 * file per kind (kind_cuckoo.c, kind_bloom.c, ...) has its functions.
 *
 * This is the one circle of the library: a filter calls its kind through this table, and
 * the functions of a kind change the filter. No include follows it: this header
 * only declares that there are filters.
 */
#ifndef BALEEN_KIND_H
#define BALEEN_KIND_H

#include <baleen/image.h>
#include <baleen/key.h>

#include "util/error.h"

struct baleen_filter;
struct baleen_fill;
struct baleen_hashes;

/**
 * struct baleen_shape - the geometry that was asked for; 0 leaves it to the plan
 * @n_bits: classic, counting: m
 * @n_hashes: Bloom kinds: bits set per key, k
 * @hash: classic, counting: enum baleen_hash; 0 is keyed for classic, blocked
 *        for counting; see baleen_shape_for_keys()
 * @form: enum baleen_form; see baleen_shape_for_keys()
 * @hash_seed: seed of the hash of texts, where they are hashed in a form
 * @has_hash_seed: 0 is no default but what was asked for
 * @is_blocked: counting: 0 is no default but what was asked for
 * @slot_bits: cuckoo: 4 to 32, or 64; compact: l, 1 to 64
 * @bucket_slots: cuckoo: 1 to 4
 * @n_buckets: cuckoo, chained, compact: buckets
 * @has_copies: cuckoo: each key takes a slot of its own, also where others look the same
 * @may_err: cuckoo: IPv4 addresses may be fingerprints, where these are smaller than whole ones
 * @is_semi_sorted: cuckoo: the four slots of a bucket are sorted, and take one bit less each
 * @has_stash: cuckoo: a key that finds no room goes to a stash
 * @remainder_bits: quotient: bits of a remainder
 * @load: cuckoo, quotient: share of the slots that the keys may fill, above 0,
 *        up to 1
 * @most_fpp: rate that a table planned for none must not exceed
 */
struct baleen_shape {
	u64 n_bits;
	u32 n_hashes;
	u32 hash;
	u32 form;
	u32 hash_seed;
	bool has_hash_seed;
	bool is_blocked;
	u32 slot_bits;
	u32 bucket_slots;
	u32 n_buckets;
	bool has_copies;
	bool may_err;
	bool is_semi_sorted;
	bool has_stash;
	u32 remainder_bits;
	double load;
	double most_fpp;
};

/**
 * struct baleen_kind_ops - the functions of a kind of table
 * @plan: as baleen_plan_table(), for a count and a rate in range
 * @capacity: keys that a table is planned to hold; NULL: it is never full
 * @is_exact: no false positives at all; NULL: never
 * @fpp: expected false positive rate of a table with n keys, or n slots in use;
 *       NULL: exact
 * @measure: the same of a table as it is, whatever its header claims; NULL: @fpp
 *           of @used
 * @used: slots in use; NULL: the table has none
 * @count: keys, by looking; NULL: what the header says is all there is to know,
 *         which is nothing in a live image
 * @copies: how often a key is in a table, or as often as at most; NULL: each once
 * @insert: as baleen_filter_insert(), of at least one key
 * @fill: as baleen_cuckoo_fill(); NULL: @insert does it
 * @add: as baleen_live_add(); NULL: built aside only
 * @del: as baleen_live_del(); NULL: cannot forget, or built aside only
 * @hashes: all hashes of the keys, whole (see hashes.h); NULL: it keeps too little
 *          of them, whatever the geometry. -EOPNOTSUPP: in this geometry
 * @put_hashes: as baleen_hashes_insert()
 * @sorts: @put_hashes sorts what it puts into an empty table, which is faster than
 *         @insert
 * @seal: bring up to date what the header says of the body beyond the count,
 *        after changes; may be NULL
 */
struct baleen_kind_ops {
	int (*plan)(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
		    struct baleen_table *table, struct baleen_error *error);
	u64 (*capacity)(const struct baleen_table *table);
	bool (*is_exact)(const struct baleen_table *table, u32 domain);
	double (*fpp)(const struct baleen_table *table, u32 domain, u64 n);
	double (*measure)(const struct baleen_filter *filter, u32 domain);
	u64 (*used)(const struct baleen_filter *filter, u32 domain);
	u64 (*count)(const struct baleen_filter *filter, u32 domain);
	u64 (*copies)(const struct baleen_filter *filter, const struct baleen_key *key);
	int (*insert)(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
		      size_t *n_done);
	int (*fill)(struct baleen_filter *filter, u32 domain, const struct baleen_fill *fill);
	int (*add)(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);
	int (*del)(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);
	int (*hashes)(const struct baleen_filter *filter, u32 domain, struct baleen_hashes *hashes,
		      struct baleen_error *error);
	int (*put_hashes)(struct baleen_filter *filter, u32 domain,
			  const struct baleen_hashes *hashes);
	bool sorts;
	void (*seal)(struct baleen_filter *filter, u32 domain);
};

extern const struct baleen_kind_ops baleen_cuckoo_ops;
extern const struct baleen_kind_ops baleen_bloom_ops;
extern const struct baleen_kind_ops baleen_classic_ops;
extern const struct baleen_kind_ops baleen_counting_ops;
extern const struct baleen_kind_ops baleen_quotient_ops;
extern const struct baleen_kind_ops baleen_chained_ops;
extern const struct baleen_kind_ops baleen_compact_ops;
extern const struct baleen_kind_ops baleen_directory_ops;
extern const struct baleen_kind_ops baleen_prefixes_ops;
extern const struct baleen_kind_ops baleen_entries_ops;

/**
 * baleen_kind_ops() - the functions of a kind
 * @kind: enum baleen_kind
 *
 * Return: them; of BALEEN_KIND_NONE and of a number that is no kind one without
 * any.
 */
const struct baleen_kind_ops *baleen_kind_ops(u32 kind);

/**
 * baleen_kind_find() - the kind of a name
 * @name: as typed
 *
 * Return: enum baleen_kind, one that a user may choose; BALEEN_KIND_NONE for
 * another name.
 */
u32 baleen_kind_find(const char *name);

#endif /* BALEEN_KIND_H */
