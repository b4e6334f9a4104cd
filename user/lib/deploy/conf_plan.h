/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what a device has to what its configuration asks for.
 *
 *      conf ------\
 *      versions ---> compare --> changes, for people --> carry out, in one step
 *      state -----/              and a plan for deploy
 *      live filter
 *
 * To compare takes no lock and changes nothing, so a run that finds nothing to do
 * leaves no trace but of which text it was (conf_edits.h). What is carried out is compared anew under the lock.
 */
#ifndef BALEEN_CONF_PLAN_H
#define BALEEN_CONF_PLAN_H

#include "deploy/conf.h"
#include "deploy/deploy.h"
#include "state/feed_update.h"
#include "state/never_names.h"

/**
 * enum baleen_conf_change_kind - what changes
 * @BALEEN_CONF_ATTACH: the device has no filter in force
 * @BALEEN_CONF_KEEP: what was attached by hand is put on again at boot from now on
 * @BALEEN_CONF_LIVE: the device has other rules than its state, or a killed writer's
 * @BALEEN_CONF_NEVER: the never-drop list: another one, or what it has; policy, too
 * @BALEEN_CONF_POLICY: default, dry run, sampling, mode, place, never-drop names
 * @BALEEN_CONF_RULE_ADDED: a rule
 * @BALEEN_CONF_RULE_REMOVED: a rule, with its feeds and single entries
 * @BALEEN_CONF_RULE_MOVED: its place among the others
 * @BALEEN_CONF_RULE_CHANGED: what else is said of it
 * @BALEEN_CONF_FEED_ADDED: a feed
 * @BALEEN_CONF_FEED_REMOVED: a feed
 * @BALEEN_CONF_FEED_CHANGED: its entries
 * @BALEEN_CONF_FEED_READ: how it is read, or when
 */
enum baleen_conf_change_kind {
	BALEEN_CONF_ATTACH,
	BALEEN_CONF_KEEP,
	BALEEN_CONF_LIVE,
	BALEEN_CONF_NEVER,
	BALEEN_CONF_POLICY,
	BALEEN_CONF_RULE_ADDED,
	BALEEN_CONF_RULE_REMOVED,
	BALEEN_CONF_RULE_MOVED,
	BALEEN_CONF_RULE_CHANGED,
	BALEEN_CONF_FEED_ADDED,
	BALEEN_CONF_FEED_REMOVED,
	BALEEN_CONF_FEED_CHANGED,
	BALEEN_CONF_FEED_READ,
};

/**
 * struct baleen_conf_change - one thing that changes
 * @kind: its kind
 * @rule: of which rule; empty when it is of the device
 * @what: in words, such as "default drop"; of a feed its name
 * @n_added: number of entries that a feed adds
 * @n_removed: number of entries that a feed removes
 * @n_special: of a feed: entries in special-purpose ranges, that are taken out
 * @n_ends: of a feed: entries that end where they come from, and not in a list
 * @n_singles: single entries in the book: of a rule that goes, or gets a key of other fields,
 *             which are parked; of a new one, which are in force again
 */
struct baleen_conf_change {
	enum baleen_conf_change_kind kind;
	char rule[BALEEN_NAME_BYTES];
	char what[BALEEN_SOURCE_BYTES];
	u64 n_added;
	u64 n_removed;
	u64 n_special;
	u64 n_ends;
	u64 n_singles;
};

/**
 * struct baleen_conf_plan - all that changes
 * @deploy: what is to be put on
 * @change: for people, in the order of the configuration
 * @n_changes: how many; 0 when the device has what it should have
 */
struct baleen_conf_plan {
	struct baleen_deploy_plan deploy;
	struct baleen_conf_change *change;
	size_t n_changes;
};

/**
 * struct baleen_conf_goal - what is asked for
 * @conf: the configuration
 * @versions: versions of its feeds, as received, none of them a failure; a feed without a
 *            version keeps its last good copy
 * @answers: answers for its never-names; NULL for none, so the last ones stay
 * @device: name of the device, whose entries the book may have
 * @is_volatile: what was attached by hand, or has no state, ends with the filter, as before
 * @path: path of the file, from / on; empty when it has none that lasts; NULL for a restore
 */
struct baleen_conf_goal {
	const struct baleen_conf *conf;
	const struct baleen_feed_versions *versions;
	const struct baleen_never_answers *answers;
	const char *device;
	bool is_volatile;
	const char *path;
};

/**
 * baleen_conf_compare() - what has to change
 * @goal: the configuration asked for
 * @state: state of the device; NULL when it has none
 * @xdp: its filter; NULL when none is in force
 * @plan: filled in; free with baleen_conf_plan_free()
 * @error: filled in on failure
 *
 * Return: 0; -EBUSY for a mode or place that an attached filter does not change to;
 * -ENOMEM; a negative errno.
 */
int baleen_conf_compare(const struct baleen_conf_goal *goal, const struct baleen_rule_store *state,
			const struct baleen_xdp *xdp, struct baleen_conf_plan *plan,
			struct baleen_error *error);

/**
 * baleen_conf_plan_free() - free the changes
 * @plan: filled in, or all zeros
 */
void baleen_conf_plan_free(struct baleen_conf_plan *plan);

/**
 * baleen_conf_change_text() - a kind of change as a word
 * @kind: the kind
 *
 * Return: such as "rule-added".
 */
const char *baleen_conf_change_text(enum baleen_conf_change_kind kind);

/**
 * struct baleen_conf_health - a health command in a line
 * @text: its words with blanks between
 */
struct baleen_conf_health {
	char text[BALEEN_COMMAND_BYTES];
};

/**
 * baleen_conf_health_text() - a health command in a line
 * @health: as in struct baleen_stored_rules
 *
 * Return: the line.
 */
struct baleen_conf_health baleen_conf_health_text(const char *health);

/* A bound in words. */
struct baleen_conf_number {
	char text[24];
};

/**
 * baleen_conf_number_text() - a bound in words
 * @number: 0 when the configuration has none
 *
 * Return: the number, or "as usual".
 */
struct baleen_conf_number baleen_conf_number_text(u64 number);

/**
 * baleen_conf_from_state() - what a state would say as a configuration
 * @state: opened
 * @conf: filled in, without a text; free with baleen_conf_free()
 * @error: filled in on failure
 *
 * Rules of trials (trial.h) are left out.
 *
 * Return: 0; -ENOMEM; a negative errno.
 */
int baleen_conf_from_state(const struct baleen_rule_store *state, struct baleen_conf *conf,
			   struct baleen_error *error);

/**
 * baleen_conf_find_source() - the first feed of a configuration that is this source
 * @conf: the configuration
 * @rule: name of a rule
 * @wanted: the source
 *
 * Return: the feed, or NULL.
 */
const struct baleen_conf_feed *baleen_conf_find_source(const struct baleen_conf *conf,
						       const char *rule,
						       const struct baleen_feed_source *wanted);

#endif /* BALEEN_CONF_PLAN_H */
