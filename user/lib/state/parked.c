// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries whose rule is not there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/bans_around.h"
#include "state/book.h"
#include "state/entry_array.h"
#include "state/journal.h"
#include "state/parked.h"
#include "state/rule_scopes.h"
#include "state/rule_store_each.h"
#include "state/sql.h"
#include "util/array.h"

/* --- scopes ---------------------------------------------------------------- */

void baleen_scopes_free(struct baleen_scopes *scopes)
{
	free(scopes->scope);
	*scopes = (struct baleen_scopes){ 0 };
}

const char *baleen_scopes_split(const struct baleen_scope *scope, char *device)
{
	const char *colon = baleen_scope_is_shared(scope->name) ? NULL : strrchr(scope->name, ':');

	snprintf(device, BALEEN_POINT_BYTES, "%.*s", colon ? (int)(colon - scope->name) : 0,
		 scope->name);
	return colon ? colon + 1 : NULL;
}

static int add(struct baleen_scopes *scopes, const struct baleen_scope *scope,
	       struct baleen_error *error)
{
	if (baleen_array_add(&scopes->scope, scopes->n))
		return baleen_no_memory(error);
	scopes->scope[scopes->n++] = *scope;
	return 0;
}

int baleen_scopes_add_taken(struct baleen_scopes *scopes, const struct baleen_stored_rule *rule)
{
	static const struct baleen_scope bans = { BALEEN_SCOPE_BANS };
	const struct baleen_scope fleet = baleen_scope_of_fleet(&rule->fleet);
	int err = rule->takes_bans ? add(scopes, &bans, NULL) : 0;

	return !err && *fleet.name ? add(scopes, &fleet, NULL) : err;
}

/* @ended_ms: those with an entry that has ended by then alone; 0 for all */
static int find_scopes(const struct baleen_rule_store *book, u64 ended_ms,
		       struct baleen_scopes *scopes, struct baleen_error *error)
{
	static const char all[] = "SELECT name FROM scope WHERE EXISTS"
				  " (SELECT 1 FROM single WHERE single.scope = scope.id)"
				  " ORDER BY name";
	static const char ended[] =
		"SELECT name FROM scope WHERE EXISTS (SELECT 1 FROM single INDEXED BY single_end"
		" WHERE single.scope = scope.id AND expires_ms > 0 AND expires_ms <= ?1)"
		" ORDER BY name";
	struct baleen_sql_rows rows =
		ended_ms ? baleen_sql_ask(book->book, ended, error,
					  BALEEN_SQL_VALUES(baleen_sql_number(ended_ms))) :
			   baleen_sql_ask(book->book, all, error, NULL, 0);
	struct baleen_scopes found = { 0 };
	struct baleen_scope scope;
	int err;

	while (baleen_sql_next(&rows))
		rows.ret = baleen_sql_column(rows.row, 0, scope.name, sizeof(scope.name)) ?
				   add(&found, &scope, error) :
				   baleen_sql_damaged(book->book, "a scope that cannot be", error);
	err = baleen_sql_end(&rows);
	if (err)
		baleen_scopes_free(&found);
	else
		*scopes = found;
	return err;
}

int baleen_scopes_with_entries(const struct baleen_rule_store *book, struct baleen_scopes *scopes,
			       struct baleen_error *error)
{
	return find_scopes(book, 0, scopes, error);
}

int baleen_scopes_with_ended(const struct baleen_rule_store *book, u64 now_ms,
			     struct baleen_scopes *scopes, struct baleen_error *error)
{
	return find_scopes(book, now_ms, scopes, error);
}

/* --- which have no rule ------------------------------------------------------ */

/**
 * struct search - on the way to scopes without a rule
 * @left: those that no device so far has a rule for
 * @error: the caller's
 */
struct search {
	struct baleen_scopes left;
	struct baleen_error *error;
};

static bool is_of_device(const struct baleen_scope *scope, const char *device)
{
	size_t length = strlen(device);

	return !strncmp(scope->name, device, length) && scope->name[length] == ':' &&
	       !strchr(scope->name + length + 1, ':');
}

/* @rules: NULL when they cannot be read */
static bool has_rule(const struct baleen_scope *scope, const char *device,
		     const struct baleen_stored_rules *rules)
{
	char of[BALEEN_POINT_BYTES];
	const char *rule = baleen_scopes_split(scope, of);

	if (!rule)
		return !rules || baleen_rules_take(rules, scope->name);
	return is_of_device(scope, device) &&
	       (!rules || baleen_rule_store_find_rule(rules, rule) >= 0);
}

static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;
	struct baleen_stored_rules rules;
	bool is_readable =
		!found->err && !baleen_rule_store_get_rules(&found->state, &rules, &found->error);
	const char *device = is_readable ? found->state.scope : found->device;
	size_t n = 0;

	for (size_t i = 0; i < search->left.n; i++) {
		const struct baleen_scope *scope = &search->left.scope[i];

		if (!has_rule(scope, device, is_readable ? &rules : NULL))
			search->left.scope[n++] = *scope;
	}
	search->left.n = n;
	return 0;
}

/**
 * struct counting - rules that take a shared scope
 * @scope: its name
 * @takers: they
 */
struct counting {
	const char *scope;
	struct baleen_takers *takers;
};

static int count_rules(struct baleen_rule_store_found *found, void *data)
{
	struct baleen_stored_rules rules;
	struct counting *counting = data;
	struct baleen_takers *takers = counting->takers;

	if (found->err || baleen_rule_store_get_rules(&found->state, &rules, &found->error)) {
		takers->n++;
		takers->n_drop++;
		return 0;
	}
	for (u32 i = 0; i < rules.n_rules; i++) {
		const struct baleen_stored_rule *rule = &rules.rule[i];
		u32 width = baleen_rule_ban_width(rule);

		if (!baleen_rule_takes(rule, counting->scope))
			continue;
		takers->n++;
		takers->n_drop += rule->action == BALEEN_ACTION_DROP;
		if (!takers->ban_width || width < takers->ban_width)
			takers->ban_width = width;
	}
	return 0;
}

int baleen_scope_takers(const char *scope, struct baleen_takers *takers, struct baleen_error *error)
{
	struct counting counting = { .scope = scope, .takers = takers };
	int err;

	*takers = (struct baleen_takers){ .n = 0 };
	err = baleen_rule_store_each(count_rules, &counting, error);
	if (!takers->ban_width)
		takers->ban_width = BALEEN_BAN_WIDTH;
	return err;
}

u64 baleen_scopes_count(const struct baleen_scopes *scopes, const char *name)
{
	u64 n = 0;

	for (size_t i = 0; i < scopes->n; i++)
		n += !strcmp(scopes->scope[i].name, name);
	return n;
}

static int find_parked(const struct baleen_rule_store *book, u64 ended_ms,
		       struct baleen_scopes *scopes, struct baleen_error *error)
{
	struct search search = { .error = error };
	int err = find_scopes(book, ended_ms, &search.left, error);

	if (!err && search.left.n)
		err = baleen_rule_store_each(look_at_device, &search, error);
	if (err)
		baleen_scopes_free(&search.left);
	else
		*scopes = search.left;
	return err;
}

static bool has_scope(const struct baleen_scopes *scopes, const char *device, const char *rule)
{
	char of[BALEEN_POINT_BYTES];

	for (size_t i = 0; i < scopes->n; i++) {
		const char *name = baleen_scopes_split(&scopes->scope[i], of);

		if (name && !strcmp(name, rule) && !strcmp(of, device))
			return true;
	}
	return false;
}

int baleen_parked_open(const char *device, const char *rule, struct baleen_rule_store *book,
		       struct baleen_error *error)
{
	struct baleen_rule_store opened;
	struct baleen_scopes parked;
	bool is_parked;
	int err = baleen_book_open(&opened, error);

	if (err)
		return err;
	err = find_parked(&opened, 0, &parked, error);
	is_parked = !err && has_scope(&parked, device, rule);
	if (!err)
		baleen_scopes_free(&parked);
	if (!is_parked) {
		baleen_book_close(&opened);
		return err;
	}
	snprintf(opened.scope, sizeof(opened.scope), "%s", device);
	*book = opened;
	return 1;
}

/* --- taken back ---------------------------------------------------------------- */

static int remove_meant(const struct baleen_rule_store *book, const char *rule,
			const struct baleen_rule_entry *entry, u64 *n, struct baleen_error *error)
{
	const char *origin = entry->origin[0] ? entry->origin : NULL;
	struct baleen_entry_array meant = { 0 };
	int err = baleen_entry_array_meant(&meant, book, rule, entry, error);

	for (size_t i = 0; i < meant.n && !err; i++) {
		u64 n_one = 0;

		err = baleen_rule_entries_remove(book, rule, &meant.entry[i], origin, &n_one,
						 error);
		*n += n_one;
	}
	free(meant.entry);
	return err;
}

static int remove_key(struct baleen_rule_store *book, const struct baleen_scopes *parked,
		      struct baleen_parked_key *key, struct baleen_scopes *taken,
		      struct baleen_error *error)
{
	int err = 0;

	for (size_t i = 0; i < parked->n && !err; i++) {
		const char *rule = baleen_scopes_split(&parked->scope[i], book->scope);
		u64 n = 0;

		/* Bans of other hosts are theirs to take back. */
		if (baleen_scope_is_of_fleet(parked->scope[i].name))
			continue;

		err = remove_meant(book, rule, key->entry, &n, error);
		key->n += n > 0;
		if (!err && n)
			err = add(taken, &parked->scope[i], error);
	}
	return err;
}

/* Behind the lock it is asked again what is parked: a rule that is committed from here on follows
 * when we are done.
 */
static int remove_keys(struct baleen_rule_store *book, struct baleen_parked_key *key, size_t n,
		       struct baleen_scopes *taken, struct baleen_error *error)
{
	struct baleen_scopes parked = { 0 };
	int err = baleen_book_begin(book, error);

	if (err)
		return err;
	err = find_parked(book, 0, &parked, error);
	for (size_t i = 0; i < n && !err; i++)
		err = remove_key(book, &parked, &key[i], taken, error);
	if (!err && baleen_scopes_count(taken, BALEEN_SCOPE_BANS))
		err = baleen_bans_forget_stray(book, baleen_now_ms(), error);
	baleen_scopes_free(&parked);
	if (!err && taken->n)
		return baleen_book_commit(book, error);
	baleen_book_rollback(book);
	return err;
}

int baleen_parked_remove(struct baleen_parked_key *key, size_t n, struct baleen_scopes *taken,
			 struct baleen_error *error)
{
	struct baleen_scopes found = { 0 }, parked = { 0 };
	struct baleen_rule_store book;
	int err = baleen_book_open(&book, error);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		key[i].n = 0;
	err = find_parked(&book, 0, &parked, error);
	if (!err && parked.n)
		err = remove_keys(&book, key, n, &found, error);
	baleen_scopes_free(&parked);
	baleen_book_close(&book);
	if (err)
		baleen_scopes_free(&found);
	else
		*taken = found;
	return err;
}

/* --- ended --------------------------------------------------------------------- */

static int end_scope(const struct baleen_rule_store *book, const struct baleen_scope *scope,
		     u64 now_ms, struct baleen_error *error)
{
	return baleen_journal_remove(
		book, BALEEN_JOURNAL_EXPIRE,
		BALEEN_JOURNAL_ENTRIES("expires_ms > 0 AND expires_ms <= ?2 AND"
				       " scope = (SELECT id FROM scope WHERE name = ?1)"),
		error, BALEEN_SQL_VALUES(baleen_sql_text(scope->name), baleen_sql_number(now_ms)));
}

int baleen_parked_expire(const struct baleen_rule_store *book, u64 now_ms,
			 struct baleen_error *error)
{
	struct baleen_scopes parked;
	int err = find_parked(book, now_ms, &parked, error);

	if (err || !parked.n)
		return err;
	err = baleen_book_begin(book, error);
	if (!err) {
		for (size_t i = 0; i < parked.n && !err; i++)
			err = end_scope(book, &parked.scope[i], now_ms, error);
		if (!err && baleen_scopes_count(&parked, BALEEN_SCOPE_BANS))
			err = baleen_bans_forget_stray(book, now_ms, error);
		err = baleen_book_end(book, err, error);
	}
	baleen_scopes_free(&parked);
	return err;
}
