// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* May rules hit unlisted packets at the rates that their filters have? */
#include <errno.h>
#include <math.h>

#include "deploy/accept_fpp.h"

int baleen_accept_fpp(const char *name, u32 action, const struct baleen_filter *filter,
		      double accept_fpp, struct baleen_error *error)
{
	double fpp = baleen_filter_worst_fpp(filter);

	if (fpp <= accept_fpp)
		return 0;
	return baleen_fail(error, EPERM,
			   "%s: would %s %.*f unlisted packets in a million: false positive rate "
			   "%.3g, accepted %.3g (--accept-fpp)",
			   name, action == BALEEN_ACTION_DROP ? "drop" : "let pass",
			   fpp < 1e-4 ? 3 : 0, fpp * 1e6, fpp, accept_fpp);
}

int baleen_accept_fpp_raise(const char *name, const struct baleen_filter *before,
			    const struct baleen_filter *after, double accept_fpp,
			    struct baleen_error *error)
{
	double fpp = baleen_filter_worst_fpp(after);

	if (fpp <= accept_fpp || fpp <= baleen_filter_worst_fpp(before))
		return 0;
	return baleen_fail(error, EPERM,
			   "%s: would raise the false positive rate to %.3g, accepted %.3g: build "
			   "it larger (--accept-fpp takes it)",
			   name, fpp, accept_fpp);
}

int baleen_accept_fpp_stored(const char *device, const struct baleen_stored_rules *rules,
			     const struct baleen_ruleset *ruleset, struct baleen_error *error)
{
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		int index = baleen_rule_store_find_rule(rules, rule->name);
		double fpp = rule->filter ? baleen_filter_worst_fpp(rule->filter) : 0;

		if (fpp <= fmax(index >= 0 ? rules->rule[index].fpp : 0, BALEEN_ACCEPT_FPP))
			continue;
		return baleen_fail(
			error, EPERM,
			"%s: rule '%s' would %s unlisted packets at a rate of %.3g: 'fpp %.1g' in "
			"its configuration consents to it",
			device, rule->name, rule->action == BALEEN_ACTION_DROP ? "drop" : "take in",
			fpp, fpp);
	}
	return 0;
}
