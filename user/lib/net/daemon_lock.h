/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does baleend run in this network namespace? It holds the lock of a file in memory, which
 * ends with it, however it ends.
 */
#ifndef BALEEN_DAEMON_LOCK_H
#define BALEEN_DAEMON_LOCK_H

#include <baleen/port.h>

/**
 * baleen_daemon_lock() - become the baleend of this network namespace
 *
 * Return: a descriptor that holds the lock until it is closed; -EAGAIN when another
 * baleend has it; a negative errno.
 */
int baleen_daemon_lock(void);

/**
 * baleen_daemon_is_running() - is there a baleend in this network namespace?
 *
 * Return: true when one holds the lock.
 */
bool baleen_daemon_is_running(void);

#endif /* BALEEN_DAEMON_LOCK_H */
