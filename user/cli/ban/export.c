// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen export: the single entries of a rule, for Baleen elsewhere and for other programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/set_text.h"
#include "cli/open/entries.h"
#include "cli/open/filter_name.h"
#include "state/entry_pieces.h"
#include "util/array.h"
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
 * @scope: as typed: DEV:RULE
 * @format: how
 * @set: name of the set of ipset and nft
 * @origin: whose entries, or NULL for those of all
 * @now_ms: the time: what has ended by then is left out
 * @entry: the entries
 * @n: how many
 * @n_ends: of them, those that end
 */
struct export
{
	const char *scope;
	int format;
	const char *set;
	const char *origin;
	u64 now_ms;
	struct baleen_rule_entry *entry;
	size_t n;
	u64 n_ends;
};

static int collect(const struct baleen_rule_entry *entry, void *data)
{
	struct export *export = data;

	if (entry->expires_ms && entry->expires_ms <= export->now_ms)
		return 0;
	if (baleen_array_add(&export->entry, export->n))
		return -ENOMEM;
	export->entry[export->n++] = *entry;
	export->n_ends += !!entry->expires_ms;
	return 0;
}

/* --- one by one ---------------------------------------------------------------------- */

static json_t *time_json(u64 ms)
{
	char text[BALEEN_UTC_TEXT];

	return ms ? json_string(baleen_utc_format(ms, text)) : json_null();
}

static void print_line(const struct baleen_rule_entry *entry)
{
	json_t *json =
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "key",
			  json_text(baleen_rule_entry_text(entry).text), "origin",
			  json_text(entry->origin), "reason", json_text(entry->reason), "since",
			  time_json(entry->added_ms), "end", time_json(entry->expires_ms));

	print_json_line(json, JSON_COMPACT);
	putchar('\n');
}

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

static void print_row(const struct baleen_rule_entry *entry)
{
	char text[BALEEN_UTC_TEXT];

	put_cell(baleen_rule_entry_text(entry).text, ',');
	put_cell(entry->origin, ',');
	put_cell(entry->reason, ',');
	say("%s,", baleen_utc_format(entry->added_ms, text));
	say("%s\n", entry->expires_ms ? baleen_utc_format(entry->expires_ms, text) : "");
}

static void print_entries(const struct export *export)
{
	if (export->format == EXPORT_CSV)
		puts("key,origin,reason,since,end");
	for (size_t i = 0; i < export->n && !ferror(stdout); i++) {
		const struct baleen_rule_entry *entry = &export->entry[i];

		if (export->format == EXPORT_JSON)
			print_line(entry);
		else if (export->format == EXPORT_CSV)
			print_row(entry);
		else
			say("%s\n", baleen_rule_entry_text(entry).text);
	}
	if (export->format == EXPORT_TEXT && export->n_ends)
		complain("warning: a list does not keep the ends of %llu %s: --format json does",
			 (unsigned long long)export->n_ends,
			 baleen_plural(export->n_ends, "entry", "entries"));
}

/* --- sets ---------------------------------------------------------------------------- */

/**
 * struct sets - the sets of both families on their way
 * @writer: of them
 * @now_ms: the time
 * @only_counts: nothing is printed yet
 * @n: elements of the family at hand
 * @n_cut: those whose time is longer than ipset has any
 */
struct sets {
	struct set_writer writer;
	u64 now_ms;
	bool only_counts;
	u64 n;
	u64 n_cut;
};

/* Less than a second counts as one: 0 would mean for ever. */
static u64 seconds_left(struct sets *sets, u64 expires_ms)
{
	u64 seconds = expires_ms ? (expires_ms - sets->now_ms + 999) / 1000 : 0;

	if (sets->writer.format != SET_IPSET || seconds <= SET_IPSET_MAX_TIMEOUT_S)
		return seconds;
	sets->n_cut++;
	return SET_IPSET_MAX_TIMEOUT_S;
}

static int put_element(const struct baleen_entry_piece *piece, void *data)
{
	struct sets *sets = data;
	struct set_extra extra = { .comment = piece->reason, .is_exception = piece->is_exception };

	if (sets->only_counts) {
		sets->n += set_elements(sets->writer.format, &piece->span);
		return 0;
	}
	extra.timeout_s = seconds_left(sets, piece->expires_ms);
	return set_put(&sets->writer, &piece->span, &extra);
}

static void each_element(struct sets *sets, struct baleen_entry_pieces *pieces, bool is_ip6)
{
	if (sets->writer.format == SET_NFT) {
		baleen_entry_pieces_spans(pieces, is_ip6, sets->now_ms, put_element, sets);
		return;
	}
	for (size_t i = 0; i < pieces->n; i++)
		if (pieces->piece[i].span.is_ip6 == is_ip6 && put_element(&pieces->piece[i], sets))
			return;
}

/* A family without an entry has no set, but for IPv4 where there is none at all. */
static void print_family(struct sets *sets, struct baleen_entry_pieces *pieces, bool is_ip6)
{
	u64 n_lost = pieces->n_lost;

	sets->n = 0;
	sets->only_counts = true;
	each_element(sets, pieces, is_ip6);
	if (!sets->n && (is_ip6 || pieces->n))
		return;
	sets->only_counts = false;
	pieces->n_lost = n_lost;
	set_begin(&sets->writer, is_ip6, sets->n);
	each_element(sets, pieces, is_ip6);
	set_end(&sets->writer);
}

static int print_sets(const struct export *export)
{
	struct sets sets = {
		.writer = { .format = export->format == EXPORT_NFT ? SET_NFT : SET_IPSET,
			    .name = export->set,
			    .has_ends = export->n_ends },
		.now_ms = export->now_ms,
	};
	struct baleen_entry_pieces pieces;

	if (baleen_entry_pieces_make(export->entry, export->n, &pieces)) {
		baleen_entry_pieces_free(&pieces);
		return complain("%s", strerror(ENOMEM));
	}
	for (size_t i = 0; i < export->n; i++)
		sets.writer.has_comments |= *export->entry[i].reason;
	set_table_begin(&sets.writer);
	print_family(&sets, &pieces, false);
	print_family(&sets, &pieces, true);
	set_table_end(&sets.writer);
	if (pieces.n_lost)
		complain("warning: %llu stretch%s of addresses would come back when an exception "
			 "ends: left out",
			 (unsigned long long)pieces.n_lost, pieces.n_lost == 1 ? "" : "es");
	if (sets.n_cut)
		complain("warning: %llu %s cut to the longest time that ipset has: %d s",
			 (unsigned long long)sets.n_cut,
			 baleen_plural(sets.n_cut, "entry is", "entries are"),
			 SET_IPSET_MAX_TIMEOUT_S);
	baleen_entry_pieces_free(&pieces);
	return 0;
}

/* --- command -------------------------------------------------------------------------- */

static bool is_of_sets(const struct export *export)
{
	return export->format == EXPORT_IPSET || export->format == EXPORT_NFT;
}

static int export_state(struct export *export, const struct baleen_rule_store *state,
			const char *rule)
{
	struct baleen_stored_rules rules;
	struct baleen_error error;
	int index, err = baleen_rule_store_get_rules(state, &rules, &error);

	if (err)
		return complain("%s", error.text);
	index = baleen_rule_store_find_rule(&rules, rule);
	if (index < 0)
		return complain_no_rule(state->device, rule);
	if (is_of_sets(export) && !baleen_spec_is_address(rules.rule[index].key_spec))
		return complain("%s: its keys are no addresses: --format json or text prints them",
				export->scope);
	err = baleen_rule_entries_each(state, rule, export->origin, collect, export, &error);
	if (err)
		return complain("%s", err == -ENOMEM ? strerror(ENOMEM) : error.text);
	if (is_of_sets(export))
		err = print_sets(export);
	else
		print_entries(export);
	return finish_output(err ? EXIT_FAILED : EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct export export = { .set = "baleen", .now_ms = baleen_now_ms() };
	char device[BALEEN_POINT_BYTES];
	struct baleen_rule_store state;
	struct baleen_error error;
	const char *rule;
	int err = options_parse(&export_command, &export, &argc, &argv);

	if (!err)
		err = set_check_name(&export_command, export.set);
	if (err)
		return err;
	export.scope = argv[0];
	if (!split_live(export.scope, device, sizeof(device), &rule))
		return complain_usage(&export_command, "'%s' is not DEV:RULE", export.scope);
	err = baleen_rule_store_open(&state, device, 0, &error);
	if (err)
		return complain("%s", error.text);
	err = export_state(&export, &state, rule);
	free(export.entry);
	baleen_rule_store_close(&state);
	return err;
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
	.synopsis = "DEV:RULE [--format json|text|ipset|nft|csv] [--set NAME] [--origin NAME]",
	.help = "Prints the single entries of a rule, for another host or another program. JSON lines have\n"
		"key, origin, reason, since and end; ipset and nft get what is left of each time, and\n"
		"reasons as comments. What lists hold is for 'baleen dump'.\n",
	.options = options,
	.asks = { 1, 1, "one DEV:RULE is asked for" },
	.run = run,
};
