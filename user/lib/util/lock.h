/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for another writer, for so long and no longer.
 */
#ifndef BALEEN_LOCK_H
#define BALEEN_LOCK_H

#include <baleen/port.h>

/**
 * baleen_lock_within() - lock an open file or directory for oneself
 * @fd: its descriptor; the lock ends when the last copy of it is closed
 * @timeout_ms: how long to wait; 0 asks once
 *
 * Return: 0; -ETIMEDOUT; a negative errno.
 */
int baleen_lock_within(int fd, u64 timeout_ms);

/**
 * baleen_lock_is_of() - is what was locked still what has the name?
 * @fd: descriptor of the file or directory
 * @path: its name, when it was opened
 *
 * A waiter may get the lock of a file that was removed meanwhile.
 *
 * Return: true when it is.
 */
bool baleen_lock_is_of(int fd, const char *path);

#endif /* BALEEN_LOCK_H */
