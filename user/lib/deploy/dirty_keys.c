// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys whose rows were changed: what becomes of them in the map. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/deploy_step.h"
#include "deploy/dirty_keys.h"
#include "deploy/dirty_nets.h"
#include "deploy/gate_live.h"
#include "filter/plan.h"
#include "filter/recent.h"
#include "list/list_algebra.h"
#include "ops/change.h"
#include "util/array.h"

/* Keys that are looked for in feeds one by one: to read a million lines for one of
 * them takes 0.08 s, to derive the filter anew and put it on 0.55 s.
 */
#define MAX_SOUGHT 6

/* A key in place takes 12 us; a filter of 170,000 single entries is derived anew in 0.1 s, one with
 * a million lines in 0.55 s.
 */
#define MANY 20000
#define LINES_A_KEY 20

static const struct baleen_stored_rule *rule_of(const struct baleen_dirty_keys *dirty)
{
	return &dirty->rules->rule[dirty->index];
}

int baleen_dirty_keys_add(struct baleen_dirty_keys *dirty, const struct baleen_rule_entry *entry,
			  bool is_new)
{
	int err;

	if (!baleen_spec_is_address(rule_of(dirty)->key_spec)) {
		dirty->fields.key_spec = rule_of(dirty)->key_spec;
		err = baleen_entry_key_add(&entry->key, false, &dirty->fields);
		return err ? baleen_fail(dirty->error, -err, "a key of an entry: %s",
					 strerror(-err)) :
			     0;
	}
	if (baleen_array_add(&dirty->span, dirty->n))
		return baleen_no_memory(dirty->error);
	dirty->span[dirty->n++] = (struct baleen_dirty_span){ entry->key.span, is_new };
	return 0;
}

void baleen_dirty_keys_end(struct baleen_dirty_keys *dirty)
{
	free(dirty->span);
	dirty->span = NULL;
	dirty->n = 0;
	baleen_list_free(&dirty->fields);
}

/* --- what changes in the map ----------------------------------------------- */

/**
 * struct moves - what comes into the map and goes out of it
 * @filter: the map
 * @in: hosts and keys that are to be in it
 * @out: those that are not
 * @nets: prefixes, and IPv6 addresses that are kept like these
 * @stored: keys that are withheld from the rule
 * @has_feeds: the rule has feeds
 * @n_sought: keys that were looked for in these
 */
struct moves {
	struct baleen_filter *filter;
	struct baleen_list in;
	struct baleen_list out;
	struct baleen_dirty_nets nets;
	struct baleen_protected_set stored;
	bool has_feeds;
	u32 n_sought;
};

static void append(struct baleen_list *list, const struct baleen_key *key)
{
	switch (key->domain) {
	case BALEEN_IP4: list->ip4[list->n_ip4++] = key->ip4; break;
	case BALEEN_IP6: list->ip6[list->n_ip6++] = (struct baleen_ip6){ key->hi, key->lo }; break;
	default: list->key[list->n_key++] = *key; break;
	}
}

static int make_room(struct baleen_list *list, const struct baleen_list *like)
{
	list->key_spec = like->key_spec;
	list->ip4 = calloc(like->n_ip4 + 1, sizeof(*list->ip4));
	list->ip6 = calloc(like->n_ip6 + 1, sizeof(*list->ip6));
	list->key = calloc(like->n_key + 1, sizeof(*list->key));
	return list->ip4 && list->ip6 && list->key ? 0 : -ENOMEM;
}

static void free_moves(struct moves *moves)
{
	baleen_list_free(&moves->in);
	baleen_list_free(&moves->out);
	baleen_dirty_nets_free(&moves->nets);
	baleen_protected_free(&moves->stored);
}

static int stop(const struct baleen_feed *feed, void *data)
{
	return 1;
}

static int start_moves(struct baleen_dirty_keys *dirty, struct moves *moves)
{
	const struct baleen_stored_rule *rule = rule_of(dirty);
	int err = 0;

	if (baleen_protected_applies(rule))
		err = baleen_protected_load(&dirty->deploy->state, &moves->stored, dirty->error);
	if (!err)
		err = baleen_feeds_each(&dirty->deploy->state, rule->name, stop, NULL,
					dirty->error);
	moves->has_feeds = err == 1;
	moves->nets = (struct baleen_dirty_nets){
		.state = &dirty->deploy->state,
		.rule = rule,
		.now_ms = dirty->now_ms,
		.has_feeds = moves->has_feeds,
		.protected = &moves->stored,
		.filter = moves->filter,
		.error = dirty->error,
	};
	return err < 0 ? err : 0;
}

static bool is_protected(const struct baleen_dirty_keys *dirty, const struct moves *moves,
			 const struct baleen_key *key)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++)
		if (baleen_protected_of_entry(rule_of(dirty), 0, role) &&
		    baleen_list_has(&moves->stored.set[role], key))
			return true;
	return false;
}

static int does_yield(const struct baleen_rule_entry *entry, void *data)
{
	return entry->yields && !entry->is_exception;
}

/* Return: 1 when an entry may have to yield to the key; 0; a negative errno. */
static int may_yield(const struct baleen_dirty_keys *dirty, const struct moves *moves,
		     const struct baleen_key *key)
{
	if (!baleen_list_has(&moves->stored.set[BALEEN_PROTECTED_HOST], key) &&
	    !baleen_list_has(&moves->stored.set[BALEEN_PROTECTED_PEER], key))
		return 0;
	return baleen_rule_entries_find(&dirty->deploy->state, rule_of(dirty)->name, key,
					dirty->now_ms, does_yield, NULL, dirty->error);
}

/* Return: -EAGAIN when it is cheaper to derive all anew. */
static int move(struct baleen_dirty_keys *dirty, const struct baleen_key *key, struct moves *moves)
{
	const struct baleen_rule_store *state = &dirty->deploy->state;
	enum baleen_decision decision;
	bool holds = false;
	int err = may_yield(dirty, moves, key);

	if (err)
		return err < 0 ? err : -EAGAIN;
	err = baleen_dirty_nets_decide(&moves->nets, key, &decision);
	if (err)
		return err;
	if (decision == BALEEN_DECIDED_IN) {
		holds = !is_protected(dirty, moves, key);
	} else if (decision == BALEEN_UNDECIDED && moves->has_feeds) {
		if (moves->n_sought++ == MAX_SOUGHT)
			return -EAGAIN;
		err = baleen_derive_settle(state, rule_of(dirty), key, decision, &holds,
					   dirty->error);
	}
	if (!err)
		append(holds ? &moves->in : &moves->out, key);
	return err;
}

static int move_all(struct baleen_dirty_keys *dirty, const struct baleen_list *keys,
		    struct moves *moves)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };
	int err = 0;

	if (make_room(&moves->in, keys) || make_room(&moves->out, keys))
		return baleen_no_memory(dirty->error);

	for (size_t i = 0; i < keys->n_ip4 && !err; i++) {
		key.ip4 = keys->ip4[i];
		err = move(dirty, &key, moves);
	}
	key = (struct baleen_key){ .domain = BALEEN_IP6 };
	for (size_t i = 0; i < keys->n_ip6 && !err; i++) {
		key.hi = keys->ip6[i].hi;
		key.lo = keys->ip6[i].lo;
		err = move(dirty, &key, moves);
	}
	for (size_t i = 0; i < keys->n_key && !err; i++)
		err = move(dirty, &keys->key[i], moves);
	return err;
}

/* --- the map --------------------------------------------------------------- */

/* The rule on the device, or a negative number. */
static int live_index(const struct baleen_dirty_keys *dirty)
{
	return dirty->deploy->has_xdp ?
		       baleen_xdp_rule_index(&dirty->deploy->xdp, rule_of(dirty)->name) :
		       -ENOENT;
}

/* Is it that a table was full? Where there are prefixes, no room would help. */
static bool is_for_room(const struct baleen_filter *filter, const struct moves *moves, int err)
{
	return err == -ENOSPC && (moves->in.n_ip4 || moves->in.n_key ||
				  (moves->in.n_ip6 && !filter->image.table[BALEEN_IP6_STEMS].kind));
}

/* Can keys come and go in place, whether they were there or not? A Bloom table's
 * rate would go up with each key, unseen; one that counts would count those that
 * are there already; a quotient table cannot.
 */
static bool is_set(const struct baleen_filter *filter)
{
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &filter->image.table[domain];

		if (table->kind != BALEEN_KIND_NONE &&
		    (table->kind != BALEEN_KIND_CUCKOO || !baleen_table_changes_live(table)))
			return false;
	}
	return !(filter->image.flags & BALEEN_FLAG_COPIES);
}

static u64 n_in(const struct moves *moves, u32 domain)
{
	switch (domain) {
	case BALEEN_IP4: return moves->in.n_ip4;
	case BALEEN_IP6: return moves->in.n_ip6;
	default: return moves->in.n_key;
	}
}

/* Narrow slots err more often the fuller they are. Keys that are there already are counted twice:
 * then it is built larger a little early.
 */
static bool errs_too_often(const struct moves *moves, double accepted)
{
	const struct baleen_image *image = &moves->filter->image;

	if (!baleen_filter_may_exceed(image, accepted))
		return false;
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		u64 n = n_in(moves, domain);

		if (n && image->table[domain].kind && !baleen_table_is_exact(image, domain) &&
		    baleen_table_fpp(image, domain, baleen_filter_used(moves->filter, domain) + n) >
			    accepted)
			return true;
	}
	return false;
}

/* A key of both the old and the new set is never missing.
 * Return: as baleen_change_in_place(). @is_full: room would help
 */
static int change_map(struct moves *moves, bool *is_full)
{
	u64 ignored;
	int err = baleen_change_in_place(moves->filter, &moves->in, BALEEN_SET_UNION, &ignored);

	*is_full = is_for_room(moves->filter, moves, err);
	if (!err)
		err = baleen_dirty_nets_put(&moves->nets);
	if (!err)
		err = baleen_change_in_place(moves->filter, &moves->out, BALEEN_SET_DIFFERENCE,
					     &ignored);
	if (!err)
		baleen_dirty_nets_drop(&moves->nets);
	return err;
}

/* --- the keys that rows named ---------------------------------------------- */

/* Hosts that the image has a table for go there. */
static int sort_addresses(struct moves *moves, const struct baleen_dirty_span *dirty,
			  struct baleen_list *hosts)
{
	const struct baleen_span *span = &dirty->span;

	if (baleen_ip6_compare(span->first, span->last) ||
	    (span->is_ip6 && baleen_recent_supports(moves->filter, true)))
		return baleen_dirty_nets_add(&moves->nets, span, dirty->is_new);
	if (span->is_ip6 ? baleen_list_add_ip6(hosts, span->first) :
			   baleen_list_add_ip4(hosts, span->first.lo))
		return baleen_no_memory(moves->nets.error);
	return 0;
}

/* @keys: hosts, or keys of several fields */
static int sort_keys(const struct baleen_dirty_keys *dirty, struct moves *moves,
		     struct baleen_list *keys)
{
	int err = baleen_list_append_all(keys, &dirty->fields);

	for (size_t i = 0; i < dirty->n && !err; i++)
		err = sort_addresses(moves, &dirty->span[i], keys);
	if (!err)
		err = baleen_list_finish(keys);
	return err == -ENOMEM ? baleen_no_memory(dirty->error) : err;
}

/* Return: -EAGAIN, -ENOSPC or -EOPNOTSUPP when it takes more than that. */
static int agree_in_place(struct baleen_dirty_keys *dirty, bool *is_full)
{
	struct baleen_list keys = { .key_spec = rule_of(dirty)->key_spec };
	struct moves moves = { 0 };
	int err = baleen_xdp_live_rule(&dirty->deploy->xdp, live_index(dirty), &moves.filter,
				       dirty->error);

	*is_full = false;
	if (err)
		return err;
	err = is_set(moves.filter) ? start_moves(dirty, &moves) : -EOPNOTSUPP;
	if (!err)
		err = sort_keys(dirty, &moves, &keys);
	if (!err)
		err = baleen_dirty_nets_plan(&moves.nets);
	if (!err)
		err = move_all(dirty, &keys, &moves);
	if (!err && errs_too_often(&moves, baleen_gate_accepts(rule_of(dirty)))) {
		*is_full = true;
		err = -ENOSPC;
	}
	if (!err)
		err = change_map(&moves, is_full);
	baleen_list_free(&keys);
	free_moves(&moves);
	return err;
}

/* The filter is the same without a date: one that cannot be written is left out. */
static void note_times(struct baleen_deploy *deploy, const struct baleen_deploy_step *step)
{
	if (baleen_rule_store_begin(&deploy->state, NULL))
		return;
	if (baleen_deploy_note_times(deploy, step, NULL))
		baleen_rule_store_rollback(&deploy->state);
	else
		baleen_rule_store_commit(&deploy->state, NULL);
}

static int agree_anew(struct baleen_dirty_keys *dirty, bool is_roomy)
{
	struct baleen_deploy_plan plan = { .rules = *dirty->rules };
	struct baleen_deploy_step step = { .plan = &plan,
					   .now_ms = dirty->now_ms,
					   .is_roomy = is_roomy };
	int err;

	if (dirty->rebuild)
		memcpy(plan.rebuild, dirty->rebuild, sizeof(plan.rebuild));
	plan.rebuild[dirty->index] = true;
	err = baleen_deploy_prepare(dirty->deploy, &step, dirty->error);
	if (!err)
		err = baleen_deploy_switch(dirty->deploy, &step, dirty->error);
	if (!err)
		note_times(dirty->deploy, &step);
	baleen_deploy_step_free(&step);
	return err;
}

static int add_lines(const struct baleen_feed *feed, void *data)
{
	*(u64 *)data += feed->n_entries;
	return 0;
}

/* To derive anew reads all lists. */
static bool is_cheaper_anew(const struct baleen_dirty_keys *dirty)
{
	u64 n_lines = 0;

	return dirty->n > MANY &&
	       !baleen_feeds_each(&dirty->deploy->state, rule_of(dirty)->name, add_lines, &n_lines,
				  NULL) &&
	       dirty->n * LINES_A_KEY > n_lines;
}

/* Makes the map what the rows say. */
int baleen_dirty_keys_agree(struct baleen_dirty_keys *dirty, bool is_atomic, bool *in_place)
{
	bool is_full = false;
	int err;

	*in_place = true;
	if (rule_of(dirty)->is_any || live_index(dirty) < 0)
		return 0;
	if (!is_atomic && is_cheaper_anew(dirty) && !agree_anew(dirty, false)) {
		*in_place = false;
		return 0;
	}
	err = is_atomic ? -EAGAIN : agree_in_place(dirty, &is_full);
	if (err == -EAGAIN || err == -ENOSPC || err == -EOPNOTSUPP) {
		*in_place = false;
		err = agree_anew(dirty, is_full);
	}
	return err;
}

/* The rows are what they were before; the map becomes it again. */
int baleen_dirty_keys_undo(struct baleen_dirty_keys *dirty, bool in_place)
{
	bool ignored;
	int err = in_place ? agree_in_place(dirty, &ignored) : -EAGAIN;

	return err ? baleen_deploy_follow(dirty->deploy, dirty->now_ms, dirty->error) : 0;
}
