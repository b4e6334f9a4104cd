/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rate of a counter over time: what it is now, and what it has been.
 */
#ifndef BALEEN_SERIES_H
#define BALEEN_SERIES_H

#include <baleen/port.h>

/* The widest history that is drawn. */
#define BALEEN_SERIES_LENGTH 256

/**
 * struct baleen_series - rates, the newest last
 * @is_begun: there is a reading
 * @time_ns: time of the last one
 * @last: last value of the counter
 * @n: how many rates there are
 * @next: where in @rate the next one goes
 * @rate: per second; a ring
 *
 * All zeros is an empty one.
 */
struct baleen_series {
	bool is_begun;
	u64 time_ns;
	u64 last;
	u32 n;
	u32 next;
	double rate[BALEEN_SERIES_LENGTH];
};

/**
 * baleen_series_add() - a reading of the counter
 * @series: gets a rate, unless it is the first reading
 * @time_ns: when it was read, of a clock that does not go back
 * @value: its value; one below the last has started again from zero
 */
void baleen_series_add(struct baleen_series *series, u64 time_ns, u64 value);

/**
 * baleen_series_push() - a rate that is known, such as a sum of others
 * @series: gets it; no readings are to be added to it
 * @rate: per second
 */
void baleen_series_push(struct baleen_series *series, double rate);

/**
 * baleen_series_last() - the rate now
 * @series: the series
 *
 * Return: per second; 0 when there is none.
 */
double baleen_series_last(const struct baleen_series *series);

/**
 * baleen_series_get() - the last rates
 * @series: the series
 * @rates: filled in, the newest last; room for @n
 * @n: how many are asked for
 *
 * Return: how many there were.
 */
u32 baleen_series_get(const struct baleen_series *series, double *rates, u32 n);

#endif /* BALEEN_SERIES_H */
