// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen import: the rules that entries of a file go to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/import_rules.h"
#include "cli/open/filter_name.h"
#include "util/array.h"
#include "util/number.h"

#define MAX_NAMED 20

/* --- which ----------------------------------------------------------------------------- */

struct import_rule *import_rules_add(struct import_rules *rules, const char *target, u32 key_spec)
{
	struct import_rule *rule;

	if (baleen_array_add(&rules->rule, rules->n))
		return NULL;
	rules->at = rules->n++;
	rule = &rules->rule[rules->at];
	*rule = (struct import_rule){ .key_spec = key_spec };
	snprintf(rule->target.name, sizeof(rule->target.name), "%s", target);
	return rule;
}

/* Fills in what is known of a rule that a line names. */
static void look_up(struct import_rules *rules, struct import_rule *rule, const char *device,
		    const char *name)
{
	const struct baleen_stored_rule *found;
	struct baleen_error why;

	if (!scope_rules_are_of(&rules->device_rules, device) &&
	    scope_rules_open(&rules->device_rules, device, &why)) {
		rule->missing = why;
		return;
	}
	found = scope_rules_find(&rules->device_rules, name);
	if (found)
		rule->key_spec = found->key_spec;
	else
		baleen_fail(&rule->missing, ENOENT, "there is no such rule");
}

int import_rules_find(struct import_rules *rules, const char *target, struct import_rule **rule)
{
	char device[BALEEN_POINT_BYTES];
	const char *name;

	/* Lines of one rule stand together. */
	for (size_t i = 0; i < rules->n; i++, rules->at = (rules->at + 1) % rules->n) {
		*rule = &rules->rule[rules->at];
		if (!strcmp((*rule)->target.name, target))
			return 0;
	}
	if (!strcmp(target, BALEEN_SCOPE_BANS) ||
	    (baleen_scope_is_of_fleet(target) && strlen(target) < BALEEN_SCOPE_BYTES)) {
		*rule = import_rules_add(rules, target, BALEEN_KEY_SRC);
		return *rule ? 0 : -ENOMEM;
	}
	if (!split_live(target, device, sizeof(device), &name) || strlen(name) >= BALEEN_NAME_BYTES)
		return -EINVAL;
	*rule = import_rules_add(rules, target, 0);
	if (!*rule)
		return -ENOMEM;
	look_up(rules, *rule, device, name);
	return 0;
}

void import_rules_free(struct import_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		entries_free(&rules->rule[i].entries);
	free(rules->rule);
	scope_rules_close(&rules->device_rules);
	*rules = (struct import_rules){ 0 };
}

/* --- what came of it -------------------------------------------------------------------- */

/**
 * struct counts - what came of the entries of a rule
 * @n_added: are new
 * @n_renewed: were there
 * @n_refused: the door refused
 * @n_narrowed: were taken without what is never dropped
 */
struct counts {
	u64 n_added;
	u64 n_renewed;
	u64 n_refused;
	u64 n_narrowed;
};

static struct counts count(const struct import_rule *rule)
{
	struct counts counts = { 0 };

	for (size_t i = 0; i < rule->entries.n; i++) {
		const struct baleen_rule_entry_change *change = &rule->entries.change[i];
		int result = change->result;

		counts.n_refused += result == -EPERM;
		counts.n_renewed += result == -EEXIST;
		counts.n_added += !result;
		counts.n_narrowed += change->answer == BALEEN_GATE_NARROWED && result != -EPERM;
	}
	return counts;
}

static void name_refused(const struct import_rule *rule)
{
	char why[ENTRY_REFUSAL];
	u64 n = 0;

	for (size_t i = 0; i < rule->entries.n && n < MAX_NAMED; i++) {
		const struct baleen_rule_entry_change *change = &rule->entries.change[i];

		if (change->result != -EPERM)
			continue;
		n++;
		complain("%s: '%s' not added: %s", rule->target.name,
			 baleen_rule_entry_asked_text(&change->entry).text,
			 entry_refusal(change, why));
		suggest_word(change, "add", rule->target.name);
	}
}

static void say_counts(const struct import_rule *rule, const struct import_way *way,
		       const struct counts *counts, u64 n_flushed)
{
	char added[NUMBER_TEXT], renewed[NUMBER_TEXT], flushed[NUMBER_TEXT];

	say("%s: %s%s added, %s renewed, %s deleted", rule->target.name,
	    way->is_trial ? "would be " : "", format_count(counts->n_added, added),
	    format_count(counts->n_renewed, renewed), format_count(n_flushed, flushed));
	if (counts->n_narrowed)
		say(", %s narrowed", format_count(counts->n_narrowed, added));
	if (counts->n_refused)
		say(", %s refused", format_count(counts->n_refused, added));
	if (rule->n_ended)
		say(", %s had ended", format_count(rule->n_ended, added));
	if (rule->n_own)
		say(", %s of Baleen's own left out", format_count(rule->n_own, added));
	if (way->origin)
		say(", origin %s\n", way->origin);
	else
		puts(", origins as listed");
}

static int report(const struct import_rule *rule, const struct import_way *way, u64 n_flushed)
{
	struct counts counts = count(rule);

	name_refused(rule);
	if (way->json)
		json_array_append_new(way->json,
				      json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I}",
						"target", json_text(rule->target.name), "dry_run",
						way->is_trial, "added", (json_int_t)counts.n_added,
						"renewed", (json_int_t)counts.n_renewed, "refused",
						(json_int_t)counts.n_refused, "deleted",
						(json_int_t)n_flushed, "ended",
						(json_int_t)rule->n_ended, "own",
						(json_int_t)rule->n_own));
	else
		say_counts(rule, way, &counts, n_flushed);
	return counts.n_refused ? EXIT_FAILED : 0;
}

static int report_missing(const struct import_rule *rule, const struct import_way *way)
{
	if (way->json)
		json_array_append_new(way->json, json_pack("{s:o, s:I, s:o}", "target",
							   json_text(rule->target.name), "left_out",
							   (json_int_t)rule->n_missing, "error",
							   json_text(rule->missing.text)));
	return complain("%s: %llu %s not imported: %s", rule->target.name,
			(unsigned long long)rule->n_missing,
			baleen_plural(rule->n_missing, "entry", "entries"), rule->missing.text);
}

/* --- putting --------------------------------------------------------------------------- */

static struct baleen_batch make_batch(const struct import_rule *rule, const struct import_way *way)
{
	return (struct baleen_batch){ .change = rule->entries.change,
				      .n = rule->entries.n,
				      .is_trial = way->is_trial,
				      .forces = way->forces,
				      .narrows = way->narrows,
				      .snapshot_of = way->snapshot_of };
}

static int report_bans(const struct import_rule *rule, const struct import_way *way,
		       const struct baleen_bans *bans, u64 n_flushed)
{
	int err = 0;

	if (!way->is_trial)
		entries_warn_bans_end(&rule->entries, bans);
	err = report(rule, way, n_flushed);
	if (way->is_trial)
		return err;
	if (!err)
		err = session_kept(&bans->book);
	return session_warn_behind(bans) && err != EXIT_FAILED ? EXIT_BEHIND : err;
}

/* Unless they were given another origin, none is left. */
static int put_of_fleet(struct import_rule *rule, const struct import_way *way)
{
	if (!rule->entries.n)
		return report(rule, way, 0);
	baleen_fail(&rule->missing, EPERM, "what a fleet has banned comes from the fleet");
	rule->n_missing = rule->entries.n;
	return report_missing(rule, way);
}

static int put_bans(struct import_rule *rule, const struct import_way *way)
{
	struct baleen_batch batch = make_batch(rule, way);
	struct baleen_bans bans;
	int err = baleen_bans_open(&bans, BALEEN_SCOPE_BANS, &rule->missing);

	if (!err)
		err = baleen_bans_put(&bans, &batch, way->wait_ms, NULL, &rule->missing);
	if (err) {
		rule->n_missing = rule->entries.n;
		err = report_missing(rule, way);
	} else {
		err = report_bans(rule, way, &bans, batch.n_flushed);
	}
	baleen_bans_close(&bans);
	return err;
}

static int put_rule(struct import_rule *rule, const struct import_way *way)
{
	char device[BALEEN_POINT_BYTES];
	struct baleen_batch batch = make_batch(rule, way);
	struct baleen_device_session session;
	struct baleen_error error;
	int err;

	split_live(rule->target.name, device, sizeof(device), &batch.rule);
	err = session_open_state(&session, device, way->wait_ms);
	if (err)
		return err;
	if (baleen_deploy_batch(&session.deploy, &batch, &error)) {
		err = complain("%s", error.text);
	} else {
		if (!way->is_trial)
			entries_warn_ends(&rule->entries, &session.deploy);
		err = report(rule, way, batch.n_flushed);
	}
	if (!err && !way->is_trial)
		err = session_kept(&session.deploy.state);
	baleen_device_session_close(&session);
	return err;
}

int import_rules_put(struct import_rules *rules, const struct import_way *way)
{
	int code = EXIT_DONE;

	/* On a full disk a database is for one alone. */
	scope_rules_close(&rules->device_rules);
	for (size_t i = 0; i < rules->n; i++) {
		struct import_rule *rule = &rules->rule[i];
		bool is_bans = !strcmp(rule->target.name, BALEEN_SCOPE_BANS);
		int err = *rule->missing.text			      ? report_missing(rule, way) :
			  is_bans				      ? put_bans(rule, way) :
			  baleen_scope_is_of_fleet(rule->target.name) ? put_of_fleet(rule, way) :
									put_rule(rule, way);

		/* 1 goes before all others, then 5, then 4. */
		if (err == EXIT_FAILED || (err > code && code != EXIT_FAILED))
			code = err;
	}
	return code;
}
