/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules as they are typed: --drop [NAME=]IMAGE and the qualifiers behind it.
 */
#ifndef BALEEN_CLI_RULES_H
#define BALEEN_CLI_RULES_H

#include "cli/open/filter_ref_type.h"
#include "state/rule_store.h"
#include "xdp/ruleset.h"

/* The IMAGE that lists every address. */
#define ANY_IMAGE "any"

/**
 * enum rule_special - what becomes of special-purpose ranges of a list
 * @SPECIAL_TOLD: they stay, and of whole networks that is said
 * @SPECIAL_KEEP: they stay: `special keep`
 * @SPECIAL_REMOVE: they are taken out: `special remove`
 */
enum rule_special {
	SPECIAL_TOLD,
	SPECIAL_KEEP,
	SPECIAL_REMOVE,
};

/**
 * struct rule_argument - one --allow, --drop or --count
 * @argument: [NAME=]IMAGE as typed
 * @path: its IMAGE part
 * @name: the rule's
 * @action: enum baleen_action
 * @qualifiers: the words behind it
 * @rate_limit: those of a limit
 * @bans: what its bans are; takes_bans when one of them is `bans`
 * @special: what one of them says of special-purpose ranges
 * @ref: opened by rules_open()
 */
struct rule_argument {
	const char *argument;
	const char *path;
	char name[BALEEN_NAME_BYTES];
	u32 action;
	struct baleen_qualifiers qualifiers;
	struct baleen_rate_limit rate_limit;
	struct baleen_rule_bans bans;
	enum rule_special special;
	struct filter_ref ref;
};

/**
 * struct rules - all of them
 * @n: how many
 * @rule: in the order typed
 * @word: a qualifier whose value is still to come, or NULL
 * @waiting: the IMAGE of a drop rule if another word follows it, or NULL
 */
struct rules {
	u32 n;
	struct rule_argument rule[BALEEN_MAX_RULES];
	const char *word;
	const char *waiting;
};

/* --allow, --drop and --count, and what is said of the words behind; of a struct rules. */
extern const struct option_spec rule_option_table[];

/* Makes a rule of what waits; 0, or EXIT_USAGE after a message. */
int rules_end_wait(const struct command *command, struct rules *rules);

/* Takes a word, if it is a qualifier of the last rule or the value of one: 0,
 * EXIT_USAGE after a message, or -ENOENT when it is neither.
 */
int rules_word_parse(const struct command *command, struct rules *rules, const char *word);

/* Checks the rules after the last argument was read; 0, or EXIT_USAGE after a
 * message.
 */
int rules_check(const struct command *command, const struct rules *rules);

/* 0, or EXIT_FAILED after a message when a rule has words that a device that remembers no
 * entries would forget. @rules may be NULL.
 */
int rules_refuse_words(const struct rules *rules, const char *device);

/* Puts the rules into a ruleset, from @place on; 0, or EXIT_FAILED after a
 * message. The ruleset refers to their filters.
 */
int rules_insert(const struct rules *rules, struct baleen_ruleset *ruleset, u32 place);

/* Has the rule of a ruleset ask the filter of the module that is typed as kmod:NAME,
 * if it is.
 */
void rules_share(const struct rule_argument *argument, struct baleen_ruleset_rule *rule);

/* The argument that a rule of a ruleset came from, or NULL. */
const struct rule_argument *rules_find(const struct rules *rules,
				       const struct baleen_ruleset_rule *rule);

/* Takes what is nobody's out of the image of a rule that drops; 0, or EXIT_FAILED after a message.
 */
int rule_leave_nobody(struct filter_ref *ref);

/* Takes what is nobody's out of the images that rules of @ruleset which drop are given, where
 * these are not derived. @rules may be NULL. 0, or EXIT_FAILED after a message.
 */
int rules_leave_nobody(struct rules *rules, const struct baleen_ruleset *ruleset);

/* Is it 'any', every address? */
bool is_any_argument(const struct rule_argument *argument);

/* Says what became of special-purpose ranges in the lists of rules that drop. */
void rules_print_special(const struct rules *rules);

/* Warns of rules that can never match, as far as the arguments tell. */
void rules_warn_dead(const struct rules *rules, const struct baleen_ruleset *ruleset);

/* Warns when a rule from the arguments asks for a VLAN that the device hides. */
void rules_warn_vlan(const struct rules *rules, const char *device);

#endif /* BALEEN_CLI_RULES_H */
