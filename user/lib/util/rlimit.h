/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits of this process and of those that it starts, for what others could make it take.
 */
#ifndef BALEEN_RLIMIT_H
#define BALEEN_RLIMIT_H

#include <baleen/port.h>

/**
 * baleen_rlimit_lower() - allow no more than this, for good
 * @resource: of setrlimit(), such as RLIMIT_DATA
 * @most: in its unit; a limit that is lower stays
 *
 * Return: 0 or a negative errno.
 */
int baleen_rlimit_lower(int resource, u64 most);

#endif /* BALEEN_RLIMIT_H */
