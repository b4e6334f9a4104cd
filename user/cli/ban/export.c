// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen export: single entries, for Baleen elsewhere and for other programs. */
#include <errno.h>
#include <string.h>

#include "cli/ban/export_sets.h"
#include "cli/ban/export_union.h"
#include "cli/common/options.h"
#include "cli/open/filter_name.h"
#include "cli/open/scope_rules.h"
#include "state/book.h"
#include "state/entry_json.h"
#include "state/parked.h"
#include "util/number.h"
#include "util/utc.h"

/* In the order of their words. */
enum export_format {
	EXPORT_JSON,
	EXPORT_TEXT,
	EXPORT_IPSET,
	EXPORT_NFT,
	EXPORT_CSV,
};

/**
 * struct export - what is asked for, and what was found
 * @target: DEV:RULE, bans or fleet:SET, as typed; NULL for all of this network namespace
 * @format: how
 * @set: name of the set of ipset and nft
 * @origin: whose entries, or NULL for those of all
 * @now_ms: the time: what has ended by then is left out
 * @book: the entries
 * @device_rules: of the device of the scope at hand
 * @scope: the scope at hand
 * @rule: its rule; NULL when its entries are parked, and of a shared scope
 * @ban_width: of lone IPv6 addresses where there is no rule
 * @taken: the shared scopes whose entries stood beside those of a rule already, each time
 * @is_shared: it is a shared one
 * @n: entries of it
 * @n_fields: of them, those whose keys have several fields
 * @all: entries that become one list, or sets
 */
struct export
{
	const char *target;
	int format;
	const char *set;
	const char *origin;
	u64 now_ms;
	struct baleen_rule_store book;
	struct scope_rules device_rules;
	struct baleen_scope scope;
	const struct baleen_stored_rule *rule;
	u32 ban_width;
	struct baleen_scopes taken;
	bool is_shared;
	u64 n;
	u64 n_fields;
	struct export_union all;
};

static bool is_of_sets(const struct export *export)
{
	return export->format == EXPORT_IPSET || export->format == EXPORT_NFT;
}

/* Several rules become one list, or one set, which has no rules. */
static bool is_mixed(const struct export *export)
{
	return !export->target && (export->format == EXPORT_TEXT || is_of_sets(export));
}

/* --- rows ----------------------------------------------------------------------------- */

/* RFC 4180: quotes around what has a comma or a quote in it, and each quote twice. */
static void put_cell(const char *text, char behind)
{
	char doubled[2 * BALEEN_REASON_BYTES];
	size_t n = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '"')
			doubled[n++] = '"';
		doubled[n++] = *p;
	}
	doubled[n] = '\0';
	say(strpbrk(text, ",\"") ? "\"%s\"%c" : "%s%c", doubled, behind);
}

static void print_row(const struct export *export, const struct baleen_rule_entry *entry)
{
	char text[BALEEN_UTC_TEXT];

	if (!export->target)
		put_cell(export->scope.name, ',');
	put_cell(baleen_rule_entry_text(entry).text, ',');
	put_cell(entry->origin, ',');
	put_cell(entry->reason, ',');
	say("%s,", baleen_utc_format(entry->added_ms, text));
	say("%s\n", entry->expires_ms ? baleen_utc_format(entry->expires_ms, text) : "");
}

/* --- entries -------------------------------------------------------------------------- */

static int take_entry(const struct baleen_rule_entry *entry, void *data)
{
	struct export *export = data;
	bool has_fields = !baleen_entry_key_is_addresses(&entry->key);

	if (entry->expires_ms && entry->expires_ms <= export->now_ms)
		return 0;
	export->n++;
	export->n_fields += has_fields;
	if (export->format == EXPORT_JSON)
		return baleen_entry_json_write(stdout, entry,
					       export->target ? NULL : export->scope.name);
	if (export->format == EXPORT_CSV)
		print_row(export, entry);
	else if (!has_fields || !(is_mixed(export) || is_of_sets(export)))
		return export_union_add(&export->all, entry);
	return 0;
}

/* @rule: NULL for the shared scope @shared */
static int take_entries(struct export *export, const char *rule, const char *shared)
{
	struct baleen_error error;
	int err;

	export->book.shared = shared;
	export->book.ban_width =
		export->rule ? baleen_rule_ban_width(export->rule) : export->ban_width;
	err = baleen_rule_entries_each(&export->book, rule, export->origin, take_entry, export,
				       &error);
	return err ? complain("%s", err == -ENOMEM ? strerror(ENOMEM) : error.text) : 0;
}

/* @taken: those of these shared scopes, too */
static int take_scope(struct export *export, const char *rule, const struct baleen_scopes *taken)
{
	int err = export_union_begin_rule(&export->all) ? complain("%s", strerror(ENOMEM)) :
							  take_entries(export, rule, NULL);

	for (size_t i = 0; i < taken->n && !err; i++)
		err = take_entries(export, NULL, taken->scope[i].name);
	return err;
}

static int take_shared(struct export *export, const struct baleen_scope *scope)
{
	struct baleen_takers takers;
	struct baleen_error error;

	if (baleen_scope_takers(scope->name, &takers, &error))
		return complain("%s", error.text);
	export->scope = *scope;
	export->rule = NULL;
	export->is_shared = true;
	export->n = export->n_fields = 0;
	export->ban_width = takers.ban_width;
	return export_union_begin_rule(&export->all) ? complain("%s", strerror(ENOMEM)) :
						       take_entries(export, NULL, scope->name);
}

/* --- what becomes of several ------------------------------------------------------------ */

static int print_text(const struct export *export)
{
	u64 n_ends = 0;

	for (size_t i = 0; i < export->all.n && !ferror(stdout); i++) {
		say("%s\n", baleen_rule_entry_text(&export->all.entry[i]).text);
		n_ends += export->all.entry[i].expires_ms != 0;
	}
	if (n_ends)
		complain("warning: a list does not keep the ends of %llu %s: --format json does",
			 (unsigned long long)n_ends, baleen_plural(n_ends, "entry", "entries"));
	return 0;
}

static int print_all(struct export *export)
{
	const struct export_sets sets = {
		.format = export->format == EXPORT_NFT ? SET_NFT : SET_IPSET,
		.name = export->set,
		.entry = export->all.entry,
		.n = export->all.n,
		.n_lost = export->all.n_lost,
		.now_ms = export->now_ms,
	};

	return is_of_sets(export)	     ? export_sets_print(&sets) :
	       export->format == EXPORT_TEXT ? print_text(export) :
					       0;
}

/* --- one rule ---------------------------------------------------------------------------- */

/* A device that was renamed by hand has the name of before in the book, for which others may be
 * parked.
 */
static void find_scope(struct export *export, const char *device, const char *rule)
{
	const struct scope_rules *rules = &export->device_rules;

	export->rule = scope_rules_find(rules, rule);
	strcpy(export->book.scope, export->rule ? rules->state.scope : device);
	export->scope = baleen_scope_of(&export->book, rule);
}

static int check_rule(const struct export *export, const char *device, const char *rule)
{
	if (!export->rule && !baleen_rule_entries_count(&export->book, rule, NULL))
		return export->device_rules.has_state ?
			       complain_no_rule(device, rule) :
			       complain("%s has no rules, and no entries that wait for some",
					device);
	if (is_of_sets(export) && export->rule && !baleen_spec_is_address(export->rule->key_spec))
		return complain("%s: its keys are no addresses: --format json or text prints them",
				export->target);
	return 0;
}

static int check_addresses(const struct export *export)
{
	return is_of_sets(export) && export->n_fields ?
		       complain("%s: its keys are no addresses: --format json or text prints them",
				export->target) :
		       0;
}

static int export_rule(struct export *export, const char *device, const char *rule)
{
	struct baleen_scopes taken = { 0 };
	struct baleen_error error;
	int err;

	if (scope_rules_open(&export->device_rules, device, &error))
		return complain("%s", error.text);
	find_scope(export, device, rule);
	err = check_rule(export, device, rule);
	if (!err && export->rule && baleen_scopes_add_taken(&taken, export->rule))
		err = complain("%s", strerror(ENOMEM));
	if (!err)
		err = take_scope(export, rule, &taken);
	baleen_scopes_free(&taken);
	if (!err)
		err = check_addresses(export);
	return err ? err : print_all(export);
}

/* --- a shared scope ----------------------------------------------------------------------- */

/* Bans of a fleet may have several, by how long they hold at most. */
static int export_shared(struct export *export)
{
	struct baleen_scopes scopes = { 0 };
	struct baleen_error error;
	int err = 0;

	if (baleen_scopes_with_entries(&export->book, &scopes, &error))
		return complain("%s", error.text);
	for (size_t i = 0; i < scopes.n && !err; i++)
		if (baleen_scope_is_called(scopes.scope[i].name, export->target))
			err = take_shared(export, &scopes.scope[i]);
	baleen_scopes_free(&scopes);
	if (!err)
		err = check_addresses(export);
	return err ? err : print_all(export);
}

/* --- all rules ---------------------------------------------------------------------------- */

/* The addresses of a rule that lets pass would be banned by whoever reads the list. */
static bool is_no_ban(const struct export *export)
{
	return is_mixed(export) && export->rule && export->rule->action != BALEEN_ACTION_DROP;
}

static void warn_scope(const struct export *export)
{
	const char *name = export->scope.name;
	unsigned long long n = export->n, n_fields = export->n_fields;

	if (!is_mixed(export) || !n)
		return;
	if (is_no_ban(export))
		complain("warning: %s does not drop: its %llu %s left out: --format json has them",
			 name, n, baleen_plural(n, "entry is", "entries are"));
	else if (n_fields)
		complain("warning: %s: %llu %s of several fields: left out: --format json has them",
			 name, n_fields, baleen_plural(n_fields, "key is", "keys are"));
	else if (!export->rule && !export->is_shared)
		complain("warning: there is no rule %s: its %llu parked %s taken for bans", name, n,
			 baleen_plural(n, "entry is", "entries are"));
}

/* Where the rules that take them have entries of their own, exceptions may be among these: what is
 * shared stands beside them then, and else alone.
 */
static int export_beside(struct export *export, const struct baleen_scope *scope)
{
	struct baleen_takers takers = { 0 };
	struct baleen_error error;

	if (is_mixed(export) && baleen_scope_takers(scope->name, &takers, &error))
		return complain("%s", error.text);
	if (takers.n && baleen_scopes_count(&export->taken, scope->name) == takers.n)
		return 0;
	if (takers.n && !takers.n_drop) {
		complain("warning: no rule that takes '%s' drops: it is left out: --format json "
			 "has it",
			 scope->name);
		return 0;
	}
	if (take_shared(export, scope))
		return EXIT_FAILED;
	if (is_mixed(export) && !takers.n && export->n)
		complain(
			"warning: no rule takes '%s': the %llu parked %s taken for bans all the same",
			scope->name, (unsigned long long)export->n,
			baleen_plural(export->n, "one is", "ones are"));
	return 0;
}

static int export_scope(struct export *export, const struct baleen_scope *scope)
{
	const char *rule = baleen_scopes_split(scope, export->book.scope);
	size_t n_before = export->all.n, n_taken = export->taken.n;
	struct baleen_scopes taken;
	struct baleen_error error;
	int err;

	/* Rows say nothing of the rule but its name: a device that is sick keeps none from them. */
	if (is_mixed(export) && !scope_rules_are_of(&export->device_rules, export->book.scope) &&
	    scope_rules_open(&export->device_rules, export->book.scope, &error))
		return complain("%s", error.text);
	export->scope = *scope;
	export->rule = scope_rules_find(&export->device_rules, rule);
	export->n = export->n_fields = 0;
	if (is_mixed(export) && export->rule &&
	    baleen_scopes_add_taken(&export->taken, export->rule))
		return complain("%s", strerror(ENOMEM));
	taken = (struct baleen_scopes){ export->taken.scope + n_taken, export->taken.n - n_taken };
	err = take_scope(export, rule, &taken);
	if (err)
		return err;
	if (is_no_ban(export))
		export->all.n = n_before;
	warn_scope(export);
	return 0;
}

static int export_all(struct export *export)
{
	struct baleen_scopes scopes = { 0 };
	struct baleen_error error;
	int err = 0;

	if (baleen_scopes_with_entries(&export->book, &scopes, &error))
		return complain("%s", error.text);
	for (size_t i = 0; i < scopes.n && !err && !ferror(stdout); i++)
		if (!baleen_scope_is_shared(scopes.scope[i].name))
			err = export_scope(export, &scopes.scope[i]);
	for (size_t i = 0; i < scopes.n && !err && !ferror(stdout); i++)
		if (baleen_scope_is_shared(scopes.scope[i].name))
			err = export_beside(export, &scopes.scope[i]);
	baleen_scopes_free(&scopes);
	if (!err && export_union_make(&export->all, export->now_ms))
		err = complain("%s", strerror(ENOMEM));
	return err ? err : print_all(export);
}

/* --- command -------------------------------------------------------------------------- */

static int export_book(struct export *export, const char *device, const char *rule)
{
	struct baleen_error error;
	int err;

	if (baleen_book_open(&export->book, &error))
		return complain("%s", error.text);
	if (export->format == EXPORT_CSV)
		say("%skey,origin,reason,since,end\n", export->target ? "" : "rule,");
	err = rule	     ? export_rule(export, device, rule) :
	      export->target ? export_shared(export) :
			       export_all(export);
	scope_rules_close(&export->device_rules);
	baleen_book_close(&export->book);
	export_union_free(&export->all);
	baleen_scopes_free(&export->taken);
	return finish_output(err ? EXIT_FAILED : EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct export export = { .set = "baleen", .now_ms = baleen_now_ms() };
	char device[BALEEN_POINT_BYTES];
	const char *rule = NULL;
	int err = options_parse(&export_command, &export, &argc, &argv);

	if (!err)
		err = set_check_name(&export_command, export.set);
	if (err)
		return err;
	export.target = argc ? argv[0] : NULL;
	if (argc && !is_shared_name(export.target) &&
	    !split_live(export.target, device, sizeof(device), &rule))
		return complain_usage(&export_command,
				      "'%s' is neither DEV:RULE, bans nor fleet:SET",
				      export.target);
	return export_book(&export, device, rule);
}

static const struct option_spec options[] = {
	VALUE("format", 0, "F", option_choice, export, format,
	      "json (default): a line each, for 'baleen import --format json'; text, a list; ipset, "
	      "for 'ipset restore'; nft, for 'nft -f'; or csv",
	      .words = "json text ipset nft csv"),
	VALUE("set", 0, "NAME", option_text, export, set,
	      "name of the set of ipset or nft (baleen), with a 6 behind it for IPv6"),
	VALUE("origin", 0, "NAME", option_text, export, origin, "only those of NAME"),
	{ 0 },
};

const struct command export_command = {
	.name = "export",
	.synopsis =
		"[DEV:RULE|bans|fleet:SET] [--format json|text|ipset|nft|csv] [--set NAME] [--origin NAME]",
	.help = "Prints the single entries of a rule, bans among them if it takes some; the bans of all\n"
		"rules; those of a fleet; or all of this network namespace, for another host or another\n"
		"program; parked ones, too. JSON lines have key, origin, reason, since and end, and of all\n"
		"the rule of each, bans, or feed fleet:SET. text, ipset and nft make one list or\n"
		"set of all rules that drop; ipset and nft get what is left of each time, and reasons as\n"
		"comments. What lists hold is for 'baleen dump'.\n",
	.options = options,
	.asks = { 0, 1, "one DEV:RULE, bans or fleet:SET is asked for" },
	.run = run,
};
