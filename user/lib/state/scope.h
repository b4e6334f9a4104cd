/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scopes: the name that entries of the book belong to.
 *
 *      DEV:RULE                           entries of one rule
 *      bans                               of all rules with the statement bans
 *      feed fleet:SET, with max-ttl TIME  of all rules with this statement
 *
 * The last two are shared: their rows are kept once in a network namespace, for whoever takes them.
 * A longest time makes another scope of a set, since its rows have other ends.
 */
#ifndef BALEEN_SCOPE_H
#define BALEEN_SCOPE_H

#include "state/rule_store_handle.h"

#define BALEEN_SCOPE_BANS "bans"
#define BALEEN_SCOPE_FLEET "feed fleet:"

/* Room for DEV:RULE, and for a statement. */
#define BALEEN_SCOPE_BYTES 96

/**
 * struct baleen_scope - the name of a scope
 * @name: its name; empty for none
 */
struct baleen_scope {
	char name[BALEEN_SCOPE_BYTES];
};

/**
 * baleen_scope_of() - the scope of a rule
 * @state: its device's
 * @rule: name of the rule; NULL for the shared scope of @state
 *
 * Return: the scope.
 */
struct baleen_scope baleen_scope_of(const struct baleen_rule_store *state, const char *rule);

/**
 * baleen_scope_is_of_fleet() - is it a shared one of bans of a fleet?
 * @scope: its name
 *
 * Return: true or false.
 */
bool baleen_scope_is_of_fleet(const char *scope);

/**
 * baleen_scope_is_shared() - is it of all rules that take it?
 * @scope: its name
 *
 * Return: false of DEV:RULE.
 */
bool baleen_scope_is_shared(const char *scope);

/**
 * baleen_scope_is_called() - is it the shared scope that people call so?
 * @scope: its name
 * @word: bans, or fleet:SET, with any longest time
 *
 * Return: true or false.
 */
bool baleen_scope_is_called(const char *scope, const char *word);

#endif /* BALEEN_SCOPE_H */
