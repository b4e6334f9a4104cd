// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen list: the single entries of a rule or of all rules of a device. */
#include <string.h>

#include "cli/ban/describe_entry.h"
#include "cli/open/entries.h"
#include "cli/open/filter_name.h"
#include "deploy/gate.h"
#include "key/key_text.h"
#include "key/span.h"
#include "net/device.h"
#include "util/duration.h"
#include "util/shell.h"

/**
 * struct list - what is asked for, and what was found
 * @device: its name
 * @rule: the only rule, or NULL for all
 * @origin: whose entries, or NULL for those of all
 * @ending_ms: only entries that end within this time; 0 for all
 * @key: only entries that hold some of this, or NULL
 * @span: @key as addresses, when it is one or some
 * @is_span: it is
 * @address: @key, when it is one address, by which entries are found
 * @is_address: it is
 * @json: an array of objects, filled in; NULL for words
 * @now_ms: the time; what has ended by then is in force until a writer comes
 * @state: state of the device
 * @protected: what is taken out of entries
 * @in: the rule that is listed now
 * @n: entries so far
 */
struct list {
	char device[BALEEN_POINT_BYTES];
	const char *rule;
	const char *origin;
	u64 ending_ms;
	const char *key;
	struct baleen_span span;
	bool is_span;
	struct baleen_key address;
	bool is_address;
	json_t *json;
	u64 now_ms;
	struct baleen_rule_store state;
	struct baleen_protected_set protected;
	const struct baleen_stored_rule *in;
	u64 n;
};

/* --- arguments ------------------------------------------------------------- */

static int parse_ending(const struct option_use *use)
{
	return baleen_duration_parse(use->argument, use->to) ?
		       option_refuse(use, "not a time such as 30s, 1h or 2d") :
		       0;
}

static int parse(struct list *list, int argc, char **argv)
{
	int err = options_parse(&list_command, list, &argc, &argv);
	const char *reason;

	if (err)
		return err;
	if (!split_live(argv[0], list->device, sizeof(list->device), &list->rule)) {
		if (strlen(argv[0]) >= sizeof(list->device))
			return complain_usage(&list_command, "'%s' is neither DEV nor DEV:RULE",
					      argv[0]);
		strcpy(list->device, argv[0]);
	}
	list->key = argv[1];
	if (!list->key)
		return 0;
	list->is_address = !baleen_address_parse(list->key, &list->address, &reason);
	list->is_span = !baleen_span_parse(list->key, strlen(list->key), &list->span, &reason);
	return 0;
}

/* --- entries ---------------------------------------------------------------- */

static bool meets(const struct baleen_span *a, const struct baleen_span *b)
{
	return a->is_ip6 == b->is_ip6 && baleen_ip6_compare(a->first, b->last) <= 0 &&
	       baleen_ip6_compare(b->first, a->last) <= 0;
}

/* A key of several fields is compared as it is printed. */
static bool is_of_key(const struct list *list, const struct baleen_rule_entry *entry)
{
	if (!list->key)
		return true;
	if (!list->is_span || !baleen_entry_key_is_addresses(&entry->key))
		return !strcmp(list->key, baleen_entry_key_text(&entry->key).text);
	return meets(&list->span, &entry->key.span);
}

static bool is_asked_for(const struct list *list, const struct baleen_rule_entry *entry)
{
	u64 end_ms = entry->expires_ms;

	if (list->origin && strcmp(list->origin, entry->origin))
		return false;
	if (list->ending_ms && (!end_ms || end_ms > list->now_ms + list->ending_ms))
		return false;
	return is_of_key(list, entry);
}

static bool has_ended(const struct list *list, const struct baleen_rule_entry *entry)
{
	return entry->expires_ms && entry->expires_ms <= list->now_ms;
}

/* The part of an entry that is not in force; NULL when all of it is. */
static const char *exemption(const struct list *list, const struct baleen_rule_entry *entry,
			     char text[static BALEEN_GATE_TEXT])
{
	struct baleen_protected protected;
	u64 n = 0;

	if (baleen_protected_find_in(&list->protected, list->in, entry, &n, &protected) || !n)
		return NULL;
	return baleen_gate_text(BALEEN_GATE_NARROWED, &protected, text);
}

static void print_entry(const struct list *list, const struct baleen_rule_entry *entry)
{
	char since[ENTRY_TIME_TEXT], left[BALEEN_DURATION_TEXT];
	char text[BALEEN_GATE_TEXT];
	const char *exempt = exemption(list, entry, text);

	if (!list->n)
		say("%-10s %-20s %-16s %-19s %-8s %s\n", "RULE", "KEY", "ORIGIN", "SINCE", "LEFT",
		    "REASON");
	say("%-10s %-20s %-16s %-19s %-8s %s", list->in->name, baleen_rule_entry_text(entry).text,
	    entry->origin, format_entry_time(entry->added_ms, since),
	    has_ended(list, entry) ? "ended" :
	    entry->expires_ms	   ? format_span(entry->expires_ms - list->now_ms, left) :
				     "-",
	    *entry->reason ? entry->reason : "-");
	if (has_ended(list, entry))
		say("; ended %s ago, in force until baleend or the next command",
		    format_span(list->now_ms - entry->expires_ms, left));
	say("%s%s\n", exempt ? "; " : "", exempt ? exempt : "");
}

static int add_entry(const struct baleen_rule_entry *entry, void *data)
{
	struct list *list = data;
	char text[BALEEN_GATE_TEXT];
	const char *exempt;
	json_t *json;

	if (!is_asked_for(list, entry))
		return 0;
	if (!list->json) {
		print_entry(list, entry);
	} else {
		json = describe_entry(entry);
		json_object_set_new(json, "device", json_text(list->device));
		json_object_set_new(json, "rule", json_text(list->in->name));
		json_object_set_new(json, "left_ms",
				    has_ended(list, entry) ?
					    json_integer(0) :
				    entry->expires_ms ?
					    json_integer(entry->expires_ms - list->now_ms) :
					    json_null());
		json_object_set_new(json, "ended", json_boolean(has_ended(list, entry)));
		exempt = exemption(list, entry, text);
		json_object_set_new(json, "exempt", exempt ? json_text(exempt) : json_null());
		json_array_append_new(list->json, json);
	}
	list->n++;
	return 0;
}

/* --- command ------------------------------------------------------------------ */

/* Looks only at what holds an address, and else at all entries. */
static int list_rule(struct list *list, struct baleen_error *error)
{
	if (list->is_address && baleen_spec_is_address(list->in->key_spec))
		return baleen_rule_entries_find(&list->state, list->in->name, &list->address, 0,
						add_entry, list, error);
	return baleen_rule_entries_each(&list->state, list->in->name, list->origin, add_entry, list,
					error);
}

static int list_rules(struct list *list, const struct baleen_stored_rules *rules)
{
	struct baleen_error error;

	for (u32 i = 0; i < rules->n_rules; i++) {
		list->in = &rules->rule[i];
		if (list->rule && strcmp(list->rule, list->in->name))
			continue;
		if (list_rule(list, &error))
			return complain("%s", error.text);
	}
	return 0;
}

/* Could any rule that is listed have such a key? */
static int check_key(const struct list *list, const struct baleen_stored_rules *rules)
{
	struct baleen_span span;
	const char *reason;

	if (!list->key || list->is_span)
		return 0;
	for (u32 i = 0; i < rules->n_rules; i++)
		if ((!list->rule || !strcmp(list->rule, rules->rule[i].name)) &&
		    !baleen_spec_is_address(rules->rule[i].key_spec))
			return 0;
	baleen_span_parse(list->key, strlen(list->key), &span, &reason);
	return complain("'%s': %s", list->key, reason);
}

/* Asked for some that are not there is no match, as for match. */
static int list_state(struct list *list)
{
	bool is_filtered = list->key || list->origin || list->ending_ms;
	struct baleen_stored_rules rules;
	struct baleen_error error;

	if (baleen_rule_store_get_rules(&list->state, &rules, &error))
		return complain("%s", error.text);
	if (list->rule && baleen_rule_store_find_rule(&rules, list->rule) < 0)
		return complain("%s has no rule '%s': see 'baleen status %s'", list->device,
				list->rule, baleen_shell_word(list->device).text);
	if (check_key(list, &rules))
		return EXIT_FAILED;
	if (baleen_protected_load(&list->state, &list->protected, &error))
		return complain("%s", error.text);
	if (list_rules(list, &rules))
		return EXIT_FAILED;
	return finish_collected(list->json, is_filtered && !list->n ? EXIT_FAILED : EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct list list = { .now_ms = baleen_now_ms() };
	struct baleen_error error;
	int err = parse(&list, argc, argv);

	if (err)
		return err;
	err = baleen_rule_store_open(&list.state, list.device, 0, &error);
	if (err)
		return complain("%s", error.text);
	err = list_state(&list);
	baleen_protected_free(&list.protected);
	baleen_rule_store_close(&list.state);
	return err;
}

static const struct option_spec options[] = {
	VALUE("origin", 0, "NAME", option_text, list, origin, "only those of NAME"),
	VALUE("ending", 0, "TIME", parse_ending, list, ending_ms,
	      "only those that end within TIME: 30s, 1h, 2d"),
	VALUE("json", 'j', NULL, option_json, list, json, "an array with one object per entry"),
	{ 0 },
};

const struct command list_command = {
	.name = "list",
	.synopsis = "DEV[:RULE] [--origin NAME] [--ending TIME] [-j] [KEY]",
	.help = "Lists the single entries of a rule, or of all rules of a device: bans and exceptions,\n"
		"with origin, since when, how long still, why, and what of them is never dropped. With\n"
		"KEY, an address, prefix or range, those that hold it or a part of it. What lists hold is\n"
		"for 'baleen dump'.\n"
		"Exit: 0 listed; 1 also when KEY, --origin or --ending match nothing.\n",
	.options = options,
	.asks = { 1, 2, "DEV or DEV:RULE is asked for, and one KEY at most" },
	.run = run,
};
