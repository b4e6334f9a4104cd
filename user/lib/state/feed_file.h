/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feeds as files: copied, and compared.
 */
#ifndef BALEEN_FEED_FILE_H
#define BALEEN_FEED_FILE_H

#include <baleen/port.h>

#include "state/feeds.h"

/**
 * baleen_feed_copy_file() - a file as it is now, in memory
 * @path: path of a regular file
 * @is_public: set when everybody can read it where it is, behind links, too
 * @error: filled in on failure
 *
 * The same bytes are judged and taken, even if the file is written meanwhile.
 *
 * Return: a descriptor to be closed by the caller; -EINVAL for what is no regular
 * file; -EFBIG; a negative errno.
 */
int baleen_feed_copy_file(const char *path, bool *is_public, struct baleen_error *error);

/**
 * baleen_feed_copy_open() - open a copy that any rule of a device has
 * @state: of the device; NULL when it has none
 * @name: copy:NAME
 * @error: filled in on failure
 *
 * A rule that gets another name keeps what it was made of.
 *
 * Return: a descriptor to be closed by the caller; -ENOENT; a negative errno.
 */
int baleen_feed_copy_open(const struct baleen_rule_store *state, const char *name,
			  struct baleen_error *error);

/**
 * baleen_feed_is_same_file() - have two files the same bytes?
 * @a: open for reading
 * @b: open for reading
 *
 * Return: true; false also when one cannot be read.
 */
bool baleen_feed_is_same_file(int a, int b);

#endif /* BALEEN_FEED_FILE_H */
