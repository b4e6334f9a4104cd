// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of this host itself: single entries of origins that are published.
 *
 *      states of devices --> entries of each published origin --> the store finds what is new
 *
 * A state that cannot be read stops it: its entries would look as if they were taken back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "fleet/fleet_rule.h"
#include "fleetd/fleetd.h"
#include "state/entries.h"
#include "state/scope.h"
#include "state/rule_store_each.h"
#include "util/array.h"

/* For another writer of a device. */
#define WAIT_MS 10000

/**
 * struct search - entries of one origin
 * @fleet: the fleet
 * @origin: the origin
 * @set: of the rule that is read
 * @local: found so far
 * @n: how many
 * @error: the caller's
 */
struct search {
	struct fleet *fleet;
	const char *origin;
	const char *set;
	struct baleen_fleet_local *local;
	size_t n;
	struct baleen_error *error;
};

static int keep(const struct baleen_rule_entry *entry, void *data)
{
	struct search *search = data;
	struct baleen_fleet_local *local;
	struct baleen_entry_text key = baleen_entry_key_text(&entry->key);

	if (entry->is_exception || strlen(key.text) >= sizeof(local->key))
		return 0;
	if (baleen_array_add(&search->local, search->n))
		return baleen_no_memory(search->error);
	local = &search->local[search->n++];
	*local = (struct baleen_fleet_local){ .made_ms = entry->added_ms,
					      .end_ms = entry->expires_ms };
	strcpy(local->set, search->set);
	strcpy(local->key, key.text);
	snprintf(local->reason, sizeof(local->reason), "%s", entry->reason);
	return 0;
}

static int read_state(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;
	struct baleen_stored_rules rules;
	int err;

	if (found->err) {
		*search->error = found->error;
		return found->err;
	}
	err = baleen_rule_store_get_rules(&found->state, &rules, search->error);
	for (u32 i = 0; i < rules.n_rules && !err; i++) {
		const struct baleen_stored_rule *rule = &rules.rule[i];

		search->set = *rule->fleet.set ? rule->fleet.set : BALEEN_FLEET_SET;
		if (baleen_fleet_rule_is_published(rule))
			err = baleen_rule_entries_each(&found->state, rule->name, search->origin,
						       keep, search, search->error);
	}
	return err;
}

static int sync_origin(struct fleet *fleet, const char *origin, struct baleen_error *error)
{
	struct search search = { .fleet = fleet, .origin = origin, .error = error };
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	struct baleen_fleet_publisher known;
	struct baleen_fleet_sync sync = { 0 };
	int err = baleen_rule_store_each(read_state, &search, error);

	snprintf(publisher, sizeof(publisher), "%s/%s", fleet->conf.host, origin);
	if (!err)
		err = baleen_fleet_store_find(&fleet->store, publisher, &known, error);
	if (err > 0 || (!err && search.n))
		err = baleen_fleet_own_sync(&fleet->store, publisher, search.local, search.n,
					    baleen_now_ms(), &sync, error);
	free(search.local);
	return err;
}

int local_sync(struct fleet *fleet, struct baleen_error *error)
{
	int err = sync_origin(fleet, OPERATOR, error);

	for (u32 i = 0; i < fleet->conf.n_publish && !err; i++)
		if (strcmp(fleet->conf.publish[i], OPERATOR))
			err = sync_origin(fleet, fleet->conf.publish[i], error);
	return err;
}

/* --- pardons ------------------------------------------------------------------------ */

/**
 * struct letting_go - own bans that pardons take back
 * @fleet: the fleet
 * @found: they
 * @n: how many
 * @error: the caller's
 */
struct letting_go {
	struct fleet *fleet;
	struct baleen_fleet_found *found;
	size_t n;
	struct baleen_error *error;
};

static int keep_found(const struct baleen_fleet_found *found, void *data)
{
	struct letting_go *going = data;

	if (baleen_array_add(&going->found, going->n))
		return baleen_no_memory(going->error);
	going->found[going->n++] = *found;
	return 0;
}

static void make_removal(const struct baleen_fleet_found *found,
			 struct baleen_rule_entry_change *change)
{
	change->op = BALEEN_RULE_ENTRY_REMOVE;
	change->entry.key = baleen_fleet_key_entry(&found->entry.key);
	strcpy(change->entry.origin, strchr(found->publisher, '/') + 1);
}

static int remove_from(struct baleen_deploy *deploy, const struct baleen_stored_rule *rule,
		       const struct letting_go *going)
{
	const char *set = *rule->fleet.set ? rule->fleet.set : BALEEN_FLEET_SET;
	struct baleen_rule_entry_change *change = calloc(going->n, sizeof(*change));
	struct baleen_batch batch = { .rule = rule->name, .change = change };
	int err = 0;

	if (!change)
		return baleen_no_memory(going->error);
	for (size_t i = 0; i < going->n; i++)
		if (!strcmp(going->found[i].entry.set, set))
			make_removal(&going->found[i], &change[batch.n++]);
	if (batch.n)
		err = baleen_deploy_batch(deploy, &batch, going->error);
	free(change);
	return err;
}

static int let_go(struct baleen_rule_store_found *found, void *data)
{
	const struct letting_go *going = data;
	struct baleen_stored_rules rules;
	struct baleen_deploy deploy;
	int err = found->err;

	if (err) {
		*going->error = found->error;
		return err;
	}
	found->is_taken = true;
	err = baleen_deploy_open_read(&deploy, &found->state, NULL, WAIT_MS, going->error);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_rules(&deploy.state, &rules, going->error);
	for (u32 i = 0; i < rules.n_rules && !err; i++)
		if (baleen_fleet_rule_is_published(&rules.rule[i]))
			err = remove_from(&deploy, &rules.rule[i], going);
	baleen_deploy_close(&deploy);
	return err;
}

/* Bans of all rules, which are of no device. */
static int let_go_of_bans(const struct letting_go *going)
{
	struct baleen_rule_entry_change *change = calloc(going->n, sizeof(*change));
	struct baleen_batch batch = { .change = change, .n = going->n, .only_bans = true };
	struct baleen_bans bans;
	int err;

	if (!change)
		return baleen_no_memory(going->error);
	for (size_t i = 0; i < going->n; i++)
		make_removal(&going->found[i], &change[i]);
	err = baleen_bans_open(&bans, BALEEN_SCOPE_BANS, going->error);
	if (!err)
		err = baleen_bans_put(&bans, &batch, WAIT_MS, NULL, going->error);
	baleen_bans_close(&bans);
	free(change);
	return err == -ENOENT ? 0 : err;
}

/* It goes by what is published, not by what was heard: who is killed in between does it later. */
int local_pardon(struct fleet *fleet, struct baleen_error *error)
{
	struct letting_go going = { .fleet = fleet, .error = error };
	int err = baleen_fleet_view_taken_back(&fleet->store, broker_ms(fleet), keep_found, &going,
					       error);

	if (!err && going.n)
		err = baleen_rule_store_each(let_go, &going, error);
	if (!err && going.n)
		err = let_go_of_bans(&going);
	free(going.found);
	return err;
}
