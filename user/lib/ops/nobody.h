/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Images without what is nobody's: see baleen_special_nobody.
 */
#ifndef BALEEN_NOBODY_H
#define BALEEN_NOBODY_H

#include "filter/filter.h"
#include "util/error.h"

/**
 * baleen_filter_leave_nobody() - take what is nobody's out of an image
 * @image: replaced by one without, unless there is nothing of it; untouched on failure
 * @n: how many of these were in it are added
 * @error: filled in on failure
 *
 * What a table may hold by an error of its own stays: nobody has listed it, and taking it out
 * could take others with it. Keys of several fields are left alone.
 *
 * Return: 0; as baleen_filter_edit().
 */
int baleen_filter_leave_nobody(struct baleen_filter *image, u64 *n, struct baleen_error *error);

#endif /* BALEEN_NOBODY_H */
