/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device that a command changes: baleen_device_session_*() with messages.
 */
#ifndef BALEEN_CLI_SESSION_H
#define BALEEN_CLI_SESSION_H

#include "cli/open/rules.h"
#include "deploy/bans.h"
#include "deploy/device_session.h"

/* Hold an attached device, or one with a state, and say on a terminal why that takes its
 * time; 0, or EXIT_FAILED after a message.
 */
int session_open(struct baleen_device_session *session, const char *device, u64 wait_ms);
int session_open_state(struct baleen_device_session *session, const char *device, u64 wait_ms);

/* Says which command mends the state of a device, when that is damaged. */
void suggest_mend(const char *device);

/* Says why an edited never-drop list is not followed, if it is not. */
void session_warn_never(const struct baleen_deploy *deploy);

/* Says that nobody takes out what ends, unless baleend does or it has been said. @devices: whose
 * next change takes it out, such as "veth0".
 */
void session_warn_ends(const char *devices);

/* Says when what a command has changed could not be written to the disk; EXIT_UNKEPT then, else
 * EXIT_DONE. @state: of a device, or of baleen_book_open()
 */
int session_kept(const struct baleen_rule_store *state);

/* Says which devices are behind; whether there are some. */
bool session_warn_behind(const struct baleen_bans *bans);

/* The argument IMAGE of a command, as a source of a rule. */
struct baleen_rule_source rule_source(const struct filter_ref *ref,
				      const struct list_options *lists);

/* Puts a ruleset on the device. Rules with a filter come from @rules, which may be NULL.
 * 0, or EXIT_FAILED after a message.
 */
int session_put(struct baleen_device_session *session, const struct baleen_ruleset *ruleset,
		const struct rules *rules, const struct list_options *lists);

/* Attaches by hand what came from @rules, and says which ways of attaching failed; 0, or
 * EXIT_FAILED after a message. @attach: all but its sources.
 */
int session_attach(struct baleen_device_attach *attach, const struct rules *rules,
		   const struct list_options *lists, struct baleen_attempts *attempts);

/* Sets a damaged book aside, or only says that it is damaged. Returns an exit code. */
int mend_book(bool looks);

#endif /* BALEEN_CLI_SESSION_H */
