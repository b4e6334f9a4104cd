// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rules of a device as a value. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "filter/recent.h"
#include "key/key_spec.h"
#include "xdp/limit_words.h"
#include "xdp/qualifiers.h"
#include "util/memory.h"
#include "xdp/ruleset.h"

const char *baleen_action_text(u32 action)
{
	static const char *const text[] = {
		[BALEEN_ACTION_DROP] = "drop",
		[BALEEN_ACTION_ALLOW] = "allow",
		[BALEEN_ACTION_COUNT] = "count",
	};

	return action < sizeof(text) / sizeof(text[0]) ? text[action] : NULL;
}

const char *baleen_rule_name_check(const char *name)
{
	size_t allowed = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-");

	if (!*name)
		return "a rule's name cannot be empty";
	if (name[allowed])
		return "a rule's name is made of letters, digits, '.', '_' and '-'";
	if (*name == '-')
		return "a rule's name does not start with '-'";
	if (strlen(name) >= BALEEN_NAME_BYTES)
		return "a rule's name has at most 31 characters";
	return NULL;
}

void baleen_ruleset_from_config(const struct baleen_config *config, struct baleen_ruleset *ruleset)
{
	memset(ruleset, 0, sizeof(*ruleset));
	ruleset->n_rules = config->n_rules;
	ruleset->default_drop = config->default_drop;
	ruleset->dry_run = config->dry_run;
	ruleset->sample_interval_ns = config->sample_interval_ns;
	for (u32 i = 0; i < config->n_rules; i++) {
		struct baleen_ruleset_rule *rule = &ruleset->rule[i];

		memcpy(rule->name, config->rule[i].image.name, sizeof(rule->name));
		rule->action = config->rule[i].action;
		rule->qualifiers = config->rule[i].qualifiers;
		rule->rate_limit = config->limit[i].typed;
		rule->live = i;
	}
}

int baleen_ruleset_find(const struct baleen_ruleset *ruleset, const char *name)
{
	for (u32 i = 0; i < ruleset->n_rules; i++)
		if (!strcmp(ruleset->rule[i].name, name))
			return i;
	return -ENOENT;
}

int baleen_ruleset_insert(struct baleen_ruleset *ruleset, u32 place,
			  const struct baleen_ruleset_rule *rule, struct baleen_error *error)
{
	struct baleen_ruleset_rule *at = &ruleset->rule[place];

	if (ruleset->n_rules == BALEEN_MAX_RULES)
		return baleen_fail(error, E2BIG, "more than %d rules", BALEEN_MAX_RULES);
	if (baleen_ruleset_find(ruleset, rule->name) >= 0)
		return baleen_fail(error, EEXIST, "two rules are called '%s'", rule->name);
	memmove(at + 1, at, (ruleset->n_rules - place) * sizeof(*at));
	*at = *rule;
	ruleset->n_rules++;
	return 0;
}

void baleen_ruleset_remove(struct baleen_ruleset *ruleset, u32 place)
{
	struct baleen_ruleset_rule *at = &ruleset->rule[place];

	ruleset->n_rules--;
	memmove(at, at + 1, (ruleset->n_rules - place) * sizeof(*at));
}

void baleen_ruleset_move(struct baleen_ruleset *ruleset, u32 from, u32 to)
{
	struct baleen_ruleset_rule moved = ruleset->rule[from];

	baleen_ruleset_remove(ruleset, from);
	baleen_ruleset_insert(ruleset, to, &moved, NULL);
}

static int check_rule(const struct baleen_ruleset *ruleset, u32 place, struct baleen_error *error)
{
	const struct baleen_ruleset_rule *rule = &ruleset->rule[place];
	const char *reason = baleen_rule_name_check(rule->name);
	struct baleen_error what;

	if (reason)
		return baleen_fail(error, EINVAL, "rule %u: %s", place + 1, reason);
	if (rule->action > BALEEN_ACTION_COUNT)
		return baleen_fail(error, EINVAL, "rule '%s': no action %u", rule->name,
				   rule->action);
	if (!rule->filter && rule->live == BALEEN_RULE_NEW)
		return baleen_fail(error, EINVAL, "rule '%s' has no filter", rule->name);
	if (baleen_qualifiers_check(&rule->qualifiers, &rule->rate_limit, &what))
		return baleen_fail(error, EINVAL, "rule '%s': %s", rule->name, what.text);
	if (rule->rate_limit.rate && rule->action == BALEEN_ACTION_ALLOW)
		return baleen_fail(error, EINVAL, "rule '%s': %s", rule->name,
				   BALEEN_LIMIT_IS_NOT_FOR_ALLOW);
	for (u32 i = 0; i < place; i++) {
		if (!strcmp(ruleset->rule[i].name, rule->name))
			return baleen_fail(error, EEXIST, "two rules are called '%s'", rule->name);
		if (rule->live != BALEEN_RULE_NEW && ruleset->rule[i].live == rule->live)
			return baleen_fail(error, EINVAL, "rules '%s' and '%s' continue the same",
					   ruleset->rule[i].name, rule->name);
	}
	return 0;
}

int baleen_ruleset_check(const struct baleen_ruleset *ruleset, struct baleen_error *error)
{
	int err = 0;

	if (!ruleset->n_rules)
		return baleen_fail(error, EINVAL, "no rules");
	if (ruleset->n_rules > BALEEN_MAX_RULES)
		return baleen_fail(error, E2BIG, "more than %d rules", BALEEN_MAX_RULES);
	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		err = check_rule(ruleset, i, error);
	return err;
}

static u64 rule_bytes(const struct baleen_ruleset_rule *rule, const struct baleen_config *live)
{
	if (rule->filter)
		return (u64)rule->filter->image.n_blocks * BALEEN_BLOCK_BYTES;
	return live && rule->live != BALEEN_RULE_NEW ?
		       (u64)live->rule[rule->live].image.n_blocks * BALEEN_BLOCK_BYTES :
		       0;
}

int baleen_ruleset_fits(const struct baleen_ruleset *ruleset, const struct baleen_config *live,
			struct baleen_error *error)
{
	u64 max = baleen_memory_bound(ruleset->max_bytes), sum = 0, before = 0, most = 0;
	char what[BALEEN_NAME_BYTES + sizeof("rule '' and others")];
	u32 largest = 0;

	for (u32 i = 0; i < ruleset->n_rules; i++) {
		u64 n_bytes = rule_bytes(&ruleset->rule[i], live);

		sum += n_bytes;
		if (n_bytes > most) {
			most = n_bytes;
			largest = i;
		}
	}
	for (u32 i = 0; live && i < live->n_rules; i++)
		before += (u64)live->rule[i].image.n_blocks * BALEEN_BLOCK_BYTES;
	if (sum <= max || sum <= before)
		return 0;
	snprintf(what, sizeof(what), "rule '%s'%s", ruleset->rule[largest].name,
		 sum > most ? " and others" : "");
	return baleen_memory_refuse(what, sum, max, error);
}

int baleen_ruleset_keeps_keys(const struct baleen_ruleset *ruleset, const char *device,
			      const u32 *key_spec, struct baleen_error *error)
{
	char before[BALEEN_KEY_SPEC_TEXT], after[BALEEN_KEY_SPEC_TEXT];

	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];

		if (rule->live == BALEEN_RULE_NEW || !rule->filter ||
		    rule->filter->image.key_spec == key_spec[rule->live])
			continue;
		return baleen_fail(error, EINVAL, "%s:%s is keyed by %s, the new image by %s",
				   device, rule->name,
				   baleen_key_spec_text(key_spec[rule->live], before),
				   baleen_key_spec_text(rule->filter->image.key_spec, after));
	}
	return 0;
}

/* The lowest bit that is clear in both, or else in @taken. */
static u32 free_slot(u32 taken, u32 left)
{
	u32 all = (1u << BALEEN_MAX_RULES) - 1;
	u32 free = all & ~(taken | left) ? ~(taken | left) : ~taken;

	return __builtin_ctz(free);
}

static void configure_rule(const struct baleen_ruleset_rule *rule, const struct baleen_config *old,
			   struct baleen_rule *configured)
{
	const struct baleen_image *image =
		rule->filter ? &rule->filter->image : &old->rule[rule->live].image;

	baleen_rule_set(configured, rule->action, rule->name, &rule->qualifiers, image);
	if (rule->live == BALEEN_RULE_NEW)
		return;
	configured->slot = old->rule[rule->live].slot;
	configured->base = old->rule[rule->live].base;
}

/* A map that stays has the table that it was made with, or none. */
static u32 recent_buckets(const struct baleen_ruleset_rule *rule, const struct baleen_config *old)
{
	return rule->filter ? baleen_recent_buckets(&rule->filter->image) :
			      old->recent_buckets[rule->live];
}

/* The buckets of a limit that stays are where they were. */
static void configure_limits(const struct baleen_ruleset *ruleset, const struct baleen_config *old,
			     struct baleen_config *new)
{
	u32 n_sets = 0;

	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		const struct baleen_limit *before =
			rule->live == BALEEN_RULE_NEW ? NULL : &old->limit[rule->live];
		const u64 *random = new->rule[i].image.seed.word;

		new->limit[i] = baleen_limit_set_up(&rule->rate_limit,
						    before && before->interval_ns ?
							    before->seed :
							    random[0] ^ baleen_mix64(random[1]),
						    n_sets);
		n_sets += rule->rate_limit.rate ? BALEEN_LIMIT_SETS : 0;
	}
}

bool baleen_limits_are_same(const struct baleen_config *a, const struct baleen_config *b)
{
	u32 i = 0, j = 0;

	for (;; i++, j++) {
		while (i < a->n_rules && !a->limit[i].interval_ns)
			i++;
		while (j < b->n_rules && !b->limit[j].interval_ns)
			j++;
		if (i == a->n_rules || j == b->n_rules)
			return i == a->n_rules && j == b->n_rules;
		if (a->rule[i].slot != b->rule[j].slot ||
		    memcmp(&a->limit[i], &b->limit[j], sizeof(a->limit[i])))
			return false;
	}
}

void baleen_ruleset_configure(const struct baleen_ruleset *ruleset, const struct baleen_config *old,
			      const struct baleen_stats *counted, struct baleen_config *config)
{
	struct baleen_config new = *old;
	u32 taken = 0, left = 0;

	for (u32 i = 0; i < old->n_rules; i++)
		left |= 1u << old->rule[i].slot;
	memset(new.rule, 0, sizeof(new.rule));
	memset(new.recent_buckets, 0, sizeof(new.recent_buckets));
	memset(new.limit, 0, sizeof(new.limit));
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		configure_rule(&ruleset->rule[i], old, &new.rule[i]);
		new.recent_buckets[i] = recent_buckets(&ruleset->rule[i], old);
		if (ruleset->rule[i].live != BALEEN_RULE_NEW)
			taken |= 1u << new.rule[i].slot;
	}
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		if (ruleset->rule[i].live != BALEEN_RULE_NEW)
			continue;
		new.rule[i].slot = free_slot(taken, left);
		taken |= 1u << new.rule[i].slot;
		if (counted)
			new.rule[i].base = counted->rule[new.rule[i].slot];
	}
	configure_limits(ruleset, old, &new);
	new.version = BALEEN_CONFIG_VERSION;
	new.n_rules = ruleset->n_rules;
	new.default_drop = ruleset->default_drop;
	new.dry_run = ruleset->dry_run;
	new.sample_interval_ns = ruleset->sample_interval_ns;
	*config = new;
}
