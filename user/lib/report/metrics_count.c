// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How full a rule is, for metrics. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/kind.h"
#include "filter/recent.h"
#include "report/metrics_count.h"
#include "util/array.h"
#include "util/clock.h"

static u64 now_s(void)
{
	return baleen_monotonic_ms() / 1000;
}

/* A live Bloom table cannot count its keys: the number stays unknown. */
static void look(const struct baleen_filter *filter, struct baleen_metrics_count *count)
{
	count->n_entries = baleen_recent_entries(filter);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		u32 kind = filter->image.table[domain].kind;
		const struct baleen_kind_ops *ops = baleen_kind_ops(kind);
		/* One pass over the table where both are the same. */
		bool is_used = baleen_kind_has_keys(kind) && ops->used;

		count->used[domain] = is_used ? ops->used(filter, domain) : 0;
		if (baleen_kind_has_keys(kind) && !ops->count)
			count->n_entries = UINT64_MAX;
		if (count->n_entries != UINT64_MAX)
			count->n_entries +=
				is_used ? count->used[domain] : baleen_filter_count(filter, domain);
	}
	count->fpp = baleen_filter_worst_fpp(filter);
}

static struct baleen_metrics_count *find(struct baleen_metrics_counts *counts, u32 id)
{
	for (size_t i = 0; i < counts->n; i++)
		if (counts->count[i].map_id == id)
			return &counts->count[i];
	return NULL;
}

/* Without memory for it, the rule is counted again next time. */
static void keep(struct baleen_metrics_counts *counts, const struct baleen_metrics_count *count)
{
	struct baleen_metrics_count *known = find(counts, count->map_id);

	if (known) {
		*known = *count;
		return;
	}
	if (!baleen_array_add(&counts->count, counts->n))
		counts->count[counts->n++] = *count;
}

static bool is_old(u64 counted_s)
{
	return now_s() >= counted_s + BALEEN_METRICS_COUNT_S;
}

static void look_into(const struct baleen_xdp *xdp, u32 index, struct baleen_metrics_count *count)
{
	struct baleen_filter filter;

	count->counted_s = now_s();
	count->is_sound = !baleen_xdp_map_rule(xdp, index, &filter, NULL);
	if (!count->is_sound)
		return;
	look(&filter, count);
	baleen_filter_free(&filter);
}

/* Mapping alone takes the kernel 0.5 ms for each MiB: what is known is not mapped. */
void baleen_metrics_count(struct baleen_metrics_counts *counts, const struct baleen_xdp *xdp,
			  u32 index, struct baleen_metrics_count *count)
{
	u64 n_bytes = (u64)xdp->config.rule[index].image.n_blocks * BALEEN_BLOCK_BYTES;
	u32 id = counts && n_bytes >= BALEEN_METRICS_LARGE_BYTES ?
			 baleen_xdp_rule_map_id(xdp, index) :
			 0;
	const struct baleen_metrics_count *known = id ? find(counts, id) : NULL;

	if (known && !is_old(known->counted_s)) {
		*count = *known;
		return;
	}
	*count = (struct baleen_metrics_count){ .map_id = id };
	look_into(xdp, index, count);
	if (id)
		keep(counts, count);
}

/* --- single entries -------------------------------------------------------- */

static struct baleen_metrics_origins *find_origins(const struct baleen_metrics_counts *counts,
						   const char *device, const char *rule)
{
	for (size_t i = 0; i < counts->n_origins; i++)
		if (!strcmp(counts->origins[i].device, device) &&
		    !strcmp(counts->origins[i].rule, rule))
			return &counts->origins[i];
	return NULL;
}

const struct baleen_metrics_origins *
baleen_metrics_recall_origins(const struct baleen_metrics_counts *counts, const char *device,
			      const char *rule)
{
	const struct baleen_metrics_origins *known =
		counts ? find_origins(counts, device, rule) : NULL;

	return known && !is_old(known->counted_s) ? known : NULL;
}

static struct baleen_metrics_origins *add_origins(struct baleen_metrics_counts *counts,
						  const char *device, const char *rule)
{
	struct baleen_metrics_origins *known = find_origins(counts, device, rule);

	if (known)
		return known;
	if (baleen_array_add(&counts->origins, counts->n_origins))
		return NULL;
	known = &counts->origins[counts->n_origins++];
	*known = (struct baleen_metrics_origins){ .n = 0 };
	snprintf(known->device, sizeof(known->device), "%s", device);
	snprintf(known->rule, sizeof(known->rule), "%s", rule);
	return known;
}

void baleen_metrics_keep_origins(struct baleen_metrics_counts *counts, const char *device,
				 const char *rule, const struct baleen_metrics_origin *row,
				 size_t n)
{
	struct baleen_metrics_origins *kept;
	struct baleen_metrics_origin *copy;
	u64 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += row[i].n;
	if (!counts || sum < BALEEN_METRICS_MANY_ENTRIES)
		return;
	copy = reallocarray(NULL, n, sizeof(*copy));
	kept = copy ? add_origins(counts, device, rule) : NULL;
	if (!kept) {
		free(copy);
		return;
	}
	memcpy(copy, row, n * sizeof(*copy));
	free(kept->row);
	kept->row = copy;
	kept->n = n;
	kept->counted_s = now_s();
}

/* --- causes of drops --------------------------------------------------------- */

const struct baleen_drop_causes *baleen_metrics_count_causes(struct baleen_metrics_counts *counts,
							     const struct baleen_rule_store *state,
							     const char *device)
{
	struct baleen_metrics_causes *kept;
	struct baleen_drop_causes causes;
	struct baleen_error error;
	int ifindex;

	for (size_t i = 0; i < counts->n_causes; i++)
		if (!strcmp(counts->causes[i].device, device))
			return &counts->causes[i].causes;
	if (baleen_device_ifindex(device, &ifindex, &error) ||
	    baleen_array_add(&counts->causes, counts->n_causes) ||
	    baleen_drop_causes_find(state, ifindex, &causes, &error))
		return NULL;
	kept = &counts->causes[counts->n_causes++];
	*kept = (struct baleen_metrics_causes){ .counted_s = now_s(), .causes = causes };
	snprintf(kept->device, sizeof(kept->device), "%s", device);
	return &kept->causes;
}

/* --- forgetting ------------------------------------------------------------ */

void baleen_metrics_counts_forget(struct baleen_metrics_counts *counts)
{
	size_t n = 0;

	for (size_t i = 0; i < counts->n; i++)
		if (!is_old(counts->count[i].counted_s))
			counts->count[n++] = counts->count[i];
	counts->n = n;
	n = 0;
	for (size_t i = 0; i < counts->n_origins; i++) {
		if (is_old(counts->origins[i].counted_s))
			free(counts->origins[i].row);
		else
			counts->origins[n++] = counts->origins[i];
	}
	counts->n_origins = n;
	n = 0;
	for (size_t i = 0; i < counts->n_causes; i++) {
		if (is_old(counts->causes[i].counted_s))
			baleen_drop_causes_free(&counts->causes[i].causes);
		else
			counts->causes[n++] = counts->causes[i];
	}
	counts->n_causes = n;
}

void baleen_metrics_counts_free(struct baleen_metrics_counts *counts)
{
	for (size_t i = 0; i < counts->n_origins; i++)
		free(counts->origins[i].row);
	for (size_t i = 0; i < counts->n_causes; i++)
		baleen_drop_causes_free(&counts->causes[i].causes);
	free(counts->causes);
	free(counts->origins);
	free(counts->count);
	*counts = (struct baleen_metrics_counts){ 0 };
}
