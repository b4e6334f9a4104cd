/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How full a rule is, for metrics: counted, and remembered for a while, since
 * counting reads all of a map, or of a table of single entries.
 */
#ifndef BALEEN_METRICS_COUNT_H
#define BALEEN_METRICS_COUNT_H

#include "net/device.h"
#include "report/drop_causes.h"
#include "report/metrics_rows.h"
#include "xdp/xdp.h"

/* A map of that size, or so many entries, are counted no more often than that. */
#define BALEEN_METRICS_LARGE_BYTES (256 << 10)
#define BALEEN_METRICS_MANY_ENTRIES 10000
#define BALEEN_METRICS_COUNT_S 60

/**
 * struct baleen_metrics_count - what a map holds
 * @map_id: the kernel's number of the map
 * @counted_s: when it was counted, of CLOCK_MONOTONIC
 * @is_sound: the map holds a valid image; else nothing else is known
 * @n_entries: keys and prefixes; UINT64_MAX when a table does not tell
 * @used: slots in use, by domain
 * @fpp: the false positive rate of the worst table
 */
struct baleen_metrics_count {
	u32 map_id;
	u64 counted_s;
	bool is_sound;
	u64 n_entries;
	u64 used[BALEEN_N_DOMAINS];
	double fpp;
};

/**
 * struct baleen_metrics_origins - the single entries of a rule
 * @device: device of the rule
 * @rule: its name
 * @counted_s: when they were counted, of CLOCK_MONOTONIC
 * @row: by origin
 * @n: how many
 */
struct baleen_metrics_origins {
	char device[BALEEN_POINT_BYTES];
	char rule[BALEEN_NAME_BYTES];
	u64 counted_s;
	struct baleen_metrics_origin *row;
	size_t n;
};

/**
 * struct baleen_metrics_causes - what caused the sampled drops of a device
 * @device: its name
 * @counted_s: when it was counted, of CLOCK_MONOTONIC
 * @causes: the causes
 */
struct baleen_metrics_causes {
	char device[BALEEN_POINT_BYTES];
	u64 counted_s;
	struct baleen_drop_causes causes;
};

/**
 * struct baleen_metrics_counts - what was counted lately
 * @count: by map
 * @n: how many
 * @origins: by rule
 * @n_origins: how many
 * @causes: by device
 * @n_causes: how many
 *
 * All zeros is empty.
 */
struct baleen_metrics_counts {
	struct baleen_metrics_count *count;
	size_t n;
	struct baleen_metrics_origins *origins;
	size_t n_origins;
	struct baleen_metrics_causes *causes;
	size_t n_causes;
};

/**
 * baleen_metrics_count() - what the filter of a rule holds
 * @counts: remembers it; NULL counts every time
 * @xdp: opened
 * @index: index of the rule
 * @count: filled in
 */
void baleen_metrics_count(struct baleen_metrics_counts *counts, const struct baleen_xdp *xdp,
			  u32 index, struct baleen_metrics_count *count);

/**
 * baleen_metrics_recall_origins() - the single entries of a rule, from memory
 * @counts: remembers them; may be NULL
 * @device: device of the rule
 * @rule: its name
 *
 * Return: what was counted lately; NULL when they are to be counted.
 */
const struct baleen_metrics_origins *
baleen_metrics_recall_origins(const struct baleen_metrics_counts *counts, const char *device,
			      const char *rule);

/**
 * baleen_metrics_keep_origins() - remember the single entries of a rule
 * @counts: remembers them, when there are many; may be NULL
 * @device: device of the rule
 * @rule: its name
 * @row: by origin; copied
 * @n: how many
 */
void baleen_metrics_keep_origins(struct baleen_metrics_counts *counts, const char *device,
				 const char *rule, const struct baleen_metrics_origin *row,
				 size_t n);

/**
 * baleen_metrics_count_causes() - what caused the sampled drops of a device
 * @counts: remembers it
 * @state: state of the device, opened
 * @device: its name
 *
 * Return: the causes, valid until the next call with @counts; NULL when there are none.
 */
const struct baleen_drop_causes *baleen_metrics_count_causes(struct baleen_metrics_counts *counts,
							     const struct baleen_rule_store *state,
							     const char *device);

/**
 * baleen_metrics_counts_forget() - forget what is too old to be used
 * @counts: the counts
 */
void baleen_metrics_counts_forget(struct baleen_metrics_counts *counts);

/**
 * baleen_metrics_counts_free() - forget all
 * @counts: the counts; empty afterwards
 */
void baleen_metrics_counts_free(struct baleen_metrics_counts *counts);

#endif /* BALEEN_METRICS_COUNT_H */
