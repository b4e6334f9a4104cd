// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen top --feeds: which feeds and entries caused the sampled drops. */
#include <errno.h>

#include "cli/device/top.h"
#include "report/drop_causes.h"
#include "util/shell.h"

static json_t *describe_cause(const struct baleen_drop_cause *cause)
{
	json_t *json = json_object();

	json_object_set_new(json, "rule", json_text(cause->rule));
	json_object_set_new(json, cause->feed_id ? "feed" : "origin", json_text(cause->name));
	json_object_set_new(json, "entries", json_integer(cause->n_entries));
	json_object_set_new(json, "entries_met",
			    cause->n_met == BALEEN_MET_UNKNOWN ? json_null() :
								 json_integer(cause->n_met));
	json_object_set_new(json, "sources", json_integer(cause->n_sources));
	json_object_set_new(json, "drops", json_integer(cause->n_drops));
	json_object_set_new(json, "drops_alone", json_integer(cause->n_alone));
	json_object_set_new(json, "top_entry",
			    cause->top_entry[0] ? json_text(cause->top_entry) : json_null());
	json_object_set_new(json, "top_entry_drops", json_integer(cause->top_drops));
	return json;
}

static int print_causes_json(const char *device, const struct baleen_drop_causes *causes)
{
	json_t *feeds = json_array(), *json = json_object();

	for (size_t i = 0; i < causes->n; i++)
		json_array_append_new(feeds, describe_cause(&causes->cause[i]));
	json_object_set_new(json, "device", json_text(device));
	json_object_set_new(json, "sources", json_integer(causes->n_sources));
	json_object_set_new(json, "drops", json_integer(causes->n_drops));
	json_object_set_new(json, "drops_of_no_entry", json_integer(causes->n_gone));
	json_object_set_new(json, "drops_of_other_rules", json_integer(causes->n_other));
	json_object_set_new(json, "causes", feeds);
	return print_json(json);
}

static void print_cause(const struct baleen_drop_cause *cause)
{
	char entries[NUMBER_TEXT], met[NUMBER_TEXT] = "?", drops[NUMBER_TEXT], alone[NUMBER_TEXT];
	char sources[NUMBER_TEXT], top[NUMBER_TEXT];

	if (cause->n_met != BALEEN_MET_UNKNOWN)
		format_count(cause->n_met, met);
	say("%-10s %11s %8s %8s %10s %10s  %s%s", cause->rule,
	    format_count(cause->n_entries, entries), met, format_count(cause->n_sources, sources),
	    format_count(cause->n_drops, drops), format_count(cause->n_alone, alone),
	    cause->feed_id ? "" : "origin ", cause->name);
	if (cause->top_entry[0])
		say(", most by %s: %s", cause->top_entry, format_count(cause->top_drops, top));
	putchar('\n');
}

static int print_causes(const char *device, const struct baleen_drop_causes *causes)
{
	char drops[NUMBER_TEXT], sources[NUMBER_TEXT], n[NUMBER_TEXT];

	say("%s: %s sampled drop%s of %s source%s\n", device, format_count(causes->n_drops, drops),
	    causes->n_drops == 1 ? "" : "s", format_count(causes->n_sources, sources),
	    causes->n_sources == 1 ? "" : "s");
	if (causes->n)
		say("%-10s %11s %8s %8s %10s %10s  %s\n", "RULE", "ENTRIES", "MET", "SOURCES",
		    "DROPS", "ALONE", "FEED");
	for (size_t i = 0; i < causes->n; i++)
		print_cause(&causes->cause[i]);
	if (causes->n_gone)
		say("%s of sources that no entry holds any more\n",
		    format_count(causes->n_gone, n));
	if (causes->n_other)
		say("%s by the default verdict, or by rules that look at more than the source\n",
		    format_count(causes->n_other, n));
	return finish_output(EXIT_DONE);
}

static int find_causes(const char *device, struct baleen_drop_causes *causes)
{
	struct baleen_rule_store state;
	struct baleen_error error;
	int ifindex, err;

	if (baleen_device_ifindex(device, &ifindex, &error))
		return complain("%s", error.text);
	if (baleen_rule_store_open(&state, device, 0, &error))
		return complain("%s", error.text);
	err = baleen_drop_causes_find(&state, ifindex, causes, &error);
	baleen_rule_store_close(&state);
	if (err == -ENOENT)
		return complain("no sampled drops: 'baleen policy %s --sample 100/s' samples some, "
				"and baleend keeps them",
				baleen_shell_word(device).text);
	return err ? complain("%s", error.text) : EXIT_DONE;
}

int top_show_feeds(const char *device, bool json)
{
	struct baleen_drop_causes causes;
	int err = find_causes(device, &causes);

	if (err)
		return err;
	err = json ? print_causes_json(device, &causes) : print_causes(device, &causes);
	baleen_drop_causes_free(&causes);
	return err;
}
