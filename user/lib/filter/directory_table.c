// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Directories of 32-bit numbers: planned for runs of numbers, filled, read back. */
#include <stdint.h>

#include "filter/directory_table.h"
#include "filter/plan.h"

/* Groups with more members than this have leaves. Where that is not the
 * smallest, narrower groups are: with 2^16 addresses a group the limit is above
 * what a leaf of theirs is worth, and their lines take 22 kB.
 */
#define MAX_HOSTS 4096

/**
 * struct span - groups side by side that have members
 * @group: the first
 * @last_group: the last; another one than the first only when all of them are
 *              uniform in the same state
 * @n: members of the first group by state
 * @run: index of the run that has the first member
 */
struct span {
	u32 group;
	u32 last_group;
	u64 n[4];
	size_t run;
};

/**
 * struct walk - all groups with members in ascending order
 * @runs: the runs
 * @low_bits: bits of a number behind its group's
 * @i: the run to go on with
 * @at: its numbers below this have been seen
 */
struct walk {
	const struct baleen_runs *runs;
	u32 low_bits;
	size_t i;
	u64 at;
};

static u64 max_of(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 min_of(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* All groups that the run fills from its next number on; false when that does
 * not begin a group or the run does not reach its end.
 */
static bool next_full(struct walk *walk, struct span *span)
{
	const struct baleen_run *run = &walk->runs->run[walk->i];
	u64 size = 1ull << walk->low_bits, first = max_of(run->first, walk->at);
	u64 end = (run->last + 1ull) & ~(size - 1);

	if (first % size || end <= first)
		return false;
	span->last_group = (end - 1) >> walk->low_bits;
	span->n[run->state & 3] = size;
	walk->at = end;
	walk->i += end > run->last;
	return true;
}

static bool next_span(struct walk *walk, struct span *span)
{
	const struct baleen_runs *runs = walk->runs;
	u64 first, end;

	if (walk->i == runs->n)
		return false;
	first = max_of(runs->run[walk->i].first, walk->at);
	end = (first | ((1ull << walk->low_bits) - 1)) + 1;
	*span = (struct span){ .group = first >> walk->low_bits,
			       .last_group = first >> walk->low_bits,
			       .run = walk->i };
	if (next_full(walk, span))
		return true;
	for (; walk->i < runs->n && runs->run[walk->i].first < end; walk->i++) {
		const struct baleen_run *run = &runs->run[walk->i];
		u64 stop = min_of(run->last + 1ull, end);

		span->n[run->state & 3] += stop - max_of(run->first, walk->at);
		walk->at = stop;
		if (run->last >= end)
			break;
	}
	return true;
}

static struct walk walk_from(const struct baleen_runs *runs, u32 group_bits)
{
	return (struct walk){ .runs = runs, .low_bits = 32 - group_bits };
}

/* The state of all numbers of the group, or BALEEN_GROUP_LEAF. */
static u32 group_state(const struct span *span, u32 low_bits)
{
	for (u32 state = BALEEN_GROUP_ALL; state < BALEEN_GROUP_LEAF; state++)
		if (span->n[state] == 1ull << low_bits)
			return state;
	return BALEEN_GROUP_LEAF;
}

/* --- plan ----------------------------------------------------------------- */

/* How many groups are neither empty nor uniform, by their members. */
struct census {
	u64 n_groups[MAX_HOSTS + 1];
	u64 n_larger;
};

static void count_groups(const struct baleen_runs *runs, u32 group_bits, struct census *census)
{
	struct walk walk = walk_from(runs, group_bits);
	struct span span;

	memset(census, 0, sizeof(*census));
	while (next_span(&walk, &span)) {
		u64 n = span.n[1] + span.n[2] + span.n[3];

		if (group_state(&span, walk.low_bits) != BALEEN_GROUP_LEAF)
			continue;
		if (n <= MAX_HOSTS)
			census->n_groups[n]++;
		else
			census->n_larger++;
	}
}

/* Blocks of the table of hosts. The rate of a Bloom table depends on the keys
 * a block only, so a million tells of any number.
 */
static double blocks_per_bloom_key(const struct baleen_host_cost *cost)
{
	const u64 n = 1000000;
	struct baleen_table table;

	if (cost->kind != BALEEN_KIND_BLOOM ||
	    baleen_plan_table(BALEEN_IP4, cost->kind, n, cost->fpp, &table, NULL))
		return 0;
	return (double)table.n_blocks / n;
}

static u64 host_blocks(const struct baleen_host_cost *cost, double per_bloom_key, u64 n)
{
	struct baleen_table table;

	if (!n)
		return 0;
	if (per_bloom_key)
		return n * per_bloom_key + 1;
	if (baleen_plan_table(BALEEN_IP4, BALEEN_KIND_CUCKOO, n, 0, &table, NULL))
		return BALEEN_MAX_BLOCKS + 1ull;
	return table.n_blocks;
}

struct baleen_directory_plan baleen_directory_plan_groups(const struct baleen_runs *runs,
							  u32 domain,
							  const struct baleen_host_cost *cost,
							  u32 group_bits)
{
	double per_bloom_key = cost ? blocks_per_bloom_key(cost) : 0;
	struct baleen_directory_plan plan, best = { .n_blocks = UINT64_MAX };
	struct census census;

	count_groups(runs, group_bits, &census);
	plan = (struct baleen_directory_plan){ .group_bits = group_bits,
					       .n_leaves = census.n_larger };
	for (u32 n = 0; n <= MAX_HOSTS; n++)
		plan.n_leaves += census.n_groups[n];
	for (u32 n = 0; n <= (cost ? MAX_HOSTS : 0); n++) {
		if (n && !census.n_groups[n])
			continue;
		plan.max_hosts = n;
		plan.n_leaves -= census.n_groups[n];
		plan.n_hosts += n * census.n_groups[n];
		plan.n_blocks = baleen_directory_blocks(domain, group_bits, plan.n_leaves);
		if (cost)
			plan.n_blocks += host_blocks(cost, per_bloom_key, plan.n_hosts);
		if (plan.n_blocks < best.n_blocks)
			best = plan;
	}
	return best;
}

struct baleen_directory_plan baleen_directory_plan(const struct baleen_runs *runs, u32 domain,
						   const struct baleen_host_cost *cost)
{
	struct baleen_directory_plan best = { .n_blocks = UINT64_MAX };

	for (u32 bits = BALEEN_MIN_GROUP_BITS; bits <= BALEEN_MAX_GROUP_BITS; bits++) {
		struct baleen_directory_plan plan =
			baleen_directory_plan_groups(runs, domain, cost, bits);

		if (plan.n_blocks < best.n_blocks)
			best = plan;
	}
	return best;
}

struct baleen_table baleen_directory_table(const struct baleen_directory_plan *plan, u32 domain)
{
	return (struct baleen_table){
		.kind = BALEEN_KIND_DIRECTORY,
		.group_bits = plan->group_bits,
		.n_blocks = baleen_directory_blocks(domain, plan->group_bits, plan->n_leaves),
		.n_buckets = plan->n_leaves,
	};
}

/* --- fill ----------------------------------------------------------------- */

static void set_state(struct baleen_block *lines, u32 group, u32 state)
{
	struct baleen_group_place place = baleen_group_locate(group);
	struct baleen_block *line = &lines[place.line];

	line->word[place.word] |= baleen_le64((u64)(state & 1) << place.bit);
	line->word[3 + place.word] |= baleen_le64((u64)(state >> 1) << place.bit);
}

/* Numbers @number..@end - 1 of a leaf. */
static void set_leaf(u64 *leaf, u32 width, u64 number, u64 end, u32 state)
{
	u64 pattern = width == 2 ? state * 0x5555555555555555ull : ~0ull;
	u64 bit = number * width, last = end * width;

	while (bit < last) {
		u64 next = min_of((bit | 63) + 1, last);
		u64 mask = ~0ull >> (64 - (next - bit)) << bit % 64;

		leaf[bit / 64] |= baleen_le64(pattern & mask);
		bit = next;
	}
}

static void fill_leaf(u64 *leaf, u32 width, u32 low_bits, const struct baleen_runs *runs,
		      const struct span *span)
{
	u64 start = (u64)span->group << low_bits, end = start + (1ull << low_bits);

	for (size_t i = span->run; i < runs->n && runs->run[i].first < end; i++)
		set_leaf(leaf, width, max_of(runs->run[i].first, start) - start,
			 min_of(runs->run[i].last + 1ull, end) - start, runs->run[i].state);
}

/* The leaves before each line and inside of it. */
static void fill_counts(struct baleen_block *lines, u32 n_lines)
{
	u64 before = 0;

	for (u32 i = 0; i < n_lines; i++) {
		u64 *word = lines[i].word, n[3];

		for (u32 k = 0; k < 3; k++)
			n[k] = baleen_popcount64(word[k] & word[3 + k]);
		word[6] = baleen_le64(before | n[0] << 32 | (n[0] + n[1]) << 40);
		before += n[0] + n[1] + n[2];
	}
}

static bool has_hosts(const struct span *span, const struct baleen_directory_plan *plan)
{
	return span->n[BALEEN_GROUP_ALL] <= plan->max_hosts;
}

void baleen_directory_fill(struct baleen_filter *filter, u32 domain, const struct baleen_runs *runs,
			   const struct baleen_directory_plan *plan)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_block *blocks = filter->bytes, *lines = &blocks[table->first_block];
	u32 n_lines = baleen_directory_lines(plan->group_bits);
	u32 width = baleen_leaf_width(domain);
	struct walk walk = walk_from(runs, plan->group_bits);
	u64 leaf_words = (1ull << walk.low_bits) * width / 64, *leaf = lines[n_lines].word;
	struct span span;

	while (next_span(&walk, &span)) {
		u32 state = group_state(&span, walk.low_bits);

		if (state == BALEEN_GROUP_LEAF && plan->max_hosts && has_hosts(&span, plan))
			state = BALEEN_GROUP_HOSTS;
		for (u64 group = span.group; group <= span.last_group; group++)
			set_state(lines, group, state);
		if (state == BALEEN_GROUP_LEAF) {
			fill_leaf(leaf, width, walk.low_bits, runs, &span);
			leaf += leaf_words;
		}
	}
	fill_counts(lines, n_lines);
}

void baleen_directory_hosts(const struct baleen_runs *runs,
			    const struct baleen_directory_plan *plan, u32 *ip4)
{
	struct walk walk = walk_from(runs, plan->group_bits);
	struct span span;

	while (next_span(&walk, &span)) {
		u64 start = (u64)span.group << walk.low_bits, end = start + (1ull << walk.low_bits);

		if (group_state(&span, walk.low_bits) != BALEEN_GROUP_LEAF ||
		    !has_hosts(&span, plan))
			continue;
		for (size_t i = span.run; i < runs->n && runs->run[i].first < end; i++)
			for (u64 number = max_of(runs->run[i].first, start);
			     number < min_of(runs->run[i].last + 1ull, end); number++)
				*ip4++ = number;
	}
}

/* --- read back ------------------------------------------------------------ */

/* The state of a group; of one with a leaf the first bit of that, too. A rank
 * that the directory was never built with is no leaf, as for the probe.
 */
static u32 read_group(const struct baleen_table *table, const struct baleen_block *blocks,
		      u32 group, u64 *leaf_bit)
{
	struct baleen_group_place place = baleen_group_locate(group);
	const u64 *word = blocks[table->first_block + place.line].word;
	u64 low = baleen_le64(word[place.word]), high = baleen_le64(word[3 + place.word]);
	u64 rank;

	if (!((low & high) >> place.bit & 1))
		return (low >> place.bit & 1) | (high >> place.bit & 1) << 1;
	rank = baleen_leaf_rank(baleen_le64(word[6]), low & high, &place);
	if (rank >= table->n_buckets)
		return BALEEN_GROUP_NONE;
	*leaf_bit = rank << (32 - table->group_bits);
	return BALEEN_GROUP_LEAF;
}

/* The first bit of first..end - 1 that is @wanted, or @end. */
static u64 find_bit(const u64 *bitmap, u64 first, u64 end, bool wanted)
{
	for (u64 bit = first & ~63ull; bit < end; bit += 64) {
		u64 word = baleen_le64(bitmap[bit / 64]) ^ (wanted ? 0 : ~0ull);

		if (bit < first)
			word &= ~0ull << first % 64;
		if (word)
			return bit + __builtin_ctzll(word);
	}
	return end;
}

/* The first number of @number..2^32 - 1 that is in the set, or that is not. */
static u64 find_number(const struct baleen_filter *filter, u64 number, bool wanted)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP4_GROUPS];
	const struct baleen_block *blocks = filter->bytes;
	u64 size = 1ull << (32 - table->group_bits);

	while (number < 1ull << 32) {
		u64 low = number % size, leaf = 0, found;
		u32 state = read_group(table, blocks, number / size, &leaf);

		if (state == BALEEN_GROUP_LEAF) {
			found = find_bit(blocks[table->leaf_block].word, leaf + low, leaf + size,
					 wanted) -
				leaf;
			if (found < size)
				return number - low + found;
		} else if ((state == BALEEN_GROUP_ALL) == wanted) {
			return number;
		}
		number += size - low;
	}
	return number;
}

bool baleen_directory_next(const struct baleen_filter *filter, u64 *number, struct baleen_net4 *net)
{
	u64 first = find_number(filter, *number, true);

	/* Not to be searched again by who asks again. */
	*number = first;
	if (first > UINT32_MAX)
		return false;
	*number = find_number(filter, first, false);
	*net = (struct baleen_net4){ .first = first, .last = *number - 1 };
	return true;
}

u32 baleen_net4_prefix(const struct baleen_net4 *net)
{
	u64 size = net->last - (u64)net->first + 1;
	u32 length = __builtin_clzll(size) - 31;

	/* As wide as the interval is long, and as its address is aligned. */
	if (net->first && (u32)__builtin_ctz(net->first) < 32 - length)
		length = 32 - __builtin_ctz(net->first);
	return length;
}

u64 baleen_directory_count(const struct baleen_filter *filter)
{
	struct baleen_net4 net;
	u64 number = 0, n = 0;

	while (baleen_directory_next(filter, &number, &net)) {
		for (u64 first = net.first; first <= net.last; n++) {
			net.first = first;
			first += 1ull << (32 - baleen_net4_prefix(&net));
		}
	}
	return n;
}
