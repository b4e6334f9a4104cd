/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scopes of the book whose entries a rule has: its own, and those that it takes.
 */
#ifndef BALEEN_RULE_SCOPES_H
#define BALEEN_RULE_SCOPES_H

#include "state/rule_store.h"
#include "state/scope.h"

/**
 * baleen_rule_fleet_read() - what a state has of it
 * @text: "SET SECONDS"
 * @fleet: filled in
 *
 * Return: true unless @text is something else.
 */
bool baleen_rule_fleet_read(const char *text, struct baleen_rule_fleet *fleet);

/**
 * baleen_scope_of_fleet() - the scope of bans of a fleet
 * @fleet: which a rule takes
 *
 * Return: the scope; that of no name when it takes none.
 */
struct baleen_scope baleen_scope_of_fleet(const struct baleen_rule_fleet *fleet);

/**
 * baleen_rule_takes() - does a rule take the entries of a shared scope?
 * @rule: the rule
 * @scope: name of the scope; NULL for any
 *
 * Return: true or false.
 */
bool baleen_rule_takes(const struct baleen_stored_rule *rule, const char *scope);

/**
 * baleen_rules_take() - does one of these rules?
 * @rules: the rules of a device
 * @scope: as for baleen_rule_takes()
 *
 * Return: true or false.
 */
bool baleen_rules_take(const struct baleen_stored_rules *rules, const char *scope);

/**
 * baleen_rules_take_same() - do two rules take the same shared scopes?
 * @a: a rule
 * @b: another
 *
 * Return: true or false.
 */
bool baleen_rules_take_same(const struct baleen_stored_rule *a, const struct baleen_stored_rule *b);

/**
 * struct baleen_scopes_taken - the scopes whose entries a rule has
 * @own: its own
 * @bans: BALEEN_SCOPE_BANS, or that of no name
 * @fleet: of bans of a fleet, or that of no name
 * @width: how wide the rule has a lone IPv6 address
 */
struct baleen_scopes_taken {
	struct baleen_scope own;
	struct baleen_scope bans;
	struct baleen_scope fleet;
	u32 width;
};

/**
 * baleen_scopes_of_rule() - the scopes whose entries a rule has
 * @state: its device's; without rules, as of baleen_book_open(), no rule takes others
 * @rule: name of the rule; NULL for the shared scope of @state
 * @taken: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_scopes_of_rule(const struct baleen_rule_store *state, const char *rule,
			  struct baleen_scopes_taken *taken, struct baleen_error *error);

/**
 * baleen_scopes_share() - is one of them shared?
 * @taken: filled in
 *
 * Return: true or false.
 */
static inline bool baleen_scopes_share(const struct baleen_scopes_taken *taken)
{
	return *taken->bans.name || *taken->fleet.name;
}

#endif /* BALEEN_RULE_SCOPES_H */
