// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The door that filters go through before packets ask them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "deploy/conf.h"
#include "deploy/gate_live.h"
#include "key/key_spec.h"
#include "ops/edit.h"
#include "state/protected.h"
#include "util/shell.h"

/* --- what is never dropped -------------------------------------------------- */

/* Leave out what comes in no more, since the live filter of the rule has it. */
static int subtract_live(const struct baleen_lockout_check *check, u32 i, struct baleen_list *held,
			 struct baleen_error *error)
{
	struct baleen_list there = { 0 };
	struct baleen_filter live;
	int err;

	if (baleen_list_is_empty(held) || !(check->made_of_live & 1u << i))
		return 0;
	err = baleen_xdp_map_rule(check->xdp, check->ruleset->rule[i].live, &live, error);
	if (err)
		return err;
	err = baleen_filter_held(&live, held, true, &there, error);
	if (!err && baleen_list_subtract(held, &there))
		err = baleen_no_memory(error);
	baleen_list_free(&there);
	baleen_filter_free(&live);
	return err;
}

static int check_filter(const struct baleen_lockout_check *check, u32 i, const char *path,
			const struct baleen_filter *filter, const struct baleen_list *never,
			struct baleen_error *error)
{
	struct baleen_list asked = *never, held = { 0 };
	char key[BALEEN_RULE_ENTRY_TEXT];
	struct baleen_key first;
	u64 n = 0;
	int err;

	asked.key_spec = filter->image.key_spec;
	err = baleen_filter_held(filter, &asked, true, &held, error);
	if (!err)
		err = subtract_live(check, i, &held, error);
	if (!err && baleen_list_meets(&held, &asked, &n, key, &first))
		err = baleen_no_memory(error);
	baleen_list_free(&held);
	if (err || !n)
		return err;
	return baleen_fail(error, EPERM, "rule '%s' would drop %s, which is never dropped (%.600s)",
			   check->ruleset->rule[i].name, key, path);
}

/* The keys that come into a rule; NULL when none of them could be dropped. */
static const struct baleen_filter *comes_in(const struct baleen_lockout_check *check, u32 i)
{
	const struct baleen_ruleset_rule *rule = &check->ruleset->rule[i];
	const struct baleen_filter *filter = rule->filter;

	if (check->delta && i == check->changed)
		filter = check->op == BALEEN_SET_UNION ? check->delta : NULL;
	if (!filter || rule->action != BALEEN_ACTION_DROP || check->takes_out_never & 1u << i ||
	    !baleen_spec_is_address(filter->image.key_spec))
		return NULL;
	return filter;
}

static int read_list(const struct baleen_lockout_check *check, char *path, size_t n_bytes,
		     struct baleen_list *never, struct baleen_error *error)
{
	if (check->never_path)
		snprintf(path, n_bytes, "%s", check->never_path);
	else
		baleen_conf_never_path(path, n_bytes);
	return *path ? baleen_protected_read_never(path, never, error) : 0;
}

int baleen_gate_never(const struct baleen_lockout_check *check, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct baleen_list never = { 0 };
	struct baleen_error why;
	bool is_read = false;
	int err = 0;

	for (u32 i = 0; i < check->ruleset->n_rules && !err && !check->ruleset->dry_run; i++) {
		const struct baleen_filter *filter = comes_in(check, i);

		if (!filter)
			continue;
		if (!is_read)
			err = read_list(check, path, sizeof(path), &never, &why);
		is_read = true;
		if (!err && !baleen_list_is_empty(&never))
			err = check_filter(check, i, path, filter, &never, &why);
	}
	baleen_list_free(&never);
	return err ? baleen_fail(error, -err, "%s: %s: nothing changed", check->device, why.text) :
		     0;
}

/* --- false positives --------------------------------------------------------- */

double baleen_gate_accepts(const struct baleen_stored_rule *rule)
{
	return fmax(fmax(rule->fpp, rule->accept_fpp), BALEEN_ACCEPT_FPP);
}

static const char *hits(u32 action)
{
	switch (action) {
	case BALEEN_ACTION_DROP: return "drop";
	case BALEEN_ACTION_ALLOW: return "let pass";
	default: return "count";
	}
}

int baleen_gate_rate(const char *name, u32 action, const struct baleen_filter *filter,
		     double accept_fpp, const char *mend, struct baleen_error *error)
{
	double fpp = baleen_filter_worst_fpp(filter);

	/* A key that no packet has is refused elsewhere, whatever the rate. */
	if (fpp <= accept_fpp || baleen_key_spec_refuse(filter->image.key_spec))
		return 0;
	return baleen_fail(error, EPERM,
			   "%s: would %s %.*f unlisted packets in a million: false positive rate "
			   "%.3g, accepted %.3g (%s)",
			   name, hits(action), fpp < 1e-4 ? 3 : 0, fpp * 1e6, fpp, accept_fpp,
			   mend);
}

int baleen_gate_raise(const char *name, const struct baleen_filter *before,
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

/* Two digits, rounded up: who types it has consented to the rate itself. */
static double round_up(double rate)
{
	double unit = pow(10, floor(log10(rate)) - 1);

	return ceil(rate / unit) * unit;
}

int baleen_gate_derived(const char *device, const struct baleen_stored_rule *rule,
			const struct baleen_filter *filter, struct baleen_error *error)
{
	char name[BALEEN_POINT_BYTES + BALEEN_NAME_BYTES + 16], target[sizeof(name)];
	double accepted = baleen_gate_accepts(rule), fpp;
	char mend[BALEEN_SHELL_WORD_BYTES + 96];

	if (!baleen_filter_may_exceed(&filter->image, accepted))
		return 0;
	fpp = baleen_filter_worst_fpp(filter);
	if (fpp <= accepted)
		return 0;
	snprintf(name, sizeof(name), "%s: rule '%s'", device, rule->name);
	snprintf(target, sizeof(target), "%s:%s", device, rule->name);
	if (rule->guards_feeds)
		snprintf(mend, sizeof(mend), "'fpp %.2g' in its configuration consents to it",
			 round_up(fpp));
	else
		snprintf(mend, sizeof(mend),
			 "'baleen swap %s IMAGE --accept-fpp %.2g' takes a larger image",
			 baleen_shell_word(target).text, round_up(accepted));
	return baleen_gate_rate(name, rule->action, filter, accepted, mend, error);
}
