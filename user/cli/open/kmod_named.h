/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What info, swap, save and detach do with kmod:NAME, and with all filters of the module.
 */
#ifndef BALEEN_CLI_KMOD_NAMED_H
#define BALEEN_CLI_KMOD_NAMED_H

#include "cli/open/kmod_filter.h"

/* Appends what the module says of all its filters to a JSON array, or prints it as a
 * table when @all is NULL; 0, or EXIT_FAILED after a message.
 */
int kmod_describe_all(json_t *all);

/* The filter as a file would be described, and what the module says of it: an object
 * appended to @all, or printed; 0, or EXIT_FAILED after a message.
 */
int kmod_describe(const char *argument, const char *name, json_t *all);

/* Puts another image in the place of a filter that is there, if the rules that ask it
 * may have it; 0, or EXIT_FAILED after a message.
 */
int kmod_swap_named(const char *name, const struct baleen_filter *filter, double accept_fpp,
		    bool force);

/* Takes a filter out of the module; 0, or EXIT_FAILED after a message. */
int kmod_detach(const char *argument, const char *name);

#endif /* BALEEN_CLI_KMOD_NAMED_H */
