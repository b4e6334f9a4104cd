/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How full a rule is, for metrics: counted, and remembered for a while, since
 * counting reads all of a map.
 */
#ifndef BALEEN_METRICS_COUNT_H
#define BALEEN_METRICS_COUNT_H

#include "filter.h"

/* A map from this size on is counted no more often than that. */
#define BALEEN_METRICS_LARGE_BYTES (256 << 10)
#define BALEEN_METRICS_COUNT_S 60

/**
 * struct baleen_metrics_count - what a map holds
 * @map_id: the kernel's number of the map
 * @counted_s: when it was counted, of CLOCK_MONOTONIC
 * @n_entries: keys and prefixes; UINT64_MAX when a table does not tell
 * @used: slots in use, by domain
 * @fpp: the false positive rate of the worst table
 */
struct baleen_metrics_count {
	u32 map_id;
	u64 counted_s;
	u64 n_entries;
	u64 used[BALEEN_N_DOMAINS];
	double fpp;
};

/**
 * struct baleen_metrics_counts - what was counted lately
 * @count: by map
 * @n: how many
 *
 * All zeros is empty.
 */
struct baleen_metrics_counts {
	struct baleen_metrics_count *count;
	size_t n;
};

/**
 * baleen_metrics_count() - what a live filter holds
 * @counts: remembers it; NULL counts every time
 * @filter: a view of the map
 * @map_fd: the map
 * @count: filled in
 */
void baleen_metrics_count(struct baleen_metrics_counts *counts, const struct baleen_filter *filter,
			  int map_fd, struct baleen_metrics_count *count);

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
