// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prefixes whose rows were changed: what the table of recent changes is to say of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/dirty_nets.h"
#include "filter/recent.h"
#include "list/list_algebra.h"
#include "util/array.h"

/* --- prefixes -------------------------------------------------------------- */

static struct baleen_recent_net net_of(const struct baleen_span *span, u32 length)
{
	if (span->is_ip6)
		return baleen_recent_net(span->first.hi, span->first.lo, length, true);
	return baleen_recent_net(span->first.lo << 32, 0, length, false);
}

/* The address in the halves of a prefix of its length. */
static struct baleen_key first_of(const struct baleen_recent_net *net)
{
	if (net->is_ip6)
		return (struct baleen_key){ .domain = BALEEN_IP6, .hi = net->hi, .lo = net->lo };
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = net->hi >> 32 };
}

/* Return: -EAGAIN for a range. */
static int net_of_span(const struct baleen_span *span, struct baleen_recent_net *net)
{
	struct baleen_span rest = *span, prefix;
	u32 length = baleen_span_split(&rest, &prefix);

	if (baleen_ip6_compare(prefix.last, span->last))
		return -EAGAIN;
	*net = net_of(span, length);
	return 0;
}

int baleen_dirty_nets_add(struct baleen_dirty_nets *nets, const struct baleen_span *span,
			  bool is_new)
{
	struct baleen_dirty_net dirty = { .span = *span, .is_new = is_new };
	int err = net_of_span(span, &dirty.net);

	if (err)
		return err;
	if (baleen_array_add(&nets->net, nets->n))
		return baleen_no_memory(nets->error);
	nets->net[nets->n++] = dirty;
	return 0;
}

void baleen_dirty_nets_free(struct baleen_dirty_nets *nets)
{
	free(nets->net);
	free(nets->host);
	nets->net = nets->host = NULL;
	nets->n = nets->n_hosts = 0;
}

/* The longest first. */
static int compare(const void *a, const void *b)
{
	const struct baleen_recent_net *x = &((const struct baleen_dirty_net *)a)->net;
	const struct baleen_recent_net *y = &((const struct baleen_dirty_net *)b)->net;

	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	if (x->is_ip6 != y->is_ip6)
		return x->is_ip6 - y->is_ip6;
	return baleen_ip6_compare((struct baleen_ip6){ x->hi, x->lo },
				  (struct baleen_ip6){ y->hi, y->lo });
}

static void sort(struct baleen_dirty_nets *nets)
{
	size_t n = 0;

	if (nets->n)
		qsort(nets->net, nets->n, sizeof(*nets->net), compare);
	for (size_t i = 0; i < nets->n; i++) {
		if (n && !compare(&nets->net[n - 1], &nets->net[i]))
			nets->net[n - 1].is_new &= nets->net[i].is_new;
		else
			nets->net[n++] = nets->net[i];
	}
	nets->n = n;
}

/* The flags of a prefix in the table afterwards; 0: it has no place there. */
static u32 flags_after(const struct baleen_dirty_nets *nets, const struct baleen_recent_net *net)
{
	struct baleen_dirty_net asked = { .net = *net };
	const struct baleen_dirty_net *dirty =
		nets->n ? bsearch(&asked, nets->net, nets->n, sizeof(*nets->net), compare) : NULL;

	if (!dirty)
		return baleen_recent_get(nets->filter, net);
	return dirty->stays ? dirty->flags | (net->length + 1u) : 0;
}

/* --- rows ------------------------------------------------------------------ */

/**
 * struct rows - what rows say of a prefix
 * @dirty: the prefix
 * @now_ms: those that have ended by then say nothing
 * @n_own: rows of just this prefix, ended or not
 * @has_own: one of them is in force
 * @decision: what the longest row around it says
 * @has_left: that is an exception of bans, and left to feeds
 */
struct rows {
	const struct baleen_dirty_net *dirty;
	u64 now_ms;
	u32 n_own;
	bool has_own;
	enum baleen_decision decision;
	bool has_left;
};

static bool span_of(const struct baleen_rule_entry *entry, struct baleen_span *span)
{
	*span = entry->key.span;
	return baleen_entry_key_is_addresses(&entry->key);
}

static int look_at_row(const struct baleen_rule_entry *entry, void *data)
{
	struct rows *rows = data;
	const struct baleen_span *own = &rows->dirty->span;
	struct baleen_span span;
	int first, last;

	if (!span_of(entry, &span))
		return 0;
	first = baleen_ip6_compare(span.first, own->first);
	last = baleen_ip6_compare(span.last, own->last);
	if (first > 0 || last < 0)
		return 0;
	rows->n_own += !first && !last;
	if (entry->expires_ms && entry->expires_ms <= rows->now_ms)
		return 0;
	rows->has_own |= !first && !last;
	rows->decision = baleen_decision_with(rows->decision, entry);
	rows->has_left |= rows->decision == BALEEN_LEFT_TO_FEEDS;
	return 0;
}

static int look_at_rows(const struct baleen_dirty_nets *nets, const struct baleen_dirty_net *dirty,
			struct rows *rows)
{
	struct baleen_key key = first_of(&dirty->net);
	int err;

	*rows = (struct rows){ .dirty = dirty, .now_ms = nets->now_ms };
	err = baleen_rule_entries_find(nets->state, nets->rule->name, &key, 0, look_at_row, rows,
				       nets->error);
	rows->decision = baleen_decision_of_all(rows->decision);
	return err;
}

/* --- plan ------------------------------------------------------------------ */

/* Prefixes that hide what the image was built with: what they say hangs on others. */
struct rowless {
	struct baleen_recent_net *net;
	size_t n;
};

static int collect_rowless(const struct baleen_recent_net *net, u32 flags, void *data)
{
	struct rowless *rowless = data;

	if (!(flags & BALEEN_RECENT_ROWLESS))
		return 0;
	if (baleen_array_add(&rowless->net, rowless->n))
		return -ENOMEM;
	rowless->net[rowless->n++] = *net;
	return 0;
}

static bool has_inside(const struct rowless *rowless, const struct baleen_recent_net *net)
{
	for (size_t i = 0; i < rowless->n; i++) {
		const struct baleen_recent_net *inner = &rowless->net[i];
		struct baleen_recent_net outer =
			baleen_recent_net(inner->hi, inner->lo, net->length, inner->is_ip6);

		if (inner->length > net->length && inner->is_ip6 == net->is_ip6 &&
		    outer.hi == net->hi && outer.lo == net->lo)
			return true;
	}
	return false;
}

/* Where an exception goes, a prefix around it comes to light, also above exceptions inside it,
 * which had nothing to say before.
 */
static int look_inside(const struct baleen_dirty_nets *nets, const struct baleen_dirty_net *dirty,
		       u32 before)
{
	bool has_exceptions = false;
	int err = 0;

	if (!(before & BALEEN_RECENT_IN))
		err = baleen_rule_entries_disagree(nets->state, nets->rule->name, &dirty->span,
						   true, nets->now_ms, &has_exceptions,
						   nets->error);
	return !err && has_exceptions ? -EAGAIN : err;
}

static int plan_one(const struct baleen_dirty_nets *nets, const struct rowless *rowless,
		    struct baleen_dirty_net *dirty)
{
	u32 before = baleen_recent_get(nets->filter, &dirty->net);
	bool is_fresh, is_in, disagrees;
	struct rows rows;
	int err;

	if (!baleen_recent_supports(nets->filter, dirty->net.is_ip6) ||
	    has_inside(rowless, &dirty->net))
		return -EAGAIN;
	err = look_at_rows(nets, dirty, &rows);
	if (err)
		return err;
	dirty->stays = rows.has_own || !(before & BALEEN_RECENT_FRESH);
	if (!dirty->stays)
		return look_inside(nets, dirty, before);
	if ((rows.has_left || rows.decision == BALEEN_UNDECIDED) && nets->has_feeds)
		return -EAGAIN;
	is_in = rows.decision == BALEEN_DECIDED_IN;
	is_fresh = before ? before & BALEEN_RECENT_FRESH : dirty->is_new && rows.n_own == 1;
	dirty->flags = (is_in ? BALEEN_RECENT_IN : 0) | (is_fresh ? BALEEN_RECENT_FRESH : 0) |
		       (rows.has_own ? 0 : BALEEN_RECENT_ROWLESS);
	err = baleen_rule_entries_disagree(nets->state, nets->rule->name, &dirty->span, is_in,
					   nets->now_ms, &disagrees, nets->error);
	return !err && disagrees ? -EAGAIN : err;
}

/* Where part of a prefix is withheld, more than the prefix is to be said. */
static int check_protected(const struct baleen_dirty_nets *nets)
{
	struct baleen_list set = { .key_spec = nets->rule->key_spec };
	struct baleen_protected ignored;
	u64 n = 0;
	int err = 0;

	for (size_t i = 0; i < nets->n && !err; i++)
		err = baleen_recent_list(&set, &nets->net[i].net, false);
	if (!err)
		err = baleen_list_finish(&set);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err && !n; role++)
		if (!baleen_list_is_empty(&nets->protected->set[role]))
			err = baleen_protected_meets(nets->protected, role, &set, &n, &ignored);
	baleen_list_free(&set);
	if (err)
		return baleen_no_memory(nets->error);
	return n ? -EAGAIN : 0;
}

int baleen_dirty_nets_plan(struct baleen_dirty_nets *nets)
{
	struct rowless rowless = { 0 };
	int err;

	if (!nets->n)
		return 0;
	sort(nets);
	err = check_protected(nets);
	if (!err && baleen_recent_each(nets->filter, collect_rowless, &rowless))
		err = baleen_no_memory(nets->error);
	for (size_t i = 0; i < nets->n && !err; i++)
		err = plan_one(nets, &rowless, &nets->net[i]);
	free(rowless.net);
	return err;
}

/* --- hosts ----------------------------------------------------------------- */

/* The flags of the narrowest prefix around a host afterwards; 0: there is none. */
static u32 cover(const struct baleen_dirty_nets *nets, u32 ip4)
{
	u32 flags = 0;

	for (int length = 31; length >= 0 && !flags; length--) {
		struct baleen_recent_net net = baleen_recent_net((u64)ip4 << 32, 0, length, false);

		flags = flags_after(nets, &net);
	}
	return flags;
}

/* The table says something of the host itself while prefixes around it say otherwise. */
static int settle_host(struct baleen_dirty_nets *nets, const struct baleen_key *key, u32 around,
		       bool is_in)
{
	struct baleen_dirty_net host = {
		.net = baleen_recent_net((u64)key->ip4 << 32, 0, 32, false),
		.stays = around && is_in != !!(around & BALEEN_RECENT_IN),
		.flags = is_in ? BALEEN_RECENT_IN : 0,
	};

	if (!host.stays && !baleen_recent_get(nets->filter, &host.net))
		return 0;
	if (baleen_array_add(&nets->host, nets->n_hosts))
		return baleen_no_memory(nets->error);
	nets->host[nets->n_hosts++] = host;
	return 0;
}

/**
 * struct host - what rows say of a host
 * @nets: prefixes of the change
 * @decision: what they say
 * @below: what those say that the image has
 */
struct host {
	const struct baleen_dirty_nets *nets;
	enum baleen_decision decision;
	enum baleen_decision below;
};

static int look_below(const struct baleen_rule_entry *entry, void *data)
{
	struct host *host = data;
	struct baleen_recent_net net;
	struct baleen_span span;

	host->decision = baleen_decision_with(host->decision, entry);
	if (!span_of(entry, &span) || net_of_span(&span, &net) ||
	    !(flags_after(host->nets, &net) & BALEEN_RECENT_FRESH))
		host->below = baleen_decision_with(host->below, entry);
	return 0;
}

int baleen_dirty_nets_decide(struct baleen_dirty_nets *nets, const struct baleen_key *key,
			     enum baleen_decision *decision)
{
	struct host host = { .nets = nets };
	u32 around;
	int err;

	if (key->domain != BALEEN_IP4 || (!nets->n && baleen_recent_is_empty(nets->filter)))
		return baleen_derive_decides(nets->state, nets->rule, key, nets->now_ms, decision,
					     nets->error);
	around = cover(nets, key->ip4);
	err = baleen_rule_entries_find(nets->state, nets->rule->name, key, nets->now_ms, look_below,
				       &host, nets->error);
	if (err < 0)
		return err;
	/* Prefixes around it that are not in the image would hide what feeds say of it. */
	if (around && host.decision == BALEEN_LEFT_TO_FEEDS && nets->has_feeds)
		return -EAGAIN;
	*decision = baleen_decision_of_all(host.below);
	return settle_host(nets, key, around, host.decision == BALEEN_DECIDED_IN);
}

/* --- the table ------------------------------------------------------------- */

static int put(struct baleen_dirty_nets *nets, const struct baleen_dirty_net *dirty, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (dirty[i].stays)
			err = baleen_recent_put(nets->filter, &dirty[i].net, dirty[i].flags);
	return err;
}

int baleen_dirty_nets_put(struct baleen_dirty_nets *nets)
{
	int err = put(nets, nets->host, nets->n_hosts);

	return err ? err : put(nets, nets->net, nets->n);
}

/* Backwards: the shortest first, so that what is below comes to light but once. */
static bool drop(struct baleen_dirty_nets *nets, const struct baleen_dirty_net *dirty, size_t n)
{
	bool any = false;

	while (n--) {
		if (dirty[n].stays)
			continue;
		baleen_recent_drop(nets->filter, &dirty[n].net);
		any = true;
	}
	return any;
}

void baleen_dirty_nets_drop(struct baleen_dirty_nets *nets)
{
	bool any = drop(nets, nets->net, nets->n);

	any |= drop(nets, nets->host, nets->n_hosts);
	if (any)
		baleen_recent_tidy(nets->filter);
}
