// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks before rules of a state go live. */
#include <math.h>
#include <string.h>

#include "cli/open/conf_guard.h"

static double accepted_fpp(const struct baleen_stored_rules *rules, const char *name)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, name))
			return fmax(rules->rule[i].fpp, DEFAULT_ACCEPT_FPP);
	return DEFAULT_ACCEPT_FPP;
}

/* A filter that stays was checked when it came. */
static int guard_fpp(const char *device, const struct baleen_ruleset_rule *rule, double accepted)
{
	double fpp = rule->filter ? baleen_filter_worst_fpp(rule->filter) : 0;

	if (fpp <= accepted)
		return 0;
	complain("%s: rule '%s' would %s unlisted packets at a rate of %.3g: 'fpp %.1g' in its "
		 "configuration consents to it",
		 device, rule->name, rule->action == BALEEN_ACTION_DROP ? "drop" : "take in", fpp,
		 fpp);
	return EXIT_FAILED;
}

int guard_conf(const char *device, const struct baleen_stored_rules *rules,
	       const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset, bool force)
{
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];

		if (guard_fpp(device, rule, accepted_fpp(rules, rule->name)))
			return EXIT_FAILED;
	}
	return force ? 0 : guard_update(device, xdp, ruleset);
}
