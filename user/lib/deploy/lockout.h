/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Would a ruleset lock this host out: its own addresses, gateways, resolvers and the
 * peers of its TCP sessions?
 */
#ifndef BALEEN_LOCKOUT_H
#define BALEEN_LOCKOUT_H

#include "list/list_combine.h"
#include "net/host.h"
#include "xdp/ruleset.h"
#include "xdp/xdp.h"

/* The rule of what the default drops. */
#define BALEEN_LOCKOUT_DEFAULT BALEEN_MAX_RULES

/**
 * struct baleen_lockout - an address of the host that would be dropped
 * @address: the address
 * @rule: index of the rule; BALEEN_LOCKOUT_DEFAULT
 * @key: the key of the rule that lists it
 */
struct baleen_lockout {
	struct baleen_host_address address;
	u32 rule;
	struct baleen_key key;
};

/**
 * struct baleen_lockouts - what was found
 * @lockout: each address once in each role
 * @n: how many
 *
 * All zeros has none. Free @lockout with free().
 */
struct baleen_lockouts {
	struct baleen_lockout *lockout;
	size_t n;
};

/**
 * struct baleen_lockout_check - a ruleset about to go live
 * @device: where
 * @ruleset: the ruleset
 * @xdp: filters of the rules that have none in @ruleset; may be NULL when all have
 * @is_update: addresses that @xdp drops now are not found again
 * @delta: keys that are about to be added to a rule or taken out of it; NULL for none.
 *         Addresses that the ruleset drops without them are not found
 * @changed: index of that rule
 * @op: union or difference
 * @host: surveyed if it is not yet; NULL for a survey of the check's own
 * @sessions: enum baleen_session_guard: those whose peers are addresses of the host
 * @protects: bit i: rule i takes addresses of the host out of itself, and drops none of them
 * @removes_special: bit i: rule i takes special-purpose ranges out of itself
 * @never_path: the never-drop list; empty for none; NULL for the default
 * @takes_out_never: bit i: rule i is derived without what that has
 * @made_of_live: bit i: the filter of rule i is made of the one that @xdp has for it, and what that
 *                has of the list may stay
 * @only_peers: other addresses are refused elsewhere: baleen_protected_applies()
 */
struct baleen_lockout_check {
	const char *device;
	const struct baleen_ruleset *ruleset;
	const struct baleen_xdp *xdp;
	bool is_update;
	const struct baleen_filter *delta;
	u32 changed;
	enum baleen_set_op op;
	struct baleen_host *host;
	u32 sessions;
	u32 protects;
	u32 removes_special;
	const char *never_path;
	u32 takes_out_never;
	u32 made_of_live;
	bool only_peers;
};

/**
 * baleen_lockout_find() - which addresses of the host would be dropped?
 * @check: the ruleset; a dry run drops none
 * @found: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_lockout_find(const struct baleen_lockout_check *check, struct baleen_lockouts *found,
			struct baleen_error *error);

#define BALEEN_LOCKOUT_TEXT 256

/**
 * baleen_lockout_text() - one of them in words
 * @check: the ruleset
 * @lockout: found
 * @text: filled in: "rule 'bad' would drop 192.0.2.1, gateway of eth0"
 *
 * Return: @text.
 */
const char *baleen_lockout_text(const struct baleen_lockout_check *check,
				const struct baleen_lockout *lockout,
				char text[static BALEEN_LOCKOUT_TEXT]);

#endif /* BALEEN_LOCKOUT_H */
