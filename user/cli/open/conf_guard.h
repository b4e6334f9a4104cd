/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks before rules of a state go live.
 */
#ifndef BALEEN_CLI_CONF_GUARD_H
#define BALEEN_CLI_CONF_GUARD_H

#include "cli/open/guard.h"
#include "state/rule_store.h"

/* 0, or EXIT_FAILED after a message: a rule that was built and hits more innocents
 * than its fpp says, or, unless forced, a ruleset that would cut this host off where
 * it is not cut off already.
 */
int guard_conf(const char *device, const struct baleen_stored_rules *rules,
	       const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset, bool force);

#endif /* BALEEN_CLI_CONF_GUARD_H */
