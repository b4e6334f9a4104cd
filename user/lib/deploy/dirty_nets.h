/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prefixes whose rows were changed: what the table of recent changes of a live rule is to
 * say of them.
 *
 *      rows of the rule --plan--> put, drop ---> table of recent changes (recent.h)
 *                                                |  says nothing of an address
 *                                                v
 *                                              image, as it was built
 *
 * What stays true, for each prefix in the table: its answer is what the rows say of it;
 * no row inside it says otherwise without being in the table itself; and when it is
 * fresh, what is below is right without the rows of this prefix. So a prefix that was
 * added since the image was built can just go. Another one, that the image was built
 * with, is hidden as rowless, where no feed may hold part of it. What would need more
 * than that is built anew.
 */
#ifndef BALEEN_DIRTY_NETS_H
#define BALEEN_DIRTY_NETS_H

#include <baleen/recent.h>

#include "deploy/derive.h"

/**
 * struct baleen_dirty_net - a prefix on its way
 * @span: its addresses
 * @net: the same
 * @is_new: no row had it before
 * @stays: the table says something of it
 * @flags: what, as baleen_recent_put()
 *
 * The first three are given.
 */
struct baleen_dirty_net {
	struct baleen_span span;
	struct baleen_recent_net net;
	bool is_new;
	bool stays;
	u32 flags;
};

/**
 * struct baleen_dirty_nets - those of a change
 * @state: opened, with a transaction
 * @rule: rule of the state
 * @now_ms: single entries that have ended by then take no part
 * @has_feeds: the rule has feeds
 * @protected: keys that are withheld from the rule
 * @filter: writable view of the live filter
 * @error: the caller's
 * @net: the prefixes
 * @n: how many
 * @host: IPv4 hosts that the image has, and of which prefixes around them say otherwise
 * @n_hosts: how many
 */
struct baleen_dirty_nets {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	u64 now_ms;
	bool has_feeds;
	const struct baleen_protected_set *protected;
	struct baleen_filter *filter;
	struct baleen_error *error;
	struct baleen_dirty_net *net;
	size_t n;
	struct baleen_dirty_net *host;
	size_t n_hosts;
};

/**
 * baleen_dirty_nets_add() - add the prefix of a row
 * @nets: to be freed by baleen_dirty_nets_free()
 * @span: the prefix
 * @is_new: no row had it before
 *
 * Return: 0; -ENOMEM; -EAGAIN for a range.
 */
int baleen_dirty_nets_add(struct baleen_dirty_nets *nets, const struct baleen_span *span,
			  bool is_new);

/**
 * baleen_dirty_nets_free() - free the prefixes
 * @nets: all zeros, or added to
 */
void baleen_dirty_nets_free(struct baleen_dirty_nets *nets);

/**
 * baleen_dirty_nets_plan() - what becomes of each
 * @nets: all is given; sorted
 *
 * Return: 0; -EAGAIN when the image is to be built anew; a negative errno.
 */
int baleen_dirty_nets_plan(struct baleen_dirty_nets *nets);

/**
 * baleen_dirty_nets_decide() - what rows say of a host or key in the image
 * @nets: planned; an IPv4 host of which the table would say otherwise is added
 * @key: the host or key
 * @decision: what the rows say that are not in the table
 *
 * Return: 0 or a negative errno.
 */
int baleen_dirty_nets_decide(struct baleen_dirty_nets *nets, const struct baleen_key *key,
			     enum baleen_decision *decision);

/**
 * baleen_dirty_nets_put() - let the table say what it is to say
 * @nets: planned
 *
 * Hosts come into the image before, and leave it afterwards: so no key is missing for a
 * moment that the rule has before and after.
 *
 * Return: 0; -ENOSPC when it has no room: the image is to be built anew.
 */
int baleen_dirty_nets_put(struct baleen_dirty_nets *nets);

/**
 * baleen_dirty_nets_drop() - let it say nothing of the others
 * @nets: put
 */
void baleen_dirty_nets_drop(struct baleen_dirty_nets *nets);

#endif /* BALEEN_DIRTY_NETS_H */
