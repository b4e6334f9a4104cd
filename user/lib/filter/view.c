// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The content of a table, place by place and in numbers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <baleen/tree.h>

#include "filter/chains.h"
#include "filter/estimate.h"
#include "filter/positions.h"
#include "filter/quotient_slots.h"
#include "filter/slots.h"
#include "filter/view.h"

/* Bits of a block that one bar stands for. */
#define BAR_BITS (BALEEN_BLOCK_BYTES * 8 / (BALEEN_VIEW_BARS - 1))

/* Runs and chains from here on share a bar. */
#define LONG_RUN 16

/* States of a group. */
#define N_STATES 4

u64 baleen_view_places(const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: return 1ull << table->group_bits;
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING: return baleen_table_bits(table);
	default: return table->n_buckets;
	}
}

/* --- places ---------------------------------------------------------------- */

static u32 view_entry(const struct baleen_filter *filter, const struct baleen_table *table,
		      u32 group)
{
	u32 entry = baleen_tree_entry(filter->bytes, table->first_block, group);

	return entry < BALEEN_TREE_ROOT ? entry : BALEEN_GROUP_LEAF;
}

static u32 view_group(const struct baleen_filter *filter, const struct baleen_table *table,
		      u32 group)
{
	struct baleen_group_place place = baleen_group_locate(group);
	const struct baleen_block *block =
		(const struct baleen_block *)filter->bytes + table->first_block + place.line;
	u64 low = baleen_le64(block->word[place.word]);
	u64 high = baleen_le64(block->word[3 + place.word]);

	return (low >> place.bit & 1) | (high >> place.bit & 1) << 1;
}

u32 baleen_view_group(const struct baleen_filter *filter, u32 domain, u32 group)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return table->kind == BALEEN_KIND_TREE ? view_entry(filter, table, group) :
						 view_group(filter, table, group);
}

static bool is_used(const struct baleen_quotient *quotient, u32 slot)
{
	slot &= quotient->table->n_buckets - 1;
	return baleen_quotient_used(quotient, slot >> 6) >> (slot & 63) & 1;
}

/* The quotient of a slot in use. In its cluster, the n-th run is that of the n-th quotient
 * that is occupied. Ends after as many steps as there are slots, whatever a body holds.
 */
static u32 find_quotient(const struct baleen_quotient *quotient, u32 slot)
{
	u32 n_slots = quotient->table->n_buckets, n_runs = 0, n_steps = 0;

	for (; n_steps < n_slots; n_steps++, slot--) {
		n_runs += !baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_CONTINUED);
		if (!baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_SHIFTED))
			break;
	}
	for (n_steps = 0; n_steps < n_slots; n_steps++, slot++) {
		n_runs -= baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_OCCUPIED);
		if (!n_runs)
			break;
	}
	return slot & (n_slots - 1);
}

struct baleen_view_slot baleen_view_slot(const struct baleen_filter *filter, u32 domain, u32 slot)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	struct baleen_view_slot view = {
		.is_used = is_used(&quotient, slot),
		.occupied = baleen_quotient_bit(&quotient, slot, BALEEN_QUOTIENT_OCCUPIED),
		.continued = baleen_quotient_bit(&quotient, slot, BALEEN_QUOTIENT_CONTINUED),
		.shifted = baleen_quotient_bit(&quotient, slot, BALEEN_QUOTIENT_SHIFTED),
	};
	bool goes_on = view.is_used && is_used(&quotient, slot + 1);

	if (!view.is_used)
		return view;
	view.ends_run =
		!goes_on || !baleen_quotient_bit(&quotient, slot + 1, BALEEN_QUOTIENT_CONTINUED);
	view.ends_cluster =
		!goes_on || !baleen_quotient_bit(&quotient, slot + 1, BALEEN_QUOTIENT_SHIFTED);
	view.remainder = baleen_quotient_get(quotient.table, filter->bytes, slot);
	view.quotient = find_quotient(&quotient, slot);
	return view;
}

u32 baleen_view_chain(const struct baleen_filter *filter, u32 domain, u32 bucket, u64 *value,
		      u32 room)
{
	struct baleen_chains chains = baleen_chains_of(filter, domain);
	u32 next = baleen_chains_follow(&chains, &chains.head[bucket]), n = 0;

	for (; next && n < chains.table->n_entries; n++) {
		if (n < room)
			value[n] = baleen_chains_get(&chains, next - 1);
		next = baleen_chains_follow(&chains, &chains.link[next - 1]);
	}
	return n;
}

/* --- numbers --------------------------------------------------------------- */

static void count_blocks(const struct baleen_filter *filter, u32 domain,
			 struct baleen_view_summary *summary)
{
	const u64 *word = baleen_plane(filter, domain);

	summary->n_bars = BALEEN_VIEW_BARS;
	for (u64 n = baleen_plane_words(filter, domain); n; n -= BALEEN_BLOCK_WORDS) {
		u32 n_set = 0;

		for (u32 i = 0; i < BALEEN_BLOCK_WORDS; i++)
			n_set += baleen_popcount64(*word++);
		summary->bar[n_set / BAR_BITS]++;
		summary->n_used += n_set;
	}
}

static void count_counters(const struct baleen_filter *filter, u32 domain,
			   struct baleen_view_summary *summary)
{
	const struct baleen_table *table = &filter->image.table[domain];

	summary->n_bars = BALEEN_COUNTER_MAX + 1;
	for (u64 i = 0; i < summary->n_places; i++)
		summary->bar[baleen_counter_get(table, filter->bytes, i)]++;
	summary->n_used = summary->n_places - summary->bar[0];
	summary->n_stuck = summary->bar[BALEEN_COUNTER_MAX];
}

static void count_buckets(const struct baleen_filter *filter, u32 domain,
			  struct baleen_view_summary *summary)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);

	summary->n_bars = slots.n_slots + 1;
	for (u32 bucket = 0; bucket < slots.table->n_buckets; bucket++) {
		u32 n_used = 0;

		for (u32 i = 0; i < slots.n_slots; i++)
			n_used += baleen_slots_get(&slots, bucket, i) != 0;
		summary->bar[n_used]++;
		summary->n_used += n_used;
	}
}

static void end_run(struct baleen_view_summary *summary, u64 *n_run)
{
	if (!*n_run)
		return;
	summary->n_runs++;
	summary->bar[*n_run < LONG_RUN ? *n_run : LONG_RUN]++;
	if (*n_run > summary->longest_run)
		summary->longest_run = *n_run;
	*n_run = 0;
}

static void end_cluster(struct baleen_view_summary *summary, u64 *n_cluster)
{
	summary->n_clusters += *n_cluster > 0;
	if (*n_cluster > summary->longest_cluster)
		summary->longest_cluster = *n_cluster;
	*n_cluster = 0;
}

/* A slot with which no cluster goes on, so that none is counted in two parts. */
static u32 find_start(const struct baleen_quotient *quotient)
{
	u32 n_slots = quotient->table->n_buckets, slot = 0;

	while (slot < n_slots - 1 && baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_SHIFTED))
		slot++;
	return slot;
}

static void count_runs(const struct baleen_filter *filter, u32 domain,
		       struct baleen_view_summary *summary)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	u32 n_slots = quotient.table->n_buckets, start = find_start(&quotient);
	u64 n_run = 0, n_cluster = 0;

	summary->n_bars = LONG_RUN + 1;
	for (u32 i = 0; i < n_slots; i++) {
		u32 slot = start + i;
		bool used = is_used(&quotient, slot);

		if (!used || !baleen_quotient_bit(&quotient, slot, BALEEN_QUOTIENT_CONTINUED))
			end_run(summary, &n_run);
		if (!used || !baleen_quotient_bit(&quotient, slot, BALEEN_QUOTIENT_SHIFTED))
			end_cluster(summary, &n_cluster);
		n_run += used;
		n_cluster += used;
		summary->n_used += used;
	}
	end_run(summary, &n_run);
	end_cluster(summary, &n_cluster);
}

static void count_chains(const struct baleen_filter *filter, u32 domain,
			 struct baleen_view_summary *summary)
{
	summary->n_bars = LONG_RUN + 1;
	for (u32 bucket = 0; bucket < summary->n_places; bucket++) {
		u32 n = baleen_view_chain(filter, domain, bucket, NULL, 0);

		summary->bar[n < LONG_RUN ? n : LONG_RUN]++;
		summary->n_used += n;
		/* Damaged: the same entries in many chains would be counted for hours. */
		if (summary->n_used > filter->image.table[domain].n_entries)
			break;
	}
}

static void count_groups(const struct baleen_filter *filter, u32 domain,
			 struct baleen_view_summary *summary)
{
	summary->n_bars = N_STATES;
	for (u32 group = 0; group < summary->n_places; group++)
		summary->bar[baleen_view_group(filter, domain, group)]++;
	summary->n_used = summary->n_places - summary->bar[BALEEN_GROUP_NONE];
}

void baleen_view_summarise(const struct baleen_filter *filter, u32 domain,
			   struct baleen_view_summary *summary)
{
	const struct baleen_table *table = &filter->image.table[domain];

	memset(summary, 0, sizeof(*summary));
	summary->n_places = baleen_view_places(table);
	switch (table->kind) {
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC: count_blocks(filter, domain, summary); break;
	case BALEEN_KIND_COUNTING: count_counters(filter, domain, summary); break;
	case BALEEN_KIND_CUCKOO:
	case BALEEN_KIND_PREFIXES: count_buckets(filter, domain, summary); break;
	case BALEEN_KIND_QUOTIENT: count_runs(filter, domain, summary); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: count_chains(filter, domain, summary); break;
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: count_groups(filter, domain, summary); break;
	default: summary->n_used = summary->n_places; break;
	}
}

const char *baleen_view_bar_name(const struct baleen_table *table, u32 domain, u32 bar, char *name)
{
	static const char *const ip4[N_STATES] = { "none", "all", "hosts", "leaf" };
	static const char *const stem[N_STATES] = { "none", "all", "longer", "leaf" };
	static const char *const tree[N_STATES] = { "none", "all", "longer", "nodes" };
	bool is_long = table->kind == BALEEN_KIND_QUOTIENT || baleen_kind_has_chains(table->kind);
	const char *format = is_long && bar == LONG_RUN ? "%u or more" : "%u";

	if (table->kind == BALEEN_KIND_TREE)
		snprintf(name, BALEEN_VIEW_NAME, "%s", tree[bar]);
	else if (table->kind == BALEEN_KIND_DIRECTORY)
		snprintf(name, BALEEN_VIEW_NAME, "%s",
			 (domain == BALEEN_IP4_GROUPS ? ip4 : stem)[bar]);
	else if ((table->kind == BALEEN_KIND_BLOOM || table->kind == BALEEN_KIND_CLASSIC) &&
		 bar < BALEEN_VIEW_BARS - 1)
		snprintf(name, BALEEN_VIEW_NAME, "%u-%u", bar * BAR_BITS, (bar + 1) * BAR_BITS - 1);
	else if (table->kind == BALEEN_KIND_BLOOM || table->kind == BALEEN_KIND_CLASSIC)
		snprintf(name, BALEEN_VIEW_NAME, "%u", bar * BAR_BITS);
	else
		snprintf(name, BALEEN_VIEW_NAME, format, bar);
	return name;
}

/* --- keys ------------------------------------------------------------------ */

static void find_slots(const struct baleen_filter *filter, u32 domain,
		       const struct baleen_cuckoo_place *place, struct baleen_view_key *where)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u64 side = slots.side;

	where->fingerprint = place->slot & ~(side << 1);
	where->bucket[0] = place->home;
	where->bucket[1] = place->other;
	for (u32 i = 0; i < 2; i++) {
		u32 slot =
			baleen_slots_find(&slots, where->bucket[i], place->slot | (i ? side : 0));

		where->slot[i] = slot < slots.n_slots ? slot : BALEEN_VIEW_NOWHERE;
	}
	where->is_stashed = slots.table->n_stash && baleen_stash_holds(&slots, place->hash);
	where->n_copies = baleen_slots_copies(&slots, place);
}

static void find_remainder(const struct baleen_filter *filter, u32 domain,
			   const struct baleen_key *key, struct baleen_view_key *where)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	const struct baleen_table *table = quotient.table;

	where->fingerprint = baleen_quotient_fingerprint(table, &filter->image.seed, key);
	where->quotient = where->fingerprint >> table->slot_bits;
	where->remainder = where->fingerprint & ~(~0ull << table->slot_bits);
	where->slot[0] = where->slot[1] = BALEEN_VIEW_NOWHERE;
	where->n_copies = 0;
	memset(&where->run, 0, sizeof(where->run));
	if (!baleen_quotient_bit(&quotient, where->quotient, BALEEN_QUOTIENT_OCCUPIED))
		return;
	where->run = baleen_quotient_find(table, filter->bytes, where->quotient);
	for (u32 i = 0; i < where->run.n; i++) {
		u32 slot = (where->run.first + i) & (table->n_buckets - 1);

		if (baleen_quotient_get(table, filter->bytes, slot) == where->remainder &&
		    !where->n_copies++)
			where->slot[0] = slot;
	}
}

static void find_value(const struct baleen_filter *filter, u32 domain, const struct baleen_key *key,
		       struct baleen_view_key *where)
{
	struct baleen_chains chains = baleen_chains_of(filter, domain);
	u64 value = baleen_chains_value(chains.table, &filter->image.seed, key);
	u32 bucket = value % chains.table->n_buckets;
	u32 next = baleen_chains_follow(&chains, &chains.head[bucket]);

	where->fingerprint = value;
	where->bucket[0] = where->bucket[1] = bucket;
	where->slot[0] = where->slot[1] = BALEEN_VIEW_NOWHERE;
	where->n_copies = baleen_chains_count(&chains, value);
	for (u32 i = 0; where->n_copies && next; i++) {
		if (baleen_chains_get(&chains, next - 1) == value) {
			where->slot[0] = i;
			return;
		}
		next = baleen_chains_follow(&chains, &chains.link[next - 1]);
	}
}

static int find_group(const struct baleen_table *table, u32 domain, const struct baleen_key *key,
		      struct baleen_view_key *where)
{
	u32 number = domain == BALEEN_IP4_GROUPS ? key->ip4 : (u32)(key->hi >> 32);

	if (key->domain != (domain == BALEEN_IP4_GROUPS ? BALEEN_IP4 : BALEEN_IP6))
		return -EOPNOTSUPP;
	where->group = number >> (32 - table->group_bits);
	return 0;
}

int baleen_view_key(const struct baleen_filter *filter, u32 domain, const struct baleen_key *key,
		    struct baleen_view_key *where)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_cuckoo_place place;
	struct baleen_slots slots;

	if (baleen_table_has_groups(table))
		return find_group(table, domain, key, where);
	if (key->domain != domain)
		return -EOPNOTSUPP;
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		slots = baleen_slots_of(filter, domain);
		place = baleen_slots_place(&slots, &filter->image.seed, key);
		find_slots(filter, domain, &place, where);
		return 0;
	case BALEEN_KIND_QUOTIENT: find_remainder(filter, domain, key, where); return 0;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: find_value(filter, domain, key, where); return 0;
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING:
		return baleen_positions_of(&filter->image, key, &where->positions);
	default: return -EOPNOTSUPP;
	}
}
