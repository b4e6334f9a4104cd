// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries of a live rule, through the state of its device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "deploy/bans.h"

/**
 * struct request - a change of the entries of a rule
 * @rule: the rule
 * @op: the operation on each entry
 * @entries: as the caller has them
 * @options: origin, reason and time of all of them
 * @batch: the same as deploy.h has it
 */
struct request {
	struct api_rule rule;
	enum baleen_rule_entry_op op;
	const char *const *entries;
	struct baleen_entry_options options;
	struct baleen_batch batch;
};

static int check_options(struct request *request, const struct baleen_entry_options *options)
{
	struct baleen_entry_options *taken = &request->options;

	*taken = (struct baleen_entry_options){ .origin = NULL };
	if (options && options->size < sizeof(*options))
		return baleen_fail(api_error(), EINVAL, "options of %zu bytes", options->size);
	if (options)
		*taken = *options;
	if (!taken->origin)
		taken->origin = BALEEN_ORIGIN_MANUAL;
	if (!taken->reason)
		taken->reason = "";
	if (taken->flags & ~(uint64_t)BALEEN_ENTRY_CUTS_SESSIONS)
		return baleen_fail(api_error(), EINVAL, "flags that this release does not know");
	request->batch.asker = BALEEN_ASKER_LIBRARY;
	request->batch.cuts_sessions = taken->flags & BALEEN_ENTRY_CUTS_SESSIONS;
	if (taken->ttl_s > BALEEN_MAX_TTL_S)
		return baleen_fail(api_error(), EINVAL, "longer than a thousand years");
	return baleen_rule_entry_check(taken->origin, taken->reason, api_error());
}

static int find_rule(const struct baleen_deploy *deploy, const struct api_rule *rule,
		     struct baleen_stored_rule *found)
{
	struct baleen_stored_rules *rules = malloc(sizeof(*rules));
	int err;

	if (!rules)
		return baleen_fail(api_error(), ENOMEM, "no memory for rules");
	err = baleen_rule_store_get_rules(&deploy->state, rules, api_error());
	for (u32 i = 0; !err && i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, rule->name)) {
			*found = rules->rule[i];
			free(rules);
			return 0;
		}
	free(rules);
	return err ? err :
		     baleen_fail(api_error(), ENOENT, "%s has no rule '%s'", rule->device,
				 rule->name);
}

static int fill_in(struct request *request, const struct baleen_stored_rule *rule)
{
	u64 now_ms = baleen_now_ms();
	int err = 0;

	for (size_t i = 0; i < request->batch.n && !err; i++) {
		struct baleen_rule_entry_change *change = &request->batch.change[i];
		struct baleen_rule_entry *entry = &change->entry;

		change->op = request->op;
		err = baleen_rule_entry_parse(request->entries[i], rule->key_spec,
					      baleen_rule_ban_width(rule), entry, api_error());
		strcpy(entry->origin, request->options.origin);
		strcpy(entry->reason, request->options.reason);
		entry->added_ms = now_ms;
		if (request->options.ttl_s)
			entry->expires_ms = now_ms + request->options.ttl_s * 1000;
	}
	return err;
}

/* The first entry that was refused. Return: 1 when one was narrowed */
static int check_results(const struct request *request)
{
	bool is_narrowed = false;

	for (size_t i = 0; i < request->batch.n; i++) {
		const struct baleen_rule_entry_change *change = &request->batch.change[i];
		char why[BALEEN_GATE_TEXT];

		is_narrowed |= change->answer == BALEEN_GATE_NARROWED;
		if (change->result == -EPERM)
			return baleen_fail(api_error(), EPERM, "%s: not added: %s",
					   request->entries[i],
					   baleen_gate_text(change->answer, &change->protected,
							    why));
	}
	return is_narrowed;
}

static int make(struct request *request, struct baleen_deploy *deploy)
{
	struct baleen_stored_rule rule;
	int err = find_rule(deploy, &request->rule, &rule);

	if (!err)
		err = fill_in(request, &rule);
	if (!err)
		err = baleen_deploy_batch(deploy, &request->batch, api_error());
	return err ? err : check_results(request);
}

static int carry_out(struct request *request, const char *rule, size_t n)
{
	struct baleen_deploy deploy;
	int err;

	err = api_rule_parse(rule, &request->rule);
	if (err)
		return err;
	request->batch.rule = request->rule.name;
	request->batch.n = n;
	request->batch.change = calloc(n ? n : 1, sizeof(*request->batch.change));
	if (!request->batch.change)
		return baleen_fail(api_error(), ENOMEM, "no memory for %zu entries", n);
	baleen_bans_end_if_due();
	err = baleen_deploy_open(&deploy, request->rule.device, BALEEN_LOCK_TIMEOUT_MS,
				 api_error());
	if (!err) {
		err = make(request, &deploy);
		baleen_deploy_close(&deploy);
	}
	free(request->batch.change);
	return err;
}

int baleen_rule_add(const char *rule, const char *const *entries, size_t n,
		    const struct baleen_entry_options *options)
{
	struct request request = { .op = BALEEN_RULE_ENTRY_PUT, .entries = entries };
	int err = check_options(&request, options);

	return err ? err : carry_out(&request, rule, n);
}

int baleen_rule_del(const char *rule, const char *const *entries, size_t n, const char *origin)
{
	const struct baleen_entry_options options = { .size = sizeof(options), .origin = origin };
	struct request request = { .op = BALEEN_RULE_ENTRY_REMOVE, .entries = entries };
	int err = check_options(&request, &options);

	return err ? err : carry_out(&request, rule, n);
}

int baleen_rule_flush(const char *rule, const char *origin)
{
	const struct baleen_entry_options options = { .size = sizeof(options), .origin = origin };
	struct request request = { .op = BALEEN_RULE_ENTRY_REMOVE };
	int err = check_options(&request, &options);

	request.batch.flush_of = request.options.origin;
	return err ? err : carry_out(&request, rule, 0);
}
