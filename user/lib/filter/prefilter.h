/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The prefilter: the IPv4 addresses of several rules in one table, which packets ask before them.
 *
 * Each rule that is asked costs two lines of memory. Most packets match none: one exact table of
 * all their addresses says so, and these rules are not asked at all. It says nothing else, so an
 * address that it has for no reason costs time and changes no verdict:
 *
 *   added to a rule        added to the prefilter first, by baleen_live_add(); where that has no
 *                          room, all is built anew
 *   deleted from a rule    stays in the prefilter, which is built with each program
 *   a recent prefix        disables the prefilter first, until the next program; see recent.h
 *
 * Behind its image is a table of recent changes of one bucket, of which only the head is used:
 * it is disabled while its IPv4 word is not zero.
 */
#ifndef BALEEN_PREFILTER_H
#define BALEEN_PREFILTER_H

#include "filter/filter.h"

/* Buckets of recent changes behind its image. */
#define BALEEN_PREFILTER_RECENT 1

/**
 * baleen_prefilter_covers() - can a prefilter stand for the IPv4 addresses of a filter?
 * @image: its checked header
 *
 * Return: false when they are prefixes, not all bits of them are kept, or it is not keyed by an
 * address.
 */
bool baleen_prefilter_covers(const struct baleen_image *image);

/**
 * baleen_prefilter_build() - a prefilter of filters
 * @filters: live ones too; all of them are covered
 * @n: how many
 * @prefilter: filled in, with room for a quarter more; free with baleen_filter_free()
 *
 * Return: 0; -E2BIG for so many addresses that each change of a rule would take too long; -EINVAL
 * for a damaged filter; another negative errno.
 */
int baleen_prefilter_build(const struct baleen_filter *filters, u32 n,
			   struct baleen_filter *prefilter);

#endif /* BALEEN_PREFILTER_H */
