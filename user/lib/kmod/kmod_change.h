/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A list added to a filter of the kernel module, or taken out of it, where it is.
 */
#ifndef BALEEN_KMOD_CHANGE_H
#define BALEEN_KMOD_CHANGE_H

#include "kmod/kmod.h"
#include "ops/change.h"

/**
 * baleen_kmod_change() - add or delete the keys of a list in the kernel
 * @fd: descriptor of baleen_kmod_open(), for writing
 * @target: which filter
 * @head: its header, of baleen_kmod_header(); no body
 * @change: a finished list of the same key, without exceptions; its strings resolved
 *          with @head
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @exist: keys that change nothing are fine
 * @noop: filled in when 0 or -EALREADY: what changes nothing
 * @n_changed: keys that were added or taken out; untouched on failure
 * @error: filled in when neither 0, -EALREADY, -ENOSPC nor -EOPNOTSUPP
 *
 * Keys change one after the other. What others change meanwhile stays changed.
 *
 * Return: 0; -EALREADY when a key changes nothing and @exist is false; -ENOSPC or
 * -EOPNOTSUPP when the filter is to be read, changed and swapped, if it can be at all;
 * another negative errno. Unless 0, what had changed was taken back.
 */
int baleen_kmod_change(int fd, const struct baleen_dev_target *target,
		       const struct baleen_filter *head, const struct baleen_list *change,
		       enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
		       u64 *n_changed, struct baleen_error *error);

#endif /* BALEEN_KMOD_CHANGE_H */
