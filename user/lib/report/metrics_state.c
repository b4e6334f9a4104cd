// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics of what is kept of a device. */
#include <stdio.h>
#include <stdlib.h>

#include "deploy/conf_edits.h"
#include "deploy/confirm.h"
#include "deploy/gate_live.h"
#include "report/metrics_state.h"
#include "state/entries.h"
#include "state/feeds.h"
#include "state/never_names.h"
#include "state/feed_rollout.h"
#include "state/route_feed.h"
#include "state/set_feed.h"

#define MS_PER_S 1000

/**
 * struct walk - through a state
 * @source: gets what it tells
 * @state: opened
 * @device: the device
 * @rule: the rule that is looked at
 * @counts: remembers what was counted
 * @causes: what caused the sampled drops, or NULL
 */
struct walk {
	struct baleen_metrics_source *source;
	struct baleen_metrics_counts *counts;
	const struct baleen_rule_store *state;
	const char *device;
	const char *rule;
	const struct baleen_drop_causes *causes;
};

/* A named text as a number. */
static u64 number_of(const struct baleen_rule_store *state, const char *name)
{
	u64 number = BALEEN_METRICS_UNKNOWN;
	char *text = NULL, *end;

	if (baleen_rule_store_get_text(state, name, &text) || !text)
		return BALEEN_METRICS_UNKNOWN;
	if (*text >= '0' && *text <= '9') {
		number = strtoull(text, &end, 10);
		if (*end)
			number = BALEEN_METRICS_UNKNOWN;
	}
	free(text);
	return number;
}

static u64 seconds(u64 ms)
{
	return ms ? ms / MS_PER_S : BALEEN_METRICS_UNKNOWN;
}

static void add_causes(const struct walk *walk, u64 feed_id, struct baleen_metrics_feed *row)
{
	for (size_t i = 0; walk->causes && i < walk->causes->n; i++) {
		const struct baleen_drop_cause *cause = &walk->causes->cause[i];

		if (cause->feed_id != feed_id)
			continue;
		row->n_drops = cause->n_drops;
		row->n_alone = cause->n_alone;
		row->n_met = cause->n_met;
	}
}

static void add_rollout(const struct walk *walk, const struct baleen_feed *feed,
			struct baleen_metrics_feed *row)
{
	struct baleen_feed_rollout rollout;

	baleen_feed_rollout_get(walk->state, feed->id, &rollout);
	if (!rollout.available)
		return;
	row->available = rollout.available;
	if (rollout.ring)
		row->ring = rollout.ring;
	row->is_held = rollout.is_held;
	row->is_vetoed =
		rollout.available > feed->generation && rollout.step == BALEEN_ROLLOUT_VETO;
}

static int add_feed(const struct baleen_feed *feed, void *data)
{
	const struct walk *walk = data;
	struct baleen_metrics_feed *row =
		baleen_metrics_add_feed(walk->source, walk->device, feed->rule,
					baleen_feed_name(feed).text);

	if (!row)
		return -ENOMEM;
	if (feed->received_ms)
		row->entries = feed->n_entries;
	if (feed->received_ms && baleen_route_feed_is(feed->wanted.source))
		row->n_held = feed->n_held;
	if (feed->wanted.every_s)
		row->interval_s = feed->wanted.every_s;
	row->succeeded_s = seconds(feed->confirmed_ms > feed->received_ms ? feed->confirmed_ms :
									    feed->received_ms);
	if (feed->n_failures)
		row->failed_s = seconds(feed->checked_ms);
	row->changed_s = seconds(feed->received_ms);
	row->n_errors = feed->n_failures;
	if (feed->generation) {
		row->generation = feed->generation;
		row->n_fallbacks = feed->n_fallbacks;
	}
	if (baleen_feed_set_is(feed->wanted.source))
		add_rollout(walk, feed, row);
	add_causes(walk, feed->id, row);
	return 0;
}

static int add_name(const struct baleen_never_name *name, void *data)
{
	const struct walk *walk = data;
	struct baleen_metrics_name *row =
		baleen_metrics_add_name(walk->source, walk->device, name->name);

	if (!row)
		return -ENOMEM;
	row->n = name->n;
	row->answered_s = seconds(name->answered_ms);
	if (*name->failure)
		row->failed_s = seconds(name->asked_ms);
	return 0;
}

static int add_origin(const char *origin, u64 n, void *data)
{
	const struct walk *walk = data;
	struct baleen_metrics_origin *row =
		baleen_metrics_add_origin(walk->source, walk->device, walk->rule, origin);

	if (!row)
		return -ENOMEM;
	row->n = n;
	return 0;
}

static int add_origins(struct walk *walk)
{
	const struct baleen_metrics_origins *known =
		baleen_metrics_recall_origins(walk->counts, walk->device, walk->rule);
	size_t first = walk->source->n_origins;
	int err = 0;

	for (size_t i = 0; known && i < known->n && !err; i++)
		err = add_origin(known->row[i].origin, known->row[i].n, walk);
	if (known)
		return err;
	err = baleen_rule_entries_origins(walk->state, walk->rule, add_origin, walk, NULL);
	if (!err)
		baleen_metrics_keep_origins(walk->counts, walk->device, walk->rule,
					    walk->source->origin + first,
					    walk->source->n_origins - first);
	return err;
}

static int sum_feed(const struct baleen_feed *feed, void *n)
{
	*(u64 *)n += feed->n_entries;
	return 0;
}

static int add_rule(struct walk *walk, const struct baleen_stored_rule *stored)
{
	const char *rule = stored->name;
	size_t first = walk->source->n_origins;
	char name[BALEEN_NAME_BYTES + 16];
	u64 n_written = 0;
	int err;

	walk->rule = rule;
	snprintf(name, sizeof(name), "image_time %s", rule);
	err = add_origins(walk);
	if (!err)
		err = baleen_feeds_each(walk->state, rule, sum_feed, &n_written, NULL);
	/* Remembered single entries: baleen_rule_written() would count them again. */
	for (size_t i = first; i < walk->source->n_origins; i++)
		n_written += walk->source->origin[i].n;
	for (size_t i = 0; i < walk->source->n_rules; i++) {
		struct baleen_metrics_rule *row = &walk->source->rule[i];

		if (strcmp(row->device, walk->device) || strcmp(row->rule, rule))
			continue;
		row->changed_s = number_of(walk->state, name);
		row->accept_fpp = baleen_gate_accepts(stored);
		if (stored->is_any)
			row->entries = 0;
		else if (row->sound && n_written)
			row->entries = n_written;
	}
	return err;
}

static void set_device(const struct walk *walk)
{
	u64 deadline_ms = baleen_confirm_deadline(walk->device);
	struct baleen_conf_edits edits;

	for (size_t i = 0; i < walk->source->n_devices; i++) {
		struct baleen_metrics_device *row = &walk->source->device[i];

		if (strcmp(row->device, walk->device))
			continue;
		row->applied_s = number_of(walk->state, "applied");
		row->confirm_s = deadline_ms ? deadline_ms / 1000 : BALEEN_METRICS_UNKNOWN;
		row->is_behind = baleen_rule_store_is_behind(walk->state);
		baleen_conf_edits(walk->state, &edits);
		if (edits.was_applied)
			row->is_edited = edits.by_hand || edits.file;
		row->n_expired = baleen_rule_entries_n_ended(walk->state);
		if (row->n_expired == BALEEN_METRICS_UNKNOWN)
			row->n_expired = 0;
	}
}

static int add_all(struct walk *walk)
{
	struct baleen_stored_rules *rules = malloc(sizeof(*rules));
	int err = rules ? 0 : -ENOMEM;

	set_device(walk);
	if (!err)
		err = baleen_feeds_each(walk->state, NULL, add_feed, walk, NULL);
	if (!err)
		err = baleen_never_names_each(walk->state, add_name, walk, NULL);
	if (!err)
		err = baleen_rule_store_get_rules(walk->state, rules, NULL);
	for (u32 i = 0; !err && i < rules->n_rules; i++)
		err = add_rule(walk, &rules->rule[i]);
	free(rules);
	return err;
}

int baleen_metrics_add_state(struct baleen_metrics_source *source, const char *device,
			     struct baleen_metrics_counts *counts)
{
	struct baleen_metrics_counts once = { 0 };
	struct baleen_rule_store state;
	struct walk walk = {
		.source = source, .counts = counts, .state = &state, .device = device
	};
	int err;

	if (baleen_rule_store_open(&state, device, 0, NULL))
		return 0;
	walk.causes = baleen_metrics_count_causes(counts ? counts : &once, &state, device);
	err = add_all(&walk);
	baleen_metrics_counts_free(&once);
	baleen_rule_store_close(&state);
	return err == -ENOMEM ? err : 0;
}
