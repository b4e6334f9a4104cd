/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules that scopes of the book belong to, device by device.
 */
#ifndef BALEEN_CLI_SCOPE_RULES_H
#define BALEEN_CLI_SCOPE_RULES_H

#include "state/rule_store.h"
#include "state/scope.h"

/**
 * struct scope_rules - the rules of one device; all zeros at the start
 * @has_state: it has a state
 * @state: it, opened for reading; its scope is the name of the device in the book
 * @rules: its rules; none without a state
 */
struct scope_rules {
	bool has_state;
	struct baleen_rule_store state;
	struct baleen_stored_rules rules;
};

/* Are these of the device that the book calls so? */
bool scope_rules_are_of(const struct scope_rules *rules, const char *device);

/* Goes on to another device, which may have no state; 0 or a negative errno with an error, and
 * then there are none.
 */
int scope_rules_open(struct scope_rules *rules, const char *device, struct baleen_error *error);

/* The rule of this name; NULL when it is not there, and its entries are parked. */
const struct baleen_stored_rule *scope_rules_find(const struct scope_rules *rules,
						  const char *name);

/* How wide a lone IPv6 address is in a scope: as its rule says, or, of a shared one, the widest of
 * those that take it; BALEEN_BAN_WIDTH where that is not known.
 */
u32 scope_ban_width(struct scope_rules *rules, const struct baleen_scope *scope);

void scope_rules_close(struct scope_rules *rules);

#endif /* BALEEN_CLI_SCOPE_RULES_H */
