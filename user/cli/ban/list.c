// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen list: the single entries of a rule, of a device, or of all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/list_table.h"
#include "cli/open/entries.h"
#include "cli/open/filter_name.h"
#include "cli/open/scope_rules.h"
#include "deploy/gate.h"
#include "key/key_text.h"
#include "key/span.h"
#include "net/device.h"
#include "state/book.h"
#include "state/parked.h"
#include "util/array.h"
#include "util/duration.h"
#include "util/shell.h"

/**
 * struct list - what is asked for, and what was found
 * @device: the only device, or empty for all
 * @is_renamed: its entries have another name still
 * @taken: shared scopes that it, or @rule, takes
 * @rule: the only rule, or NULL for all
 * @shared: only the shared scope that is called so, or NULL
 * @takers: rules that take the shared scope @counted
 * @counted: the one that was listed last: a table is walked twice
 * @origin: whose entries, or NULL for those of all
 * @ending_ms: only entries that end within this time; 0 for all
 * @sort: enum list_sort
 * @key: only entries that hold some of this
 * @address: @key, when it is one address, by which entries are found
 * @is_address: it is
 * @json: an array of objects, filled in; NULL for words
 * @book: the entries
 * @scopes: those that have some
 * @device_rules: of the device of the scope that is listed now
 * @protected: what is taken out of entries
 * @at: the scope that is listed now
 * @in: its rule, or NULL
 * @measures: of two walks the first: how wide the table is
 * @table: what it has found
 * @row: entries that wait to be sorted
 */
struct list {
	char device[BALEEN_POINT_BYTES];
	bool is_renamed;
	struct baleen_scopes taken;
	const char *rule;
	const char *shared;
	struct baleen_takers takers;
	struct baleen_scope counted;
	const char *origin;
	u64 ending_ms;
	int sort;
	struct asked_key key;
	struct baleen_key address;
	bool is_address;
	json_t *json;
	struct baleen_rule_store book;
	struct baleen_scopes scopes;
	struct scope_rules device_rules;
	struct baleen_protected_set protected;
	const struct baleen_scope *at;
	const struct baleen_stored_rule *in;
	bool measures;
	struct list_table table;
	struct list_row *row;
};

/* --- arguments ------------------------------------------------------------- */

static int parse_ending(const struct option_use *use)
{
	return baleen_duration_parse(use->argument, use->to) ?
		       option_refuse(use, "not a time such as 30s, 1h or 2d") :
		       0;
}

/* An IPv6 address has colons, too, and keys of several fields have commas. No device is called by
 * four numbers: that is an address with a slip in it.
 */
static bool is_key(const char *argument)
{
	bool is_dotted =
		strchr(argument, '.') && strspn(argument, "0123456789./-") == strlen(argument);
	struct baleen_span span;
	const char *reason;

	return strchr(argument, ',') || is_dotted ||
	       !baleen_span_parse(argument, strlen(argument), &span, &reason);
}

static int parse_target(struct list *list, const char *argument)
{
	if (is_shared_name(argument)) {
		list->shared = argument;
		return 0;
	}
	if (split_live(argument, list->device, sizeof(list->device), &list->rule))
		return 0;
	if (strlen(argument) >= sizeof(list->device))
		return complain_usage(&list_command,
				      "'%s' is neither DEV, DEV:RULE, bans nor fleet:SET",
				      argument);
	strcpy(list->device, argument);
	return 0;
}

static int parse(struct list *list, int argc, char **argv)
{
	int err = options_parse(&list_command, list, &argc, &argv);
	const char *reason;

	if (!err && argc && !(argc == 1 && is_key(argv[0]))) {
		err = parse_target(list, argv[0]);
		argc--;
		argv++;
	}
	if (err || !argc)
		return err;
	list->is_address = !baleen_address_parse(argv[0], &list->address, &reason);
	return asked_key_parse(&list->key, argv[0]);
}

/* --- which ------------------------------------------------------------------- */

static bool is_asked_for(const struct list *list, const struct baleen_rule_entry *entry)
{
	u64 end_ms = entry->expires_ms;

	if (list->origin && strcmp(list->origin, entry->origin))
		return false;
	if (list->ending_ms && (!end_ms || end_ms > list->table.now_ms + list->ending_ms))
		return false;
	return asked_key_is_in(&list->key, &entry->key);
}

static bool is_parked(const struct list *list, const struct baleen_rule_entry *entry)
{
	if (entry->is_ban)
		return !list->takers.n;
	return !list->in || !baleen_entry_key_is_of(&entry->key, list->in->key_spec);
}

/* The part of an entry that is not in force; NULL when all of it is. */
static char *exemption(const struct list *list, const struct baleen_rule_entry *entry)
{
	struct baleen_protected protected;
	char text[BALEEN_GATE_TEXT];
	u64 n = 0;

	if (is_parked(list, entry) || !list->in ||
	    baleen_protected_find_in(&list->protected, list->in, entry, &n, &protected) || !n)
		return NULL;
	return strdup(baleen_gate_text(BALEEN_GATE_NARROWED, &protected, text));
}

static void show_row(struct list *list, const struct list_row *row)
{
	if (list->json)
		json_array_append_new(list->json, list_row_describe(row, list->table.now_ms));
	else
		list_table_print(&list->table, row);
}

static int add_entry(const struct baleen_rule_entry *entry, void *data)
{
	struct list *list = data;
	struct list_row row = { .scope = list->at,
				.entry = *entry,
				.is_parked = is_parked(list, entry) };

	if (!is_asked_for(list, entry))
		return 0;
	if (list->measures && list->sort == LIST_BY_KEY) {
		list_table_measure(&list->table, &row);
		return 0;
	}
	row.exempt = exemption(list, entry);
	if (list->sort == LIST_BY_KEY) {
		show_row(list, &row);
		free(row.exempt);
		return 0;
	}
	if (baleen_array_add(&list->row, list->table.n)) {
		free(row.exempt);
		return -ENOMEM;
	}
	list->row[list->table.n] = row;
	list_table_measure(&list->table, &row);
	return 0;
}

/* --- all of a scope ----------------------------------------------------------- */

static void close_state(struct list *list)
{
	baleen_protected_free(&list->protected);
	scope_rules_close(&list->device_rules);
}

static int open_state(struct list *list, const char *device)
{
	struct baleen_error error;

	if (scope_rules_are_of(&list->device_rules, device))
		return 0;
	close_state(list);
	if (scope_rules_open(&list->device_rules, device, &error))
		return complain("%s", error.text);
	if (list->device_rules.has_state &&
	    baleen_protected_load(&list->device_rules.state, &list->protected, &error))
		return complain("%s", error.text);
	return 0;
}

/* Looks only at what holds an address, and else at all entries. Bans are of no device, but of the
 * rule that is asked for.
 */
static int list_scope(struct list *list, const struct baleen_scope *scope)
{
	const char *rule = baleen_scopes_split(scope, list->book.scope);
	struct baleen_error error;
	int err;

	/* Where there is no ban nobody asks all devices. */
	if (!rule && strcmp(list->counted.name, scope->name) != 0 &&
	    baleen_scope_takers(scope->name, &list->takers, &error))
		return complain("%s", error.text);
	if (!rule)
		list->counted = *scope;
	list->book.shared = scope->name;
	if ((rule || list->rule) && open_state(list, rule ? list->book.scope : list->device))
		return EXIT_FAILED;
	list->at = scope;
	list->in = rule || list->rule ? scope_rules_find(&list->device_rules, rule ?: list->rule) :
					NULL;
	list->book.ban_width = list->in ? baleen_rule_ban_width(list->in) :
			       rule	? BALEEN_BAN_WIDTH :
					  list->takers.ban_width;
	if (list->is_address && (!list->in || baleen_spec_is_address(list->in->key_spec)))
		err = baleen_rule_entries_find(&list->book, rule, &list->address, 0, add_entry,
					       list, &error);
	else
		err = baleen_rule_entries_each(&list->book, rule, list->origin, add_entry, list,
					       &error);
	if (err == -ENOMEM)
		return complain("%s", strerror(ENOMEM));
	return err ? complain("%s", error.text) : 0;
}

static bool is_listed(const struct list *list, const struct baleen_scope *scope)
{
	char device[BALEEN_POINT_BYTES];
	const char *rule = baleen_scopes_split(scope, device);

	if (!rule && list->shared)
		return baleen_scope_is_called(scope->name, list->shared);
	if (!rule)
		return !*list->device || baleen_scopes_count(&list->taken, scope->name);
	return !list->shared && (!*list->device || !strcmp(list->device, device)) &&
	       (!list->rule || !strcmp(list->rule, rule)) &&
	       (!list->is_renamed || scope_rules_find(&list->device_rules, rule));
}

static int walk(struct list *list)
{
	int err = 0;

	for (size_t i = 0; i < list->scopes.n && !err; i++)
		if (is_listed(list, &list->scopes.scope[i]))
			err = list_scope(list, &list->scopes.scope[i]);
	return err;
}

/* --- all -------------------------------------------------------------------- */

static void show_sorted(struct list *list)
{
	list_rows_sort(list->row, list->table.n, list->sort);
	for (u64 i = 0; i < list->table.n; i++)
		show_row(list, &list->row[i]);
}

/* A table is walked once to measure it. */
static int list_all(struct list *list)
{
	int err;

	list->measures = true;
	err = walk(list);
	list->measures = false;
	if (err)
		return err;
	if (!list->json)
		list_table_print_head(&list->table);
	if (list->sort == LIST_BY_KEY)
		err = walk(list);
	else if (list->table.n)
		show_sorted(list);
	if (!list->json)
		list_table_print_total(&list->table);
	return err;
}

static bool has_scope(const struct list *list)
{
	for (size_t i = 0; i < list->scopes.n; i++)
		if (is_listed(list, &list->scopes.scope[i]))
			return true;
	return false;
}

/* Is there such a device, and such a rule, where no entry speaks of them? */
static int check_target(struct list *list)
{
	if (!*list->device || has_scope(list))
		return 0;
	if (open_state(list, list->device))
		return EXIT_FAILED;
	if (!list->device_rules.has_state)
		return complain("%s has no rules, and no entries that wait for some", list->device);
	if (list->rule && !scope_rules_find(&list->device_rules, list->rule))
		return complain_no_rule(list->device, list->rule);
	return 0;
}

/* The scopes of a device that was renamed by hand have the name of before, for which others may be
 * parked.
 */
static int follow_name(struct list *list)
{
	if (!*list->device)
		return 0;
	if (open_state(list, list->device))
		return EXIT_FAILED;
	if (!list->device_rules.has_state)
		return 0;
	for (u32 i = 0; i < list->device_rules.rules.n_rules; i++) {
		const struct baleen_stored_rule *rule = &list->device_rules.rules.rule[i];

		if ((!list->rule || !strcmp(list->rule, rule->name)) &&
		    baleen_scopes_add_taken(&list->taken, rule))
			return complain("%s", strerror(ENOMEM));
	}
	list->is_renamed = strcmp(list->device, list->device_rules.state.scope);
	strcpy(list->device, list->device_rules.state.scope);
	return 0;
}

/* Asked for some that are not there is no match, as for match. */
static int list_book(struct list *list)
{
	bool is_filtered = list->key.text || list->origin || list->ending_ms;
	struct baleen_error error;

	if (follow_name(list))
		return EXIT_FAILED;
	if (baleen_scopes_with_entries(&list->book, &list->scopes, &error))
		return complain("%s", error.text);
	if (check_target(list) || list_all(list))
		return EXIT_FAILED;
	return finish_collected(list->json,
				is_filtered && !list->table.n ? EXIT_FAILED : EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct list list = { .table = { .now_ms = baleen_now_ms(), .width = { 4, 3, 6 } } };
	struct baleen_error error;
	int err = parse(&list, argc, argv);

	if (err)
		return err;
	if (baleen_book_open(&list.book, &error))
		return complain("%s", error.text);
	err = list_book(&list);
	for (u64 i = 0; list.row && i < list.table.n; i++)
		free(list.row[i].exempt);
	free(list.row);
	close_state(&list);
	baleen_scopes_free(&list.scopes);
	baleen_scopes_free(&list.taken);
	baleen_book_close(&list.book);
	return err;
}

static const struct option_spec options[] = {
	VALUE("origin", 0, "NAME", option_text, list, origin, "only those of NAME"),
	VALUE("ending", 0, "TIME", parse_ending, list, ending_ms,
	      "only those that end within TIME: 30s, 1h, 2d"),
	VALUE("sort", 0, "COLUMN", option_choice, list, sort,
	      "key (default): by rule, origin and key; since: the oldest first; left: the next to "
	      "end first",
	      .words = "key since left"),
	VALUE("json", 'j', NULL, option_json, list, json, "an array with one object per entry"),
	{ 0 },
};

const struct command list_command = {
	.name = "list",
	.synopsis =
		"[DEV[:RULE]|bans|fleet:SET] [--origin NAME] [--ending TIME] [--sort COLUMN] [-j] [KEY]",
	.help = "Lists single entries, bans and exceptions, of a rule, of a device, or of all rules of\n"
		"this network namespace: with origin, since when, how long still, why, and what of them\n"
		"is never dropped. Bans of all rules stand under 'bans', those of a fleet under\n"
		"'feed fleet:SET', also where a rule is asked for that takes them. An entry whose rule is\n"
		"not there is parked. With KEY, an address, prefix or range, those that hold it or a part\n"
		"of it. What lists hold is for 'baleen dump'.\n"
		"Exit: 0 listed; 1 also when KEY, --origin or --ending match nothing.\n",
	.options = options,
	.asks = { 0, 2, "DEV, DEV:RULE, bans or fleet:SET may be given, and one KEY" },
	.run = run,
};
