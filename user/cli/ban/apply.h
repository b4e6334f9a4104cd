/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outcome of a change of a configured device, in words and in JSON.
 */
#ifndef BALEEN_CLI_APPLY_H
#define BALEEN_CLI_APPLY_H

#include "cli/common/cli.h"
#include "deploy/conf_plan.h"

/* One line a change, each beginning with the device. */
void print_changes(const char *device, const struct baleen_conf_plan *plan);

/* An array of objects. */
json_t *describe_changes(const struct baleen_conf_plan *plan);

/* The lines of a configuration that differ, between what the device has and what
 * is asked for; 0, or EXIT_FAILED after a message.
 */
int print_conf_diff(const char *device, const struct baleen_conf *before,
		    const struct baleen_conf *after);

/**
 * struct waiter - a process that takes a change back unless it is confirmed
 * @pid: its process id; 0 for none
 * @fd: it begins when this is closed, and goes when something is written to it
 */
struct waiter {
	pid_t pid;
	int fd;
};

/* Starts it, without a terminal and in a session of its own; 0, or EXIT_FAILED after
 * a message.
 */
int start_waiter(struct waiter *waiter, const char *device);

/* Lets it begin, or go when there is nothing to wait for. */
void release_waiter(struct waiter *waiter, bool is_needed);

#endif /* BALEEN_CLI_APPLY_H */
