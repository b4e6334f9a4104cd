// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All rules that take bans, of all devices, changed together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "net/device.h"
#include "state/rule_store_each.h"
#include "util/array.h"

/* --- open ------------------------------------------------------------------ */

/**
 * struct search - the devices that have a rule that takes bans
 * @found: they, open to read: who reads becomes the writer
 * @n: how many
 * @bans: those that cannot be read are its sick ones
 * @error: the caller's
 */
struct search {
	struct baleen_rule_store_found *found;
	size_t n;
	struct baleen_bans *bans;
	struct baleen_error *error;
};

/* The first failure is what is told. */
static int add_sick(struct baleen_bans *bans, const char *device, const struct baleen_error *why,
		    struct baleen_error *error)
{
	struct baleen_ban_sick *sick;

	for (size_t i = 0; i < bans->n_sick; i++)
		if (!strcmp(bans->sick[i].device, device))
			return 0;
	if (baleen_array_add(&bans->sick, bans->n_sick))
		return baleen_no_memory(error);
	sick = &bans->sick[bans->n_sick++];
	snprintf(sick->device, sizeof(sick->device), "%s", device);
	sick->error = *why;
	return 0;
}

/* A device that was taken over has two states for a moment, and one name. */
static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;
	struct baleen_stored_rules rules;
	int err = found->err;

	if (!err)
		err = baleen_rule_store_get_rules(&found->state, &rules, &found->error);
	if (err)
		return add_sick(search->bans, found->device, &found->error, search->error);
	if (!baleen_rules_accept_bans(&rules))
		return 0;
	for (size_t i = 0; i < search->n; i++)
		if (!strcmp(search->found[i].device, found->device))
			return 0;
	if (baleen_array_add(&search->found, search->n))
		return baleen_no_memory(search->error);
	found->is_taken = true;
	search->found[search->n++] = *found;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct baleen_rule_store_found *x = a, *y = b;

	return strcmp(x->device, y->device);
}

/* Asks again, now that the devices are held: rules may have changed since the search. */
static int add_rules(struct baleen_bans *bans, struct baleen_error *error)
{
	u32 index = bans->n_devices - 1;
	struct baleen_stored_rules rules;
	int err = baleen_rule_store_get_rules(&bans->deploy[index].state, &rules, error);

	for (u32 i = 0; i < rules.n_rules && !err; i++) {
		if (!rules.rule[i].takes_bans)
			continue;
		if (baleen_array_add(&bans->rule, bans->n_rules))
			return baleen_no_memory(error);
		bans->rule[bans->n_rules++] =
			(struct baleen_ban_rule){ .deploy = index, .rule = rules.rule[i] };
	}
	return err;
}

/* Lets go of the device that was held last, and of its rules. */
static void drop_last(struct baleen_bans *bans)
{
	u32 last = --bans->n_devices;

	while (bans->n_rules && bans->rule[bans->n_rules - 1].deploy == last)
		bans->n_rules--;
	baleen_deploy_close(&bans->deploy[last]);
}

/* The state of @found is closed then, or part of @bans. */
static int hold(struct baleen_bans *bans, struct baleen_rule_store_found *found, u64 timeout_ms,
		struct baleen_error *error)
{
	struct baleen_error why;
	int err;

	if (baleen_array_add(&bans->deploy, bans->n_devices) ||
	    baleen_array_add(&bans->host, bans->n_devices)) {
		baleen_rule_store_close(&found->state);
		return baleen_no_memory(error);
	}
	bans->host[bans->n_devices] = (struct baleen_host){ 0 };
	err = baleen_deploy_open_read(&bans->deploy[bans->n_devices], &found->state, timeout_ms,
				      &why);
	/* Forgotten in the meantime. */
	if (err == -ENOENT)
		return 0;
	if (!err) {
		bans->n_devices++;
		err = add_rules(bans, &why);
		if (err)
			drop_last(bans);
	}
	return err ? add_sick(bans, found->device, &why, error) : 0;
}

static int fail_all(const struct baleen_bans *bans, struct baleen_error *error)
{
	if (!bans->n_sick)
		return baleen_fail(error, ENOENT, "no rule of any device takes bans");
	return baleen_fail(error, EIO, "%s", bans->sick[0].error.text);
}

int baleen_bans_open(struct baleen_bans *bans, u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_bans opened = { 0 };
	struct search search = { .bans = &opened, .error = error };
	int err = baleen_rule_store_each(look_at_device, &search, error);

	if (search.n)
		qsort(search.found, search.n, sizeof(*search.found), compare_names);
	for (size_t i = 0; i < search.n; i++) {
		if (err)
			baleen_rule_store_close(&search.found[i].state);
		else
			err = hold(&opened, &search.found[i], timeout_ms, error);
	}
	free(search.found);
	if (!err && !opened.n_rules)
		err = fail_all(&opened, error);
	if (err && !opened.n_sick)
		baleen_bans_close(&opened);
	else
		*bans = opened;
	return err;
}

void baleen_bans_close(struct baleen_bans *bans)
{
	for (size_t i = 0; i < bans->n_rules; i++)
		free(bans->rule[i].before);
	for (u32 i = 0; i < bans->n_devices; i++) {
		baleen_deploy_close(&bans->deploy[i]);
		baleen_host_free(&bans->host[i]);
	}
	free(bans->rule);
	free(bans->deploy);
	free(bans->host);
	free(bans->sick);
	*bans = (struct baleen_bans){ 0 };
}

/* --- put ------------------------------------------------------------------- */

static int put_one(struct baleen_bans *bans, struct baleen_ban_rule *rule,
		   const struct baleen_ban_word *word, struct baleen_error *error)
{
	struct baleen_batch batch = { .rule = rule->rule.name,
				      .change = rule->change,
				      .n = rule->n_changes,
				      .host = &bans->host[rule->deploy],
				      .cuts_sessions = !word->narrows,
				      .forces = word->forces,
				      .narrows = word->narrows };
	int err = rule->n_changes ?
			  baleen_deploy_batch(&bans->deploy[rule->deploy], &batch, error) :
			  0;

	char why[BALEEN_GATE_TEXT];

	rule->in_place = batch.in_place;
	strcpy(rule->widened, batch.widened);
	for (size_t i = 0; i < rule->n_changes && !err; i++)
		if (rule->change[i].result == -EPERM)
			err = baleen_fail(error, EPERM, "%s: %s",
					  baleen_entry_key_text(&rule->change[i].entry.key).text,
					  baleen_gate_text(rule->change[i].answer,
							   &rule->change[i].protected, why));
	return err;
}

/* Removes what the changes added, and adds what was there. */
static int put_back(struct baleen_bans *bans, const struct baleen_ban_rule *rule,
		    struct baleen_error *error)
{
	size_t n = rule->n_changes + rule->n_before;
	struct baleen_rule_entry_change *change = calloc(n, sizeof(*change));
	struct baleen_batch batch = {
		.rule = rule->rule.name, .change = change, .n = n, .asker = BALEEN_ASKER_UNDO
	};
	int err;

	if (!change)
		return baleen_no_memory(error);
	memcpy(change, rule->change, rule->n_changes * sizeof(*change));
	for (size_t i = 0; i < rule->n_changes; i++) {
		change[i].op = BALEEN_RULE_ENTRY_REMOVE;
		change[i].entry.origin[0] = '\0';
	}
	if (rule->n_before)
		memcpy(change + rule->n_changes, rule->before, rule->n_before * sizeof(*change));
	err = baleen_deploy_batch(&bans->deploy[rule->deploy], &batch, error);
	free(change);
	return err;
}

/* The rules before @n; @deploy: those of one device alone, or -1. The first failure is what is
 * told, unless a rule stays changed.
 */
static void put_all_back(struct baleen_bans *bans, size_t n, s64 deploy, struct baleen_error *error)
{
	for (size_t i = 0; i < n; i++) {
		const struct baleen_ban_rule *rule = &bans->rule[i];
		struct baleen_error first = *error, why;

		if ((deploy >= 0 && rule->deploy != deploy) || rule->is_left)
			continue;
		if (rule->n_changes && put_back(bans, rule, &why))
			baleen_fail(error, EIO, "%.256s; and %s:%s stays changed: %.256s",
				    first.text, bans->deploy[rule->deploy].state.device,
				    rule->rule.name, why.text);
	}
}

/* The rule @n has failed: its device is left out. */
static int leave_device(struct baleen_bans *bans, size_t n, struct baleen_error *why,
			struct baleen_error *error)
{
	u32 deploy = bans->rule[n].deploy;

	put_all_back(bans, n, deploy, why);
	for (size_t i = 0; i < bans->n_rules; i++)
		bans->rule[i].is_left |= bans->rule[i].deploy == deploy;
	return add_sick(bans, bans->deploy[deploy].state.device, why, error);
}

/* --- remember -------------------------------------------------------------- */

static int keep(const struct baleen_rule_entry *entry, void *data)
{
	struct baleen_ban_rule *rule = data;

	if (baleen_array_add(&rule->before, rule->n_before))
		return -ENOMEM;
	rule->before[rule->n_before++] =
		(struct baleen_rule_entry_change){ .op = BALEEN_RULE_ENTRY_PUT, .entry = *entry };
	return 0;
}

int baleen_bans_remember(struct baleen_bans *bans, const struct baleen_rule_entry *entry,
			 struct baleen_error *error)
{
	int err = 0;

	for (size_t i = 0; i < bans->n_rules && !err; i++) {
		struct baleen_ban_rule *rule = &bans->rule[i];
		struct baleen_error why;

		if (rule->is_left)
			continue;
		err = baleen_rule_entries_of_key(&bans->deploy[rule->deploy].state, rule->rule.name,
						 entry, keep, rule, &why);
		if (err == -ENOMEM)
			baleen_no_memory(error);
		else if (err)
			err = leave_device(bans, i, &why, error);
	}
	return err;
}

/* --- put all ------------------------------------------------------------- */

int baleen_bans_put(struct baleen_bans *bans, const struct baleen_ban_word *word,
		    const struct baleen_ban_rule **refused, struct baleen_error *error)
{
	size_t n_left = 0;

	for (size_t i = 0; i < bans->n_rules; i++) {
		struct baleen_error why;
		int err = bans->rule[i].is_left ? 0 : put_one(bans, &bans->rule[i], word, &why);

		if (err && err != -EPERM)
			err = leave_device(bans, i, &why, error);
		else if (err)
			*error = why;
		if (!err)
			continue;
		put_all_back(bans, i, -1, error);
		if (refused && err == -EPERM)
			*refused = &bans->rule[i];
		return err;
	}
	for (size_t i = 0; i < bans->n_rules; i++)
		n_left += bans->rule[i].is_left;
	return n_left == bans->n_rules ? fail_all(bans, error) : 0;
}
