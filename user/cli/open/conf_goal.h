/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration as commands read it: with its feeds as received, and the addresses of its
 * never-names.
 */
#ifndef BALEEN_CLI_CONF_GOAL_H
#define BALEEN_CLI_CONF_GOAL_H

#include "cli/common/cli.h"
#include "deploy/conf_plan.h"

/**
 * struct conf_goal - what a device shall enforce
 * @device: its name
 * @path: path of the configuration
 * @is_default: which is default.conf
 * @looks: nothing is to be written
 * @is_offline: no server is asked
 * @ignores_limits: what the limits of its rules refuse is taken
 * @conf: the configuration
 * @before: the state of the device as a configuration; all zeros without one
 * @applied: the configuration that was applied last; all zeros when there was none, or what is not
 *           read any more
 * @was_edited: the device has been edited by hand since, and @conf does not say the same
 * @whole_path: @path from / on; empty of standard input and the like
 * @versions: versions of its feeds
 * @answers: answers for its never-names
 *
 * The first six are given.
 */
struct conf_goal {
	const char *device;
	const char *path;
	bool is_default;
	bool looks;
	bool is_offline;
	bool ignores_limits;
	struct baleen_conf conf;
	struct baleen_conf before;
	struct baleen_conf applied;
	bool was_edited;
	char whole_path[BALEEN_RULE_STORE_PATH_BYTES];
	struct baleen_feed_versions versions;
	struct baleen_never_answers answers;
};

/* DEV of a path that ends with DEV.conf; false when it does not, or is default.conf. */
bool conf_goal_device_of(const char *path, char *device, size_t n_bytes, bool *is_default);

/* Reads the file and its feeds, asks names; 0, or EXIT_FAILED after a message. What was read is
 * to be freed also then.
 */
int conf_goal_read(struct conf_goal *goal);

/* The same for the library, which it has to outlive. */
struct baleen_conf_goal conf_goal_of(const struct conf_goal *goal);

void conf_goal_free(struct conf_goal *goal);

#endif /* BALEEN_CLI_CONF_GOAL_H */
