/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A single entry in the output of commands.
 */
#ifndef BALEEN_CLI_DESCRIBE_ENTRY_H
#define BALEEN_CLI_DESCRIBE_ENTRY_H

#include "cli/common/cli.h"
#include "state/entry_key.h"
#include "state/scope.h"

#define ENTRY_TIME_TEXT 32

/* A time of day here, such as 2026-11-23 10:00:00; returns @text. */
const char *format_entry_time(u64 ms, char *text);

/* Why an entry of this scope is parked. */
const char *parked_why(const struct baleen_scope *scope);

/* An entry as it was asked for, and how wide the rule has it when that is more:
 * "2001:db8::7 (/64)".
 */
struct baleen_entry_text entry_shown(const struct baleen_rule_entry *entry);

/* An entry as JSON. */
json_t *describe_entry(const struct baleen_rule_entry *entry);

/**
 * struct asked_key - entries that are asked for by key
 * @text: the key as typed; NULL for all
 * @span: it as addresses
 * @is_span: it is some; a key of several fields is compared as it is printed
 */
struct asked_key {
	const char *text;
	struct baleen_span span;
	bool is_span;
};

/* Reads a key; 0, or EXIT_FAILED after a message when no rule could have it. */
int asked_key_parse(struct asked_key *asked, const char *text);

/* Does an entry hold some of what is asked for? */
bool asked_key_is_in(const struct asked_key *asked, const struct baleen_entry_key *key);

/* Says that the bans inside a prefix have banned it, if they have. */
void print_widened(const char *target, const char *prefix, bool is_trial);

#endif /* BALEEN_CLI_DESCRIBE_ENTRY_H */
