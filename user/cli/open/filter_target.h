/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter that a command changes: a live rule or an image file, held against
 * other writers until it is done, or a filter of the kernel module, which is changed
 * again when another was faster.
 */
#ifndef BALEEN_CLI_TARGET_H
#define BALEEN_CLI_TARGET_H

#include "cli/open/device_session.h"

/**
 * struct target - an opened target
 * @argument: DEV:RULE, kmod:NAME or the path of an image file, as typed
 * @is_live: it is a rule
 * @is_kmod: it is a filter of the module; neither: a file
 * @filter: a writable view of the live map, or the image in memory; of a filter of the
 *          module its header, until target_load()
 * @session: of a live rule: its device
 * @xdp: the device, opened for writing
 * @index: of the rule
 * @kmod: of a filter of the module: where it is
 * @fd: the image file, locked
 * @mode: its permissions
 * @wait_ms: how long other writers are waited for
 */
struct target {
	const char *argument;
	bool is_live;
	bool is_kmod;
	struct baleen_filter filter;
	struct device_session session;
	struct baleen_xdp *xdp;
	u32 index;
	struct kmod_filter kmod;
	int fd;
	unsigned int mode;
	u64 wait_ms;
};

#define WAIT_HELP "  --wait SECONDS   wait so long for another command that changes it (10)\n"

/* Takes the argument of --wait; 0, or EXIT_USAGE after a message. */
int take_wait(const struct command *command, const char *argument, u64 *wait_ms);

/* The fields of the keys of a target, before it is opened; 0, or EXIT_FAILED
 * after a message.
 */
int target_key_spec(const char *argument, u32 *key_spec);

/* Opens it once nobody else changes it; 0, or EXIT_FAILED after a message. */
int target_open(struct target *target, const char *argument, u64 wait_ms);

/* Reads the image of a filter of the module, if it is one and it was not read yet, once
 * nobody else makes one aside; 0, or EXIT_FAILED after a message.
 */
int target_load(struct target *target);

/* Opens it, has it changed, and closes it; again when target_put() said -ESTALE, which
 * @change then returns, for as long as is waited. 0, or EXIT_FAILED after a message.
 */
int target_change(const char *argument, u64 wait_ms,
		  int (*change)(struct target *target, void *data), void *data);

/* The rule of the state of a live rule; NULL when it has none. */
struct baleen_stored_rule *target_state_rule(struct target *target);

/* Puts another filter in its place, or the one in memory back into its file;
 * 0, or EXIT_FAILED after a message, or -ESTALE when another has changed a filter of the
 * module since it was read. A rule with a state is derived anew from
 * that instead, so that it holds the rest of what it is made of, too.
 */
int target_put(struct target *target, const struct baleen_filter *filter);

void target_close(struct target *target);

/* Checks what -o says and names the filter after it; 0, EXIT_USAGE or EXIT_FAILED
 * after a message.
 */
int output_check(const struct command *command, const char *path, char *name);

/* Writes an image file, or a filter of the module; 0, or EXIT_FAILED after a message. */
int output_write(const char *path, const struct baleen_filter *filter, unsigned int mode);

#endif /* BALEEN_CLI_TARGET_H */
