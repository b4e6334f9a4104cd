/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes into files, whole, and names of files onto the disk.
 */
#ifndef BALEEN_STORE_H
#define BALEEN_STORE_H

#include <stddef.h>

/**
 * baleen_store_bytes() - write all of them
 * @fd: open for writing
 * @bytes: what to write
 * @n_bytes: how many; a single write() stops at 2 GiB
 *
 * Return: 0 or the negative errno of write().
 */
int baleen_store_bytes(int fd, const void *bytes, size_t n_bytes);

/**
 * baleen_store_names() - sync a directory
 * @fd: of the directory
 *
 * Some file systems cannot, and say EINVAL, which counts as done.
 *
 * Return: 0 or a negative errno.
 */
int baleen_store_names(int fd);

/**
 * baleen_store_names_at() - sync a directory
 * @path: of the directory
 *
 * Return: as baleen_store_names().
 */
int baleen_store_names_at(const char *path);

#endif /* BALEEN_STORE_H */
