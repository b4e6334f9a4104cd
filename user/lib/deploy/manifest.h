/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The manifest of what was saved: all but the images, as JSON.
 */
#ifndef BALEEN_MANIFEST_H
#define BALEEN_MANIFEST_H

#include "deploy/saved.h"

/**
 * baleen_manifest_format() - the manifest as text
 * @saved: what it is about
 *
 * Return: a text to be freed by the caller; NULL when there is no memory.
 */
char *baleen_manifest_format(const struct baleen_saved *saved);

/**
 * baleen_manifest_read() - read and check a manifest
 * @fd: open for reading a regular file; closed afterwards
 * @name: of the file in messages
 * @saved: filled in but for the filters; undefined on failure
 * @error: filled in on failure
 *
 * Knows every field, or refuses it. The rules may be had by a device, and
 * their names are names of files.
 *
 * Return: 0; -EINVAL; -E2BIG or -EEXIST as baleen_ruleset_check().
 */
int baleen_manifest_read(int fd, const char *name, struct baleen_saved *saved,
			 struct baleen_error *error);

#endif /* BALEEN_MANIFEST_H */
