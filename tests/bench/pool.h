/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources of packets for a list of prefixes, and which of them are listed.
 */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include <baleen/probe.h>

#include "nets.h"

/**
 * struct pool - sources, in the order of the packets
 * @n_listed: how many are listed
 * @is_listed: whether the source of this number is
 * @source: the sources
 */
struct pool {
	u32 n_listed;
	bool is_listed[BENCH_POOL];
	struct bench_source source[BENCH_POOL];
};

/**
 * struct draw - what sources are drawn from
 * @nets: the list
 * @filter: made of it; for sources that are to find the longest way through it
 * @n_lines: of the longest way, once it is known
 * @random: state
 */
struct draw {
	const struct nets *nets;
	const struct baleen_filter *filter;
	u32 n_lines;
	u64 random;
};

typedef u128 draw_fn(struct draw *draw);

static const struct net *draw_net(struct draw *draw)
{
	return &draw->nets->net[next_random(&draw->random) % draw->nets->n];
}

static u128 draw_below(struct draw *draw, u128 first, u32 length)
{
	return first | (next_random128(&draw->random) & nets_host_bits(draw->nets, length));
}

/* Any address; IPv6 addresses are in 2000::/3, as those of the lists. */
static u128 draw_any(struct draw *draw)
{
	return draw->nets->is_ip6 ? draw_below(draw, (u128)1 << 125, 3) : draw_below(draw, 0, 0);
}

static u128 draw_inside(struct draw *draw)
{
	const struct net *net = draw_net(draw);

	return draw_below(draw, net->first, net->length);
}

static u128 draw_half(struct draw *draw)
{
	return next_random(&draw->random) >> 63 ? draw_any(draw) : draw_inside(draw);
}

static u128 stem_of(u128 address)
{
	return address >> 96 << 96;
}

/* IPv6: the stem has prefixes of its own. */
static u128 draw_in_stem(struct draw *draw)
{
	const struct net *net;

	do
		net = draw_net(draw);
	while (net->length <= 32);
	return draw_below(draw, stem_of(net->first), 32);
}

/* IPv6: nothing in the stem is listed. */
static u128 draw_out_of_stems(struct draw *draw)
{
	u128 address;

	do
		address = draw_any(draw);
	while (nets_touch(draw->nets, stem_of(address), stem_of(address) | (((u128)1 << 96) - 1)));
	return address;
}

/* baleen_tree_get(), counting the lines: indexes and nodes. */
static u32 count_lines(const struct baleen_filter *filter, u128 address)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP6_STEMS];
	const struct baleen_block *blocks = filter->bytes;
	u64 hi = address >> 64, lo = address;
	u32 first = baleen_tree_entry(blocks, table->first_block, hi >> (64 - table->group_bits));
	u32 n = first & BALEEN_TREE_INDEX ? 2 : 1, at = baleen_tree_root(table, blocks, hi);

	for (; at >= BALEEN_TREE_ROOT; n++) {
		const struct baleen_block *node =
			&blocks[table->leaf_block + at - BALEEN_TREE_ROOT];

		at = baleen_tree_interval(node, hi, lo);
		if (at >= BALEEN_TREE_CHILD)
			at += (u32)baleen_le64(node->word[BALEEN_TREE_BASE]);
	}
	return n;
}

/* IPv6: inside a prefix, or one bit of it wrong, the last, so that most of these are under
 * no prefix, and beside one.
 */
static u128 draw_near(struct draw *draw)
{
	const struct net *net = draw_net(draw);
	u128 address = draw_below(draw, net->first, net->length);

	if (next_random(&draw->random) >> 63)
		address ^= (u128)1 << (128 - net->length);
	return address;
}

/* IPv6: what an attacker who knows the list would send: as many lines as the longest of
 * 10,000 ways.
 */
static u128 draw_deepest(struct draw *draw)
{
	u128 address;
	u32 most = 0;

	for (u32 i = 0; i < (draw->n_lines ? 0 : 10000); i++) {
		u32 n = count_lines(draw->filter, draw_near(draw));

		most = n > most ? n : most;
	}
	draw->n_lines = draw->n_lines ? draw->n_lines : most;
	do
		address = draw_near(draw);
	while (count_lines(draw->filter, address) < draw->n_lines);
	return address;
}

enum want { WANT_ANY, WANT_LISTED, WANT_UNLISTED };

/**
 * pool_make() - draw sources for a list
 * @nets: the list
 * @filter: made of it; only draw_deepest() needs it
 * @draw: how
 * @want: which of those drawn to take
 *
 * Return: the sources, to be freed by the caller.
 */
static struct pool *pool_make(const struct nets *nets, const struct baleen_filter *filter,
			      draw_fn *draw, enum want want)
{
	struct draw from = { .nets = nets, .filter = filter, .random = 1 };
	struct pool *pool = malloc(sizeof(*pool));
	u64 n_tries = 0;

	if (!pool)
		err(1, "memory");
	pool->n_listed = 0;
	for (u32 n = 0; n < BENCH_POOL;) {
		u128 source = draw(&from);
		bool is_listed = nets_touch(nets, source, source);

		if (n_tries++ > 1000ull * BENCH_POOL)
			errx(1, "a list without such sources");
		if (want != WANT_ANY && is_listed != (want == WANT_LISTED))
			continue;
		pool->source[n] = (struct bench_source){ source >> 64, source };
		pool->is_listed[n++] = is_listed;
		pool->n_listed += is_listed;
	}
	return pool;
}

#endif /* BENCH_POOL_H */
