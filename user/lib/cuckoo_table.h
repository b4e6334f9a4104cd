/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a cuckoo table does with keys: the functions of its kind (see kind.h)
 * that are in files of their own.
 */
#ifndef BALEEN_CUCKOO_TABLE_H
#define BALEEN_CUCKOO_TABLE_H

#include "filter.h"

struct baleen_hashes;

int baleen_cuckoo_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done);
int baleen_cuckoo_live_add(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed);
int baleen_cuckoo_live_del(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed);
int baleen_cuckoo_hashes(const struct baleen_filter *filter, u32 domain,
			 struct baleen_hashes *hashes, struct baleen_error *error);
int baleen_cuckoo_put_hashes(struct baleen_filter *filter, u32 domain,
			     const struct baleen_hashes *hashes);

#endif /* BALEEN_CUCKOO_TABLE_H */
