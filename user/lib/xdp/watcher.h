/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that reads the sampled events of a device.
 */
#ifndef BALEEN_WATCHER_H
#define BALEEN_WATCHER_H

#include <sys/types.h>

#include "xdp/pins.h"

/**
 * struct baleen_watcher - a process
 * @pid: its number
 * @name: as the kernel has it, such as "baleen"
 */
struct baleen_watcher {
	pid_t pid;
	char name[32];
};

/**
 * baleen_watcher_find() - the process that holds the lock of events.h
 * @pins: pins of the device
 * @watcher: filled in when there is one
 *
 * Such a lock belongs to an open file and names no process, so this looks at the
 * open files of all processes.
 *
 * Return: true; false also when /proc does not tell.
 */
bool baleen_watcher_find(const struct baleen_pins *pins, struct baleen_watcher *watcher);

#endif /* BALEEN_WATCHER_H */
