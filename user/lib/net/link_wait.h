/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for network devices to appear, change their name, or go.
 */
#ifndef BALEEN_LINK_WAIT_H
#define BALEEN_LINK_WAIT_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * baleen_link_wait_open() - listen from now on
 * @error: filled in on failure
 *
 * Return: a descriptor to be closed by the caller; a negative errno.
 */
int baleen_link_wait_open(struct baleen_error *error);

/**
 * baleen_link_wait() - wait until something happened to a device
 * @fd: from baleen_link_wait_open(): what happened since, counts
 * @timeout_ms: how long
 *
 * Says nothing of what it was: the caller looks.
 *
 * Return: true; false when the time is over.
 */
bool baleen_link_wait(int fd, u64 timeout_ms);

#endif /* BALEEN_LINK_WAIT_H */
