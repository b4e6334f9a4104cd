// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen log: the journal of single entries. */
#include <string.h>

#include "cli/ban/describe_entry.h"
#include "cli/common/options.h"
#include "cli/open/scope_rules.h"
#include "key/span.h"
#include "net/device.h"
#include "state/book.h"
#include "state/entries.h"
#include "state/journal.h"
#include "util/duration.h"
#include "util/number.h"

/**
 * struct log - what is asked for, and what was found
 * @since_ms: only what is at most so old; 0 for all
 * @origin: only of this origin; NULL for all
 * @key: only entries that hold some of this
 * @scope: of the last lone address
 * @ban_width: how wide it is there
 * @rules: of its device
 * @json: an array of objects, filled in; NULL for words
 * @n: records so far
 */
struct log {
	u64 since_ms;
	const char *origin;
	struct asked_key key;
	struct baleen_scope scope;
	u32 ban_width;
	struct scope_rules rules;
	json_t *json;
	u64 n;
};

static int parse_since(const struct option_use *use)
{
	return baleen_duration_parse(use->argument, use->to) ?
		       option_refuse(use, "not a time such as 30s, 1h or 2d") :
		       0;
}

/* A lone address is as wide as it would be now. */
static bool holds_key(struct log *log, const struct baleen_journal_record *record)
{
	struct baleen_entry_key key = record->entry.key;

	if (key.is_lone && strcmp(log->scope.name, record->scope)) {
		strcpy(log->scope.name, record->scope);
		log->ban_width = scope_ban_width(&log->rules, &log->scope);
	}
	baleen_entry_key_fit(&key, log->ban_width);
	return asked_key_is_in(&log->key, &key);
}

static bool is_asked_for(struct log *log, const struct baleen_journal_record *record)
{
	if (log->origin && strcmp(log->origin, record->entry.origin))
		return false;
	return !log->key.text || (!record->n && holds_key(log, record));
}

static void print_record(const struct baleen_journal_record *record)
{
	char when[ENTRY_TIME_TEXT], end[ENTRY_TIME_TEXT], n[NUMBER_TEXT];
	const struct baleen_rule_entry *entry = &record->entry;

	say("%s %s: ", format_entry_time(record->at_ms, when), record->scope);
	if (record->n)
		say("%s %s", format_count(record->n, n),
		    baleen_plural(record->n, "entry", "entries"));
	else
		say("%s", baleen_rule_entry_asked_text(entry).text);
	say(" %s", baleen_journal_text(record->what));
	if (*entry->origin)
		say(", origin %s", entry->origin);
	if (entry->expires_ms && record->what <= BALEEN_JOURNAL_RENEW)
		say(", until %s", format_entry_time(entry->expires_ms, end));
	if (*entry->reason)
		say(", %s", entry->reason);
	say(" (%s)\n", record->by);
}

static json_t *describe_record(const struct baleen_journal_record *record)
{
	const struct baleen_rule_entry *entry = &record->entry;
	json_t *json = json_object();

	json_object_set_new(json, "id", json_integer(record->id));
	json_object_set_new(json, "time_ms", json_integer(record->at_ms));
	json_object_set_new(json, "scope", json_text(record->scope));
	json_object_set_new(json, "what", json_string(baleen_journal_text(record->what)));
	json_object_set_new(json, "entry",
			    record->n ? json_null() :
					json_text(baleen_rule_entry_asked_text(entry).text));
	json_object_set_new(json, "entries", json_integer(record->n ? record->n : 1));
	json_object_set_new(json, "origin", json_text(entry->origin));
	json_object_set_new(json, "reason", json_text(entry->reason));
	json_object_set_new(json, "expires_ms",
			    entry->expires_ms ? json_integer(entry->expires_ms) : json_null());
	json_object_set_new(json, "by", json_text(record->by));
	return json;
}

static int show_record(const struct baleen_journal_record *record, void *data)
{
	struct log *log = data;

	if (!is_asked_for(log, record))
		return 0;
	if (log->json)
		json_array_append_new(log->json, describe_record(record));
	else
		print_record(record);
	log->n++;
	return 0;
}

static int run(int argc, char **argv)
{
	struct log log = { 0 };
	struct baleen_rule_store book;
	struct baleen_error error;
	int err = options_parse(&log_command, &log, &argc, &argv);

	if (err)
		return err;
	if (argc && asked_key_parse(&log.key, argv[0]))
		return EXIT_FAILED;
	if (baleen_book_open(&book, &error))
		return complain("%s", error.text);
	err = baleen_journal_each(&book, log.since_ms ? baleen_now_ms() - log.since_ms : 0,
				  show_record, &log, &error);
	baleen_book_close(&book);
	scope_rules_close(&log.rules);
	if (err)
		return complain("%s", error.text);
	return finish_collected(log.json, log.key.text && !log.n ? EXIT_FAILED : EXIT_DONE);
}

static const struct option_spec options[] = {
	VALUE("since", 0, "TIME", parse_since, log, since_ms,
	      "only what is at most so old: 30s, 1h, 2d"),
	VALUE("origin", 0, "NAME", option_text, log, origin, "only entries of NAME"),
	VALUE("json", 'j', NULL, option_json, log, json, "an array with one object per record"),
	{ 0 },
};

const struct command log_command = {
	.name = "log",
	.synopsis = "[--since TIME] [--origin NAME] [-j] [KEY]",
	.help = "Prints the journal of single entries, the oldest record first: what came, was renewed,\n"
		"was deleted, has ended or was refused, of which rule, for which origin and reason, and who\n"
		"it was. With KEY, an address, prefix or range, only entries that hold it or a part of it. It\n"
		"goes back 100,000 records, of which an origin has a fifth at the most, and 30 days.\n"
		"Exit: 0 printed; 1 also when KEY matches nothing.\n",
	.options = options,
	.asks = { 0, 1, "one KEY at most" },
	.run = run,
};
