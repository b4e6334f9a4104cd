/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a list of keys to a filter.
 */
#ifndef BALEEN_BUILD_H
#define BALEEN_BUILD_H

#include "filter/filter.h"
#include "filter/plan.h"
#include "list/list.h"
#include "ops/build_options.h"

/**
 * baleen_build() - make a sealed filter of the keys of a list
 * @list: a finished list; may be empty
 * @options: the filter to build
 * @filter: the filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Unless it is given the seed comes from getrandom(); when a key finds no room
 * although the table is not full, the build starts again with a new one, or with
 * a given one with more room.
 *
 * Return: 0; -ENOSPC when the list is larger than the capacity, saying how
 * many keys fit; -ENOMEM, -EINVAL, -E2BIG.
 */
int baleen_build(const struct baleen_list *list, const struct baleen_build_options *options,
		 struct baleen_filter *filter, struct baleen_error *error);

#endif /* BALEEN_BUILD_H */
