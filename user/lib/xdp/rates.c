// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Computes the rates of a device, by the second. */
#include <stdlib.h>

#include "util/clock.h"
#include "xdp/rates.h"

#define NUMBER_OF(counter) (offsetof(struct baleen_stats, counter) / sizeof(u64))

/* Each frame is in one of so many first counters, or in that of a rule. */
#define N_FRAME_COUNTERS NUMBER_OF(sampled)

/* These have passed, whatever the default is. */
#define VITAL NUMBER_OF(vital)
#define NO_FILTER NUMBER_OF(no_filter)

const char *baleen_counter_name(u32 i)
{
	static const char *const names[BALEEN_N_COUNTERS] = {
		"unmatched", "vital",	  "not_ip",  "mpls",	    "tags", "version",
		"short",     "no_filter", "sampled", "not_sampled", "lost",
	};

	return names[i];
}

static u64 counter_of(const struct baleen_stats *stats, u32 i)
{
	return ((const u64 *)stats)[i];
}

/* --- rules ----------------------------------------------------------------- */

static const struct baleen_rule_rates *find_rule(const struct baleen_rule_rates *rules, u32 n,
						 const char *name)
{
	for (u32 i = 0; i < n; i++)
		if (!strcmp(rules[i].name, name))
			return &rules[i];
	return NULL;
}

static void look_at_rule(struct baleen_rule_rates *rates, const struct baleen_xdp *xdp, u32 index,
			 const struct baleen_stats *stats, u64 time_ns)
{
	const struct baleen_rule *rule = &xdp->config.rule[index];

	memcpy(rates->name, rule->image.name, sizeof(rates->name));
	rates->action = rule->action;
	rates->slot = rule->slot;
	rates->counted = baleen_xdp_rule_stats(xdp, index, stats);
	baleen_series_add(&rates->packets, time_ns, rates->counted.packets);
	baleen_series_add(&rates->bytes, time_ns, rates->counted.bytes);
}

static int look_at_rules(struct baleen_rates *rates, const struct baleen_xdp *xdp,
			 const struct baleen_stats *stats, u64 time_ns)
{
	struct baleen_rule_rates *old = malloc(sizeof(rates->rule));
	u32 n_old = rates->n_rules;

	if (!old)
		return -ENOMEM;
	memcpy(old, rates->rule, sizeof(rates->rule));
	rates->n_rules = xdp->config.n_rules;
	for (u32 i = 0; i < rates->n_rules; i++) {
		const struct baleen_rule_rates *known =
			find_rule(old, n_old, xdp->config.rule[i].image.name);

		if (known)
			rates->rule[i] = *known;
		else
			memset(&rates->rule[i], 0, sizeof(rates->rule[i]));
		look_at_rule(&rates->rule[i], xdp, i, stats, time_ns);
	}
	free(old);
	return 0;
}

/* --- sums ------------------------------------------------------------------ */

/* Adds up rates and not counters: a rule that is deleted takes its counter with it. */
static void add_up(struct baleen_rates *rates)
{
	double unmatched = 0, seen = 0, dropped = 0, dropped_bytes = 0;

	for (u32 i = 0; i < N_FRAME_COUNTERS; i++) {
		double rate = baleen_series_last(&rates->counter[i]);

		seen += rate;
		if (i != VITAL && i != NO_FILTER)
			unmatched += rate;
	}
	for (u32 i = 0; i < rates->n_rules; i++) {
		double packets = baleen_series_last(&rates->rule[i].packets);

		if (rates->rule[i].action != BALEEN_ACTION_COUNT)
			seen += packets;
		if (rates->rule[i].action == BALEEN_ACTION_DROP) {
			dropped += packets;
			dropped_bytes += baleen_series_last(&rates->rule[i].bytes);
		}
	}
	if (rates->default_drop)
		dropped += unmatched;
	baleen_series_push(&rates->seen, seen);
	baleen_series_push(&rates->dropped, dropped);
	baleen_series_push(&rates->dropped_bytes, dropped_bytes);
}

static int look_at(struct baleen_rates *rates, const struct baleen_xdp *xdp,
		   struct baleen_error *error)
{
	bool is_first = !rates->time_ns;
	struct baleen_stats stats;
	u64 time_ns = baleen_clock_ns(CLOCK_MONOTONIC);
	int err = baleen_xdp_stats(xdp, &stats, error);

	if (err)
		return err;
	err = look_at_rules(rates, xdp, &stats, time_ns);
	if (err)
		return baleen_fail(error, -err, "no memory for rates");
	for (u32 i = 0; i < BALEEN_N_COUNTERS; i++)
		baleen_series_add(&rates->counter[i], time_ns, counter_of(&stats, i));
	rates->time_ns = time_ns;
	rates->stats = stats;
	if (is_first)
		rates->first = stats;
	else
		add_up(rates);
	return 0;
}

int baleen_rates_look(struct baleen_rates *rates, const char *device, struct baleen_error *error)
{
	struct baleen_xdp xdp;
	int err = baleen_xdp_open(&xdp, device, false, error);

	if (err)
		return err;
	memcpy(rates->device, xdp.device, sizeof(rates->device));
	rates->attach_status = xdp.attach_status;
	rates->mode = xdp.there.mode;
	rates->dry_run = xdp.config.dry_run;
	rates->default_drop = xdp.config.default_drop;
	rates->sample_interval_ns = xdp.config.sample_interval_ns;
	err = look_at(rates, &xdp, error);
	baleen_xdp_close(&xdp);
	return err;
}
