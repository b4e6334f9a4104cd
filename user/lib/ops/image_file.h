/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Image files, read whole and checked.
 */
#ifndef BALEEN_IMAGE_FILE_H
#define BALEEN_IMAGE_FILE_H

#include "filter/filter.h"

/**
 * baleen_image_file_is() - does the file start like an image?
 * @fd: open for reading and seeking, at its start; left there
 *
 * Return: true when the magic stands there, be it with two wrong bytes or cut
 * short: such a file is damaged, never a list; false for anything else, also
 * for what cannot be sought, such as a pipe.
 */
bool baleen_image_file_is(int fd);

/**
 * baleen_image_file_read() - read and check an image
 * @fd: open for reading, at the start of a regular file
 * @name: name of the file in messages
 * @filter: the filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a file that is no valid image; -ENOMEM; the errno of
 * a failed read.
 */
int baleen_image_file_read(int fd, const char *name, struct baleen_filter *filter,
			   struct baleen_error *error);

/**
 * baleen_file_may_replace() - is what stands there of the kind to be written?
 * @path: path of the file to be written
 * @magic: how such a file starts
 * @n_bytes: length of @magic
 *
 * Keeps a list from being overwritten by its own image after a slip.
 *
 * Return: false when it is a regular file, not empty, that starts otherwise.
 */
bool baleen_file_may_replace(const char *path, const char *magic, size_t n_bytes);

#endif /* BALEEN_IMAGE_FILE_H */
