// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is what the fleet has banned in force here? */
#include <stdio.h>
#include <string.h>

#include "deploy/gate.h"
#include "fleet/fleet_live.h"
#include "fleet/fleet_rule.h"
#include "state/entries.h"
#include "state/rule_store_each.h"
#include "xdp/xdp.h"

/**
 * struct asking - a walk over the rules of this host
 * @set: name of the set
 * @key: the key
 * @live: filled in
 */
struct asking {
	const char *set;
	struct baleen_entry_key key;
	struct baleen_fleet_live *live;
};

/* Why a rule does not hold the key; room for text. */
struct why {
	char text[BALEEN_FLEET_WHY_BYTES - 48];
};

static struct baleen_key key_of(const struct baleen_span *span, bool is_last)
{
	const struct baleen_ip6 *address = is_last ? &span->last : &span->first;

	if (span->is_ip6)
		return (struct baleen_key){ .domain = BALEEN_IP6,
					    .hi = address->hi,
					    .lo = address->lo };
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = (u32)address->lo };
}

/* Both ends of it. Return: 1 or 0; a negative errno. */
static int filter_holds(const struct baleen_xdp *xdp, const char *rule,
			const struct baleen_span *span, struct baleen_error *error)
{
	const struct baleen_key first = key_of(span, false), last = key_of(span, true);
	struct baleen_filter filter;
	int index = baleen_xdp_rule_index(xdp, rule), ret;

	if (index < 0)
		return 0;
	ret = baleen_xdp_map_rule(xdp, index, &filter, error);
	if (ret)
		return ret;
	ret = baleen_filter_test(&filter, &first) && baleen_filter_test(&filter, &last);
	baleen_filter_free(&filter);
	return ret;
}

/* The first that holds it is the longest. */
static int take_yields(const struct baleen_rule_entry *there, void *data)
{
	struct baleen_rule_entry *entry = data;

	if (there->is_exception)
		return 0;
	entry->yields = there->yields;
	return 1;
}

/* The first thing inside that is not dropped; empty when there is none. */
static int find_exempt(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		       struct baleen_rule_entry *entry, struct why *why, struct baleen_error *error)
{
	const struct baleen_key first = key_of(&entry->key.span, false);
	struct baleen_protected_set set;
	struct baleen_protected protected;
	char text[BALEEN_GATE_TEXT];
	bool is_excepted = false;
	u64 n = 0;
	int err = baleen_rule_entries_find(state, rule->name, &first, baleen_now_ms(), take_yields,
					   entry, error);

	if (err >= 0)
		err = baleen_protected_load(state, &set, error);
	if (err)
		return err;
	if (baleen_protected_find_in(&set, rule, entry, &n, &protected))
		err = baleen_no_memory(error);
	if (!err && n)
		snprintf(why->text, sizeof(why->text), "%s",
			 baleen_gate_text(BALEEN_GATE_NARROWED, &protected, text));
	if (!err && !n)
		err = baleen_rule_entries_disagree(state, rule->name, &entry->key.span, true,
						   baleen_now_ms(), &is_excepted, error);
	if (!err && is_excepted)
		snprintf(why->text, sizeof(why->text), "an exception takes some of it out");
	baleen_protected_free(&set);
	return err;
}

/* Return: 1 when the rule holds all of the key; 0, and why not; a negative errno. */
static int ask_rule(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		    const struct baleen_entry_key *key, struct why *why, struct baleen_error *error)
{
	bool is_alone = baleen_span_length(&key->span) == (key->span.is_ip6 ? 128 : 32);
	struct baleen_rule_entry entry = { .key = *key };
	struct baleen_error absent;
	struct baleen_xdp xdp;
	int ret = baleen_xdp_open(&xdp, state->now, false, &absent);

	if (ret || xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED) {
		if (!ret)
			baleen_xdp_close(&xdp);
		strcpy(why->text, "it has no filter now");
		return 0;
	}
	ret = filter_holds(&xdp, rule->name, &key->span, error);
	baleen_xdp_close(&xdp);
	if (ret == 1 && is_alone)
		return 1;
	if (ret >= 0 && find_exempt(state, rule, &entry, why, error))
		return -EIO;
	if (!ret && !*why->text)
		strcpy(why->text, "its filter does not hold it");
	return ret < 0 ? ret : !*why->text;
}

static void count(struct baleen_fleet_held *held, const char *device, const char *rule, bool holds,
		  const struct why *why)
{
	held->n_rules++;
	held->n_hold += holds;
	if (!holds && !*held->why)
		snprintf(held->why, sizeof(held->why), "%s:%s: %s", device, rule, why->text);
}

static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	const struct asking *asking = data;
	struct baleen_stored_rules rules;
	struct why unread = { "" };

	if (found->err || baleen_rule_store_get_rules(&found->state, &rules, &found->error)) {
		snprintf(unread.text, sizeof(unread.text), "%.300s", found->error.text);
		count(&asking->live->taken, found->device, "?", false, &unread);
		return 0;
	}
	for (u32 i = 0; i < rules.n_rules; i++) {
		const struct baleen_stored_rule *rule = &rules.rule[i];
		bool is_taken = !strcmp(rule->fleet.set, asking->set);
		bool is_own =
			baleen_fleet_rule_is_published(rule) &&
			!strcmp(*rule->fleet.set ? rule->fleet.set : BALEEN_FLEET_SET, asking->set);
		struct why why = { "" };
		int ret;

		if (!is_taken && !is_own)
			continue;
		ret = ask_rule(&found->state, rule, &asking->key, &why, &found->error);
		if (ret < 0)
			snprintf(why.text, sizeof(why.text), "%.300s", found->error.text);
		if (is_taken)
			count(&asking->live->taken, found->device, rule->name, ret == 1, &why);
		if (is_own)
			count(&asking->live->own, found->device, rule->name, ret == 1, &why);
	}
	return 0;
}

int baleen_fleet_live_ask(const char *set, const struct baleen_fleet_key *key,
			  struct baleen_fleet_live *live, struct baleen_error *error)
{
	struct asking asking = {
		.set = set,
		.key = baleen_fleet_key_entry(key),
		.live = live,
	};

	*live = (struct baleen_fleet_live){ .taken.n_rules = 0 };
	return baleen_rule_store_each(look_at_device, &asking, error);
}

bool baleen_fleet_live_holds(const struct baleen_fleet_live *live, bool is_own)
{
	if (is_own)
		return live->own.n_hold > 0;
	return live->taken.n_hold && live->taken.n_hold == live->taken.n_rules;
}
