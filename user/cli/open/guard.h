/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks before a set of rules goes live, with a message when one fails.
 */
#ifndef BALEEN_CLI_GUARD_H
#define BALEEN_CLI_GUARD_H

#include "cli/open/rules.h"
#include "deploy/accept_fpp.h"
#include "deploy/lockout.h"

#define ACCEPT_FPP_OPTION(type, member)                        \
	VALUE("accept-fpp", 0, "P", option_rate, type, member, \
	      "accept a rule whose false positive rate is up to P (1e-9)")

/* 0, or EXIT_FAILED after saying how many innocents the filter would hit. */
int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp);

/* guard_rate() of each rule. */
int guard_rates(const struct rules *rules, double accept_fpp);

/* 0, or EXIT_FAILED after naming each address of the host that would be dropped, with its
 * entry and line when @rules has the rule; that may be NULL.
 */
int guard_host(const struct baleen_lockout_check *check, const struct rules *rules);

/* guard_host() of rules that come, some of which may be those of @xdp; each may be NULL. */
int guard_ruleset(const char *device, const struct baleen_xdp *xdp,
		  const struct baleen_ruleset *ruleset, const struct rules *rules);

/* The same, of addresses that @xdp does not drop already: what was forced upon the
 * host before is not asked about again.
 */
int guard_update(const char *device, const struct baleen_xdp *xdp,
		 const struct baleen_ruleset *ruleset);

/* guard_host() of keys that are added to a rule or taken out of it. @host is surveyed if it
 * is not yet; NULL for a survey of the guard's own.
 */
int guard_change(const struct baleen_xdp *xdp, u32 index, const struct baleen_filter *delta,
		 enum baleen_set_op op, struct baleen_host *host);

/* 0, or EXIT_FAILED after a message: a rule of a state that hits more innocents than its fpp
 * says, or, unless forced, guard_update().
 */
int guard_conf(const char *device, const struct baleen_stored_rules *rules,
	       const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset, bool force);

#endif /* BALEEN_CLI_GUARD_H */
