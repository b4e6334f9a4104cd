/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of a list as somebody wrote them, to be counted for people.
 *
 * baleen_list_finish() makes a set of them, in which lines side by side are one interval, and a
 * line around an exception is many. What a person has changed is told by these instead: each is a
 * host, a prefix, an exception or a key that was listed, whatever lies around it; a range is its
 * prefixes. What is listed twice counts once.
 */
#ifndef BALEEN_WRITTEN_H
#define BALEEN_WRITTEN_H

#include "list/list.h"

/**
 * baleen_written_copy() - keep what is written before a set is made of it
 * @list: as read, not finished; is sorted
 * @written: all zeros before; free with baleen_list_free() also on failure
 *
 * It takes as much memory as what was read: 24 bytes for an IPv6 prefix, 4 for an IPv4 host.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_written_copy(struct baleen_list *list, struct baleen_list *written);

/**
 * baleen_written_special() - entries in special-purpose ranges (special.h)
 * @written: copied, or sorted and not finished
 *
 * Return: how many are in one or reach into one, exceptions aside.
 */
u64 baleen_written_special(const struct baleen_list *written);

/**
 * baleen_written_only() - entries that only one of two lists has
 * @written: copied
 * @other: copied
 * @has_special: also those that are in a special-purpose range as a whole
 *
 * Return: how many @written has and @other has not.
 */
u64 baleen_written_only(const struct baleen_list *written, const struct baleen_list *other,
			bool has_special);

#endif /* BALEEN_WRITTEN_H */
