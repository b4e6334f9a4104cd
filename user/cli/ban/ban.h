/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * add and del of a rule that remembers what it is made of.
 */
#ifndef BALEEN_CLI_BAN_H
#define BALEEN_CLI_BAN_H

#include "cli/open/entries.h"
#include "list/list_combine.h"

/**
 * struct entry_change - what is asked for
 * @command: add or del
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @target: DEV:RULE as typed
 * @device: its device
 * @rule: its rule, as the state has it
 * @key: the keys
 * @n_keys: how many
 * @file: further keys, one a line, or NULL
 * @skip_bad: bad lines of @file are passed over
 * @exist: what is there already, or is not there, is fine
 * @atomic: all of them in one step
 * @force: also what would cut this host off, and what is too wide
 * @narrow: without what must not be dropped
 * @dry_run: change nothing, say what would change
 * @json: report as JSON
 * @wait_ms: for other writers
 * @options: origin, reason and end
 */
struct entry_change {
	const struct command *command;
	enum baleen_set_op op;
	const char *target;
	const char *device;
	const struct baleen_stored_rule *rule;
	char **key;
	int n_keys;
	const char *file;
	bool skip_bad, exist, atomic, force, narrow, dry_run, json;
	u64 wait_ms;
	struct entry_options options;
};

/* Makes the change and reports it; an exit code. */
int change_entries(const struct entry_change *change);

/* Is it add, or del? */
bool change_is_add(const struct entry_change *change);

/* 0, or EXIT_FAILED after naming the first entry that is there already, or that is not there to
 * be deleted. An entry is made the one that is meant.
 */
int check_there(const struct entry_change *change, const struct baleen_rule_store *state,
		const struct baleen_stored_rule *rule, struct entries *entries);

/* 0, or EXIT_FAILED after naming each address of this host that the rule would drop with
 * these entries put or removed. @host is surveyed if it is not yet.
 */
int guard_entries(const struct baleen_deploy *deploy, const struct baleen_stored_rule *rule,
		  enum baleen_set_op op, const struct entries *entries, struct baleen_host *host,
		  bool is_forced);

/* Says on stderr which other entries of a rule hold the key of one; how many. */
u64 explain_entry(const char *target, const struct baleen_rule_store *state,
		  const struct baleen_stored_rule *rule, const struct baleen_rule_entry *entry);

/* The same of all rules of a device that drop sources, with the command that makes an exception. */
bool explain_device(const struct baleen_rule_store *state, const struct baleen_rule_entry *entry);

/* Says what word lets in what the door refused; EXIT_FAILED. @target: DEV:RULE, or NULL */
int suggest_word(const struct baleen_rule_entry_change *change, const char *command,
		 const char *target);

/* Says it of the prefixes and ranges among these: what the guard of the host refused. */
int suggest_narrow(const struct entries *entries, const char *command, const char *target);

/* Says by what command a rule no longer holds a key of its lists; EXIT_FAILED. */
int suggest_exception(const char *target, const struct baleen_rule_entry *entry);

#endif /* BALEEN_CLI_BAN_H */
