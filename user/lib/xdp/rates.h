/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rates of a device's rules and counters, by the second.
 */
#ifndef BALEEN_RATES_H
#define BALEEN_RATES_H

#include "net/device.h"
#include "util/series.h"
#include "xdp/xdp.h"

/**
 * struct baleen_rule_rates - of one rule
 * @name: name of the rule
 * @action: enum baleen_action
 * @slot: slot of its counters
 * @counted: since it was added
 * @packets: per second
 * @bytes: per second
 */
struct baleen_rule_rates {
	char name[BALEEN_NAME_BYTES];
	u32 action;
	u32 slot;
	struct baleen_rule_stats counted;
	struct baleen_series packets;
	struct baleen_series bytes;
};

/* The counters of struct baleen_stats before those of the rules. */
#define BALEEN_N_COUNTERS (offsetof(struct baleen_stats, rule) / sizeof(u64))

/**
 * struct baleen_rates - of one device
 * @device: its name now
 * @attach_status: whether its filter is still attached
 * @mode: mode of the program
 * @dry_run: nothing is dropped
 * @default_drop: drop frames that no rule decides
 * @sample_interval_ns: least time between two events; 0 for no events
 * @time_ns: time of the last look, of CLOCK_MONOTONIC
 * @stats: the counters then
 * @first: the counters when it began
 * @n_rules: how many
 * @rule: in order of evaluation
 * @seen: all frames
 * @dropped: frames of rules that drop, and those that the default drops; in a
 *           dry run, too
 * @dropped_bytes: bytes that rules dropped
 * @counter: the first BALEEN_N_COUNTERS of struct baleen_stats
 *
 * All zeros has never looked.
 */
struct baleen_rates {
	char device[BALEEN_POINT_BYTES];
	enum baleen_attach_status attach_status;
	enum baleen_mode mode;
	bool dry_run;
	bool default_drop;
	u64 sample_interval_ns;
	u64 time_ns;
	struct baleen_stats stats;
	struct baleen_stats first;
	u32 n_rules;
	struct baleen_rule_rates rule[BALEEN_MAX_RULES];
	struct baleen_series seen;
	struct baleen_series dropped;
	struct baleen_series dropped_bytes;
	struct baleen_series counter[BALEEN_N_COUNTERS];
};

/**
 * baleen_rates_look() - read the counters once more
 * @rates: gets a rate of each from the second look on; a rule keeps its history by
 *         its name, whatever its place
 * @device: its name
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when the filter was taken off; as baleen_xdp_open().
 */
int baleen_rates_look(struct baleen_rates *rates, const char *device, struct baleen_error *error);

/**
 * baleen_counter_name() - a counter as a word
 * @i: its number among the first of struct baleen_stats
 *
 * Return: such as "not_ip".
 */
const char *baleen_counter_name(u32 i);

#endif /* BALEEN_RATES_H */
