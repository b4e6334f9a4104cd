// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The changes to a configured device, in words and in JSON. */
#include <string.h>

#include "cli/ban/apply.h"
#include "util/number.h"

static char sign_of(enum baleen_conf_change_kind kind)
{
	switch (kind) {
	case BALEEN_CONF_ATTACH:
	case BALEEN_CONF_KEEP:
	case BALEEN_CONF_RULE_ADDED:
	case BALEEN_CONF_FEED_ADDED: return '+';
	case BALEEN_CONF_RULE_REMOVED:
	case BALEEN_CONF_FEED_REMOVED: return '-';
	default: return '~';
	}
}

static bool is_of_feed(const struct baleen_conf_change *change)
{
	return change->kind >= BALEEN_CONF_FEED_ADDED;
}

static void print_counts(const struct baleen_conf_change *change)
{
	char added[NUMBER_TEXT], removed[NUMBER_TEXT];

	if (change->kind == BALEEN_CONF_FEED_READ)
		fputs(": read otherwise, or at other times", stdout);
	else if (change->kind == BALEEN_CONF_FEED_REMOVED)
		say(": -%s", format_count(change->n_removed, removed));
	else if (change->n_removed)
		say(": +%s -%s", format_count(change->n_added, added),
		    format_count(change->n_removed, removed));
	else
		say(": +%s", format_count(change->n_added, added));
	/* Whoever tries it out with addresses of examples is told the first time. */
	if (change->n_special)
		say(", without %s special-purpose%s", format_count(change->n_special, added),
		    change->kind == BALEEN_CONF_FEED_ADDED ? SPECIAL_HINT : "");
	if (change->n_ends)
		say(", without %s %s", format_count(change->n_ends, added),
		    baleen_plural(change->n_ends, "timeout", "timeouts"));
}

static void print_change(const char *device, const struct baleen_conf_change *change)
{
	static const char *const prefix[] = {
		[BALEEN_CONF_ATTACH] = "attach: ",
		[BALEEN_CONF_KEEP] = "keep: ",
		[BALEEN_CONF_LIVE] = "live: ",
	};
	char singles[NUMBER_TEXT];

	say("%s: %c ", device, sign_of(change->kind));
	if (change->rule[0])
		say("rule %s: ", change->rule);
	else if (change->kind <= BALEEN_CONF_LIVE)
		say("%s", prefix[change->kind]);
	say("%s%s", is_of_feed(change) ? "feed " : "", change->what);
	if (is_of_feed(change))
		print_counts(change);
	if (change->n_singles)
		say(", %s single %s %s", format_count(change->n_singles, singles),
		    baleen_plural(change->n_singles, "entry", "entries"),
		    change->kind == BALEEN_CONF_RULE_ADDED ? "in force again" : "parked");
	putchar('\n');
}

void print_changes(const char *device, const struct baleen_conf_plan *plan)
{
	for (size_t i = 0; i < plan->n_changes; i++)
		print_change(device, &plan->change[i]);
}

json_t *describe_changes(const struct baleen_conf_plan *plan)
{
	json_t *all = json_array();

	for (size_t i = 0; i < plan->n_changes; i++) {
		const struct baleen_conf_change *change = &plan->change[i];
		json_t *one = json_object();

		json_object_set_new(one, "change",
				    json_string(baleen_conf_change_text(change->kind)));
		json_object_set_new(one, "rule",
				    change->rule[0] ? json_string(change->rule) : json_null());
		json_object_set_new(one, "what", json_text(change->what));
		if (change->n_singles)
			json_object_set_new(one, "single_entries", json_integer(change->n_singles));
		if (is_of_feed(change)) {
			json_object_set_new(one, "added", json_integer(change->n_added));
			json_object_set_new(one, "removed", json_integer(change->n_removed));
			json_object_set_new(one, "special", json_integer(change->n_special));
			json_object_set_new(one, "timeouts", json_integer(change->n_ends));
		}
		json_array_append_new(all, one);
	}
	return all;
}
