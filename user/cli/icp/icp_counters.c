// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counters of an instance of ICP, by name. */
#include "cli/icp/icp_counters.h"

struct counter {
	const char *name;
	const char *text;
	size_t offset;
};

#define SIBLING(name, text)                                                  \
	{                                                                    \
#name, text, offsetof(struct baleen_icp_sibling_stats, name) \
	}
#define FEEDER(name, text)                                                  \
	{                                                                   \
#name, text, offsetof(struct baleen_icp_feeder_stats, name) \
	}
#define N(counters) (sizeof(counters) / sizeof((counters)[0]))

static const struct counter answered[] = {
	SIBLING(hits, "hits"),
	SIBLING(misses, "misses"),
};

static const struct counter passed[] = {
	SIBLING(confirmed, "hits to confirm"), SIBLING(expired, "hits not known to be fresh"),
	SIBLING(observed, "observed"),	       SIBLING(stale, "stale"),
	SIBLING(strangers, "strangers"),       SIBLING(fragments, "fragments"),
	SIBLING(too_long, "too long"),	       SIBLING(malformed, "malformed"),
	SIBLING(other_opcodes, "no queries"),  SIBLING(with_options, "with options"),
	SIBLING(odd_urls, "odd URLs"),	       SIBLING(failed, "failed"),
};

static const struct counter agreed[] = {
	SIBLING(agreed_hits, "hits"),
	SIBLING(agreed_misses, "misses"),
	SIBLING(false_hits, "FALSE HITS"),
	SIBLING(false_misses, "FALSE MISSES"),
};

static const struct counter changed[] = {
	SIBLING(inserted, "inserted"),	  SIBLING(deleted, "deleted"),
	SIBLING(again, "there already"),  SIBLING(absent, "to delete and not there"),
	SIBLING(no_room, "WITHOUT ROOM"),
};

static const struct counter sent[] = {
	FEEDER(inserts, "inserts"),	FEEDER(deletes, "deletes"), FEEDER(others, "other lines"),
	FEEDER(malformed, "malformed"), FEEDER(lost, "LOST"),	    FEEDER(reordered, "late"),
};

static u64 count_of(const void *stats, const struct counter *counter)
{
	return *(const u64 *)((const u8 *)stats + counter->offset);
}

static void describe(json_t *json, const void *stats, const struct counter *counters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set_new(json, counters[i].name,
				    json_integer(count_of(stats, &counters[i])));
}

void describe_icp_sibling(json_t *json, const struct baleen_icp_sibling_stats *stats)
{
	describe(json, stats, answered, N(answered));
	describe(json, stats, passed, N(passed));
	describe(json, stats, agreed, N(agreed));
	describe(json, stats, changed, N(changed));
}

void describe_icp_feeder(json_t *json, const struct baleen_icp_feeder_stats *stats)
{
	describe(json, stats, sent, N(sent));
}

/* @n_always: so many from the first are shown also when they are 0 */
static void print(const char *label, const void *stats, const struct counter *counters, size_t n,
		  size_t n_always)
{
	char count[NUMBER_TEXT];
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		u64 value = count_of(stats, &counters[i]);

		if (!value && i >= n_always)
			continue;
		say("%s %s %s", any ? "," : label, format_count(value, count), counters[i].text);
		any = true;
	}
	if (any)
		putchar('\n');
}

void print_icp_sibling(const struct baleen_icp_sibling_stats *stats, bool is_fed, bool is_observed)
{
	print("        answered:", stats, answered, N(answered), is_observed ? 0 : N(answered));
	print("        passed:", stats, passed, N(passed), 0);
	print("        agreed:", stats, agreed, N(agreed), is_observed ? 2 : 0);
	if (is_fed)
		print("        told:", stats, changed, N(changed), 2);
}

void print_icp_feeder(const struct baleen_icp_feeder_stats *stats)
{
	print(":", stats, sent, N(sent), 2);
}
