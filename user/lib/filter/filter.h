/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter in memory: an image and its decoded header.
 */
#ifndef BALEEN_FILTER_H
#define BALEEN_FILTER_H

#include <baleen/image_check.h>
#include <baleen/probe.h>

#include "util/error.h"

struct baleen_list;

/**
 * struct baleen_filter - an image in memory
 * @image: the decoded header; the truth while the filter is being changed
 * @bytes: the image, aligned to a block; its header is written by
 *         baleen_filter_seal()
 * @n_bytes: size of @bytes
 * @is_mapped: @bytes is a mapping of a live map, not allocated memory
 * @is_large: @bytes is memory, but not of the heap
 * @n_recent: of a live map: buckets of the table of recent changes behind @bytes, to be
 *            asked before the image, see recent.h; 0 for none
 * @prefilter: of a live map that is to be changed: the filter that packets ask before it, see
 *             prefilter.h; freed with this one. NULL for none
 */
struct baleen_filter {
	struct baleen_image image;
	void *bytes;
	size_t n_bytes;
	bool is_mapped;
	bool is_large;
	u32 n_recent;
	struct baleen_filter *prefilter;
};

/**
 * baleen_filter_alloc() - an empty filter of a given geometry
 * @filter: filled in; free with baleen_filter_free()
 * @image: geometry, seed, key and name; counts are ignored
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_filter_alloc(struct baleen_filter *filter, const struct baleen_image *image,
			struct baleen_error *error);

/**
 * baleen_filter_seal() - write the header with counts and checksums
 * @filter: the filter
 */
void baleen_filter_seal(struct baleen_filter *filter);

/**
 * baleen_filter_free() - free or unmap the image
 * @filter: the filter; may be all zeros
 */
void baleen_filter_free(struct baleen_filter *filter);

/**
 * baleen_filter_test_string() - is the string in the filter?
 * @filter: the filter, one of strings
 * @key: the string, see string_keys.h
 *
 * Return: as baleen_filter_test().
 */
int baleen_filter_test_string(const struct baleen_filter *filter, const struct baleen_key *key);

/**
 * baleen_filter_test() - is the key in the filter?
 * @filter: the filter
 * @key: the key
 *
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
int baleen_filter_test(const struct baleen_filter *filter, const struct baleen_key *key);

/**
 * baleen_filter_test_many() - which of these keys are in the filter?
 * @filter: the filter, live ones too
 * @keys: the keys; those of one domain are best side by side
 * @n: how many
 * @found: filled in with @n answers of baleen_filter_test()
 *
 * The memory of one key is fetched while others are hashed: in a filter larger
 * than the caches several times as fast as one key after the other.
 *
 * Return: how many are.
 */
size_t baleen_filter_test_many(const struct baleen_filter *filter, const struct baleen_key *keys,
			       size_t n, u8 *found);

/**
 * baleen_filter_test_numbers() - which of these numbers are in the filter?
 * @filter: the filter, live ones too
 * @domain: BALEEN_IP4: addresses as numbers; or BALEEN_WORD
 * @number: the keys
 * @n: how many
 * @found: filled in with @n answers of baleen_filter_test()
 *
 * As baleen_filter_test_many(), and faster: keys are not taken out of structs.
 *
 * Return: how many are.
 */
size_t baleen_filter_test_numbers(const struct baleen_filter *filter, u32 domain, const u64 *number,
				  size_t n, u8 *found);

/**
 * baleen_filter_insert() - add keys of one domain
 * @filter: the filter
 * @keys: the keys, all of one domain that the filter has a table for
 * @n: how many
 * @n_done: how many keys of @keys the filter holds afterwards; keys that
 *          were there already count
 *
 * Idempotent. Stops at the first key that finds no room; that key's attempt
 * is undone, so the filter holds exactly what it held before and the keys up
 * to it.
 *
 * Return: 0 or -ENOSPC.
 */
int baleen_filter_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done);

/**
 * baleen_filter_to_list() - the set back as a list
 * @filter: the filter, live ones too
 * @list: filled in with a finished list; free with baleen_list_free();
 *        untouched on failure
 * @error: filled in on failure
 *
 * A filter of that list has the same set. A directory of IPv4 addresses does not
 * tell hosts side by side from a prefix: they come back as intervals.
 *
 * Return: 0; -EOPNOTSUPP when a table does not keep whole keys, saying which;
 * -EINVAL when a table holds what no list makes; -ENOMEM.
 */
int baleen_filter_to_list(const struct baleen_filter *filter, struct baleen_list *list,
			  struct baleen_error *error);

/**
 * baleen_filter_fpp() - false positive rate of a table as it is
 * @filter: the filter
 * @domain: enum baleen_domain
 *
 * A Bloom table: the mean over its blocks of the probability that a random key
 * finds all its bits set; the bits count, whatever the header claims. A cuckoo
 * table: baleen_table_fpp() with the slots in use.
 *
 * Return: the rate; 0 for an absent or exact table. With IPv4 prefixes that of
 * the hosts beside them.
 */
double baleen_filter_fpp(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_filter_worst_fpp() - the highest of the tables' rates
 * @filter: the filter
 *
 * Return: the highest baleen_filter_fpp().
 */
double baleen_filter_worst_fpp(const struct baleen_filter *filter);

/**
 * baleen_filter_may_exceed() - can further keys make it err more often than so?
 * @image: header of the filter
 * @fpp: false positive rate
 *
 * The tables are not read: it is asked before each change.
 *
 * Return: false when no number of keys that find room can.
 */
bool baleen_filter_may_exceed(const struct baleen_image *image, double fpp);

/**
 * baleen_filter_count() - how many keys a table holds, by looking
 * @filter: the filter
 * @domain: enum baleen_domain
 *
 * Return: what table.n_entries of a sealed image says, see image.h; for a
 * Bloom table what its header says, which is 0 in a live image.
 */
u64 baleen_filter_count(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_filter_used() - slots in use of a cuckoo table or one of prefixes
 * @filter: the filter
 * @domain: enum baleen_domain
 *
 * Return: how many; 0 for a table without slots.
 */
u64 baleen_filter_used(const struct baleen_filter *filter, u32 domain);

#endif /* BALEEN_FILTER_H */
