// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules and undecided packets in the output of status. */
#include "cli/common/describe.h"
#include "cli/open/policy.h"
#include "cli/device/status_rules.h"
#include "state/feeds.h"
#include "util/number.h"
#include "xdp/limits.h"
#include "xdp/qualifiers.h"

/* Frames that were not examined, by the names of their counters. */
static const struct {
	const char *name;
	const char *text;
	size_t offset;
} unparsed[] = {
	{ "not_ip", "not IP", offsetof(struct baleen_stats, not_ip) },
	{ "mpls", "MPLS", offsetof(struct baleen_stats, mpls) },
	{ "tags", "more than 4 VLAN tags", offsetof(struct baleen_stats, tags) },
	{ "version", "wrong IP version", offsetof(struct baleen_stats, version) },
	{ "short", "cut short", offsetof(struct baleen_stats, too_short) },
};

#define N_UNPARSED (sizeof(unparsed) / sizeof(unparsed[0]))

static u64 unparsed_count(const struct baleen_stats *stats, size_t i)
{
	return *(const u64 *)((const u8 *)stats + unparsed[i].offset);
}

/* --- rules ----------------------------------------------------------------- */

static json_t *describe_limit(const struct baleen_limit_status *limit)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "sources", limit->n_slots,
			 "bytes", limit->n_bytes, "tracked", limit->n_tracked, "over",
			 limit->n_over, "overruns", limit->counts.overruns, "untold",
			 limit->counts.lost, "forgotten", limit->counts.forgotten, "unreadable",
			 limit->is_unreadable);
}

static void print_limit(const struct baleen_limit_status *limit)
{
	char slots[NUMBER_TEXT], size[NUMBER_TEXT], tracked[NUMBER_TEXT], over[NUMBER_TEXT];
	char overruns[NUMBER_TEXT], forgotten[NUMBER_TEXT];

	say("\n        limit: %s of %s sources tracked, %s, %s over it now, %s overruns, %s "
	    "forgotten",
	    format_count(limit->n_tracked, tracked), format_count(limit->n_slots, slots),
	    format_bytes(limit->n_bytes, size), format_count(limit->n_over, over),
	    format_count(limit->counts.overruns, overruns),
	    format_count(limit->counts.forgotten, forgotten));
	if (limit->is_unreadable)
		say("\n        limit: COUNTS NOTHING: the kernel has no BTF that shows TCP's numbers, "
		    "which prove a source");
}

json_t *describe_status_rule(const struct status_rule *rule)
{
	char qualifiers[BALEEN_QUALIFIERS_TEXT];
	json_t *json = rule->filter ? describe_written(rule->filter, rule->n_written) :
				      json_pack("{s:s}", "error", rule->damage);

	baleen_qualifiers_format(&rule->qualifiers, &rule->rate_limit, qualifiers);
	json_object_set_new(json, "name", json_string(rule->name));
	json_object_set_new(json, "action", json_string(baleen_action_text(rule->action)));
	json_object_set_new(json, "qualifiers", json_string(qualifiers));
	json_object_set_new(json, "limit", rule->limit ? describe_limit(rule->limit) : json_null());
	json_object_set_new(json, "packets", json_integer(rule->counted.packets));
	json_object_set_new(json, "packet_bytes", json_integer(rule->counted.bytes));
	if (rule->shared)
		json_object_set_new(json, "asks",
				    *rule->shared ? json_text(rule->shared) : json_null());
	return json;
}

static void print_filter_line(const struct status_rule *rule)
{
	const struct baleen_filter *filter = rule->filter;
	char entries[ENTRIES_TEXT], size[NUMBER_TEXT];
	char kind[80];

	describe_kind(filter, kind, sizeof(kind));
	if (rule->n_written == BALEEN_WRITTEN_ANY || !is_uncounted(filter))
		say("%s, ", entries_text(filter, rule->n_written, entries));
	say("key %s, %s, %s", key_spec_text(filter->image.key_spec), kind,
	    format_bytes(filter->n_bytes, size));
}

void print_status_rule(const struct status_rule *rule)
{
	char packets[NUMBER_TEXT], bytes[NUMBER_TEXT];
	char qualifiers[BALEEN_QUALIFIERS_TEXT];

	say("  %-5s %-12s ", baleen_action_text(rule->action), rule->name);
	if (rule->filter)
		print_filter_line(rule);
	else
		say("DAMAGED: %s", rule->damage);
	if (rule->shared && *rule->shared)
		say("\n        asks kmod:%s", rule->shared);
	baleen_qualifiers_format(&rule->qualifiers, &rule->rate_limit, qualifiers);
	if (qualifiers[0])
		say("\n        only %s", qualifiers);
	if (rule->limit)
		print_limit(rule->limit);
	say("\n        %s %s, %s\n", format_count(rule->counted.packets, packets),
	    baleen_plural(rule->counted.packets, "packet", "packets"),
	    format_bytes(rule->counted.bytes, bytes));
}

/* --- verdicts -------------------------------------------------------------- */

static json_t *describe_sampling(const struct status_verdicts *verdicts)
{
	const struct baleen_stats *stats = verdicts->stats;
	u64 interval = verdicts->sample_interval_ns;
	json_t *json = json_object();
	char rate[NUMBER_TEXT];

	json_object_set_new(json, "rate",
			    interval ? json_string(baleen_interval_format(interval, rate)) :
				       json_null());
	json_object_set_new(json, "sampled", json_integer(stats->sampled));
	json_object_set_new(json, "not_sampled", json_integer(stats->not_sampled));
	json_object_set_new(json, "lost", json_integer(stats->sample_lost));
	return json;
}

void describe_status_verdicts(const struct status_verdicts *verdicts, json_t *json)
{
	const struct baleen_stats *stats = verdicts->stats;
	json_t *others = json_object();

	for (size_t i = 0; i < N_UNPARSED; i++)
		json_object_set_new(others, unparsed[i].name,
				    json_integer(unparsed_count(stats, i)));
	json_object_set_new(json, "default", json_string(verdicts->default_drop ? "drop" : "pass"));
	json_object_set_new(json, "dry_run", json_boolean(verdicts->dry_run));
	json_object_set_new(json, "unmatched", json_integer(stats->unmatched));
	json_object_set_new(json, "vital", json_integer(stats->vital));
	json_object_set_new(json, "unparsed", others);
	json_object_set_new(json, "no_filter", json_integer(stats->no_filter));
	json_object_set_new(json, "sample", describe_sampling(verdicts));
}

static void print_default(const struct status_verdicts *verdicts)
{
	const struct baleen_stats *stats = verdicts->stats;
	const char *packets = baleen_plural(stats->unmatched, "packet", "packets");
	char count[NUMBER_TEXT], vital[NUMBER_TEXT];

	if (verdicts->default_drop)
		say("  default drop: %s %s matched no rule, dropped; %s vital passed\n",
		    format_count(stats->unmatched, count), packets,
		    format_count(stats->vital, vital));
	else
		say("  default pass: %s %s matched no rule, passed\n",
		    format_count(stats->unmatched, count), packets);
}

static void print_unparsed(const struct status_verdicts *verdicts)
{
	char count[NUMBER_TEXT];
	bool any = false;

	say("  %s unexamined:", verdicts->default_drop ? "dropped" : "passed");
	for (size_t i = 0; i < N_UNPARSED; i++) {
		u64 n = unparsed_count(verdicts->stats, i);

		if (!n)
			continue;
		say("%s %s %s", any ? "," : "", format_count(n, count), unparsed[i].text);
		any = true;
	}
	say("%s\n", any ? "" : " none");
}

static void print_sampling(const struct status_verdicts *verdicts)
{
	char rate[NUMBER_TEXT], sampled[NUMBER_TEXT], not [NUMBER_TEXT], lost[NUMBER_TEXT];
	const struct baleen_stats *stats = verdicts->stats;

	if (!verdicts->sample_interval_ns)
		return;
	say("  sampling %s: %s sampled, %s not sampled, %s lost\n",
	    baleen_interval_format(verdicts->sample_interval_ns, rate),
	    format_count(stats->sampled, sampled), format_count(stats->not_sampled, not ),
	    format_count(stats->sample_lost, lost));
}

void print_status_verdicts(const struct status_verdicts *verdicts)
{
	char count[NUMBER_TEXT];

	print_default(verdicts);
	print_unparsed(verdicts);
	if (verdicts->stats->no_filter)
		say("  NO RULES LOADED: %s %s passed\n",
		    format_count(verdicts->stats->no_filter, count),
		    baleen_plural(verdicts->stats->no_filter, "packet", "packets"));
	print_sampling(verdicts);
}

void print_status_dry_run(bool dry_run)
{
	if (dry_run)
		puts("  DRY RUN: nothing is dropped; what is called dropped here has passed");
}
