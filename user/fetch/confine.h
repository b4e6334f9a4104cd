/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process gives up its rights before it has read a byte.
 *
 * Started by root it becomes a user that owns nothing. Nobody makes that user: its number
 * is one that neither Debian nor systemd gives to anybody (65520 to 65533 are free). Whoever
 * starts it: it gains no rights, makes only the system calls that a fetch needs (calls.h),
 * and ends with its parent; memory, time, files and what it writes are bounded.
 */
#ifndef BALEEN_CONFINE_H
#define BALEEN_CONFINE_H

#include <baleen/port.h>

#define BALEEN_FETCH_UID 65531

/**
 * confine_process() - give up all rights
 * @reason: why not, with errno; a constant string
 *
 * Return: 0 or a negative errno, after which the process ends.
 */
int confine_process(const char **reason);

/**
 * confine_work() - bound what an order may take
 * @max_bytes: that may be written
 * @seconds: after which the process ends
 *
 * Return: 0 or a negative errno.
 */
int confine_work(u64 max_bytes, u32 seconds);

#endif /* BALEEN_CONFINE_H */
