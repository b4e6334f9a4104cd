/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes into files, whole, and names of files onto the disk.
 */
#ifndef BALEEN_WRITE_FILE_H
#define BALEEN_WRITE_FILE_H

#include <stddef.h>

/**
 * baleen_write_all() - write all of them
 * @fd: open for writing
 * @bytes: the bytes to write
 * @n_bytes: how many; a single write() stops at 2 GiB
 *
 * Return: 0 or the negative errno of write().
 */
int baleen_write_all(int fd, const void *bytes, size_t n_bytes);

/**
 * baleen_sync_dir() - sync a directory
 * @fd: descriptor of the directory
 *
 * Some file systems cannot, and say EINVAL, which counts as done.
 *
 * Return: 0 or a negative errno.
 */
int baleen_sync_dir(int fd);

/**
 * baleen_sync_dir_at() - sync a directory
 * @path: path of the directory
 *
 * Return: as baleen_sync_dir().
 */
int baleen_sync_dir_at(const char *path);

#endif /* BALEEN_WRITE_FILE_H */
