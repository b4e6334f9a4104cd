// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How full a rule is, for metrics. */
#include <bpf/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "edit.h"
#include "metrics_count.h"

static u64 now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* 0 when it cannot be told; no map has that number. */
static u32 map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &bytes) ? 0 : info.id;
}

/* A live Bloom table does not know what was put into it. */
static void look(const struct baleen_filter *filter, struct baleen_metrics_count *count)
{
	bool is_known = !baleen_filter_has_bloom(filter);

	count->n_entries = is_known ? 0 : UINT64_MAX;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		bool has_slots = filter->image.table[domain].kind == BALEEN_KIND_CUCKOO;

		count->used[domain] = has_slots ? baleen_filter_used(filter, domain) : 0;
		if (is_known)
			count->n_entries += has_slots ? count->used[domain] :
							baleen_filter_count(filter, domain);
	}
	count->fpp = baleen_filter_worst_fpp(filter);
	count->counted_s = now_s();
}

static struct baleen_metrics_count *find(struct baleen_metrics_counts *counts, u32 id)
{
	for (size_t i = 0; i < counts->n; i++)
		if (counts->count[i].map_id == id)
			return &counts->count[i];
	return NULL;
}

/* What finds no memory is counted again. */
static void keep(struct baleen_metrics_counts *counts, const struct baleen_metrics_count *count)
{
	struct baleen_metrics_count *known = find(counts, count->map_id), *grown;

	if (known) {
		*known = *count;
		return;
	}
	grown = reallocarray(counts->count, counts->n + 1, sizeof(*grown));
	if (!grown)
		return;
	grown[counts->n++] = *count;
	counts->count = grown;
}

static bool is_old(const struct baleen_metrics_count *count)
{
	return now_s() >= count->counted_s + BALEEN_METRICS_COUNT_S;
}

void baleen_metrics_count(struct baleen_metrics_counts *counts, const struct baleen_filter *filter,
			  int map_fd, struct baleen_metrics_count *count)
{
	u32 id = counts && filter->n_bytes >= BALEEN_METRICS_LARGE_BYTES ? map_id(map_fd) : 0;
	const struct baleen_metrics_count *known = id ? find(counts, id) : NULL;

	if (known && !is_old(known)) {
		*count = *known;
		return;
	}
	count->map_id = id;
	look(filter, count);
	if (id)
		keep(counts, count);
}

void baleen_metrics_counts_forget(struct baleen_metrics_counts *counts)
{
	size_t n = 0;

	for (size_t i = 0; i < counts->n; i++)
		if (!is_old(&counts->count[i]))
			counts->count[n++] = counts->count[i];
	counts->n = n;
}

void baleen_metrics_counts_free(struct baleen_metrics_counts *counts)
{
	free(counts->count);
	*counts = (struct baleen_metrics_counts){ 0 };
}
