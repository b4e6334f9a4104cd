/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists of prefixes, read or drawn at random, and a slow way to ask them.
 */
#ifndef BENCH_NETS_H
#define BENCH_NETS_H

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "keys.h"
#include "list/list.h"

typedef unsigned __int128 u128;

/**
 * struct net - a prefix
 * @first: its lowest address as a number
 * @length: 0 to 32 or 128
 */
struct net {
	u128 first;
	u32 length;
};

/* Addresses side by side. */
struct net_span {
	u128 first;
	u128 last;
};

/**
 * struct nets - a list of prefixes without exceptions
 * @is_ip6: they are IPv6
 * @n: how many
 * @net: in no order
 * @n_spans: how many
 * @span: what they come to, ascending and disjoint
 */
struct nets {
	bool is_ip6;
	u32 n;
	struct net *net;
	u32 n_spans;
	struct net_span *span;
};

/* How many in a thousand have one of these lengths, each as many. */
struct net_lengths {
	u8 first;
	u8 last;
	u16 per_mille;
};

/* The share of each length is that of the BGP tables of our days, rounded; with
 * what blocklists have past /24.
 */
static const struct net_lengths lengths_ip4[] = {
	{ 16, 16, 14 }, { 17, 17, 8 },	 { 18, 18, 15 },  { 19, 19, 30 },  { 20, 20, 45 },
	{ 21, 21, 50 }, { 22, 22, 110 }, { 23, 23, 100 }, { 24, 24, 528 }, { 25, 32, 100 },
};

static const struct net_lengths lengths_ip6[] = {
	{ 32, 32, 140 }, { 36, 36, 50 },  { 40, 40, 90 }, { 44, 44, 110 }, { 46, 46, 40 },
	{ 47, 47, 30 },	 { 48, 48, 470 }, { 56, 56, 40 }, { 64, 64, 30 },
};

/* SplitMix64 (Steele, Lea and Flood 2014). */
static u64 next_random(u64 *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return baleen_mix64(*state);
}

static u128 next_random128(u64 *state)
{
	u128 high = next_random(state);

	return high << 64 | next_random(state);
}

static u32 nets_bits(const struct nets *nets)
{
	return nets->is_ip6 ? 128 : 32;
}

/* The addresses of a prefix of this length, less one: its host bits. */
static u128 nets_host_bits(const struct nets *nets, u32 length)
{
	u32 bits = nets_bits(nets) - length;

	return bits == 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

static u128 net_last(const struct nets *nets, const struct net *net)
{
	return net->first | nets_host_bits(nets, net->length);
}

static int compare_span(const void *a, const void *b)
{
	const struct net_span *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sorts the prefixes and unites what overlaps. */
static void nets_unite(struct nets *nets)
{
	struct net_span *span = malloc(nets->n * sizeof(*span));
	u32 n = 0;

	if (!span)
		err(1, "memory");
	for (u32 i = 0; i < nets->n; i++)
		span[i] = (struct net_span){ nets->net[i].first, net_last(nets, &nets->net[i]) };
	qsort(span, nets->n, sizeof(*span), compare_span);
	for (u32 i = 0; i < nets->n; i++) {
		if (!n || span[i].first > span[n - 1].last)
			span[n++] = span[i];
		else if (span[i].last > span[n - 1].last)
			span[n - 1].last = span[i].last;
	}
	nets->span = span;
	nets->n_spans = n;
}

/* Is any of these addresses listed? */
static bool nets_touch(const struct nets *nets, u128 first, u128 last)
{
	u32 low = 0, high = nets->n_spans;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (nets->span[middle].last < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nets->n_spans && nets->span[low].first <= last;
}

static struct nets nets_alloc(bool is_ip6, u32 n)
{
	struct nets nets = { .is_ip6 = is_ip6, .n = n, .net = malloc(n * sizeof(*nets.net)) };

	if (!nets.net)
		err(1, "memory");
	return nets;
}

static u32 draw_length(const struct net_lengths *lengths, u32 random)
{
	u32 at = random % 1000;

	while (at >= lengths->per_mille)
		at -= lengths++->per_mille;
	return lengths->first + (random >> 10) % (lengths->last - lengths->first + 1);
}

/* IPv6: in stems of 2000::/3, four prefixes in each on the average. */
static u128 draw_address(const struct nets *nets, u64 *random)
{
	u128 address = next_random128(random);
	u32 stem = next_random(random) % ((u64)nets->n / 4 + 1);

	if (!nets->is_ip6)
		return (u32)address;
	stem = 0x20000000 | bench_ip4(stem) >> 3;
	return (address & nets_host_bits(nets, 32)) | (u128)stem << 96;
}

/**
 * nets_draw() - random prefixes
 * @is_ip6: they are to be IPv6
 * @n: how many; few of them are drawn twice
 * @lengths: adding up to 1000
 *
 * Return: the list, the same every time.
 */
static struct nets nets_draw(bool is_ip6, u32 n, const struct net_lengths *lengths)
{
	struct nets nets = nets_alloc(is_ip6, n);
	u64 random = n;

	for (u32 i = 0; i < n; i++) {
		u32 length = draw_length(lengths, next_random(&random) >> 32);
		u128 address = draw_address(&nets, &random);

		nets.net[i] = (struct net){ address & ~nets_host_bits(&nets, length), length };
	}
	nets_unite(&nets);
	return nets;
}

/* IPv6: the same, all of them in one /32. */
static struct nets nets_draw_dense(u32 n, const struct net_lengths *lengths)
{
	struct nets nets = nets_alloc(true, n);
	u64 random = n;

	for (u32 i = 0; i < n; i++) {
		u32 length = draw_length(lengths, next_random(&random) >> 32);
		u128 address = next_random128(&random) & nets_host_bits(&nets, 32);

		/* Short ones would cover all the others. */
		if (length < 48)
			length += 16;
		address |= (u128)0x20010db8 << 96;
		nets.net[i] = (struct net){ address & ~nets_host_bits(&nets, length), length };
	}
	nets_unite(&nets);
	return nets;
}

static u128 join(u64 hi, u64 lo)
{
	return (u128)hi << 64 | lo;
}

/* Moves the entries of one family, as they were read. */
static struct nets nets_of_list(const struct baleen_list *list, bool is_ip6)
{
	struct nets nets = nets_alloc(is_ip6, is_ip6 ? list->n_prefix6 + list->n_ip6 :
						       list->n_prefix4 + list->n_ip4);
	struct net *net = nets.net;

	for (size_t i = 0; !is_ip6 && i < list->n_prefix4; i++)
		*net++ = (struct net){ list->prefix4[i].address, list->prefix4[i].length };
	for (size_t i = 0; !is_ip6 && i < list->n_ip4; i++)
		*net++ = (struct net){ list->ip4[i], 32 };
	for (size_t i = 0; is_ip6 && i < list->n_prefix6; i++)
		*net++ = (struct net){ join(list->prefix6[i].hi, list->prefix6[i].lo),
				       list->prefix6[i].length };
	for (size_t i = 0; is_ip6 && i < list->n_ip6; i++)
		*net++ = (struct net){ join(list->ip6[i].hi, list->ip6[i].lo), 128 };
	return nets;
}

/**
 * nets_read() - the prefixes of a file
 * @path: the file; its entries are prefixes of one family, without exceptions
 * @is_ip6: the family
 * @nets: filled in
 *
 * Return: false when there is no such file.
 */
static bool nets_read(const char *path, bool is_ip6, struct nets *nets)
{
	const struct baleen_list_reader reader = {};
	struct baleen_list list = {};
	struct baleen_error error;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (baleen_list_read(&list, fd, path, &reader, &error))
		errx(1, "%s", error.text);
	close(fd);
	*nets = nets_of_list(&list, is_ip6);
	if (list.n_bad || nets->n != list.n_listed)
		errx(1, "%s: not a list of %s prefixes", path, is_ip6 ? "IPv6" : "IPv4");
	baleen_list_free(&list);
	nets_unite(nets);
	return true;
}

static void nets_to_list4(const struct nets *nets, struct baleen_list *list)
{
	list->prefix4 = malloc(nets->n * sizeof(*list->prefix4));
	list->ip4 = malloc(nets->n * sizeof(*list->ip4));
	if (!list->prefix4 || !list->ip4)
		err(1, "memory");
	list->room_prefix4 = list->room_ip4 = nets->n;
	for (u32 i = 0; i < nets->n; i++) {
		const struct net *net = &nets->net[i];

		if (net->length == 32)
			list->ip4[list->n_ip4++] = net->first;
		else
			list->prefix4[list->n_prefix4++] =
				(struct baleen_prefix4){ .address = net->first,
							 .length = net->length };
	}
}

static void nets_to_list6(const struct nets *nets, struct baleen_list *list)
{
	list->prefix6 = malloc(nets->n * sizeof(*list->prefix6));
	list->ip6 = malloc(nets->n * sizeof(*list->ip6));
	if (!list->prefix6 || !list->ip6)
		err(1, "memory");
	list->room_prefix6 = list->room_ip6 = nets->n;
	for (u32 i = 0; i < nets->n; i++) {
		const struct net *net = &nets->net[i];
		u64 hi = net->first >> 64, lo = net->first;

		if (net->length == 128)
			list->ip6[list->n_ip6++] = (struct baleen_ip6){ hi, lo };
		else
			list->prefix6[list->n_prefix6++] = (struct baleen_prefix6){
				.hi = hi, .lo = lo, .length = net->length
			};
	}
}

/* What a command would have made of the same lines. */
static void nets_to_list(const struct nets *nets, struct baleen_list *list)
{
	memset(list, 0, sizeof(*list));
	list->n_listed = nets->n;
	if (nets->is_ip6)
		nets_to_list6(nets, list);
	else
		nets_to_list4(nets, list);
	if (baleen_list_finish(list))
		errx(1, "memory");
}

static void nets_free(struct nets *nets)
{
	free(nets->net);
	free(nets->span);
	*nets = (struct nets){};
}

#endif /* BENCH_NETS_H */
