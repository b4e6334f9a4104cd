/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks before a set of rules goes live, with a message when one fails.
 */
#ifndef BALEEN_CLI_GUARD_H
#define BALEEN_CLI_GUARD_H

#include "cli/open/rules.h"
#include "deploy/gate_live.h"

#define ACCEPT_FPP_OPTION(type, member)                        \
	VALUE("accept-fpp", 0, "P", option_rate, type, member, \
	      "accept a rule whose false positive rate is up to P (1e-9)")

/* 0, or EXIT_FAILED after saying how many innocents the filter would hit. */
int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp);

/* guard_rate() of each rule. */
int guard_rates(const struct rules *rules, double accept_fpp);

/* 0, or EXIT_FAILED after naming an address of the never-drop list that would be dropped. What
 * goes live by XDP is asked about by those who put it there.
 */
int guard_never(const struct baleen_lockout_check *check);

/* 0, or EXIT_FAILED after naming each address of the host that would be dropped, with its
 * entry and line when @rules has the rule; that may be NULL. When it is forced, these are
 * warnings.
 */
int guard_host(const struct baleen_lockout_check *check, const struct rules *rules, bool is_forced);

/* guard_host() of rules of a state, but for what it drops already. */
int guard_conf(const char *device, const struct baleen_stored_rules *rules,
	       const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset, bool force);

#endif /* BALEEN_CLI_GUARD_H */
