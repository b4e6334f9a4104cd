// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of the fleet as single entries of the rules that take them: origin fleet:HOST/ORIGIN.
 *
 * They change in place, as all single entries do, and what is protected here is left out by the
 * same code. The store is the truth: what a device did not get it gets by mirror_all().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "deploy/bans.h"
#include "fleetd/fleetd.h"
#include "net/device.h"
#include "state/book.h"
#include "state/entries.h"
#include "state/rule_store_each.h"
#include "util/array.h"

/* For another writer of a device: `baleen update` of large feeds takes seconds. */
#define WAIT_MS 10000
/* So many changes of a rule are put on in one step, as when a publisher is suspended: packets see
 * all of them or none.
 */
#define IN_ONE_STEP 64
/* Ends that differ by less are the same: the offset of a clock is measured. */
#define SAME_MS 2000

#define ORIGIN "fleet:"
/* The origin of what a pardon takes out of wider bans. */
#define PARDON_ORIGIN ORIGIN "pardon"

/* --- which rules ------------------------------------------------------------------ */

/**
 * struct devices - devices with a rule that takes bans of the fleet
 * @name: their names
 * @n: how many
 * @sum: hash of what their rules take
 * @error: filled in on failure
 */
struct devices {
	char (*name)[BALEEN_POINT_BYTES];
	size_t n;
	u64 sum;
	struct baleen_error *error;
};

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static u64 hash(u64 from, const void *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		from = (from ^ ((const u8 *)bytes)[i]) * 0x100000001b3;
	return from;
}

/* Does a rule take bans? Its name and how it takes them go into a hash. */
static bool takes_bans(const struct baleen_stored_rules *rules, u64 *sum)
{
	bool takes = false;

	for (u32 i = 0; i < rules->n_rules; i++) {
		const struct baleen_stored_rule *rule = &rules->rule[i];

		if (!*rule->fleet.set)
			continue;
		takes = true;
		*sum = hash(*sum, rule->name, strlen(rule->name) + 1);
		*sum = hash(*sum, rule->fleet.set, strlen(rule->fleet.set) + 1);
		*sum = hash(*sum, &rule->fleet.max_ttl_s, sizeof(rule->fleet.max_ttl_s));
	}
	return takes;
}

static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	const char *device = found->device;
	struct devices *devices = data;
	struct baleen_stored_rules rules;
	bool takes;

	/* One that cannot be read now is looked at again. */
	if (found->err)
		return 0;
	takes = !baleen_rule_store_get_rules(&found->state, &rules, NULL) &&
		takes_bans(&rules, &devices->sum);
	for (size_t i = 0; i < devices->n; i++)
		if (!strcmp(devices->name[i], device))
			return 0;
	if (!takes)
		return 0;
	devices->sum = hash(devices->sum, device, strlen(device) + 1);
	if (baleen_array_add(&devices->name, devices->n))
		return baleen_no_memory(devices->error);
	snprintf(devices->name[devices->n++], BALEEN_POINT_BYTES, "%s", device);
	return 0;
}

bool mirror_takes_bans(void)
{
	struct devices devices = { 0 };

	baleen_rule_store_each(look_at_device, &devices, NULL);
	free(devices.name);
	return devices.n;
}

bool mirror_is_new(void)
{
	static u64 known;
	struct devices devices = { 0 };
	bool is_new;

	baleen_rule_store_each(look_at_device, &devices, NULL);
	free(devices.name);
	is_new = devices.sum != known;
	known = devices.sum;
	return is_new;
}

/* --- changes ------------------------------------------------------------------------ */

/**
 * struct changes - changes of one rule
 * @fleet: the fleet
 * @rule: the rule
 * @now_ms: time of this host
 * @offset_ms: how far the broker's is ahead
 * @is_whole: they come of a comparison with the store
 * @change: they
 * @n: how many
 */
struct changes {
	struct fleet *fleet;
	const struct baleen_stored_rule *rule;
	u64 now_ms;
	s64 offset_ms;
	bool is_whole;
	struct baleen_rule_entry_change *change;
	size_t n;
};

/* A ban as a single entry, in this host's time. */
static void make_single(const struct changes *changes, const struct baleen_fleet_effect *effect,
			struct baleen_rule_entry *entry)
{
	u64 max_ms = changes->rule->fleet.max_ttl_s * 1000ull;

	*entry = (struct baleen_rule_entry){
		.key = baleen_fleet_key_entry(&effect->entry.key),
		.added_ms = effect->entry.made_ms - changes->offset_ms,
		.expires_ms = effect->entry.end_ms - changes->offset_ms,
	};
	if (max_ms && entry->expires_ms > entry->added_ms + max_ms)
		entry->expires_ms = entry->added_ms + max_ms;
	snprintf(entry->origin, sizeof(entry->origin), ORIGIN "%s", effect->publisher);
	strcpy(entry->reason, effect->entry.reason);
}

static int add_change(struct changes *changes, enum baleen_rule_entry_op op,
		      const struct baleen_rule_entry *entry)
{
	if (baleen_array_add(&changes->change, changes->n))
		return -ENOMEM;
	changes->change[changes->n++] =
		(struct baleen_rule_entry_change){ .op = op, .entry = *entry };
	return 0;
}

static int add_effect(struct changes *changes, const struct baleen_fleet_effect *effect)
{
	struct baleen_rule_entry entry;
	bool is_put = effect->is_in_force;

	if (strcmp(effect->entry.set, changes->rule->fleet.set))
		return 0;
	make_single(changes, effect, &entry);
	is_put &= entry.expires_ms > changes->now_ms;
	return add_change(changes, is_put ? BALEEN_RULE_ENTRY_PUT : BALEEN_RULE_ENTRY_REMOVE,
			  &entry);
}

/* Nobody can have banned here, from elsewhere, who is protected. */
static void tell_refused(const struct changes *changes, const char *device)
{
	const struct baleen_rule_entry_change *first = NULL;
	char why[BALEEN_GATE_TEXT];
	u64 n = 0;

	for (size_t i = 0; i < changes->n; i++) {
		if (changes->change[i].result != -EPERM)
			continue;
		first = first ? first : &changes->change[i];
		n++;
	}
	if (first)
		say(changes->fleet, LOG_WARNING, "%s:%s: %s of %s is not banned here: %s%s", device,
		    changes->rule->name, baleen_entry_key_text(&first->entry.key).text,
		    first->entry.origin + strlen(ORIGIN),
		    baleen_gate_text(first->answer, &first->protected, why),
		    n > 1 ? ", nor are others" : "");
}

static int put(struct baleen_deploy *deploy, struct changes *changes, struct baleen_host *host,
	       struct baleen_error *error)
{
	struct baleen_batch batch = { .rule = changes->rule->name,
				      .change = changes->change,
				      .n = changes->n,
				      .host = host,
				      .atomic = changes->is_whole && changes->n >= IN_ONE_STEP,
				      .asker = BALEEN_ASKER_FLEET };
	int err = changes->n ? baleen_deploy_batch(deploy, &batch, error) : 0;

	if (!err)
		tell_refused(changes, deploy->state.device);
	return err;
}

/* --- what a rule should have ---------------------------------------------------------- */

static int compare_changes(const void *a, const void *b)
{
	const struct baleen_rule_entry *x = &((const struct baleen_rule_entry_change *)a)->entry;
	const struct baleen_rule_entry *y = &((const struct baleen_rule_entry_change *)b)->entry;
	int order = baleen_rule_entry_compare(x, y);

	return order ? order : strcmp(x->origin, y->origin);
}

static int want_effect(const struct baleen_fleet_effect *effect, void *data)
{
	return add_effect(data, effect);
}

static int want_pardon(const struct baleen_fleet_pardon *pardon, void *data)
{
	struct changes *changes = data;
	struct baleen_rule_entry entry = {
		.key = baleen_fleet_key_entry(&pardon->key),
		.is_exception = true,
		.origin = PARDON_ORIGIN,
		.added_ms = pardon->made_ms - changes->offset_ms,
		.expires_ms = pardon->made_ms + BALEEN_FLEET_MAX_TTL_MS - changes->offset_ms,
	};

	if (!pardon->is_exception || strcmp(pardon->set, changes->rule->fleet.set))
		return 0;
	strcpy(entry.reason, pardon->reason);
	return add_change(changes, BALEEN_RULE_ENTRY_PUT, &entry);
}

static int keep_row(const struct baleen_rule_entry *entry, void *data)
{
	if (strncmp(entry->origin, ORIGIN, strlen(ORIGIN)))
		return 0;
	return add_change(data, BALEEN_RULE_ENTRY_REMOVE, entry);
}

static bool is_same(const struct baleen_rule_entry *a, const struct baleen_rule_entry *b)
{
	s64 difference = a->expires_ms - b->expires_ms;

	return difference < SAME_MS && difference > -SAME_MS && !strcmp(a->reason, b->reason);
}

/* Both sorted: what is wanted and not there is put, what is there and not wanted goes. */
static int add_differences(struct changes *to, const struct changes *wanted,
			   const struct changes *there)
{
	size_t i = 0, j = 0;
	int err = 0;

	while ((i < wanted->n || j < there->n) && !err) {
		int order = i == wanted->n ? 1 :
			    j == there->n  ? -1 :
					     compare_changes(&wanted->change[i], &there->change[j]);

		if (order < 0 ||
		    (!order && !is_same(&wanted->change[i].entry, &there->change[j].entry)))
			err = add_change(to, wanted->change[i].op, &wanted->change[i].entry);
		else if (order > 0)
			err = add_change(to, BALEEN_RULE_ENTRY_REMOVE, &there->change[j].entry);
		i += order <= 0;
		j += order >= 0;
	}
	return err;
}

static int find_wanted(struct changes *wanted, struct baleen_error *error)
{
	struct fleet *fleet = wanted->fleet;
	int err = 0;

	if (*wanted->rule->fleet.set)
		err = baleen_fleet_view_each(&fleet->store, NULL, broker_ms(fleet), want_effect,
					     wanted, error);
	if (!err && *wanted->rule->fleet.set)
		err = baleen_fleet_pardons_each(&fleet->store, broker_ms(fleet), want_pardon,
						wanted, error);
	return err;
}

/* Read without the lock of the device: other writers need not wait for it. */
static int find_differences(const struct baleen_rule_store *state, struct changes *changes,
			    struct baleen_error *error)
{
	struct changes wanted = *changes, there = *changes;
	/* Bans of all rules are never of the fleet. */
	const struct baleen_rule_store own = baleen_book_of(state);
	int err = find_wanted(&wanted, error);

	if (!err)
		err = baleen_rule_entries_each(&own, changes->rule->name, NULL, keep_row, &there,
					       error);
	if (wanted.n)
		qsort(wanted.change, wanted.n, sizeof(*wanted.change), compare_changes);
	if (there.n)
		qsort(there.change, there.n, sizeof(*there.change), compare_changes);
	if (!err)
		err = add_differences(changes, &wanted, &there);
	free(wanted.change);
	free(there.change);
	return err;
}

static int find_effects(const struct baleen_fleet_effect *effect, size_t n, struct changes *changes)
{
	int err = 0;

	for (size_t i = 0; i < n && !err && *changes->rule->fleet.set; i++)
		err = add_effect(changes, &effect[i]);
	return err;
}

/* --- devices -------------------------------------------------------------------------- */

/**
 * struct pass - what is to be changed now
 * @fleet: the fleet
 * @effect: what came; NULL to compare all
 * @n: how many
 * @offset_ms: how far the broker's time is ahead of this host's
 */
struct pass {
	struct fleet *fleet;
	const struct baleen_fleet_effect *effect;
	size_t n;
	s64 offset_ms;
};

/* Changes of each rule of a device; their number, or a negative errno. */
static int find_changes(const struct pass *pass, const char *device,
			struct baleen_stored_rules *rules, struct changes *changes,
			struct baleen_error *error)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, device, 0, error), n = 0;

	rules->n_rules = 0;
	/* Forgotten meanwhile. */
	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_rules(&state, rules, error);
	for (u32 i = 0; i < rules->n_rules && !err; i++) {
		changes[i] = (struct changes){ .fleet = pass->fleet,
					       .rule = &rules->rule[i],
					       .now_ms = baleen_now_ms(),
					       .offset_ms = pass->offset_ms,
					       .is_whole = !pass->effect };
		err = pass->effect ? find_effects(pass->effect, pass->n, &changes[i]) :
				     find_differences(&state, &changes[i], error);
		n += changes[i].n != 0;
	}
	baleen_rule_store_close(&state);
	return err ? err : n;
}

/* A rule that takes other bans than when it was read is looked at again. */
static int put_changes(const char *device, u32 n_rules, struct changes *changes,
		       struct baleen_error *error)
{
	struct baleen_stored_rules rules;
	struct baleen_host host = { 0 };
	struct baleen_deploy deploy;
	int err = baleen_deploy_open(&deploy, device, WAIT_MS, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_rules(&deploy.state, &rules, error);
	for (u32 i = 0; i < n_rules && !err; i++) {
		const struct baleen_stored_rule *rule = changes[i].rule;
		int at = changes[i].n ? baleen_rule_store_find_rule(&rules, rule->name) : -1;

		if (!changes[i].n)
			continue;
		if (at < 0 || strcmp(rules.rule[at].fleet.set, rule->fleet.set) ||
		    rules.rule[at].fleet.max_ttl_s != rule->fleet.max_ttl_s)
			err = baleen_fail(error, EAGAIN, "rule '%s' has just been changed",
					  rule->name);
		else
			err = put(&deploy, &changes[i], &host, error);
	}
	baleen_deploy_close(&deploy);
	baleen_host_free(&host);
	return err;
}

static int change_device(const struct pass *pass, const char *device, struct baleen_error *error)
{
	struct changes changes[BALEEN_MAX_RULES] = { 0 };
	struct baleen_stored_rules rules;
	int ret = find_changes(pass, device, &rules, changes, error);

	if (ret > 0)
		ret = put_changes(device, rules.n_rules, changes, error);
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		free(changes[i].change);
	return ret;
}

static int change_all(const struct pass *pass)
{
	struct baleen_error error = { "" };
	struct devices devices = { .error = &error };
	int first;

	baleen_bans_end_if_due();
	first = baleen_rule_store_each(look_at_device, &devices, &error);
	if (first)
		say(pass->fleet, LOG_ERR, "%s", error.text);
	for (size_t i = 0; i < devices.n; i++) {
		int err = change_device(pass, devices.name[i], &error);

		if (err)
			say(pass->fleet, LOG_ERR, "%s: %s", devices.name[i], error.text);
		first = first ? first : err;
	}
	free(devices.name);
	return first;
}

int mirror_effects(struct fleet *fleet, const struct baleen_fleet_effect *effect, size_t n)
{
	const struct pass pass = { .fleet = fleet,
				   .effect = effect,
				   .n = n,
				   .offset_ms = baleen_fleet_store_offset(&fleet->store) };

	return n ? change_all(&pass) : 0;
}

int mirror_all(struct fleet *fleet)
{
	const struct pass pass = { .fleet = fleet,
				   .offset_ms = baleen_fleet_store_offset(&fleet->store) };

	return change_all(&pass);
}
