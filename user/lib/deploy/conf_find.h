/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which configuration is of which device.
 *
 *      eth0.conf       of eth0
 *      default.conf    of each device that its `match` names and that has no file of its own
 *
 * `match eth* !eth7 wlan0` has patterns of the shell. The last one that fits decides; one
 * with ! takes devices out. A pattern with a wildcard is never of lo.
 */
#ifndef BALEEN_CONF_FIND_H
#define BALEEN_CONF_FIND_H

#include "deploy/conf.h"

/**
 * baleen_conf_find() - the configuration of a device
 * @device: its name
 * @path: filled in: its own file, or default.conf
 * @n_bytes: size of @path
 * @is_default: filled in: it is default.conf
 * @error: filled in on failure
 *
 * Without default.conf its own file is the answer, also when that is not there.
 *
 * Return: 0; -ENOENT when default.conf does not match it; -EINVAL when default.conf
 * cannot be read; a negative errno.
 */
int baleen_conf_find(const char *device, char *path, size_t n_bytes, bool *is_default,
		     struct baleen_error *error);

/**
 * baleen_conf_each() - the devices that have a configuration
 * @visit: called with each: those with a file of their own in alphabetical order, then the
 *         present ones of default.conf; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_conf_each(int (*visit)(const char *device, void *data), void *data,
		     struct baleen_error *error);

#endif /* BALEEN_CONF_FIND_H */
