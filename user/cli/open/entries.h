/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single entries as they are typed: keys with an origin, a reason and an end.
 */
#ifndef BALEEN_CLI_ENTRIES_H
#define BALEEN_CLI_ENTRIES_H

#include "cli/open/session.h"

/**
 * struct entry_options - what is said of entries beside their keys
 * @origin: their origin; NULL when it was not given
 * @reason: why; NULL for none
 * @ttl_ms: how long; 0 for ever
 * @is_given: one of them was given
 */
struct entry_options {
	const char *origin;
	const char *reason;
	u64 ttl_ms;
	bool is_given;
};

/* --ttl, --origin and --reason; of a struct entry_options. */
extern const struct option_spec entry_option_table[];

/* Take --origin and --ttl alone, of a struct entry_options. */
int entry_origin(const struct option_use *use);
int entry_ttl(const struct option_use *use);

/**
 * struct entries - changes of a rule's single entries, to be made together
 * @change: the changes
 * @n: how many
 * @n_widened: of them, lone IPv6 addresses that stand for their network
 * @n_masked: of them, prefixes that were written with bits below their length
 */
struct entries {
	struct baleen_rule_entry_change *change;
	size_t n;
	u64 n_widened;
	u64 n_masked;
};

/* Appends a change; 0, or EXIT_FAILED after a message when there is no memory. */
int entries_append(struct entries *entries, enum baleen_rule_entry_op op,
		   const struct baleen_rule_entry *entry);

/* Says that nobody takes out what ends, when one that was put and is in force has an end. */
void entries_warn_ends(const struct entries *entries, const struct baleen_deploy *deploy);
/* The same of bans of all rules. */
void entries_warn_bans_end(const struct entries *entries, const struct baleen_bans *bans);

void entries_free(struct entries *entries);

/* Makes the single entry of a key, as baleen_rule_entry_parse(); 0, or -EINVAL with an error.
 * @is_widened: a lone IPv6 address stands for more than itself; may be NULL
 */
int entry_make(const char *text, u32 key_spec, u32 width, const struct entry_options *options,
	       struct baleen_rule_entry *entry, bool *is_widened, struct baleen_error *error);

/* Entries that this text may be meant for: as entry_make(), and of a lone IPv6 address the address
 * as it is written behind it; how many, or -EINVAL with an error.
 */
#define ENTRY_PAIR 2
int entry_make_pair(const char *text, u32 key_spec, u32 width, const struct entry_options *options,
		    struct baleen_rule_entry *pair, struct baleen_error *error);

/* Says on stderr what an address or prefix stands for when that is not what was typed: a lone IPv6
 * address that was widened, a prefix with bits below its length. @target may be NULL.
 */
void say_stands_for(const char *target, const char *text, const struct baleen_rule_entry *entry,
		    bool is_widened);

/* Why a key was not added, into at least ENTRY_REFUSAL bytes; returns @text. */
#define ENTRY_REFUSAL 512
const char *entry_refusal(const struct baleen_rule_entry_change *change, char *text);

/* The rule that DEV:RULE stands for, and its device; -ENOENT when it is no live rule of a
 * device with a state; 0, or EXIT_FAILED after a message.
 */
int entries_find(const char *argument, char *device, struct baleen_stored_rule *rule);

/* Opens the state of a rule for reading, to know its keys; 0, or EXIT_FAILED after a
 * message.
 */
int entries_rule(const char *device, const char *name, struct baleen_stored_rule *rule);

/* "in 59m59s" or "never", into at least BALEEN_DURATION_TEXT + 8 bytes; returns @text. */
const char *format_expiry(u64 expires_ms, char *text);

#endif /* BALEEN_CLI_ENTRIES_H */
