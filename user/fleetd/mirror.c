// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of the fleet as entries of the shared scopes that rules take: origin fleet:HOST/ORIGIN.
 *
 * They are rows of the book, once a network namespace, and devices follow them as they follow bans
 * of this host (deploy/bans.h). Above 500 lines: it is one comparison, from what rules take to what
 * the book is to have. The store is the truth: what the book did not get it gets by
 * mirror_all().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "deploy/bans.h"
#include "fleet/fleet_exception.h"
#include "fleetd/fleetd.h"
#include "state/book.h"
#include "state/parked.h"
#include "state/rule_scopes.h"
#include "state/rule_store_each.h"
#include "util/array.h"

/* For another writer of a device: `baleen update` of large feeds takes seconds. */
#define WAIT_MS 10000
/* So many changes are put on in one step, as when a publisher is suspended: packets see all of them
 * or none.
 */
#define IN_ONE_STEP 64
/* Ends that differ by less are the same: the offset of a clock is measured. */
#define SAME_MS 2000

/* The origin of what a pardon takes out of wider bans. */
#define PARDON_ORIGIN BALEEN_ORIGIN_FLEET "pardon"
/* Likewise of what the policy never bans. */
#define NEVER_ORIGIN BALEEN_ORIGIN_FLEET "never"

/* --- which scopes ------------------------------------------------------------------ */

/**
 * struct taken - the scopes of the fleet that rules of this host take
 * @fleet: as rules have them, each once
 * @n: how many
 * @is_partial: there are states that cannot be read
 * @error: filled in on failure
 */
struct taken {
	struct baleen_rule_fleet *fleet;
	size_t n;
	bool is_partial;
	struct baleen_error *error;
};

static bool is_same_fleet(const struct baleen_rule_fleet *a, const struct baleen_rule_fleet *b)
{
	return a->max_ttl_s == b->max_ttl_s && !strcmp(a->set, b->set);
}

static int add_taken(struct taken *taken, const struct baleen_rule_fleet *fleet)
{
	if (!*fleet->set)
		return 0;
	for (size_t i = 0; i < taken->n; i++)
		if (is_same_fleet(&taken->fleet[i], fleet))
			return 0;
	if (baleen_array_add(&taken->fleet, taken->n))
		return baleen_no_memory(taken->error);
	taken->fleet[taken->n++] = *fleet;
	return 0;
}

static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct baleen_stored_rules rules;
	struct taken *taken = data;
	int err = 0;

	/* One that cannot be read now is looked at again. */
	if (found->err || baleen_rule_store_get_rules(&found->state, &rules, NULL)) {
		taken->is_partial = true;
		return 0;
	}
	for (u32 i = 0; i < rules.n_rules && !err; i++)
		err = add_taken(taken, &rules.rule[i].fleet);
	return err;
}

static int compare_fleets(const void *a, const void *b)
{
	const struct baleen_rule_fleet *x = a, *y = b;
	int order = strcmp(x->set, y->set);

	return order ? order : (x->max_ttl_s > y->max_ttl_s) - (x->max_ttl_s < y->max_ttl_s);
}

static int find_taken(struct taken *taken)
{
	int err = baleen_rule_store_each(look_at_device, taken, taken->error);

	if (taken->n)
		qsort(taken->fleet, taken->n, sizeof(*taken->fleet), compare_fleets);
	return err;
}

bool mirror_is_new(void)
{
	static struct taken known;
	struct taken taken = { .error = NULL };
	bool is_new;

	find_taken(&taken);
	is_new = taken.n != known.n;
	for (size_t i = 0; i < taken.n && !is_new; i++)
		is_new = !is_same_fleet(&taken.fleet[i], &known.fleet[i]);
	free(known.fleet);
	known = taken;
	return is_new;
}

/* --- changes ------------------------------------------------------------------------ */

/**
 * struct changes - changes of one scope
 * @fleet: the fleet
 * @taken: what rules take by it
 * @scope: its name
 * @now_ms: time of this host
 * @offset_ms: how far the broker's is ahead
 * @is_whole: they come of a comparison with the store
 * @change: they
 * @n: how many
 */
struct changes {
	struct fleet *fleet;
	const struct baleen_rule_fleet *taken;
	struct baleen_scope scope;
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
	u64 max_ms = changes->taken->max_ttl_s * 1000ull;

	*entry = (struct baleen_rule_entry){
		.key = baleen_fleet_key_entry(&effect->entry.key),
		.added_ms = effect->entry.made_ms - changes->offset_ms,
		.expires_ms = effect->entry.end_ms - changes->offset_ms,
	};
	if (max_ms && entry->expires_ms > entry->added_ms + max_ms)
		entry->expires_ms = entry->added_ms + max_ms;
	snprintf(entry->origin, sizeof(entry->origin), BALEEN_ORIGIN_FLEET "%s", effect->publisher);
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

static int add_exception(struct changes *changes, const struct baleen_fleet_entry *pardon)
{
	struct baleen_rule_entry entry = {
		.key = baleen_fleet_key_entry(&pardon->key),
		.is_exception = true,
		.origin = PARDON_ORIGIN,
		.added_ms = pardon->made_ms - changes->offset_ms,
		.expires_ms = pardon->end_ms - changes->offset_ms,
	};

	if (strcmp(pardon->set, changes->taken->set))
		return 0;
	strcpy(entry.reason, pardon->reason);
	return add_change(changes, BALEEN_RULE_ENTRY_PUT, &entry);
}

static int add_effect(struct changes *changes, const struct baleen_fleet_effect *effect)
{
	struct baleen_rule_entry entry;
	bool is_put = effect->is_in_force;

	if (effect->is_exception)
		return add_exception(changes, &effect->entry);
	if (strcmp(effect->entry.set, changes->taken->set))
		return 0;
	make_single(changes, effect, &entry);
	is_put &= entry.expires_ms > changes->now_ms;
	return add_change(changes, is_put ? BALEEN_RULE_ENTRY_PUT : BALEEN_RULE_ENTRY_REMOVE,
			  &entry);
}

/* Nobody can have banned here, from elsewhere, who is protected. */
static void tell_refused(const struct changes *changes, const struct baleen_bans *bans,
			 const struct baleen_ban_rule *refused)
{
	const struct baleen_rule_entry_change *first = NULL;
	char why[BALEEN_GATE_TEXT], by[BALEEN_SCOPE_BYTES] = "";
	u64 n = 0;

	for (size_t i = 0; i < changes->n; i++) {
		if (changes->change[i].result != -EPERM)
			continue;
		first = first ? first : &changes->change[i];
		n++;
	}
	if (refused)
		snprintf(by, sizeof(by), "%s:%s: ", bans->device[refused->device].name,
			 refused->rule.name);
	if (first)
		say(changes->fleet, LOG_WARNING, "%s: %s of %s is not banned here: %s%s%s",
		    changes->scope.name, baleen_entry_key_text(&first->entry.key).text,
		    first->entry.origin + strlen(BALEEN_ORIGIN_FLEET), by,
		    baleen_gate_text(first->answer, &first->protected, why),
		    n > 1 ? ", nor are others" : "");
}

/* baleend lets it follow. */
static void tell_behind(const struct changes *changes, const struct baleen_bans *bans)
{
	for (u32 i = 0; i < bans->n_devices; i++)
		if (bans->device[i].is_behind)
			say(changes->fleet, LOG_WARNING, "%s: cannot follow %s: %s",
			    bans->device[i].name, changes->scope.name, bans->device[i].why.text);
}

static int put(struct changes *changes, struct baleen_error *error)
{
	struct baleen_batch batch = { .change = changes->change,
				      .n = changes->n,
				      .only_bans = true,
				      .atomic = changes->is_whole && changes->n >= IN_ONE_STEP,
				      .asker = BALEEN_ASKER_FLEET };
	const struct baleen_ban_rule *refused;
	struct baleen_bans bans;
	int err;

	if (!changes->n)
		return 0;
	err = baleen_bans_open(&bans, changes->scope.name, error);
	if (!err)
		err = baleen_bans_put(&bans, &batch, WAIT_MS, &refused, error);
	if (!err) {
		tell_refused(changes, &bans, refused);
		tell_behind(changes, &bans);
	}
	baleen_bans_close(&bans);
	return err;
}

/* --- what a scope should have --------------------------------------------------------- */

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

static int want_exception(const struct baleen_fleet_entry *pardon, void *data)
{
	return add_exception(data, pardon);
}

/* A wider ban leaves out who is never banned. */
static int want_never(struct changes *wanted, struct baleen_error *error)
{
	const struct baleen_fleet_policy *policy = &wanted->fleet->policy;
	struct baleen_rule_entry entry = { .is_exception = true,
					   .origin = NEVER_ORIGIN,
					   .reason = "never, by the policy" };
	struct baleen_fleet_entry never;
	int ret = 0;

	strcpy(never.set, wanted->taken->set);
	for (size_t i = 0; i < policy->n_never && ret >= 0; i++) {
		never.key = policy->never[i];
		ret = baleen_fleet_exception_is(&wanted->fleet->store, &never,
						BALEEN_FLEET_NEVER_MS, broker_ms(wanted->fleet),
						error);
		if (ret <= 0)
			continue;
		entry.key = baleen_fleet_key_entry(&never.key);
		ret = add_change(wanted, BALEEN_RULE_ENTRY_PUT, &entry);
	}
	return ret < 0 ? ret : 0;
}

static int keep_row(const struct baleen_rule_entry *entry, void *data)
{
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
	int err = baleen_fleet_view_each(&fleet->store, NULL, broker_ms(fleet), want_effect, wanted,
					 error);

	if (!err)
		err = want_never(wanted, error);
	return err ? err :
		     baleen_fleet_exceptions_each(&fleet->store, broker_ms(fleet), want_exception,
						  wanted, error);
}

/* Read without any lock: writers need not wait for it. */
static int find_there(const struct changes *changes, struct changes *there,
		      struct baleen_error *error)
{
	struct baleen_rule_store book;
	int err = baleen_book_open(&book, error);

	if (err)
		return err;
	book.shared = changes->scope.name;
	err = baleen_rule_entries_each(&book, NULL, NULL, keep_row, there, error);
	baleen_book_close(&book);
	return err;
}

static int find_differences(struct changes *changes, struct baleen_error *error)
{
	struct changes wanted = *changes, there = *changes;
	int err = find_wanted(&wanted, error);

	if (!err)
		err = find_there(changes, &there, error);
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

	for (size_t i = 0; i < n && !err; i++)
		err = add_effect(changes, &effect[i]);
	return err;
}

/* --- scopes that no rule takes any more ------------------------------------------------ */

static bool is_taken(const struct taken *taken, const char *scope)
{
	for (size_t i = 0; i < taken->n; i++)
		if (!strcmp(baleen_scope_of_fleet(&taken->fleet[i]).name, scope))
			return true;
	return false;
}

/* Behind the lock of the book: a rule that is committed from here on follows when we are done.
 *
 * Return: 1 when it had rows; 0; a negative errno.
 */
static int forget_scope(struct baleen_rule_store *book, const char *scope,
			struct baleen_error *error)
{
	struct baleen_takers takers;
	u64 n = 0;
	int err = baleen_book_begin(book, error);

	if (err)
		return err;
	book->shared = scope;
	err = baleen_scope_takers(scope, &takers, error);
	if (!err && !takers.n)
		err = baleen_rule_entries_flush(book, NULL, NULL, &n, error);
	err = baleen_book_end(book, err, error);
	return err ? err : n > 0;
}

/* The store has them still. Return: 1 when some are forgotten; 0; a negative errno. */
static int forget_others(const struct taken *taken, struct baleen_error *error)
{
	struct baleen_scopes scopes = { 0 };
	struct baleen_rule_store book;
	int ret = baleen_book_open(&book, error);
	bool is_any = false;

	if (ret)
		return ret;
	ret = baleen_scopes_with_entries(&book, &scopes, error);
	for (size_t i = 0; i < scopes.n && ret >= 0; i++) {
		const char *scope = scopes.scope[i].name;

		if (!baleen_scope_is_of_fleet(scope) || is_taken(taken, scope))
			continue;
		ret = forget_scope(&book, scope, error);
		is_any |= ret > 0;
	}
	baleen_scopes_free(&scopes);
	baleen_book_close(&book);
	return ret < 0 ? ret : is_any;
}

/* --- all ---------------------------------------------------------------------------------- */

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

static int change_scope(const struct pass *pass, const struct baleen_rule_fleet *taken,
			struct baleen_error *error)
{
	struct changes changes = { .fleet = pass->fleet,
				   .taken = taken,
				   .scope = baleen_scope_of_fleet(taken),
				   .now_ms = baleen_now_ms(),
				   .offset_ms = pass->offset_ms,
				   .is_whole = !pass->effect };
	int err = pass->effect ? find_effects(pass->effect, pass->n, &changes) :
				 find_differences(&changes, error);

	if (!err)
		err = put(&changes, error);
	free(changes.change);
	return err;
}

/* One scope that fails keeps nothing from the others. */
static int change_all(const struct pass *pass)
{
	struct baleen_error error = { "" };
	struct taken taken = { .error = &error };
	int first, ret = 0;

	baleen_bans_end_if_due();
	first = find_taken(&taken);
	if (!first && !pass->effect && !taken.is_partial)
		ret = forget_others(&taken, &error);
	if (first || ret < 0)
		say(pass->fleet, LOG_ERR, "%s", error.text);
	for (size_t i = 0; i < taken.n; i++) {
		int err = change_scope(pass, &taken.fleet[i], &error);

		if (err)
			say(pass->fleet, LOG_ERR, "%s", error.text);
		first = first ? first : err;
	}
	free(taken.fleet);
	/* A rule may have come, and gone, and come again: soon it is looked at once more. */
	if (ret > 0)
		ret = -EAGAIN;
	return first ? first : ret;
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
