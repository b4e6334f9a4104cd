// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * IPv4 entries of a list as disjoint intervals and hosts.
 *
 * One sweep over the prefixes in the order of their addresses. The prefixes
 * that cover the address it is at lie on a stack, the longest on top, and that
 * one decides:
 *
 *      10.0.0.0/8    in    ------------------------------------
 *      !10.1.0.0/16  out             ---------------
 *      10.1.2.0/24   in                   ----
 *      the set             ---------      ----      -----------
 */
#include <stdlib.h>

#include "list/list_set.h"

#define ALL_IP4 (1ull << 32)

struct open_prefix {
	u64 end; /* behind its last address */
	bool is_in;
};

struct sweep {
	struct baleen_set4 set;
	u64 next; /* the first address that is not decided */
	u32 depth;
	struct open_prefix open[33]; /* one of each length */
};

static bool sweep_is_in(const struct sweep *sweep)
{
	return sweep->depth && sweep->open[sweep->depth - 1].is_in;
}

/* Each interval ends before a prefix begins or where one ends; @net4 has room
 * for one per prefix, since each begins at a prefix or behind an exception.
 */
static void sweep_to(struct sweep *sweep, u64 end)
{
	struct baleen_set4 *set = &sweep->set;
	struct baleen_net4 net = { sweep->next, end - 1 };

	if (sweep->next >= end)
		return;
	sweep->next = end;
	if (!sweep_is_in(sweep))
		return;
	if (set->n_net4 && set->net4[set->n_net4 - 1].last + 1ull == net.first)
		set->net4[set->n_net4 - 1].last = net.last;
	else
		set->net4[set->n_net4++] = net;
}

/* Prefixes that end before @end are done. */
static void sweep_close(struct sweep *sweep, u64 end)
{
	while (sweep->depth && sweep->open[sweep->depth - 1].end <= end) {
		sweep_to(sweep, sweep->open[sweep->depth - 1].end);
		sweep->depth--;
	}
	sweep_to(sweep, end);
}

static bool is_same(const struct baleen_prefix4 *a, const struct baleen_prefix4 *b)
{
	return a->address == b->address && a->length == b->length;
}

/* When a prefix is listed twice the first decides: exceptions come first. */
static void sweep_all(struct sweep *sweep, const struct baleen_prefix4 *prefix, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool is_in = !prefix[i].is_exception;

		if (i && is_same(&prefix[i - 1], &prefix[i])) {
			sweep->set.n_covered++;
			continue;
		}
		sweep_close(sweep, prefix[i].address);
		sweep->set.n_covered += is_in == sweep_is_in(sweep);
		sweep->open[sweep->depth++] = (struct open_prefix){
			.end = prefix[i].address + (ALL_IP4 >> prefix[i].length),
			.is_in = is_in,
		};
	}
	sweep_close(sweep, ALL_IP4);
}

static int reserve_ip4(struct baleen_list *list, size_t more)
{
	size_t want = list->n_ip4 + more;
	u32 *ip4;

	if (want <= list->room_ip4)
		return 0;
	ip4 = reallocarray(list->ip4, want, sizeof(*ip4));
	if (!ip4)
		return -ENOMEM;
	list->ip4 = ip4;
	list->room_ip4 = want;
	return 0;
}

int baleen_set4_make(struct baleen_list *list, struct baleen_set4 *set)
{
	struct sweep sweep = { .depth = 0 };
	int err;

	*set = sweep.set;
	if (!list->n_prefix4)
		return 0;
	sweep.set.net4 = reallocarray(NULL, list->n_prefix4, sizeof(*sweep.set.net4));
	if (!sweep.set.net4)
		return -ENOMEM;
	sweep_all(&sweep, list->prefix4, list->n_prefix4);
	for (size_t i = 0; i < sweep.set.n_net4; i++)
		sweep.set.n_hosts += sweep.set.net4[i].first == sweep.set.net4[i].last;
	err = reserve_ip4(list, sweep.set.n_hosts);
	if (err)
		free(sweep.set.net4);
	else
		*set = sweep.set;
	return err;
}

/* Hosts that no interval holds and no exception of their own takes out. */
static void keep_hosts(struct baleen_list *list, const struct baleen_set4 *set)
{
	const struct baleen_prefix4 *prefix = list->prefix4;
	const struct baleen_net4 *net = set->net4;
	size_t kept = 0, p = 0, i = 0;

	for (size_t at = 0; at < list->n_ip4; at++) {
		u32 host = list->ip4[at];

		while (i < set->n_net4 && net[i].last < host)
			i++;
		while (p < list->n_prefix4 &&
		       (prefix[p].address < host ||
			(prefix[p].address == host && prefix[p].length < 32)))
			p++;
		if ((kept && list->ip4[kept - 1] == host) ||
		    (i < set->n_net4 && net[i].first <= host) ||
		    (p < list->n_prefix4 && prefix[p].address == host && prefix[p].is_exception))
			continue;
		list->ip4[kept++] = host;
	}
	list->n_covered += list->n_ip4 - kept;
	list->n_ip4 = kept;
}

/* Intervals of one address become hosts: merged in from the back. */
static void move_hosts(struct baleen_list *list, struct baleen_set4 *set)
{
	size_t hosts = list->n_ip4, at = hosts + set->n_hosts, kept = 0;

	for (size_t i = set->n_net4; i--;) {
		u32 host = set->net4[i].first;

		if (host != set->net4[i].last)
			continue;
		while (hosts && list->ip4[hosts - 1] > host)
			list->ip4[--at] = list->ip4[--hosts];
		list->ip4[--at] = host;
	}
	for (size_t i = 0; i < set->n_net4; i++)
		if (set->net4[i].first != set->net4[i].last)
			set->net4[kept++] = set->net4[i];
	list->n_ip4 += set->n_hosts;
	set->n_net4 = kept;
}

void baleen_set4_commit(struct baleen_list *list, struct baleen_set4 *set)
{
	keep_hosts(list, set);
	move_hosts(list, set);
	free(list->net4);
	list->net4 = set->net4;
	list->n_net4 = set->n_net4;
	list->room_net4 = list->n_prefix4;
	list->n_covered += set->n_covered;
	free(list->prefix4);
	list->prefix4 = NULL;
	list->n_prefix4 = list->room_prefix4 = 0;
}
