/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ban of all rules, or an unban, and what is said of it.
 */
#ifndef BALEEN_CLI_CMD_BAN_H
#define BALEEN_CLI_CMD_BAN_H

#include "cli/open/entries.h"
#include "deploy/bans.h"

/**
 * struct ban - one run of ban or unban
 * @command: which of them
 * @address: as typed
 * @entry: origin, reason and end
 * @exist: what changes nothing is fine
 * @force: also what would cut this host off, and what is too wide
 * @narrow: without what must not be dropped
 * @json: report as JSON
 * @wait_ms: for other writers of each device
 * @key: the keys that @address stands for
 * @n_keys: how many
 * @bans: the rules
 * @change: of each key what is to be done with it
 * @n_parked: scopes without a rule that an unban has taken it out of
 * @is_part: of an unban: it is a part of a ban, and becomes an exception of that
 * @around: that ban
 */
struct ban {
	const struct command *command;
	const char *address;
	struct entry_options entry;
	bool exist, force, narrow, json;
	u64 wait_ms;
	struct baleen_rule_entry key[ENTRY_PAIR];
	size_t n_keys;
	struct baleen_bans bans;
	struct baleen_rule_entry_change change[ENTRY_PAIR];
	size_t n_parked;
	bool is_part;
	struct baleen_rule_entry around;
};

/* Is it a ban? */
bool ban_is_ban(const struct ban *ban);

/* The key that the address stands for. */
struct baleen_entry_text ban_key_text(const struct ban *ban);

/* DEV:RULE, into at least BAN_TARGET_BYTES bytes; returns @text. */
#define BAN_TARGET_BYTES (BALEEN_POINT_BYTES + BALEEN_NAME_BYTES)
const char *ban_target_text(const struct ban *ban, const struct baleen_ban_rule *rule, char *text);

/* Has the rule it of this origin? @only_bans: by an entry of its own it does not count */
bool ban_has_it(const struct ban *ban, const struct baleen_ban_rule *rule, bool only_bans);

/* Says what else drops the address: entries and lines of any rule of these devices. */
void ban_explain(const struct ban *ban);

/* Prints what became of it in each rule; returns an exit code. */
int ban_report(const struct ban *ban);

#endif /* BALEEN_CLI_CMD_BAN_H */
