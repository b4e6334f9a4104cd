// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The door that filters go through before packets ask them. */
#include <errno.h>
#include <stdio.h>

#include "deploy/conf.h"
#include "deploy/gate_live.h"
#include "key/key_spec.h"
#include "ops/edit.h"
#include "state/protected.h"

static int check_filter(const char *path, const char *rule, const struct baleen_filter *filter,
			const struct baleen_list *never, struct baleen_error *error)
{
	struct baleen_list asked = *never, held = { 0 };
	char key[BALEEN_RULE_ENTRY_TEXT];
	struct baleen_key first;
	u64 n = 0;
	int err;

	asked.key_spec = filter->image.key_spec;
	err = baleen_filter_held(filter, &asked, true, &held, error);
	if (!err && baleen_list_meets(&held, &asked, &n, key, &first))
		err = baleen_no_memory(error);
	baleen_list_free(&held);
	if (err || !n)
		return err;
	return baleen_fail(error, EPERM, "rule '%s' would drop %s, which is never dropped (%.600s)",
			   rule, key, path);
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
	bool is_read = false;
	int err = 0;

	for (u32 i = 0; i < check->ruleset->n_rules && !err && !check->ruleset->dry_run; i++) {
		const struct baleen_filter *filter = comes_in(check, i);

		if (!filter)
			continue;
		if (!is_read)
			err = read_list(check, path, sizeof(path), &never, error);
		is_read = true;
		if (!err && !baleen_list_is_empty(&never))
			err = check_filter(path, check->ruleset->rule[i].name, filter, &never,
					   error);
	}
	baleen_list_free(&never);
	return err;
}
