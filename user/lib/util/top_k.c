// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys that occur most often in a stream. */
#include <stdlib.h>

#include "util/top_k.h"

/* FNV-1a by words: who crafts collisions makes this slow, not wrong. */
static u64 hash_of(const struct baleen_top_key *hitter)
{
	const struct baleen_key *key = &hitter->key;
	const u64 words[] = { (u64)key->domain << 32 | key->ip4,
			      key->hi,
			      key->lo,
			      key->dst_hi,
			      key->dst_lo,
			      key->rest,
			      (u64)hitter->key_spec << 32 | hitter->slot };
	u64 hash = 0xcbf29ce484222325ull;

	for (u32 i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hash = (hash ^ words[i]) * 0x100000001b3ull;
	return hash;
}

static bool is_same(const struct baleen_top_key *a, const struct baleen_top_key *b)
{
	return a->slot == b->slot && a->key_spec == b->key_spec && a->key.domain == b->key.domain &&
	       a->key.ip4 == b->key.ip4 && a->key.hi == b->key.hi && a->key.lo == b->key.lo &&
	       a->key.dst_hi == b->key.dst_hi && a->key.dst_lo == b->key.dst_lo &&
	       a->key.rest == b->key.rest;
}

static u32 find(const struct baleen_top_k *top_k, const struct baleen_top_key *one, u64 hash)
{
	u32 i = 0;

	while (i < top_k->n && (top_k->hash[i] != hash || !is_same(&top_k->hitter[i], one)))
		i++;
	return i;
}

static u32 find_smallest(const struct baleen_top_k *top_k)
{
	u32 smallest = 0;

	for (u32 i = 1; i < top_k->n; i++)
		if (top_k->hitter[i].count < top_k->hitter[smallest].count)
			smallest = i;
	return smallest;
}

void baleen_top_k_add(struct baleen_top_k *top_k, const struct baleen_key *key, u32 key_spec,
		      u32 slot)
{
	struct baleen_top_key one = { .key = *key, .key_spec = key_spec, .slot = slot };
	u64 hash = hash_of(&one);
	u32 i = find(top_k, &one, hash);

	top_k->n_events++;
	if (i == BALEEN_TOP_K) {
		i = find_smallest(top_k);
		one.count = one.error = top_k->hitter[i].count;
		top_k->hitter[i] = one;
	} else if (i == top_k->n) {
		top_k->hitter[i] = one;
		top_k->n++;
	}
	top_k->hash[i] = hash;
	top_k->hitter[i].count++;
}

/* By what is sure of it, among those of one count. */
static int compare(const void *left, const void *right)
{
	const struct baleen_top_key *a = *(const struct baleen_top_key *const *)left;
	const struct baleen_top_key *b = *(const struct baleen_top_key *const *)right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return (a->error > b->error) - (a->error < b->error);
}

u32 baleen_top_k_top(const struct baleen_top_k *top_k, const struct baleen_top_key **top, u32 n)
{
	const struct baleen_top_key *all[BALEEN_TOP_K];

	for (u32 i = 0; i < top_k->n; i++)
		all[i] = &top_k->hitter[i];
	qsort(all, top_k->n, sizeof(all[0]), compare);
	if (n > top_k->n)
		n = top_k->n;
	memcpy(top, all, n * sizeof(all[0]));
	return n;
}

u64 baleen_top_k_bound(const struct baleen_top_k *top_k)
{
	return top_k->n < BALEEN_TOP_K ? 0 : top_k->hitter[find_smallest(top_k)].count;
}
