/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of the kind cuckoo (see kind.h) that are in files of their own.
 */
#ifndef BALEEN_CUCKOO_TABLE_H
#define BALEEN_CUCKOO_TABLE_H

#include "filter/filter.h"

struct baleen_hashes;

/**
 * baleen_cuckoo_insert() - struct baleen_kind_ops.insert
 * @filter: see baleen_filter_insert()
 * @keys: see there
 * @n: see there
 * @n_done: see there
 *
 * Return: 0 or -ENOSPC.
 */
int baleen_cuckoo_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done);

/**
 * baleen_cuckoo_live_add() - struct baleen_kind_ops.add
 * @filter: see baleen_live_add()
 * @key: see there
 * @changed: see there
 *
 * Return: as baleen_live_add().
 */
int baleen_cuckoo_live_add(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed);

/**
 * baleen_cuckoo_live_del() - struct baleen_kind_ops.del
 * @filter: see baleen_live_del()
 * @key: see there
 * @changed: see there
 *
 * Return: as baleen_live_del().
 */
int baleen_cuckoo_live_del(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed);

/**
 * baleen_cuckoo_hashes() - struct baleen_kind_ops.hashes
 * @filter: see baleen_hashes_read()
 * @domain: see there
 * @hashes: see there
 * @error: see there
 *
 * Return: as baleen_hashes_read().
 */
int baleen_cuckoo_hashes(const struct baleen_filter *filter, u32 domain,
			 struct baleen_hashes *hashes, struct baleen_error *error);

/**
 * baleen_cuckoo_put_hashes() - struct baleen_kind_ops.put_hashes
 * @filter: see baleen_hashes_insert()
 * @domain: see there
 * @hashes: see there
 *
 * Return: as baleen_hashes_insert().
 */
int baleen_cuckoo_put_hashes(struct baleen_filter *filter, u32 domain,
			     const struct baleen_hashes *hashes);

#endif /* BALEEN_CUCKOO_TABLE_H */
