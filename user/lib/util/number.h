/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts, rates and shares as text.
 */
#ifndef BALEEN_NUMBER_H
#define BALEEN_NUMBER_H

#include <baleen/port.h>

/* A million events a second in the smallest unit, or "1 in 1.23e+04 s". */
#define BALEEN_INTERVAL_TEXT 32

/**
 * baleen_count_parse() - a count from text
 * @text: digits and, for thousands and so on, k, M or G
 * @count: 1 to 2^40; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_count_parse(const char *text, u64 *count);

/**
 * baleen_rate_parse() - a probability from text
 * @text: such as 1e-6
 * @rate: 0 to below 1; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_rate_parse(const char *text, double *rate);

/**
 * baleen_percent_parse() - a share from text
 * @text: a decimal number and a percent sign, such as 50%
 * @share: 0 to 1; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_percent_parse(const char *text, double *share);

/**
 * baleen_interval_parse() - the time between events from how often they are
 * @text: N/s, N/m or N/h
 * @interval_ns: 1000 or more; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_interval_parse(const char *text, u64 *interval_ns);

/**
 * baleen_interval_format() - how often events are that have this time between
 * @interval_ns: 1 or more
 * @text: at least BALEEN_INTERVAL_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_interval_format(u64 interval_ns, char *text);

/**
 * baleen_plural() - the noun behind a count
 * @n: the count
 * @one: the singular
 * @many: the plural, also for 0
 *
 * Return: @one or @many.
 */
const char *baleen_plural(u64 n, const char *one, const char *many);

#endif /* BALEEN_NUMBER_H */
