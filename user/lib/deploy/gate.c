// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The door that single entries go through before they are written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "deploy/gate.h"
#include "list/list_combine.h"
#include "state/book.h"
#include "state/feeds.h"

/**
 * struct row - what the door is to one who asks; baleen.8 has this table
 * @may_narrow: an entry that covers what is protected is taken, and what is protected stays out
 *              of the filter; otherwise it is refused
 * @may_force: its word lets through what is too wide or covers too much, and, in a rule by hand,
 *             the addresses of the host
 */
static const struct row {
	bool may_narrow;
	bool may_force;
} rows[] = {
	[BALEEN_ASKER_TYPED] = { .may_force = true },
	[BALEEN_ASKER_FED] = { .may_narrow = true },
	[BALEEN_ASKER_LIMIT] = { .may_narrow = true },
	[BALEEN_ASKER_FLEET] = { .may_narrow = true },
	[BALEEN_ASKER_LIBRARY] = { .may_narrow = true },
};

static bool may_force(const struct baleen_gate *gate)
{
	return gate->forces && rows[gate->asker].may_force;
}

static bool may_narrow(const struct baleen_gate *gate)
{
	return gate->narrows || rows[gate->asker].may_narrow;
}

/* A person with --force is not held to it; a rule without the statement has no bound. */
static bool has_bound(const struct baleen_gate *gate)
{
	return gate->rule->limits.max_entries && !may_force(gate);
}

static int add_fed_entries(const struct baleen_feed *feed, void *data)
{
	*(u64 *)data += feed->n_entries;
	return 0;
}

static u64 count_replaced(const struct baleen_gate *gate)
{
	const char *origin = *gate->replaces ? gate->replaces : NULL;
	const struct baleen_rule_store own = baleen_book_of(gate->state);

	return gate->of_bans ? baleen_rule_entries_count(gate->state, NULL, origin) :
			       baleen_rule_entries_count(&own, gate->rule->name, origin);
}

static int count_entries(struct baleen_gate *gate)
{
	const char *rule = gate->rule->name;

	gate->n_entries = baleen_rule_entries_count(gate->state, rule, NULL);
	if (gate->replaces)
		gate->n_entries -= count_replaced(gate);
	return baleen_feeds_each(gate->state, rule, add_fed_entries, &gate->n_entries, gate->error);
}

static int is_of_origin(const struct baleen_rule_entry *there, void *data)
{
	const struct baleen_rule_entry *entry = data;

	return !strcmp(there->origin, entry->origin);
}

int baleen_gate_has_room(const struct baleen_gate *gate, const struct baleen_rule_entry *entry,
			 bool *has_room)
{
	int ret;

	/* Entries that are replaced were not counted: they take room when they come again. */
	if (!has_bound(gate) || gate->n_entries < gate->rule->limits.max_entries)
		ret = 1;
	else if (gate->replaces)
		ret = 0;
	else
		ret = baleen_rule_entries_of_key(gate->state, gate->rule->name, entry, is_of_origin,
						 (void *)entry, gate->error);
	*has_room = ret > 0;
	return ret < 0 ? ret : 0;
}

int baleen_gate_open(struct baleen_gate *gate)
{
	int err = has_bound(gate) ? count_entries(gate) : 0;

	gate->guards = baleen_protected_applies(gate->rule);
	if (err || !gate->guards)
		return err;
	return baleen_protected_load_now(gate->state,
					 gate->cuts_sessions ? BALEEN_GUARD_NONE : gate->sessions,
					 gate->host, &gate->protected, gate->error);
}

void baleen_gate_close(struct baleen_gate *gate)
{
	baleen_protected_free(&gate->protected);
	baleen_list_free(&gate->counted);
}

/* --- what is protected ------------------------------------------------------ */

/* Is an entry asked about addresses of this role? */
static bool is_guarded(const struct baleen_gate *gate, enum baleen_protected_role role)
{
	switch (role) {
	case BALEEN_PROTECTED_HOST: return gate->rule->guards_feeds || !may_force(gate);
	case BALEEN_PROTECTED_PEER: return !gate->cuts_sessions && !may_force(gate);
	default: return true;
	}
}

/* The first that a list meets; the last role is asked last, so what is nobody's is found when
 * there is nothing else.
 */
static int find_protected(struct baleen_gate *gate, const struct baleen_list *keys, bool *is_found,
			  struct baleen_protected *protected)
{
	u64 n = 0;

	for (u32 role = 0; role < BALEEN_N_WITHHELD && !n; role++)
		if (is_guarded(gate, role) &&
		    baleen_protected_meets(&gate->protected, role, keys, &n, protected))
			return baleen_no_memory(gate->error);
	*is_found = n;
	return 0;
}

/* Is anything left of a list? */
static int subtract_protected(struct baleen_gate *gate, struct baleen_list *keys, bool *is_left)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++) {
		struct baleen_list out = gate->protected.set[role];

		out.key_spec = keys->key_spec;
		if (is_guarded(gate, role) && !baleen_list_is_empty(&out) &&
		    baleen_list_subtract(keys, &out))
			return baleen_no_memory(gate->error);
	}
	*is_left = !baleen_list_is_empty(keys);
	return 0;
}

static int add_key(struct baleen_gate *gate, const struct baleen_rule_entry *entry,
		   struct baleen_list *keys)
{
	struct baleen_entry_key key = entry->key;
	int err;

	baleen_entry_key_fit(&key, baleen_rule_ban_width(gate->rule));
	err = baleen_entry_key_add(&key, false, keys);
	if (err == -ENOMEM)
		return baleen_no_memory(gate->error);
	return err ? baleen_fail(gate->error, -err, "a key of an entry that cannot be") : 0;
}

/* --- width ------------------------------------------------------------------- */

/* More addresses than a prefix of that length has: a range need not be aligned. */
static bool is_wider(const struct baleen_rule_entry *entry, u32 ip4_length, u32 ip6_length)
{
	const struct baleen_span span = entry->key.span;
	struct baleen_span prefix;

	if (!baleen_entry_key_is_addresses(&entry->key))
		return false;
	prefix = baleen_span_prefix(&span, span.is_ip6 ? ip6_length : ip4_length);
	if (span.is_ip6)
		return span.last.hi - span.first.hi > prefix.last.hi - prefix.first.hi;
	return span.last.lo - span.first.lo > prefix.last.lo - prefix.first.lo;
}

static bool is_too_wide(const struct baleen_rule_entry *entry)
{
	return is_wider(entry, BALEEN_GATE_IP4_LENGTH, BALEEN_GATE_IP6_LENGTH);
}

/* --- coverage ------------------------------------------------------------------ */

static bool is_counted(const struct baleen_gate *gate, const struct baleen_rule_entry *entry)
{
	return gate->rule->limits.max_coverage < 1 && !may_force(gate) &&
	       is_wider(entry, BALEEN_GATE_COUNTED_LENGTH + 1, 0);
}

static int add_fed(const struct baleen_feed *feed, void *data)
{
	*(u64 *)data += feed->n_ip4;
	return 0;
}

static int add_counted(const struct baleen_rule_entry *entry, void *data)
{
	struct baleen_gate *gate = data;

	if (gate->replaces && entry->is_ban == gate->of_bans &&
	    (!*gate->replaces || !strcmp(gate->replaces, entry->origin)))
		return 0;
	return add_key(gate, entry, &gate->counted);
}

static int load_coverage(struct baleen_gate *gate)
{
	int err;

	if (gate->has_coverage)
		return 0;
	gate->counted = (struct baleen_list){ .key_spec = BALEEN_KEY_SRC };
	err = baleen_feeds_each(gate->state, gate->rule->name, add_fed, &gate->n_fed, gate->error);
	if (!err)
		err = baleen_rule_entries_wide(gate->state, gate->rule->name,
					       BALEEN_GATE_COUNTED_LENGTH, add_counted, gate,
					       gate->error);
	if (!err && baleen_list_finish(&gate->counted))
		err = baleen_no_memory(gate->error);
	gate->has_coverage = !err;
	return err;
}

/* @keys: the entry, which counts from here on if it may come. What is there already is renewed,
 * however much there is.
 */
static int ask_coverage(struct baleen_gate *gate, const struct baleen_list *keys,
			enum baleen_gate_answer *answer, struct baleen_protected *protected)
{
	double share, most = gate->rule->limits.max_coverage;
	struct baleen_list more;
	u64 n_more;
	int err = load_coverage(gate);

	if (err)
		return err;
	if (baleen_list_combine(keys, &gate->counted, BALEEN_SET_DIFFERENCE, &more))
		return baleen_no_memory(gate->error);
	n_more = baleen_feed_count(&more).n_ip4;
	baleen_list_free(&more);
	share = (gate->n_fed + baleen_feed_count(&gate->counted).n_ip4 + n_more) / 4294967296.0;
	if (!n_more || share <= most)
		return baleen_list_unite(&gate->counted, keys) ? baleen_no_memory(gate->error) : 0;
	*answer = BALEEN_GATE_COVERAGE;
	snprintf(protected->what, sizeof(protected->what),
		 "covers %.1f %% of the IPv4 space: more than max-coverage %g%% allows",
		 100 * share, 100 * most);
	return 0;
}

/* --- answers ----------------------------------------------------------------- */

int baleen_gate_meets(struct baleen_gate *gate, const struct baleen_rule_entry *(*next)(void *data),
		      void *data, bool *meets)
{
	struct baleen_list keys = { .key_spec = BALEEN_KEY_SRC };
	const struct baleen_rule_entry *entry;
	struct baleen_protected ignored;
	int err = 0;

	*meets = false;
	if (!gate->guards)
		return 0;
	while (!err && (entry = next(data))) {
		*meets |= is_wider(entry, BALEEN_GATE_COUNTED_LENGTH + 1, BALEEN_GATE_IP6_LENGTH);
		err = add_key(gate, entry, &keys);
	}
	if (!err && baleen_list_finish(&keys))
		err = baleen_no_memory(gate->error);
	if (!err && !*meets)
		err = find_protected(gate, &keys, meets, &ignored);
	baleen_list_free(&keys);
	return err;
}

static int ask_protected(struct baleen_gate *gate, struct baleen_list *keys,
			 enum baleen_gate_answer *answer, struct baleen_protected *protected)
{
	bool is_found = false, is_left = true;
	int err = find_protected(gate, keys, &is_found, protected);

	if (!err && is_found)
		err = subtract_protected(gate, keys, &is_left);
	if (err)
		return err;
	if (is_found && !is_left)
		*answer = BALEEN_GATE_PROTECTED;
	else if (!is_found || protected->role == BALEEN_PROTECTED_NOBODY)
		*answer = BALEEN_GATE_OPEN; /* what is around nobody's address means others */
	else
		*answer = may_narrow(gate) ? BALEEN_GATE_NARROWED : BALEEN_GATE_COVERS;
	return 0;
}

int baleen_gate_ask(struct baleen_gate *gate, struct baleen_rule_entry *entry,
		    enum baleen_gate_answer *answer, struct baleen_protected *protected)
{
	struct baleen_list keys = { .key_spec = BALEEN_KEY_SRC };
	enum baleen_gate_answer found = BALEEN_GATE_OPEN;
	int err = 0;

	if (gate->guards && is_too_wide(entry) && !may_force(gate)) {
		*answer = BALEEN_GATE_WIDE;
		return 0;
	}
	if (gate->guards)
		err = add_key(gate, entry, &keys);
	if (!err && baleen_list_finish(&keys))
		err = baleen_no_memory(gate->error);
	if (!err && gate->guards)
		err = ask_protected(gate, &keys, &found, protected);
	if (!err && gate->guards && is_counted(gate, entry) &&
	    (found == BALEEN_GATE_OPEN || found == BALEEN_GATE_NARROWED))
		err = ask_coverage(gate, &keys, &found, protected);
	baleen_list_free(&keys);
	if (err)
		return err;
	if (found == BALEEN_GATE_NARROWED)
		entry->yields = BALEEN_YIELDS_HOST |
				(is_guarded(gate, BALEEN_PROTECTED_PEER) ? BALEEN_YIELDS_PEERS : 0);
	*answer = found;
	return 0;
}

const char *baleen_gate_why(const struct baleen_protected *protected,
			    char text[static BALEEN_GATE_WHY])
{
	switch (protected->role) {
	case BALEEN_PROTECTED_NEVER: strcpy(text, "the never-drop list"); break;
	case BALEEN_PROTECTED_NAME:
		snprintf(text, BALEEN_GATE_WHY, "an address of %s", protected->what);
		break;
	case BALEEN_PROTECTED_PEER: strcpy(text, "peer of a TCP session"); break;
	default: snprintf(text, BALEEN_GATE_WHY, "%s", protected->what);
	}
	return text;
}

const char *baleen_gate_text(enum baleen_gate_answer answer,
			     const struct baleen_protected *protected,
			     char text[static BALEEN_GATE_TEXT])
{
	const char *covers = answer == BALEEN_GATE_COVERS ? "it covers " : "";
	char why[BALEEN_GATE_WHY];

	if (answer == BALEEN_GATE_WIDE) {
		snprintf(text, BALEEN_GATE_TEXT, "wider than a /%d of IPv4 or a /%d of IPv6",
			 BALEEN_GATE_IP4_LENGTH, BALEEN_GATE_IP6_LENGTH);
		return text;
	}
	if (answer == BALEEN_GATE_FULL)
		return strcpy(text, "its rule has as many entries as max-entries allows");
	if (answer == BALEEN_GATE_COVERAGE) {
		snprintf(text, BALEEN_GATE_TEXT, "with the rest of its rule it %s",
			 protected->what);
		return text;
	}
	snprintf(text, BALEEN_GATE_TEXT, "%s%s%s is never dropped (%s)", covers, protected->key,
		 *covers ? ", which" : "", baleen_gate_why(protected, why));
	return text;
}
