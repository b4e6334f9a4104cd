// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changing tables of chains, and putting them together. */
#include <errno.h>
#include <stdint.h>

#include "filter/chains.h"
#include "filter/plan.h"

struct baleen_chains baleen_chains_of(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_table *table = (struct baleen_table *)&filter->image.table[domain];

	return baleen_chains_at(table, filter->bytes);
}

static u32 *head_of(const struct baleen_chains *chains, u64 value)
{
	return &chains->head[value % chains->table->n_buckets];
}

int baleen_chains_insert(const struct baleen_chains *chains, u64 value, bool is_copy, bool *changed)
{
	struct baleen_table *table = chains->table;
	u32 *head = head_of(chains, value), entry = table->n_entries;

	*changed = false;
	if (!is_copy && baleen_chains_count(chains, value))
		return 0;
	if (entry == table->n_room)
		return -ENOSPC;
	baleen_chains_put(chains, entry, value);
	chains->link[entry] = *head;
	*head = baleen_le32(entry + 1);
	table->n_entries++;
	*changed = true;
	return 0;
}

/* The head or link that leads to an entry of this value, or to this entry; NULL: none does. */
static u32 *find_link(const struct baleen_chains *chains, u64 value, u32 entry)
{
	u32 *link = head_of(chains, value);
	u32 next = baleen_chains_follow(chains, link);

	for (u64 steps = 0; next && steps < chains->table->n_entries; steps++) {
		if (entry == UINT32_MAX ? baleen_chains_get(chains, next - 1) == value :
					  next - 1 == entry)
			return link;
		link = &chains->link[next - 1];
		next = baleen_chains_follow(chains, link);
	}
	return NULL;
}

bool baleen_chains_remove(const struct baleen_chains *chains, u64 value)
{
	u32 *link = find_link(chains, value, UINT32_MAX);
	u32 entry, last = chains->table->n_entries - 1;

	if (!link)
		return false;
	entry = baleen_le32(*link) - 1;
	*link = chains->link[entry];
	/* The last entry takes its number. */
	link = entry == last ? NULL : find_link(chains, baleen_chains_get(chains, last), last);
	if (link) {
		*link = baleen_le32(entry + 1);
		chains->link[entry] = chains->link[last];
		baleen_chains_put(chains, entry, baleen_chains_get(chains, last));
	}
	chains->link[last] = 0;
	baleen_chains_put(chains, last, 0);
	chains->table->n_entries--;
	return true;
}

int baleen_chains_unite(const struct baleen_filter *const *filters, u32 n, u32 domain, u64 n_room,
			struct baleen_filter *out, struct baleen_error *error)
{
	struct baleen_image image = filters[0]->image;
	struct baleen_table *table = &image.table[domain];
	struct baleen_chains to;
	u64 n_entries = 0;
	bool changed;
	int err = 0;

	for (u32 other = 0; other < BALEEN_N_DOMAINS; other++)
		if (other != domain)
			image.table[other] = (struct baleen_table){ 0 };
	for (u32 i = 0; i < n; i++)
		n_entries += filters[i]->image.table[domain].n_entries;
	n_room = n_room > n_entries ? n_room : n_entries;
	if (n_room > BALEEN_MAX_BUCKETS)
		return baleen_plan_too_many(n_room, error);
	table->n_room = table->n_buckets = n_room ? n_room : 1;
	if (baleen_table_blocks(table) > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n_room, error);
	table->n_blocks = baleen_table_blocks(table);
	err = baleen_tables_place(&image, error);
	if (!err)
		err = baleen_filter_alloc(out, &image, error);
	if (err)
		return err;
	to = baleen_chains_of(out, domain);
	for (u32 i = 0; i < n; i++) {
		struct baleen_chains from = baleen_chains_of(filters[i], domain);

		for (u32 entry = 0; entry < from.table->n_entries; entry++)
			baleen_chains_insert(&to, baleen_chains_get(&from, entry),
					     image.flags & BALEEN_FLAG_COPIES, &changed);
	}
	return 0;
}
