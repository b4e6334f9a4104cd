/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File descriptors that may not be there: -1.
 */
#ifndef BALEEN_FD_H
#define BALEEN_FD_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/**
 * baleen_close_fd() - close a descriptor, if there is one
 * @fd: negative: none; -1 afterwards
 */
static inline void baleen_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/**
 * baleen_copy_fd() - make another descriptor of the same file, if there is one
 * @fd: negative: none
 * @copy: set to the other one; untouched for none
 *
 * Return: 0 or a negative errno; then @copy is negative.
 */
static inline int baleen_copy_fd(int fd, int *copy)
{
	if (fd < 0)
		return 0;
	*copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return *copy < 0 ? -errno : 0;
}

/**
 * baleen_keep_fd() - make another descriptor of the same file, unless one is kept
 * @fd: negative: none
 * @kept: negative: none; then set as by baleen_copy_fd()
 *
 * Return: 0 or a negative errno.
 */
static inline int baleen_keep_fd(int fd, int *kept)
{
	return *kept >= 0 ? 0 : baleen_copy_fd(fd, kept);
}

#endif /* BALEEN_FD_H */
