// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen top: the view as JSON, and the order of its rules. */
#include <time.h>

#include "cli/device/top.h"
#include "key/key_text.h"
#include "xdp/ruleset.h"

static double sort_value(const struct top_view *view, u32 rule)
{
	return baleen_series_last(view->sort == TOP_SORT_PACKETS ? &view->rates.rule[rule].packets :
								   &view->rates.rule[rule].bytes);
}

/* By insertion: there are 16 at most, and who is equal stays in order. */
void top_order(const struct top_view *view, u32 order[BALEEN_MAX_RULES])
{
	for (u32 i = 0; i < view->rates.n_rules; i++) {
		u32 at = i;

		while (view->sort != TOP_SORT_ORDER && at &&
		       sort_value(view, order[at - 1]) < sort_value(view, i)) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

static json_t *json_rules(const struct top_view *view)
{
	u32 order[BALEEN_MAX_RULES];
	json_t *rules = json_array();

	top_order(view, order);
	for (u32 i = 0; i < view->rates.n_rules; i++) {
		const struct baleen_rule_rates *rule = &view->rates.rule[order[i]];

		json_array_append_new(
			rules, json_pack("{s:s, s:s, s:f, s:f, s:I, s:I}", "name", rule->name,
					 "action", baleen_action_text(rule->action),
					 "packets_per_second", baleen_series_last(&rule->packets),
					 "bytes_per_second", baleen_series_last(&rule->bytes),
					 "packets", (json_int_t)rule->counted.packets, "bytes",
					 (json_int_t)rule->counted.bytes));
	}
	return rules;
}

static json_t *json_counters(const struct top_view *view)
{
	json_t *counters = json_object();

	for (u32 i = 0; i < BALEEN_N_COUNTERS; i++)
		json_object_set_new(counters, baleen_counter_name(i),
				    json_pack("{s:f, s:I}", "packets_per_second",
					      baleen_series_last(&view->rates.counter[i]),
					      "packets",
					      (json_int_t)((const u64 *)&view->rates.stats)[i]));
	return counters;
}

#define MAX_KEYS 10

static json_t *json_keys(const struct top_view *view)
{
	const struct baleen_top_key *top[MAX_KEYS];
	u32 n = baleen_top_k_top(&view->top_k, top, MAX_KEYS);
	json_t *keys = json_array();
	char key[BALEEN_KEY_TEXT];

	for (u32 i = 0; i < n; i++) {
		baleen_key_format(&top[i]->key, top[i]->key_spec, key);
		json_array_append_new(keys, json_pack("{s:s, s:s, s:I, s:I}", "key", key, "rule",
						      top_slot_name(&view->rates, top[i]->slot),
						      "count", (json_int_t)top[i]->count, "error",
						      (json_int_t)top[i]->error));
	}
	return keys;
}

static json_t *json_events(const struct top_view *view)
{
	static const char *const readers[] = { "none", "top", "other" };
	json_t *events = json_object();

	json_object_set_new(events, "reader", json_string(readers[view->reader]));
	if (view->reader == TOP_READER_OTHER && view->watcher.pid)
		json_object_set_new(events, "reader_pid", json_integer(view->watcher.pid));
	json_object_set_new(events, "read", json_integer(view->top_k.n_events));
	json_object_set_new(events, "error_bound", json_integer(baleen_top_k_bound(&view->top_k)));
	json_object_set_new(events, "keys", json_keys(view));
	return events;
}

void top_print_json(const struct top_view *view)
{
	const struct baleen_rates *rates = &view->rates;
	json_t *json = json_object();
	time_t now = time(NULL);
	struct tm parts;
	char clock[32];

	gmtime_r(&now, &parts);
	strftime(clock, sizeof(clock), "%FT%TZ", &parts);
	json_object_set_new(json, "time", json_string(clock));
	json_object_set_new(json, "device", json_text(rates->device));
	json_object_set_new(json, "state",
			    json_string(baleen_attach_status_text(rates->attach_status)));
	json_object_set_new(json, "mode", json_string(baleen_mode_text(rates->mode)));
	json_object_set_new(json, "dry_run", json_boolean(rates->dry_run));
	json_object_set_new(json, "default", json_string(rates->default_drop ? "drop" : "pass"));
	json_object_set_new(json, "packets_per_second",
			    json_real(baleen_series_last(&rates->seen)));
	json_object_set_new(json, "dropped_packets_per_second",
			    json_real(baleen_series_last(&rates->dropped)));
	json_object_set_new(json, "dropped_bytes_per_second",
			    json_real(baleen_series_last(&rates->dropped_bytes)));
	json_object_set_new(json, "rules", json_rules(view));
	json_object_set_new(json, "counters", json_counters(view));
	json_object_set_new(json, "events", json_events(view));
	print_json_line(json, JSON_COMPACT);
	putchar('\n');
}
