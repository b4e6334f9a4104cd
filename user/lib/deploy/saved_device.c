// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rules of a device, as they are to be saved. */
#include <stdio.h>
#include <string.h>

#include "deploy/derive.h"
#include "deploy/gate_live.h"
#include "deploy/saved.h"
#include "deploy/saved_entries.h"
#include "ops/edit.h"
#include "state/entries.h"
#include "state/protected.h"

/* Without a state nobody has said more than that the image is good enough. */
static int save_rule(const struct baleen_xdp *xdp, u32 i, struct baleen_saved *saved,
		     struct baleen_error *error)
{
	struct baleen_filter live;
	double fpp;
	int err = baleen_xdp_map_rule(xdp, i, &live, error);

	if (err)
		return err;
	err = baleen_filter_snapshot(&live, &saved->filter[i], error);
	baleen_filter_free(&live);
	if (err)
		return err;
	fpp = baleen_filter_worst_fpp(&saved->filter[i]);
	saved->accept_fpp[i] = fpp > BALEEN_ACCEPT_FPP ? fpp : 0;
	saved->ruleset.rule[i].filter = &saved->filter[i];
	saved->ruleset.rule[i].live = BALEEN_RULE_NEW;
	return 0;
}

static double accepted_by(const struct baleen_stored_rule *rule)
{
	double fpp = baleen_gate_accepts(rule);

	return fpp > BALEEN_ACCEPT_FPP ? fpp : 0;
}

/* Images of what lists have, and single entries beside them. Where that cannot be had the images
 * are what packets meet, entries among it.
 */
static void save_entries(struct baleen_saved *saved, const struct baleen_rule_store *state,
			 const struct baleen_stored_rules *rules)
{
	struct baleen_filter of_feeds[BALEEN_MAX_RULES] = { 0 };
	struct baleen_error ignored;
	int err = 0;

	for (u32 i = 0; i < saved->ruleset.n_rules && !err; i++) {
		int at = baleen_rule_store_find_rule(rules, saved->ruleset.rule[i].name);

		if (at >= 0 && baleen_rule_entries_count(state, rules->rule[at].name, NULL))
			err = baleen_derive_of_feeds(state, &rules->rule[at], &of_feeds[i],
						     &ignored);
	}
	if (!err)
		err = baleen_saved_entries_collect(saved, state, rules, &ignored);
	for (u32 i = 0; i < saved->ruleset.n_rules; i++) {
		if (!err && of_feeds[i].bytes) {
			baleen_filter_free(&saved->filter[i]);
			saved->filter[i] = of_feeds[i];
			saved->n_ending[i] = 0;
		} else {
			baleen_filter_free(&of_feeds[i]);
		}
	}
}

/* The parts of the rules that only a state knows; a device may have none. */
static void save_words(struct baleen_saved *saved)
{
	struct baleen_stored_rules rules;
	struct baleen_rule_store state;

	if (baleen_rule_store_open(&state, saved->device, 0, NULL))
		return;
	if (baleen_rule_store_get_rules(&state, &rules, NULL))
		rules.n_rules = 0;
	for (u32 i = 0; i < saved->ruleset.n_rules; i++) {
		int at = baleen_rule_store_find_rule(&rules, saved->ruleset.rule[i].name);

		if (at < 0)
			continue;
		saved->bans[i] = baleen_rule_bans_get(&rules.rule[at]);
		saved->accept_fpp[i] = accepted_by(&rules.rule[at]);
		saved->removes_special[i] =
			!rules.rule[at].is_any && baleen_rule_removes_special(&rules.rule[at]);
		saved->n_ending[i] = baleen_rule_entries_ending(&state, rules.rule[at].name);
	}
	if (rules.n_rules)
		save_entries(saved, &state, &rules);
	baleen_rule_store_close(&state);
}

int baleen_saved_from_xdp(const struct baleen_xdp *xdp, struct baleen_saved *saved,
			  struct baleen_error *error)
{
	int err = 0;

	memset(saved, 0, sizeof(*saved));
	snprintf(saved->device, sizeof(saved->device), "%s", xdp->device);
	saved->mode = xdp->config.mode;
	saved->attach_type = xdp->config.attach_type;
	baleen_ruleset_from_config(&xdp->config, &saved->ruleset);
	for (u32 i = 0; i < saved->ruleset.n_rules && !err; i++)
		err = save_rule(xdp, i, saved, error);
	if (err) {
		baleen_saved_free(saved);
		return err;
	}
	save_words(saved);
	for (u32 i = 0; i < saved->ruleset.n_rules; i++)
		saved->image[i] = baleen_saved_identify(&saved->filter[i]);
	return 0;
}
