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

static int copy_first(const struct baleen_rule_entry *entry, void *data)
{
	enum baleen_decision *decision = data;

	*decision = baleen_decision_of(entry);
	return 1;
}

int baleen_derive_decides(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  u64 now_ms, enum baleen_decision *decision, struct baleen_error *error)
{
	enum baleen_decision found = BALEEN_UNDECIDED;
	int err = 0;

	if (rule->is_any)
		found = BALEEN_DECIDED_IN;
	else
		err = baleen_rule_entries_find(state, rule->name, key, now_ms, copy_first, &found,
					       error);
	if (err < 0)
		return err;
	*decision = found;
	return 0;
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
	if (is_of(set, BALEEN_PROTECTED_NEVER, key, protected) ||
	    is_of(set, BALEEN_PROTECTED_NAME, key, protected) ||
	    is_of(set, BALEEN_PROTECTED_HOST, key, protected))
		return true;
	return of_feeds && (is_of(set, BALEEN_PROTECTED_PEER, key, protected) ||
			    is_special(rule, key, protected));
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
	enum baleen_decision decision;
	struct baleen_protected found = { 0 };
	struct baleen_error ignored;
	int err = baleen_derive_decides(state, rule, key, baleen_now_ms(), &decision, &ignored);

	if (!err)
		err = find_protected(state, rule, key, decision == BALEEN_UNDECIDED, &found,
				     &ignored);
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
