/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration onto its device, and the outcome in words and in JSON.
 */
#ifndef BALEEN_CLI_APPLY_H
#define BALEEN_CLI_APPLY_H

#include "cli/common/cli.h"
#include "cli/open/conf_goal.h"
#include "deploy/conf_plan.h"

/**
 * struct apply - what is asked for
 * @conf_path: -c
 * @looks: --check or --diff: nothing is changed
 * @shows_lines: --diff
 * @is_all: --all
 * @is_new: --new: only devices of default.conf that have no state
 * @is_offline: --offline: no server is asked
 * @ifindex: --ifindex; 0 when it was not given
 * @confirm_ms: --confirm; 0 when it was not given
 * @force: also what would cut this host off
 * @quiet_change: a change is exit 0, too
 * @json: an array of objects, filled in; NULL for words
 * @result: exit code so far
 */
struct apply {
	const char *conf_path;
	bool looks;
	bool shows_lines;
	bool is_all;
	bool is_new;
	bool is_offline;
	u32 ifindex;
	u64 confirm_ms;
	bool force;
	bool quiet_change;
	json_t *json;
	int result;
};

/* Makes a device what the file says; is_default: the file is default.conf. Returns an exit code. */
int apply_to(struct apply *apply, const char *name, const char *path, bool is_default);

/* One line a change, each beginning with the device. */
void print_changes(const char *device, const struct baleen_conf_plan *plan);

/* An array of objects. */
json_t *describe_changes(const struct baleen_conf_plan *plan);

/* The lines that differ between what the device enforces and what is asked for: printed, or put
 * into an array. Those that were changed by hand since the last apply say so. 0, or EXIT_FAILED
 * after a message.
 */
int put_conf_diff(const struct conf_goal *goal, json_t *json);

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
