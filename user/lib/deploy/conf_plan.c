// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From what a device has to what its configuration asks for. Above 500 lines: one comparison
 * after the other, all of which add to one plan.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf_icp.h"
#include "deploy/conf_plan.h"
#include "deploy/deploy_step.h"
#include "deploy/gate_live.h"
#include "deploy/icp_follow.h"
#include "deploy/rule_order.h"
#include "filter/kind.h"
#include "key/key_spec.h"
#include "state/book.h"
#include "state/entries.h"
#include "state/protected.h"
#include "state/rule_scopes.h"
#include "util/array.h"
#include "util/number.h"
#include "util/shell.h"
#include "xdp/qualifiers.h"

/**
 * struct comparison - what is compared
 * @goal: the configuration asked for
 * @state: state of the device; NULL when it has none
 * @xdp: its filter; NULL when none is in force
 * @old: the state as a configuration; all zeros without one
 * @plan: filled in
 * @error: filled in on failure
 */
struct comparison {
	const struct baleen_conf_goal *goal;
	const struct baleen_rule_store *state;
	const struct baleen_xdp *xdp;
	struct baleen_conf old;
	struct baleen_conf_plan *plan;
	struct baleen_error *error;
};

void baleen_conf_plan_free(struct baleen_conf_plan *plan)
{
	free(plan->change);
	*plan = (struct baleen_conf_plan){ 0 };
}

static __attribute__((format(printf, 4, 5))) int add_change(struct comparison *work,
							    enum baleen_conf_change_kind kind,
							    const char *rule, const char *format,
							    ...)
{
	struct baleen_conf_plan *plan = work->plan;
	struct baleen_conf_change *change;
	va_list args;

	if (baleen_array_add(&plan->change, plan->n_changes))
		return baleen_no_memory(work->error);
	change = &plan->change[plan->n_changes++];
	*change = (struct baleen_conf_change){ .kind = kind };
	snprintf(change->rule, sizeof(change->rule), "%s", rule);
	va_start(args, format);
	vsnprintf(change->what, sizeof(change->what), format, args);
	va_end(args);
	return 0;
}

/* The single entries of the rule of the change that was just added. */
static void count_singles(struct comparison *work, const char *rule)
{
	struct baleen_conf_change *change = &work->plan->change[work->plan->n_changes - 1];
	struct baleen_rule_store book;

	if (work->state) {
		book = baleen_book_of(work->state);
		change->n_singles = baleen_rule_entries_count(&book, rule, NULL);
	} else if (!baleen_book_open(&book, NULL)) {
		snprintf(book.scope, sizeof(book.scope), "%s", work->goal->device);
		change->n_singles = baleen_rule_entries_count(&book, rule, NULL);
		baleen_book_close(&book);
	}
}

/* Adds a change of @rule when a field differs between @old and @new; nothing after an error,
 * which is in @err.
 */
#define COMPARE(kind, rule, field, ...)                                  \
	do {                                                             \
		if (!err && old->field != new->field)                    \
			err = add_change(work, kind, rule, __VA_ARGS__); \
	} while (0)
#define COMPARE_POLICY(field, ...) COMPARE(BALEEN_CONF_POLICY, "", field, __VA_ARGS__)
#define COMPARE_RULE(field, ...) COMPARE(BALEEN_CONF_RULE_CHANGED, new->name, field, __VA_ARGS__)

/* --- policy ------------------------------------------------------------------- */

/* Mode and place are changed by no update: that takes a moment without any filter,
 * which is for the operator to choose.
 */
static int check_way(const struct comparison *work)
{
	const struct baleen_stored_rules *rules = &work->goal->conf->rules;
	const struct baleen_xdp *xdp = work->xdp;

	if (!xdp)
		return 0;
	if (rules->mode != BALEEN_MODE_AUTO && rules->mode != xdp->there.mode)
		return baleen_fail(work->error, EBUSY,
				   "%s: is attached %s, and mode %s is asked for: 'baleen detach "
				   "%s' first",
				   xdp->device, baleen_mode_text(xdp->there.mode),
				   baleen_mode_text(rules->mode),
				   baleen_shell_word(xdp->device).text);
	if (baleen_attachment_type(xdp->pins.ifindex, rules->attach_type) !=
	    xdp->config.attach_type)
		return baleen_fail(work->error, EBUSY,
				   "%s: is attached by %s, and %s is asked for: 'baleen detach %s' "
				   "first",
				   xdp->device, baleen_attach_type_text(xdp->config.attach_type),
				   baleen_attach_type_text(rules->attach_type),
				   baleen_shell_word(xdp->device).text);
	return 0;
}

static int compare_never(struct comparison *work, bool *differs)
{
	const char *path = work->goal->conf->rules.never_path;
	int ret = strcmp(path, work->old.rules.never_path) ?
			  1 :
			  baleen_protected_never_differs(work->state, path, work->error);

	if (ret < 0)
		return ret;
	*differs = ret;
	if (!*differs)
		return 0;
	return add_change(work, BALEEN_CONF_NEVER, "", "never %s", *path ? path : "none");
}

/* Other names, or else other answers for the same. */
static int compare_names(struct comparison *work)
{
	const struct baleen_never_answers *answers = work->goal->answers;
	const char *names = work->goal->conf->rules.never_names;
	int err = 0;

	if (strcmp(names, work->old.rules.never_names))
		return add_change(work, BALEEN_CONF_POLICY, "", "never-name %s",
				  *names ? names : "none");
	for (size_t i = 0; answers && i < answers->n && !err; i++) {
		const struct baleen_never_answer *answer = &answers->answer[i];

		if (!answer->n_added && !answer->n_removed)
			continue;
		err = add_change(work, BALEEN_CONF_POLICY, "", "never-name %s: +%u -%u",
				 answer->name, answer->n_added, answer->n_removed);
		if (!err)
			work->plan->change[work->plan->n_changes - 1].n_added = answer->n;
	}
	return err;
}

static int add_icp_lines(struct comparison *work, const char *from, const char *other,
			 const char *before)
{
	char text[BALEEN_CONF_ICP_LINE];
	int err = 0;

	for (const char *at = from; *at && !err; at += *at == '\n') {
		if (!baleen_conf_icp_has(other, at))
			err = add_change(work, BALEEN_CONF_POLICY, "", "%s %s", before,
					 baleen_conf_icp_line(at, text));
		at += strcspn(at, "\n");
	}
	return err;
}

/* Statements about caches that are new, and those that are gone. */
static int compare_icp(struct comparison *work)
{
	const char *new = work->goal->conf->rules.icp, *old = work->old.rules.icp;
	size_t n = work->plan->n_changes;
	int err = add_icp_lines(work, old, new, "no icp");

	if (!err)
		err = add_icp_lines(work, new, old, "icp");
	if (err || work->plan->n_changes > n)
		return err;
	/* In another order siblings have other numbers. */
	if (strcmp(new, old))
		return add_change(work, BALEEN_CONF_POLICY, "", "icp: another order");
	if (work->xdp && !baleen_icp_is_followed(work->xdp->device, new))
		return add_change(work, BALEEN_CONF_POLICY, "", "icp: not in force");
	return 0;
}

/* Without a state everything is new, and not reported one by one. */
static int compare_policy(struct comparison *work, bool *never_differs)
{
	const struct baleen_stored_rules *new = &work->goal->conf->rules, *old = &work->old.rules;
	char rate[BALEEN_INTERVAL_TEXT];
	int err = 0;

	*never_differs = true;
	if (!work->state)
		return 0;
	COMPARE_POLICY(default_drop, "default %s", new->default_drop ? "drop" : "pass");
	COMPARE_POLICY(dry_run, "%sdry-run", new->dry_run ? "" : "no ");
	COMPARE_POLICY(sample_interval_ns, "sample %s",
		       new->sample_interval_ns ?
			       baleen_interval_format(new->sample_interval_ns, rate) :
			       "nothing");
	COMPARE_POLICY(mode, "mode %s", baleen_mode_text(new->mode));
	COMPARE_POLICY(guard_sessions, "guard-sessions %s",
		       baleen_session_guards[new->guard_sessions]);
	COMPARE_POLICY(max_bytes, "max-memory %s", baleen_conf_number_text(new->max_bytes).text);
	COMPARE_POLICY(attach_type, "place %s", baleen_attach_type_text(new->attach_type));
	if (!err && strcmp(new->health, old->health))
		err = add_change(work, BALEEN_CONF_POLICY, "", "health %s",
				 *new->health ? baleen_conf_health_text(new->health).text : "none");
	if (!err)
		err = compare_icp(work);
	if (!err)
		err = compare_names(work);
	return err ? err : compare_never(work, never_differs);
}

/* --- rules -------------------------------------------------------------------- */

static int add_rule(struct comparison *work, const struct baleen_stored_rule *rule)
{
	char qualifiers[BALEEN_QUALIFIERS_TEXT];
	int err;

	baleen_qualifiers_format(&rule->qualifiers, &rule->rate_limit, qualifiers);
	err = add_change(work, BALEEN_CONF_RULE_ADDED, rule->name, "%s%s%s",
			 baleen_action_text(rule->action), *qualifiers ? " " : "", qualifiers);
	if (!err)
		count_singles(work, rule->name);
	return err;
}

static int compare_texts(struct comparison *work, const char *rule, const char *old,
			 const char *new, const char *before, const char *none)
{
	if (!strcmp(old, new))
		return 0;
	return add_change(work, BALEEN_CONF_RULE_CHANGED, rule, "%s%s", *new ? before : none, new);
}

static int compare_qualifiers(struct comparison *work, const struct baleen_stored_rule *old,
			      const struct baleen_stored_rule *new)
{
	char text_old[BALEEN_QUALIFIERS_TEXT], text_new[BALEEN_QUALIFIERS_TEXT];

	baleen_qualifiers_format(&old->qualifiers, &old->rate_limit, text_old);
	baleen_qualifiers_format(&new->qualifiers, &new->rate_limit, text_new);
	return compare_texts(work, new->name, text_old, text_new, "", "no qualifiers");
}

static int compare_limits(struct comparison *work, const struct baleen_stored_rule *old,
			  const struct baleen_stored_rule *new)
{
	const struct baleen_feed_limits *limits = &new->limits;
	int err = 0;

	COMPARE_RULE(limits.min_entries, "min-entries %llu",
		     (unsigned long long)limits->min_entries);
	COMPARE_RULE(limits.max_entries, "max-entries %s",
		     baleen_conf_number_text(limits->max_entries).text);
	COMPARE_RULE(limits.max_shrink, "max-shrink %.15g%%", limits->max_shrink * 100);
	COMPARE_RULE(limits.max_coverage, "max-coverage %.15g%%", limits->max_coverage * 100);
	COMPARE_RULE(limits.max_growth, "max-growth %.15g%%", limits->max_growth * 100);
	COMPARE_RULE(takes_bans, "%s", new->takes_bans ? "bans" : "no bans");
	return err;
}

static int compare_fleet(struct comparison *work, const struct baleen_stored_rule *old,
			 const struct baleen_stored_rule *new)
{
	char text_old[BALEEN_RULE_FLEET_TEXT], text_new[BALEEN_RULE_FLEET_TEXT];

	baleen_rule_fleet_format(&old->fleet, text_old);
	baleen_rule_fleet_format(&new->fleet, text_new);
	return compare_texts(work, new->name, text_old, text_new, "feed ", "no feed of a fleet");
}

/* Prefixes that other numbers have widened go, so the filter is built anew. */
static int compare_widen(struct comparison *work, const struct baleen_stored_rule *old,
			 const struct baleen_stored_rule *new)
{
	char text_old[BALEEN_WIDEN_TEXT], text_new[BALEEN_WIDEN_TEXT];

	baleen_widen_format(old->widen, text_old);
	baleen_widen_format(new->widen, text_new);
	return compare_texts(work, new->name, text_old, text_new, "widen ", "no widen");
}

/* The filter itself: it is built anew when one of these differs. */
static int compare_filter(struct comparison *work, const struct baleen_stored_rule *old,
			  const struct baleen_stored_rule *new)
{
	char spec[BALEEN_KEY_SPEC_TEXT];
	int err = 0;

	COMPARE_RULE(action, "%s", baleen_action_text(new->action));
	COMPARE_RULE(key_spec, "key %s", baleen_key_spec_text(new->key_spec, spec));
	if (!err && !baleen_rule_keys_keep_entries(old->key_spec, new->key_spec))
		count_singles(work, new->name);
	COMPARE_RULE(kind, "kind %s", baleen_kind_name(new->kind));
	COMPARE_RULE(fpp, "fpp %.15g", new->fpp);
	COMPARE_RULE(accept_fpp, "accepted rate %.15g", baleen_gate_accepts(new));
	COMPARE_RULE(capacity, "capacity %llu", (unsigned long long)new->capacity);
	COMPARE_RULE(ban_width, "ban-width %u", new->ban_width ?: BALEEN_BAN_WIDTH);
	COMPARE_RULE(is_any, "%s", new->is_any ? "any" : "no longer any");
	COMPARE_RULE(guards_feeds, "guarded");
	COMPARE_RULE(limits.keep_special, "special %s",
		     new->limits.keep_special ? "keep" : "remove");
	return err ? err : compare_widen(work, old, new);
}

static int compare_rule(struct comparison *work, u32 index)
{
	const struct baleen_stored_rule *new = &work->goal->conf->rules.rule[index];
	int at = baleen_rule_store_find_rule(&work->old.rules, new->name);
	const struct baleen_stored_rule *old;
	size_t n = work->plan->n_changes;
	int err;

	if (at < 0) {
		work->plan->deploy.rebuild[index] = true;
		return add_rule(work, new);
	}
	old = &work->old.rules.rule[at];
	err = compare_filter(work, old, new);
	work->plan->deploy.rebuild[index] =
		work->plan->n_changes > n || !baleen_rules_take_same(old, new);
	if (!err)
		err = compare_qualifiers(work, old, new);
	if (!err)
		err = compare_fleet(work, old, new);
	return err ? err : compare_limits(work, old, new);
}

static int compare_order(struct comparison *work)
{
	const struct baleen_stored_rules *new = &work->goal->conf->rules;
	int place[BALEEN_MAX_RULES], err = 0;
	bool stays[BALEEN_MAX_RULES];

	for (u32 i = 0; i < new->n_rules; i++)
		place[i] = baleen_rule_store_find_rule(&work->old.rules, new->rule[i].name);
	baleen_rule_order_stays(place, new->n_rules, stays);
	for (u32 i = 0; i < new->n_rules && !err; i++)
		if (place[i] >= 0 && !stays[i])
			err = add_change(work, BALEEN_CONF_RULE_MOVED, new->rule[i].name,
					 "from %d to %u", place[i] + 1, i + 1);
	return err;
}

static int compare_rules(struct comparison *work)
{
	const struct baleen_stored_rules *old = &work->old.rules, *new = &work->goal->conf->rules;
	int err = 0;

	for (u32 i = 0; i < old->n_rules && !err; i++) {
		const struct baleen_stored_rule *rule = &old->rule[i];

		if (baleen_rule_store_find_rule(new, rule->name) >= 0)
			continue;
		err = add_change(work, BALEEN_CONF_RULE_REMOVED, rule->name, "%s",
				 baleen_action_text(rule->action));
		if (!err)
			count_singles(work, rule->name);
	}
	for (u32 i = 0; i < new->n_rules && !err; i++)
		err = compare_rule(work, i);
	return err ? err : compare_order(work);
}

/* --- feeds -------------------------------------------------------------------- */

static void rebuild(struct comparison *work, const char *rule)
{
	int index = baleen_rule_store_find_rule(&work->goal->conf->rules, rule);

	if (index >= 0)
		work->plan->deploy.rebuild[index] = true;
}

static int compare_version(struct comparison *work, const struct baleen_feed_version *version)
{
	static const enum baleen_conf_change_kind kinds[] = {
		[BALEEN_FEED_NEW] = BALEEN_CONF_FEED_ADDED,
		[BALEEN_FEED_CHANGED] = BALEEN_CONF_FEED_CHANGED,
		[BALEEN_FEED_GONE] = BALEEN_CONF_FEED_REMOVED,
	};
	struct baleen_conf_change *change;

	if (version->outcome == BALEEN_FEED_SAME)
		return 0;
	rebuild(work, version->feed.rule);
	if (add_change(work, kinds[version->outcome], version->feed.rule, "%s",
		       baleen_feed_name(&version->feed).text))
		return -ENOMEM;
	change = &work->plan->change[work->plan->n_changes - 1];
	change->n_added = version->n_added;
	change->n_removed = version->n_removed;
	change->n_special = version->outcome == BALEEN_FEED_GONE ? 0 : version->feed.n_special;
	change->n_ends = version->now.n_ends;
	return 0;
}

/* Finds a feed that is in the state and is no longer asked for. A file that a directory
 * lost has a version that says so.
 */
static int compare_row(const struct baleen_feed *feed, void *data)
{
	struct comparison *work = data;

	if (baleen_rule_store_find_rule(&work->goal->conf->rules, feed->rule) < 0 ||
	    baleen_conf_find_source(work->goal->conf, feed->rule, &feed->wanted))
		return 0;
	rebuild(work, feed->rule);
	if (add_change(work, BALEEN_CONF_FEED_REMOVED, feed->rule, "%s",
		       baleen_feed_name(feed).text))
		return -ENOMEM;
	work->plan->change[work->plan->n_changes - 1].n_removed = feed->n_entries;
	return 0;
}

static int compare_reading(struct comparison *work, const struct baleen_conf_feed *new)
{
	const char *rule = work->goal->conf->rules.rule[new->rule].name;
	const struct baleen_conf_feed *old =
		baleen_conf_find_source(&work->old, rule, &new->wanted);
	const struct baleen_feed_source *a, *b = &new->wanted;

	if (!old)
		return 0;
	a = &old->wanted;
	if (a->delimiter == b->delimiter && a->skip_bad == b->skip_bad &&
	    a->every_s == b->every_s && a->timeout_s == b->timeout_s && a->hold_s == b->hold_s &&
	    !strcmp(a->access, b->access) && a->may_be_private == b->may_be_private &&
	    !strcmp(a->key, b->key) && a->ring == b->ring)
		return 0;
	if (a->delimiter != b->delimiter || a->skip_bad != b->skip_bad)
		rebuild(work, rule);
	return add_change(work, BALEEN_CONF_FEED_READ, rule, "%s", baleen_feed_source_name(b).text);
}

static int compare_feeds(struct comparison *work)
{
	const struct baleen_conf *conf = work->goal->conf;
	int err = 0;

	if (work->state)
		err = baleen_feeds_each(work->state, NULL, compare_row, work, work->error);
	for (size_t i = 0; i < work->goal->versions->n && !err; i++)
		err = compare_version(work, &work->goal->versions->version[i]);
	for (size_t i = 0; i < conf->n_feeds && !err; i++)
		err = compare_reading(work, &conf->feed[i]);
	return err;
}

/* --- the device ---------------------------------------------------------------- */

static int compare_live(struct comparison *work)
{
	struct baleen_deploy live = { .has_xdp = true };
	struct baleen_stored_rules rules;
	int err;

	if (!work->xdp)
		return add_change(work, BALEEN_CONF_ATTACH, "", "no filter is in force");
	if (!work->state)
		return add_change(work, BALEEN_CONF_KEEP, "", "attached without a state");
	if (!work->state->is_kept && !work->goal->is_volatile &&
	    add_change(work, BALEEN_CONF_KEEP, "", "attached by hand"))
		return -ENOMEM;
	/* With those of trials, which no configuration has. */
	err = baleen_rule_store_get_rules(work->state, &rules, work->error);
	if (err)
		return err;
	live.xdp = *work->xdp;
	if (baleen_deploy_differs(&live, &rules))
		return add_change(work, BALEEN_CONF_LIVE, "", "has other rules than its state");
	if (baleen_rule_store_is_marked(work->state))
		return add_change(work, BALEEN_CONF_LIVE, "", "a change of it was cut short");
	if (baleen_rule_store_is_behind(work->state))
		return add_change(work, BALEEN_CONF_LIVE, "", "the last bans are not in force yet");
	return 0;
}

static int compare(struct comparison *work)
{
	const struct baleen_stored_rules *rules = &work->goal->conf->rules;
	bool never_differs;
	int err = check_way(work);

	if (!err)
		err = compare_live(work);
	if (!err)
		err = compare_policy(work, &never_differs);
	if (!err)
		err = compare_rules(work);
	if (!err)
		err = compare_feeds(work);
	if (err)
		return err;
	for (u32 i = 0; i < rules->n_rules; i++)
		if (never_differs && baleen_protected_applies(&rules->rule[i]))
			work->plan->deploy.rebuild[i] = true;
	work->plan->deploy.rules = *rules;
	return 0;
}

int baleen_conf_compare(const struct baleen_conf_goal *goal, const struct baleen_rule_store *state,
			const struct baleen_xdp *xdp, struct baleen_conf_plan *plan,
			struct baleen_error *error)
{
	struct baleen_conf_plan made = { 0 };
	struct comparison work = {
		.goal = goal, .state = state, .xdp = xdp, .plan = &made, .error = error
	};
	int err = state ? baleen_conf_from_state(state, &work.old, error) : 0;

	if (!err)
		err = compare(&work);
	baleen_conf_free(&work.old);
	if (err)
		baleen_conf_plan_free(&made);
	else
		*plan = made;
	return err;
}
