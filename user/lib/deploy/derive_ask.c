// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One key of a rule: shall it be in the set? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "deploy/derive.h"
#include "deploy/rule_feeds.h"
#include "deploy/derive_image.h"
#include "list/special.h"
#include "state/never_names.h"

/* --- single entries -------------------------------------------------------- */

/**
 * struct look - the entry that decides of a key
 * @state: opened
 * @rule: the rule
 * @key: the key
 * @has_roles: @roles is known: no entry may have to yield
 * @roles: bits of enum baleen_protected_role, of HOST and PEER, that the key is of
 * @decision: what the entry says
 * @has_yielded: one had to, to @yielded
 * @yielded: why the key is protected
 * @error: the caller's
 */
struct look {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	const struct baleen_key *key;
	bool has_roles;
	u32 roles;
	enum baleen_decision decision;
	bool has_yielded;
	enum baleen_protected_role yielded;
	struct baleen_error *error;
};

static int find_roles(struct look *look)
{
	struct baleen_protected_set set;
	int err = baleen_protected_load(look->state, &set, look->error);

	if (err)
		return err;
	for (u32 role = BALEEN_PROTECTED_HOST; role <= BALEEN_PROTECTED_PEER; role++)
		look->roles |= (u32)baleen_list_has(&set.set[role], look->key) << role;
	look->has_roles = true;
	baleen_protected_free(&set);
	return 0;
}

/* An entry that yields to the key says nothing of it. */
static int look_at_entry(const struct baleen_rule_entry *entry, void *data)
{
	struct look *look = data;
	int err = entry->yields && !look->has_roles ? find_roles(look) : 0;

	if (err)
		return err;
	for (u32 role = BALEEN_PROTECTED_HOST; role <= BALEEN_PROTECTED_PEER; role++) {
		if (!(look->roles & 1u << role) || !entry->yields || entry->is_exception ||
		    !baleen_protected_of_entry(look->rule, entry->yields, role))
			continue;
		look->has_yielded = true;
		look->yielded = role;
		return 0;
	}
	look->decision = baleen_decision_with(look->decision, entry);
	return look->decision != BALEEN_LEFT_TO_FEEDS;
}

static int decide(struct look *look, u64 now_ms)
{
	int err = 0;

	if (look->rule->is_any)
		look->decision = BALEEN_DECIDED_IN;
	else
		err = baleen_rule_entries_find(look->state, look->rule->name, look->key, now_ms,
					       look_at_entry, look, look->error);
	look->decision = baleen_decision_of_all(look->decision);
	return err < 0 ? err : 0;
}

int baleen_derive_decides(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  u64 now_ms, enum baleen_decision *decision, struct baleen_error *error)
{
	struct look look = { .state = state, .rule = rule, .key = key, .error = error };
	int err = decide(&look, now_ms);

	if (!err)
		*decision = look.decision;
	return err;
}

/* --- what is withheld ------------------------------------------------------ */

static bool is_of(const struct baleen_protected_set *set, enum baleen_protected_role role,
		  const struct baleen_key *key, struct baleen_protected *protected)
{
	if (!baleen_list_has(&set->set[role], key))
		return false;
	baleen_key_format(key, BALEEN_KEY_SRC, protected->key);
	baleen_protected_describe(set, role, key, protected);
	return true;
}

static bool is_special(const struct baleen_stored_rule *rule, const struct baleen_key *key,
		       struct baleen_protected *protected)
{
	const struct baleen_special *special = baleen_special_find(key);

	if (!baleen_rule_removes_special(rule) || !special)
		return false;
	protected->role = BALEEN_PROTECTED_SPECIAL;
	snprintf(protected->what, sizeof(protected->what), "%s", special->name);
	snprintf(protected->key, sizeof(protected->key), "%s", special->prefix);
	return true;
}

/* @of_feeds: also what is taken out of feeds alone */
static bool is_protected(const struct baleen_stored_rule *rule,
			 const struct baleen_protected_set *set, const struct baleen_key *key,
			 bool of_feeds, struct baleen_protected *protected)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++)
		if ((of_feeds ? baleen_protected_of_feeds(rule, role) :
				baleen_protected_of_entry(rule, 0, role)) &&
		    is_of(set, role, key, protected))
			return true;
	return of_feeds && is_special(rule, key, protected);
}

/* Return: 1 or 0, or a negative errno. */
static int find_protected(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  bool of_feeds, struct baleen_protected *protected,
			  struct baleen_error *error)
{
	struct baleen_protected_set set;
	int found;

	if (!baleen_protected_applies(rule))
		return of_feeds && is_special(rule, key, protected);
	found = baleen_protected_load(state, &set, error);
	if (found)
		return found;
	found = is_protected(rule, &set, key, of_feeds, protected);
	baleen_protected_free(&set);
	return found;
}

/* Return: 1, or a negative errno. */
static int describe_yielded(const struct look *look, struct baleen_protected *protected)
{
	struct baleen_protected_set set;
	int err = baleen_protected_load(look->state, &set, look->error);

	if (err)
		return err;
	is_of(&set, look->yielded, look->key, protected);
	baleen_protected_free(&set);
	return 1;
}

static int copy_times(const struct baleen_never_name *name, void *data)
{
	struct baleen_protected *protected = data;

	if (strncmp(name->name, protected->what, sizeof(protected->what) - 1))
		return 0;
	protected->asked_ms = name->asked_ms;
	protected->answered_ms = name->answered_ms;
	return 1;
}

int baleen_protected_find(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  struct baleen_protected *protected)
{
	struct baleen_protected found = { 0 };
	struct baleen_error ignored;
	struct look look = { .state = state, .rule = rule, .key = key, .error = &ignored };
	int err = decide(&look, baleen_now_ms());

	if (!err)
		err = find_protected(state, rule, key, look.decision == BALEEN_UNDECIDED, &found,
				     &ignored);
	if (!err && look.has_yielded && look.decision != BALEEN_DECIDED_IN)
		err = describe_yielded(&look, &found);
	if (err == 1 && found.role == BALEEN_PROTECTED_NAME)
		baleen_never_names_each(state, copy_times, &found, NULL);
	if (err == 1)
		*protected = found;
	return err;
}

/* --- feeds ----------------------------------------------------------------- */

/* A key looked for in feeds. */
struct asking {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	const struct baleen_key *key;
	struct baleen_error *error;
};

static int ask_list(const struct asking *asking, const struct baleen_feed *feed)
{
	int fd = baleen_feed_open_lines(asking->state, feed, asking->error), err;
	char text[BALEEN_RULE_ENTRY_TEXT];
	u64 line;

	if (fd < 0)
		return fd;
	err = baleen_list_find(fd, asking->rule->key_spec, asking->key, &line, text, sizeof(text));
	close(fd);
	if (err && err != -ENOENT)
		baleen_fail(asking->error, -err, "%.600s: %s", baleen_feed_name(feed).text,
			    strerror(-err));
	return err ? err : 1;
}

/* -ENOENT goes on: there is no copy yet, or the key is not in it. */
static int ask_feed(const struct baleen_feed *feed, void *data)
{
	const struct asking *asking = data;
	int ret = feed->format == BALEEN_FEED_IMAGE ?
			  baleen_derive_image_holds(asking->state, feed, asking->rule->key_spec,
						    asking->key, asking->error) :
			  ask_list(asking, feed);

	return ret == -ENOENT ? 0 : ret;
}

/* --- questions ------------------------------------------------------------- */

/* Return: 1 or 0, or a negative errno. */
static int feeds_hold(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		      const struct baleen_key *key, struct baleen_error *error)
{
	struct asking asking = { .state = state, .rule = rule, .key = key, .error = error };

	return baleen_rule_feeds_each(state, rule, ask_feed, &asking, error);
}

int baleen_derive_settle(const struct baleen_rule_store *state,
			 const struct baleen_stored_rule *rule, const struct baleen_key *key,
			 enum baleen_decision decision, bool *holds, struct baleen_error *error)
{
	struct baleen_protected ignored;
	int err = 0, found = 0;

	if (decision != BALEEN_DECIDED_OUT)
		err = find_protected(state, rule, key, decision == BALEEN_UNDECIDED, &ignored,
				     error);
	/* Neither taken out by an exception, nor withheld. */
	if (!err && decision == BALEEN_DECIDED_IN)
		found = 1;
	else if (!err && decision == BALEEN_UNDECIDED)
		found = feeds_hold(state, rule, key, error);
	if (err < 0 || found < 0)
		return err < 0 ? err : found;
	*holds = found;
	return 0;
}

int baleen_derive_holds(const struct baleen_rule_store *state,
			const struct baleen_stored_rule *rule, const struct baleen_key *key,
			u64 now_ms, bool *holds, struct baleen_error *error)
{
	enum baleen_decision decision;
	int err = baleen_derive_decides(state, rule, key, now_ms, &decision, error);

	return err ? err : baleen_derive_settle(state, rule, key, decision, holds, error);
}
