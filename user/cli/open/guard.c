// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks before a set of rules goes live, with a message when one fails. */
#include <stdlib.h>

#include "cli/open/guard.h"
#include "cli/open/list_file.h"

/* --- false positives --------------------------------------------------------- */

int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp)
{
	struct baleen_error error;

	if (!baleen_gate_rate(name, action, filter, accept_fpp, "--accept-fpp", &error))
		return 0;
	return complain("%s", error.text);
}

int guard_rates(const struct rules *rules, double accept_fpp)
{
	int err = 0;

	for (u32 i = 0; i < rules->n && !err; i++)
		err = guard_rate(rules->rule[i].name, rules->rule[i].action,
				 &rules->rule[i].ref.filter, accept_fpp);
	return err;
}

/* --- what is never dropped --------------------------------------------------- */

int guard_never(const struct baleen_lockout_check *check)
{
	struct baleen_error error;

	return baleen_gate_never(check, &error) ? complain("%s", error.text) : 0;
}

/* --- what would cut the host off ------------------------------------------- */

/* Addresses that are named; reading a list again for each takes its time. */
#define MAX_NAMED 20

/* Names the line of a list that was typed, else the image or the device. */
static void complain_of(const struct baleen_lockout_check *check, const struct rules *rules,
			const struct baleen_lockout *lockout, const char *warning)
{
	const struct rule_argument *from = NULL;
	char text[BALEEN_LOCKOUT_TEXT], entry[BALEEN_KEY_TEXT * 2];
	u64 line;

	baleen_lockout_text(check, lockout, text);
	if (rules && lockout->rule != BALEEN_LOCKOUT_DEFAULT)
		from = rules_find(rules, &check->ruleset->rule[lockout->rule]);
	if (from && from->ref.is_list &&
	    list_file_find(from->path, &from->ref.csv, from->ref.filter.image.key_spec,
			   &lockout->key, &line, entry, sizeof(entry)))
		complain("%s%s:%llu: '%s': %s", warning, from->path, (unsigned long long)line,
			 entry, text);
	else
		complain("%s%s: %s", warning, from ? from->path : check->device, text);
}

int guard_host(const struct baleen_lockout_check *check, const struct rules *rules, bool is_forced)
{
	const char *warning = is_forced ? "warning: " : "";
	struct baleen_lockouts found;
	struct baleen_error error;
	int err = 0;

	if (baleen_lockout_find(check, &found, &error))
		return is_forced ? 0 : complain("%s", error.text);
	for (size_t i = 0; i < found.n && i < MAX_NAMED; i++)
		complain_of(check, rules, &found.lockout[i], warning);
	if (found.n > MAX_NAMED)
		complain("%s%s: and %zu more addresses", warning, check->device,
			 found.n - MAX_NAMED);
	if (found.n && !is_forced) {
		complain("%s: nothing changed, since this host would cut itself off "
			 "(--force does it)",
			 check->device);
		err = EXIT_FAILED;
	}
	free(found.lockout);
	return err;
}

int guard_conf(const char *device, const struct baleen_stored_rules *rules,
	       const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset, bool force)
{
	return guard_host(&(struct baleen_lockout_check){ .device = device,
							  .ruleset = ruleset,
							  .xdp = xdp,
							  .is_update = true,
							  .sessions = rules->guard_sessions },
			  NULL, force);
}
