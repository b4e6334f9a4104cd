/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks before a set of rules goes live.
 */
#ifndef BALEEN_CLI_GUARD_H
#define BALEEN_CLI_GUARD_H

#include "cli/open/rules.h"
#include "list/list_combine.h"
#include "net/host.h"
#include "xdp/xdp.h"

/* Exact images and 64-bit slots pass, anything else has to be asked for. */
#define DEFAULT_ACCEPT_FPP 1e-9

#define ACCEPT_FPP_OPTION(type, member)                        \
	VALUE("accept-fpp", 0, "P", option_rate, type, member, \
	      "accept a rule whose false positive rate is up to P (1e-9)")

/* 0, or EXIT_FAILED after saying how many innocents the filter would hit. */
int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp);

/* 0, or EXIT_FAILED after saying that @after would hit more innocents than both
 * @before and what is accepted.
 */
int guard_raise(const char *name, const struct baleen_filter *before,
		const struct baleen_filter *after, double accept_fpp);

/* guard_rate() of each rule. */
int guard_rates(const struct rules *rules, double accept_fpp);

/* 0, or EXIT_FAILED after naming each address of the host that the ruleset would
 * drop, with its entry and line. @xdp holds the rules that stay, @rules those
 * that come; each may be NULL.
 */
int guard_ruleset(const char *device, const struct baleen_xdp *xdp,
		  const struct baleen_ruleset *ruleset, const struct rules *rules);

/* The same, of addresses that @xdp does not drop already: what was forced upon the
 * host before is not asked about again.
 */
int guard_update(const char *device, const struct baleen_xdp *xdp,
		 const struct baleen_ruleset *ruleset);

/* 0, or EXIT_FAILED after naming each address of the host that would be dropped
 * and is not now, were the keys of @delta added to a rule or taken out of it. @host is
 * surveyed if it is not yet; NULL for a survey of the guard's own.
 */
int guard_change(const struct baleen_xdp *xdp, u32 index, const struct baleen_filter *delta,
		 enum baleen_set_op op, struct baleen_host *host);

/* The same of a ruleset, whose filters @xdp holds if it has them not itself. */
int guard_delta(const char *device, const struct baleen_xdp *xdp,
		const struct baleen_ruleset *ruleset, u32 index, const struct baleen_filter *delta,
		enum baleen_set_op op, struct baleen_host *host);

#endif /* BALEEN_CLI_GUARD_H */
