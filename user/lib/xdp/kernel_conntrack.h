/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Has the running kernel what a program needs to ask its conntrack?
 */
#ifndef BALEEN_KERNEL_CONNTRACK_H
#define BALEEN_KERNEL_CONNTRACK_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * baleen_kernel_has_conntrack() - may a program ask which flow a packet belongs to?
 * @is_egress: a program of what goes out; its function is another one
 * @error: says what is missing: the module, the BTF or the function
 *
 * Loads nothing: the module begins to follow flows for whoever loads it.
 *
 * Return: 0; -EOPNOTSUPP or another negative errno.
 */
int baleen_kernel_has_conntrack(bool is_egress, struct baleen_error *error);

#endif /* BALEEN_KERNEL_CONNTRACK_H */
