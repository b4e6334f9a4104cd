/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small files, such as keys and signatures, made and read whole.
 */
#ifndef BALEEN_SMALL_FILE_H
#define BALEEN_SMALL_FILE_H

#include <baleen/port.h>

#include "util/error.h"
#include "util/input.h"

/**
 * baleen_small_file_make() - write a file that is not there
 * @path: of the file
 * @mode: its mode
 * @bytes: its bytes
 * @n_bytes: how many
 * @error: filled in on failure
 *
 * File and name are on disk when it returns. After a failure there is no file.
 *
 * Return: 0; -EEXIST; a negative errno.
 */
int baleen_small_file_make(const char *path, u32 mode, const void *bytes, size_t n_bytes,
			   struct baleen_error *error);

/**
 * baleen_small_file_read() - read a file whole
 * @path: of a regular file
 * @kind: whence the path comes; not BALEEN_INPUT_TYPED
 * @most: bytes that it may have
 * @bytes: its bytes and a NUL byte behind them, to be freed by the caller
 * @n_bytes: how many, without the NUL byte
 * @mode: its mode; may be NULL
 * @error: filled in on failure
 *
 * Return: 0; -EFBIG; a negative errno.
 */
int baleen_small_file_read(const char *path, enum baleen_input kind, size_t most, char **bytes,
			   size_t *n_bytes, u32 *mode, struct baleen_error *error);

#endif /* BALEEN_SMALL_FILE_H */
