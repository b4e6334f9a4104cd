/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where bpffs is, which keeps programs and maps between commands.
 *
 * `ip netns exec` mounts another /sys over it, in a mount namespace that ends with its command.
 * Pins that are made there end, too, and those that packets meet are not seen. So where
 * /sys/fs/bpf is no bpffs, that of the process that called us from another mount namespace is
 * taken, by /proc/PID/root: that of process 1 where the two share it.
 */
#ifndef BALEEN_BPFFS_H
#define BALEEN_BPFFS_H

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_BPFFS "/sys/fs/bpf"
#define BALEEN_BPFFS_BYTES 48

/**
 * baleen_bpffs_find() - where bpffs is, or would be
 * @path: filled in; BALEEN_BPFFS_BYTES bytes. BALEEN_BPFFS, also when it is not mounted yet
 * @error: filled in on failure; may be NULL
 *
 * Every command that reads or changes pins or states comes by here first.
 *
 * Return: 0; -EXDEV when one mounted here would end with a command, and nobody who called it
 * has one.
 */
int baleen_bpffs_find(char *path, struct baleen_error *error);

/**
 * baleen_bpffs_is_mounted() - is it there?
 * @path: from baleen_bpffs_find()
 *
 * Return: true or false.
 */
bool baleen_bpffs_is_mounted(const char *path);

/**
 * baleen_bpffs_mount() - have it there
 * @error: filled in on failure
 *
 * For root alone, when it is absent.
 *
 * Return: 0; -EXDEV as baleen_bpffs_find(); a negative errno.
 */
int baleen_bpffs_mount(struct baleen_error *error);

#endif /* BALEEN_BPFFS_H */
