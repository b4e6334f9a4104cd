// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules, policy and named texts of a state. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <baleen/image_check.h>

#include "key/key_spec.h"
#include "state/rule_store.h"
#include "state/rule_store_schema.h"
#include "state/rule_scopes.h"
#include "state/sql.h"
#include "xdp/limit_words.h"
#include "xdp/qualifiers.h"

/* --- what may be written, and be read back --- */

static bool is_share(double share)
{
	return share >= 0 && share <= 1;
}

static const char *rule_fault(const struct baleen_stored_rule *rule)
{
	const char *fault = baleen_rule_name_check(rule->name);

	if (fault)
		return fault;
	if (!baleen_action_text(rule->action))
		return "no such action";
	if (baleen_qualifiers_check(&rule->qualifiers, &rule->rate_limit, NULL))
		return "its qualifiers contradict each other";
	if (rule->rate_limit.rate && rule->action == BALEEN_ACTION_ALLOW)
		return BALEEN_LIMIT_IS_NOT_FOR_ALLOW;
	if (baleen_key_spec_refuse(rule->key_spec))
		return baleen_key_spec_refuse(rule->key_spec);
	if (!baleen_kind_has_keys(rule->kind))
		return "no such kind of filter";
	if (!is_share(rule->fpp) || !is_share(rule->accept_fpp) ||
	    !is_share(rule->limits.max_shrink) || !is_share(rule->limits.max_coverage) ||
	    !is_share(rule->limits.max_growth))
		return "a share is not between 0 and 1";
	if (rule->ban_width &&
	    (rule->ban_width < BALEEN_BAN_WIDTH_MIN || rule->ban_width > BALEEN_BAN_WIDTH_MAX))
		return "no such width of bans";
	if ((rule->widen[0].n || rule->widen[1].n) && baleen_rule_widen_refuse(rule))
		return baleen_rule_widen_refuse(rule);
	if (*rule->fleet.set && !baleen_rule_fleet_is_set(rule->fleet.set))
		return "no name of a set of a fleet";
	if (*rule->fleet.set && baleen_rule_fleet_refuse(rule))
		return baleen_rule_fleet_refuse(rule);
	return rule->takes_bans ? baleen_rule_bans_refuse(rule) : NULL;
}

static int check_rule(const struct baleen_stored_rule *rule, struct baleen_error *error)
{
	const char *fault = rule_fault(rule);

	return fault ? baleen_fail(error, EINVAL, "rule '%.31s': %s", rule->name, fault) : 0;
}

static int check_policy(const struct baleen_stored_rules *rules, struct baleen_error *error)
{
	if (rules->n_rules > BALEEN_MAX_RULES)
		return baleen_fail(error, E2BIG, "more than %u rules", BALEEN_MAX_RULES);
	if (rules->guard_sessions >= BALEEN_N_GUARDS)
		return baleen_fail(error, EINVAL, "no such sessions to guard");
	if (rules->mode > BALEEN_MODE_GENERIC || rules->attach_type > BALEEN_ATTACH_TYPE_CHAIN)
		return baleen_fail(error, EINVAL, "no such mode or place");
	return 0;
}

#define GUARD_SESSIONS "guard-sessions"
#define NEVER_NAMES "never-names"
#define HEALTH "health"

/* --- reading --- */

/* No enumeration has as many. */
static u32 read_u32(sqlite3_stmt *row, int column)
{
	u64 number = sqlite3_column_int64(row, column);

	return number < ~(u32)0 ? number : ~(u32)0;
}

/* Older releases wrote 0 of a rule by hand, and such a rule kept them. */
enum { SPECIAL_AS_USUAL, SPECIAL_KEPT, SPECIAL_REMOVED };

static bool read_special(int number, bool is_configured)
{
	return number == SPECIAL_KEPT || (number == SPECIAL_AS_USUAL && !is_configured);
}

static int special_number(const struct baleen_stored_rule *rule)
{
	if (rule->limits.keep_special)
		return SPECIAL_KEPT;
	return rule->guards_feeds ? SPECIAL_AS_USUAL : SPECIAL_REMOVED;
}

#define RULE_COLUMNS                                                                    \
	"name, action, qualifiers, key_spec, kind, fpp, capacity, is_any, min_entries," \
	"max_shrink, max_coverage, keep_special, guards_feeds"

static bool read_fleet(sqlite3_stmt *row, int column, struct baleen_rule_fleet *fleet)
{
	char text[BALEEN_RULE_FLEET_TEXT];

	return baleen_sql_column(row, column, text, sizeof(text)) &&
	       baleen_rule_fleet_read(text, fleet);
}

static bool read_rule(sqlite3_stmt *row, struct baleen_stored_rule *rule)
{
	char qualifiers[BALEEN_QUALIFIERS_TEXT], key_spec[BALEEN_KEY_SPEC_TEXT];
	char widen[BALEEN_WIDEN_TEXT];

	if (!baleen_sql_column(row, 0, rule->name, sizeof(rule->name)) ||
	    !baleen_sql_column(row, 2, qualifiers, sizeof(qualifiers)) ||
	    !baleen_sql_column(row, 3, key_spec, sizeof(key_spec)) ||
	    baleen_qualifiers_parse(qualifiers, &rule->qualifiers, &rule->rate_limit, NULL) ||
	    baleen_key_spec_parse(key_spec, &rule->key_spec, NULL))
		return false;
	rule->action = read_u32(row, 1);
	rule->kind = read_u32(row, 4);
	rule->fpp = sqlite3_column_double(row, 5);
	rule->capacity = sqlite3_column_int64(row, 6);
	rule->is_any = sqlite3_column_int(row, 7);
	rule->limits.min_entries = sqlite3_column_int64(row, 8);
	rule->limits.max_shrink = sqlite3_column_double(row, 9);
	rule->limits.max_coverage = sqlite3_column_double(row, 10);
	rule->guards_feeds = sqlite3_column_int(row, 12);
	rule->limits.keep_special = read_special(sqlite3_column_int(row, 11), rule->guards_feeds);
	rule->takes_bans = sqlite3_column_int(row, 13);
	rule->ban_width = read_u32(row, 14);
	rule->limits.max_growth = sqlite3_column_type(row, 15) == SQLITE_NULL ?
					  baleen_feed_limits_default().max_growth :
					  sqlite3_column_double(row, 15);
	if (sqlite3_column_type(row, 16) != SQLITE_NULL &&
	    (!baleen_sql_column(row, 16, widen, sizeof(widen)) ||
	     baleen_widen_parse(widen, rule->widen)))
		return false;
	rule->trial_of = sqlite3_column_int64(row, 18);
	rule->accept_fpp = sqlite3_column_double(row, 19);
	rule->limits.max_entries = sqlite3_column_int64(row, 20);
	if (sqlite3_column_type(row, 17) != SQLITE_NULL && !read_fleet(row, 17, &rule->fleet))
		return false;
	return !rule_fault(rule);
}

static int read_rules(const struct baleen_rule_store *state, struct baleen_stored_rules *rules,
		      struct baleen_error *error)
{
	static const char sql[] =
		"SELECT " RULE_COLUMNS ","
		" EXISTS (SELECT 1 FROM text WHERE text.name = 'bans ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'ban-width ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'max-growth ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'widen ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'fleet ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'trial ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'accept-fpp ' || rule.name),"
		" (SELECT value FROM text WHERE text.name = 'max-entries ' || rule.name)"
		" FROM rule ORDER BY place";
	struct baleen_sql_rows rows = baleen_sql_ask(state, sql, error, NULL, 0);

	while (baleen_sql_next(&rows)) {
		if (rules->n_rules == BALEEN_MAX_RULES ||
		    !read_rule(rows.row, &rules->rule[rules->n_rules]))
			rows.ret = baleen_sql_damaged(state, "a rule that cannot be", error);
		else
			rules->n_rules++;
	}
	return baleen_sql_end(&rows);
}

static int read_policy(const struct baleen_rule_store *state, struct baleen_stored_rules *rules,
		       struct baleen_error *error)
{
	static const char sql[] =
		"SELECT default_drop, dry_run, sample_interval_ns, mode, place, never_path,"
		" (SELECT value FROM text WHERE name = '" GUARD_SESSIONS "'),"
		" coalesce((SELECT value FROM text WHERE name = '" NEVER_NAMES "'), ''),"
		" coalesce((SELECT value FROM text WHERE name = '" HEALTH "'), ''),"
		" (SELECT value FROM text WHERE name = '" BALEEN_TEXT_MAX_MEMORY "'),"
		" coalesce((SELECT value FROM text WHERE name = '" BALEEN_TEXT_ICP "'), '')"
		" FROM policy";
	struct baleen_sql_rows rows = baleen_sql_ask(state, sql, error, NULL, 0);
	sqlite3_stmt *row = rows.row;

	if (baleen_sql_next(&rows)) {
		rules->default_drop = sqlite3_column_int(row, 0);
		rules->dry_run = sqlite3_column_int(row, 1);
		rules->sample_interval_ns = sqlite3_column_int64(row, 2);
		rules->mode = read_u32(row, 3);
		rules->attach_type = read_u32(row, 4);
		rules->guard_sessions = read_u32(row, 6);
		rules->max_bytes = sqlite3_column_int64(row, 9);
		if (!baleen_sql_column(row, 5, rules->never_path, sizeof(rules->never_path)) ||
		    !baleen_sql_column(row, 7, rules->never_names, sizeof(rules->never_names)) ||
		    !baleen_sql_column(row, 8, rules->health, sizeof(rules->health)) ||
		    !baleen_sql_column(row, 10, rules->icp, sizeof(rules->icp)) ||
		    check_policy(rules, NULL))
			rows.ret = baleen_sql_damaged(state, "a policy that cannot be", error);
	}
	return baleen_sql_end(&rows);
}

u32 baleen_rule_store_guard_sessions(const struct baleen_rule_store *state)
{
	char *text = NULL;
	u32 guard = 0;

	if (!baleen_rule_store_get_text(state, GUARD_SESSIONS, &text) && text)
		guard = atoi(text);
	free(text);
	return guard < BALEEN_N_GUARDS ? guard : 0;
}

int baleen_rule_store_get_rules(const struct baleen_rule_store *state,
				struct baleen_stored_rules *rules, struct baleen_error *error)
{
	struct baleen_stored_rules read = { .n_rules = 0 };
	bool is_first;
	int err = baleen_sql_begin_reading(state, &is_first, error);

	if (!err)
		err = read_policy(state, &read, error);
	if (!err)
		err = read_rules(state, &read, error);
	baleen_sql_end_reading(state, is_first);
	if (!err)
		*rules = read;
	return err;
}

int baleen_rule_store_find_rule(const struct baleen_stored_rules *rules, const char *name)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, name))
			return i;
	return -ENOENT;
}

/* --- writing --- */

static int write_policy(const struct baleen_rule_store *state,
			const struct baleen_stored_rules *rules, struct baleen_error *error)
{
	return baleen_sql_do(state, "INSERT OR REPLACE INTO policy VALUES (1, ?, ?, ?, ?, ?, ?)",
			     NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_number(rules->default_drop),
					       baleen_sql_number(rules->dry_run),
					       baleen_sql_number(rules->sample_interval_ns),
					       baleen_sql_number(rules->mode),
					       baleen_sql_number(rules->attach_type),
					       baleen_sql_text(rules->never_path)));
}

bool baleen_rule_keys_keep_entries(u32 before, u32 after)
{
	return before == after || (baleen_spec_is_address(before) && baleen_spec_is_address(after));
}

static int write_rule(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		      u32 place, struct baleen_error *error)
{
	static const char sql[] =
		"INSERT INTO rule (place, " RULE_COLUMNS ")"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT (name) DO UPDATE SET place = excluded.place,"
		" action = excluded.action, qualifiers = excluded.qualifiers,"
		" key_spec = excluded.key_spec, kind = excluded.kind, fpp = excluded.fpp,"
		" capacity = excluded.capacity, is_any = excluded.is_any,"
		" min_entries = excluded.min_entries, max_shrink = excluded.max_shrink,"
		" max_coverage = excluded.max_coverage, keep_special = excluded.keep_special,"
		" guards_feeds = excluded.guards_feeds";
	char qualifiers[BALEEN_QUALIFIERS_TEXT], key_spec[BALEEN_KEY_SPEC_TEXT];

	baleen_qualifiers_format(&rule->qualifiers, &rule->rate_limit, qualifiers);
	baleen_key_spec_text(rule->key_spec, key_spec);
	return baleen_sql_do(
		state, sql, NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_number(place), baleen_sql_text(rule->name),
				  baleen_sql_number(rule->action), baleen_sql_text(qualifiers),
				  baleen_sql_text(key_spec), baleen_sql_number(rule->kind),
				  baleen_sql_real(rule->fpp), baleen_sql_number(rule->capacity),
				  baleen_sql_number(rule->is_any),
				  baleen_sql_number(rule->limits.min_entries),
				  baleen_sql_real(rule->limits.max_shrink),
				  baleen_sql_real(rule->limits.max_coverage),
				  baleen_sql_number(special_number(rule)),
				  baleen_sql_number(rule->guards_feeds)));
}

static int check_rules(const struct baleen_stored_rules *rules, struct baleen_error *error)
{
	int err = check_policy(rules, error);

	for (u32 i = 0; !err && i < rules->n_rules; i++) {
		err = check_rule(&rules->rule[i], error);
		for (u32 j = 0; !err && j < i; j++)
			if (!strcmp(rules->rule[i].name, rules->rule[j].name))
				err = baleen_fail(error, EINVAL, "two rules are called '%s'",
						  rules->rule[i].name);
	}
	return err;
}

/* Written; a text of another release is read all the same. */
static int check_limits(const struct baleen_rule_store *state,
			const struct baleen_stored_rules *rules, struct baleen_error *error)
{
	for (u32 i = 0; i < rules->n_rules && !baleen_rules_take(rules, BALEEN_SCOPE_BANS); i++)
		if (rules->rule[i].rate_limit.rate)
			return baleen_fail(error, EINVAL,
					   "rule '%s': a limit bans, and no rule of %s takes bans: "
					   "one that drops has to be marked with 'bans'",
					   rules->rule[i].name, state->device);
	return 0;
}

/* A text and no column: a state of an older release needs no other table, and an older
 * release that reads this one passes over it.
 */
static int write_text_of(struct baleen_rule_store *state, const char *what, const char *rule,
			 double number, double usual, struct baleen_error *error)
{
	char name[BALEEN_NAME_BYTES + sizeof("max-entries ")], value[32];

	snprintf(name, sizeof(name), "%s%s", what, rule);
	snprintf(value, sizeof(value), "%.17g", number);
	return number != usual ? baleen_rule_store_set_text(state, name, value, error) : 0;
}

static int write_widen(struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		       struct baleen_error *error)
{
	char name[BALEEN_NAME_BYTES + sizeof("widen ")], text[BALEEN_WIDEN_TEXT];

	snprintf(name, sizeof(name), "widen %s", rule->name);
	if (!*baleen_widen_format(rule->widen, text))
		return 0;
	return baleen_rule_store_set_text(state, name, text, error);
}

static int write_fleet(struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		       struct baleen_error *error)
{
	char name[BALEEN_NAME_BYTES + sizeof("fleet ")], text[BALEEN_RULE_FLEET_TEXT];

	if (!*rule->fleet.set)
		return 0;
	snprintf(name, sizeof(name), "fleet %s", rule->name);
	snprintf(text, sizeof(text), "%s %u", rule->fleet.set, rule->fleet.max_ttl_s);
	return baleen_rule_store_set_text(state, name, text, error);
}

static int write_texts(struct baleen_rule_store *state, const struct baleen_stored_rules *rules,
		       struct baleen_error *error)
{
	int err = baleen_sql_do(
		state,
		"DELETE FROM text WHERE name GLOB 'bans *'"
		" OR name GLOB 'ban-width *' OR name GLOB 'max-growth *'"
		" OR name GLOB 'widen *' OR name GLOB 'fleet *'"
		" OR name = '" GUARD_SESSIONS "'"
		" OR name = '" BALEEN_TEXT_MAX_MEMORY "'"
		" OR name GLOB 'trial *' OR name GLOB 'accept-fpp *' OR name GLOB 'max-entries *'"
		" OR ((name GLOB 'access *' OR name GLOB 'hold *' OR name GLOB 'signed *'"
		" OR name GLOB 'rollout *' OR name GLOB 'manifest *')"
		" AND NOT EXISTS (SELECT 1 FROM feed"
		" WHERE substr(text.name, instr(text.name, ' ') + 1) = '' || feed.id))",
		NULL, error, NULL, 0);

	if (!err)
		err = write_text_of(state, GUARD_SESSIONS, "", rules->guard_sessions, 0, error);
	if (!err)
		err = write_text_of(state, BALEEN_TEXT_MAX_MEMORY, "", rules->max_bytes, 0, error);
	if (!err)
		err = baleen_rule_store_set_text(state, NEVER_NAMES,
						 *rules->never_names ? rules->never_names : NULL,
						 error);
	if (!err)
		err = baleen_rule_store_set_text(state, HEALTH,
						 *rules->health ? rules->health : NULL, error);
	if (!err)
		err = baleen_rule_store_set_text(state, BALEEN_TEXT_ICP,
						 *rules->icp ? rules->icp : NULL, error);
	for (u32 i = 0; !err && i < rules->n_rules; i++) {
		const struct baleen_stored_rule *rule = &rules->rule[i];

		err = write_text_of(state, "bans ", rule->name, rule->takes_bans, 0, error);
		if (!err)
			err = write_text_of(state, "trial ", rule->name, rule->trial_of, 0, error);
		if (!err)
			err = write_text_of(state, "accept-fpp ", rule->name, rule->accept_fpp, 0,
					    error);
		if (!err)
			err = write_text_of(state, "ban-width ", rule->name, rule->ban_width, 0,
					    error);
		if (!err)
			err = write_text_of(state, "max-growth ", rule->name,
					    rule->limits.max_growth,
					    baleen_feed_limits_default().max_growth, error);
		if (!err)
			err = write_text_of(state, "max-entries ", rule->name,
					    rule->limits.max_entries, 0, error);
		if (!err)
			err = write_widen(state, rule, error);
		if (!err)
			err = write_fleet(state, rule, error);
	}
	return err;
}

/* Rules keep their number, and by it what belongs to them. */
int baleen_rule_store_set_rules(struct baleen_rule_store *state,
				const struct baleen_stored_rules *rules, struct baleen_error *error)
{
	int err = check_rules(rules, error);

	state->drops_copies = true;
	if (!err)
		err = check_limits(state, rules, error);
	if (!err)
		err = write_policy(state, rules, error);
	if (!err)
		err = baleen_sql_do(state, "UPDATE rule SET place = -1", NULL, error, NULL, 0);
	for (u32 i = 0; !err && i < rules->n_rules; i++)
		err = write_rule(state, &rules->rule[i], i, error);
	if (!err)
		err = baleen_sql_do(state, "DELETE FROM rule WHERE place < 0", NULL, error, NULL,
				    0);
	return err ? err : write_texts(state, rules, error);
}
