/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device that a command changes, held against other writers, with the state
 * that its rules were made of, if it has one.
 */
#ifndef BALEEN_CLI_HOLD_H
#define BALEEN_CLI_HOLD_H

#include "cli/open/rules.h"
#include "deploy/deploy.h"

/**
 * struct hold - a device held
 * @has_state: else only its maps and its program are known
 * @deploy: the state; its xdp is the device, also without a state
 * @plan: the rules of the state, to be edited before hold_put()
 */
struct hold {
	bool has_state;
	struct baleen_deploy deploy;
	struct baleen_deploy_plan plan;
};

/* Opens an attached device once nobody else changes it; 0, -ENOENT without a
 * message when it is not attached, or EXIT_FAILED after one.
 */
int hold_open(struct hold *hold, const char *device, u64 wait_ms);

/* Opens a device with a state, attached or not, without beginning a transaction;
 * 0, -ENOENT without a message when it has none, or EXIT_FAILED after one.
 */
int hold_open_state(struct hold *hold, const char *device, u64 wait_ms);
void hold_close(struct hold *hold);

/* Prints why a device is not attached; returns EXIT_FAILED. */
int complain_not_attached(const char *device);

/* Adds what stands where a command says IMAGE to what a rule of the state is made
 * of; 0, or EXIT_FAILED after a message.
 */
int hold_add_feed(struct hold *hold, const char *rule, const struct input *input,
		  const struct list_options *lists);

/* Puts a ruleset on the device, edited from baleen_ruleset_from_xdp(). Rules with
 * a filter come from @rules. 0, or EXIT_FAILED after a message.
 */
int hold_put(struct hold *hold, const struct baleen_ruleset *ruleset, const struct rules *rules,
	     const struct list_options *lists);

/* Puts on what the plan says, after it was edited by hand; the same returns. */
int hold_put_plan(struct hold *hold);

/* Makes the state of a device that is about to be attached by hand, so that it is
 * there when the filter is; 0, or EXIT_FAILED after a message. What could not be
 * attached is for hold_undo().
 */
int hold_create(struct hold *hold, const char *device, const struct baleen_ruleset *ruleset,
		enum baleen_mode mode, enum baleen_attach_type place, const struct rules *rules,
		const struct list_options *lists);
void hold_undo(struct hold *hold);

/* Forgets the state of a device that is not attached: a volatile one is of a filter that
 * is no more; -EEXIST of one that was applied, another negative errno.
 */
int hold_remove_old(const char *device, struct baleen_error *error);

#endif /* BALEEN_CLI_HOLD_H */
