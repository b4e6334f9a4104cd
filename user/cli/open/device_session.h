/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device that a command changes, held against other writers, with the state
 * that its rules were made of, if it has one.
 */
#ifndef BALEEN_CLI_DEVICE_SESSION_H
#define BALEEN_CLI_DEVICE_SESSION_H

#include "cli/open/rules.h"
#include "deploy/deploy.h"

/**
 * struct device_session - a device held
 * @has_state: else only its maps and its program are known
 * @deploy: the state; its xdp is the device, also without a state
 * @plan: the rules of the state, to be edited before session_put()
 */
struct device_session {
	bool has_state;
	struct baleen_deploy deploy;
	struct baleen_deploy_plan plan;
};

/* Opens an attached device once nobody else changes it; 0, -ENOENT without a
 * message when it is not attached, or EXIT_FAILED after one.
 */
int session_open(struct device_session *session, const char *device, u64 wait_ms);

/* Opens a device with a state, attached or not, without beginning a transaction;
 * 0, -ENOENT without a message when it has none, or EXIT_FAILED after one.
 */
int session_open_state(struct device_session *session, const char *device, u64 wait_ms);
void session_close(struct device_session *session);

/* Prints why a device is not attached; returns EXIT_FAILED. */
int complain_not_attached(const char *device);

/* Adds what stands where a command says IMAGE to what a rule of the state is made
 * of; 0, or EXIT_FAILED after a message.
 */
int session_add_feed(struct device_session *session, const char *rule, const struct filter_ref *ref,
		     const struct list_options *lists);

/* Puts a ruleset on the device, edited from baleen_ruleset_from_config(). Rules with
 * a filter come from @rules. 0, or EXIT_FAILED after a message.
 */
int session_put(struct device_session *session, const struct baleen_ruleset *ruleset,
		const struct rules *rules, const struct list_options *lists);

/* Puts on what the plan says, after it was edited by hand; the same returns. */
int session_put_plan(struct device_session *session);

/* Makes the state of a device that is about to be attached by hand, so that it is
 * there when the filter is; 0, or EXIT_FAILED after a message. What could not be
 * attached is for session_undo().
 */
int session_create(struct device_session *session, const char *device,
		   const struct baleen_ruleset *ruleset, enum baleen_mode mode,
		   enum baleen_attach_type attach_type, const struct rules *rules,
		   const struct list_options *lists);
void session_undo(struct device_session *session);

/* Forgets the state of a device that is not attached: a volatile one is of a filter that
 * is no more; -EEXIST of one that was applied, another negative errno.
 */
int session_remove_old(const char *device, struct baleen_error *error);

#endif /* BALEEN_CLI_DEVICE_SESSION_H */
