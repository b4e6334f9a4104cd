/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel module's own numbers of a filter, and of all its filters.
 */
#ifndef BALEEN_CLI_KMOD_DESCRIBE_H
#define BALEEN_CLI_KMOD_DESCRIBE_H

#include "cli/common/cli.h"
#include "kmod/kmod.h"

/* Adds version, rules and counters to an object, or prints them below an image. */
void kmod_describe_info(json_t *json, const struct baleen_dev_info *info);
void kmod_print_info(const struct baleen_dev_info *info);

/* Appends an object for each filter to a JSON array, or prints a table of them when @all
 * is NULL; 0, or EXIT_FAILED after a message.
 */
int kmod_describe_all(json_t *all);

#endif /* BALEEN_CLI_KMOD_DESCRIBE_H */
