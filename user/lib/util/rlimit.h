/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits of this process and of those that it starts, for what others could make it take.
 */
#ifndef BALEEN_RLIMIT_H
#define BALEEN_RLIMIT_H

#include <sys/resource.h>

#include <baleen/port.h>

/**
 * baleen_rlimit_lower() - allow no more than this, for good
 * @resource: of setrlimit(), such as RLIMIT_DATA
 * @most: in its unit; a limit that is lower stays
 *
 * Return: 0 or a negative errno.
 */
int baleen_rlimit_lower(int resource, u64 most);

/**
 * baleen_rlimit_raise() - allow this process as much as it may allow itself
 * @resource: of setrlimit(), such as RLIMIT_NOFILE
 *
 * Where that fails the limit is what it was.
 */
void baleen_rlimit_raise(int resource);

#endif /* BALEEN_RLIMIT_H */
