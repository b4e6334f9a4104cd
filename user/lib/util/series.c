// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rate of a counter over time. */
#include "util/series.h"

void baleen_series_push(struct baleen_series *series, double rate)
{
	series->rate[series->next] = rate;
	series->next = (series->next + 1) % BALEEN_SERIES_LENGTH;
	if (series->n < BALEEN_SERIES_LENGTH)
		series->n++;
}

void baleen_series_add(struct baleen_series *series, u64 time_ns, u64 value)
{
	u64 gone_ns = time_ns - series->time_ns;
	u64 more = value >= series->last ? value - series->last : value;

	/* Two readings at one moment are one. */
	if (series->is_begun && !gone_ns)
		return;
	if (series->is_begun)
		baleen_series_push(series, more * 1e9 / gone_ns);
	series->is_begun = true;
	series->time_ns = time_ns;
	series->last = value;
}

double baleen_series_last(const struct baleen_series *series)
{
	double last = 0;

	baleen_series_get(series, &last, 1);
	return last;
}

u32 baleen_series_get(const struct baleen_series *series, double *rates, u32 n)
{
	if (n > series->n)
		n = series->n;
	for (u32 i = 0; i < n; i++)
		rates[i] = series->rate[(series->next + BALEEN_SERIES_LENGTH - n + i) %
					BALEEN_SERIES_LENGTH];
	return n;
}
