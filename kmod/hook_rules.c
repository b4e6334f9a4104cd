// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules: from what a process gives to what packets ask. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "binding.h"
#include "dev.h"
#include "load.h"
#include "names.h"

static_assert(BALEEN_DEV_NAME_BYTES == BALEEN_NAME_BYTES);
static_assert(BALEEN_DEV_MAX_RULES == BALEEN_MAX_RULES);
static_assert(BALEEN_DEV_MAX_PORTS == BALEEN_MAX_PORTS);
static_assert((u32)BALEEN_DEV_DROP == (u32)BALEEN_ACTION_DROP);
static_assert((u32)BALEEN_DEV_ALLOW == (u32)BALEEN_ACTION_ALLOW);
static_assert((u32)BALEEN_DEV_ONLY_COUNT == (u32)BALEEN_ACTION_COUNT);
static_assert(sizeof(struct baleen_dev_qualifiers) == sizeof(struct baleen_qualifiers));
static_assert(offsetof(struct baleen_dev_qualifiers, vlan) ==
	      offsetof(struct baleen_qualifiers, vlan));
static_assert(offsetof(struct baleen_dev_qualifiers, n_dports) ==
	      offsetof(struct baleen_qualifiers, n_dports));
static_assert(offsetof(struct baleen_dev_qualifiers, dport) ==
	      offsetof(struct baleen_qualifiers, dport));

/* --- what a process gives --- */

static bool rule_name_is_bad(const u8 *name)
{
	return baleen_image_check_name((const char *)name);
}

static bool rule_ports_are_bad(const struct baleen_dev_qualifiers *asked)
{
	if (asked->n_dports > BALEEN_DEV_MAX_PORTS)
		return true;
	for (u32 i = 0; i < BALEEN_DEV_MAX_PORTS; i++) {
		const struct baleen_dev_port_range *range = &asked->dport[i];

		if (i < asked->n_dports ? range->first > range->last : range->first || range->last)
			return true;
	}
	return false;
}

static bool rule_qualifiers_are_bad(const struct baleen_dev_qualifiers *asked)
{
	if (asked->has_proto > 1 || asked->tcp_syn > 1 || asked->has_vlan > 1 || asked->reserved)
		return true;
	if (!asked->has_proto && asked->proto)
		return true;
	if (asked->has_vlan ? !asked->vlan || asked->vlan > 4094 : asked->vlan)
		return true;
	return rule_ports_are_bad(asked);
}

static bool rule_is_bad(const struct baleen_dev_rule *asked)
{
	if (!asked->name[0] || rule_name_is_bad(asked->name) || rule_name_is_bad(asked->filter))
		return true;
	if ((asked->filter[0] && asked->image) || !asked->image != !asked->n_bytes)
		return true;
	return asked->action > BALEEN_DEV_ONLY_COUNT || asked->reserved ||
	       rule_qualifiers_are_bad(&asked->qualifiers);
}

static int rules_check(const struct baleen_dev_rule *asked, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (rule_is_bad(&asked[i]))
			return -EINVAL;
		for (u32 j = 0; j < i; j++)
			if (!memcmp(asked[i].name, asked[j].name, sizeof(asked->name)))
				return -EINVAL;
	}
	return 0;
}

static int rule_copy_own(const struct baleen_dev_rule *asked, struct baleen_hook_rule *rule)
{
	struct baleen_body *body;
	int err = baleen_load_whole(u64_to_user_ptr(asked->image), asked->n_bytes, &body);

	if (err)
		return err;
	err = baleen_filter_create(NULL, body, &rule->filter);
	if (err)
		baleen_body_free(body);
	return err;
}

static int rules_copy_asked(const void __user *from, u32 n, u32 rule_bytes,
			    struct baleen_dev_rule *asked)
{
	int err = baleen_dev_check_size(rule_bytes, sizeof(*asked));

	for (u32 i = 0; i < n && !err; i++)
		err = copy_struct_from_user(&asked[i], sizeof(*asked),
					    from + (size_t)i * rule_bytes, rule_bytes);
	return err;
}

int baleen_hook_rules_copy(const void __user *from, u32 n, u32 rule_bytes,
			   struct baleen_dev_rule **asked, struct baleen_hook_rules **rules)
{
	struct baleen_dev_rule *copy = kmalloc_array(n, sizeof(*copy), GFP_KERNEL);
	struct baleen_hook_rules *made;
	int err;

	if (!copy)
		return -ENOMEM;
	err = rules_copy_asked(from, n, rule_bytes, copy);
	if (!err)
		err = rules_check(copy, n);
	if (err)
		goto no_rules;
	err = -ENOMEM;
	made = kvzalloc(struct_size(made, rule, n), GFP_KERNEL_ACCOUNT);
	if (!made)
		goto no_rules;
	made->n = n;
	for (u32 i = 0; i < n; i++) {
		err = -ENOMEM;
		made->rule[i].stats =
			alloc_percpu_gfp(struct baleen_rule_stats, GFP_KERNEL_ACCOUNT);
		if (!made->rule[i].stats)
			goto no_filters;
		err = copy[i].image ? rule_copy_own(&copy[i], &made->rule[i]) : 0;
		if (err)
			goto no_filters;
	}
	*asked = copy;
	*rules = made;
	return 0;
no_filters:
	baleen_hook_rules_free(made);
no_rules:
	kfree(copy);
	return err;
}

static void rules_free_memory(struct baleen_hook_rules *rules)
{
	for (u32 i = 0; i < rules->n; i++)
		if (!rules->rule[i].inherited)
			free_percpu(rules->rule[i].stats);
	kvfree(rules);
}

void baleen_hook_rules_free(struct baleen_hook_rules *rules)
{
	for (u32 i = 0; i < rules->n; i++)
		baleen_filter_put(rules->rule[i].filter);
	rules_free_memory(rules);
}

/* --- what packets ask --- */

struct baleen_hook_rule *baleen_hook_rules_find(struct baleen_hook_rules *rules, const char *name)
{
	for (u32 i = 0; rules && i < rules->n; i++)
		if (!memcmp(rules->rule[i].rule.image.name, name, BALEEN_NAME_BYTES))
			return &rules->rule[i];
	return NULL;
}

static struct baleen_filter *rule_find_filter(const struct baleen_dev_rule *asked,
					      struct baleen_hook_rules *old)
{
	const struct baleen_hook_rule *had;

	if (asked->filter[0])
		return baleen_filter_find((const char *)asked->filter);
	had = baleen_hook_rules_find(old, (const char *)asked->name);
	if (!had)
		return NULL;
	baleen_filter_get(had->filter);
	return had->filter;
}

/* The fields of its keys stay while a rule asks a filter. */
static int rule_set(const struct baleen_dev_rule *asked, struct baleen_hook_rule *rule)
{
	struct baleen_qualifiers qualifiers;
	const struct baleen_body *body;

	memcpy(&qualifiers, &asked->qualifiers, sizeof(qualifiers));
	rcu_read_lock();
	body = rcu_dereference(rule->filter->body);
	baleen_rule_set(&rule->rule, asked->action, (const char *)asked->name, &qualifiers,
			&body->image);
	rcu_read_unlock();
	return baleen_spec_has_fields(rule->rule.image.key_spec) ? 0 : -EOPNOTSUPP;
}

int baleen_hook_rules_complete(const struct baleen_dev_rule *asked, struct baleen_hook_rules *old,
			       struct baleen_hook_rules *rules)
{
	for (u32 i = 0; i < rules->n; i++) {
		struct baleen_hook_rule *rule = &rules->rule[i];
		int err;

		if (!rule->filter)
			rule->filter = rule_find_filter(&asked[i], old);
		if (!rule->filter)
			return -ENOENT;
		err = rule_set(&asked[i], rule);
		if (err)
			return err;
		rules->needs_transport |= rule->rule.needs_transport;
	}
	return 0;
}

void baleen_hook_rules_follow(struct baleen_hook_rules *old, struct baleen_hook_rules *rules)
{
	for (u32 i = 0; i < rules->n; i++) {
		struct baleen_hook_rule *rule = &rules->rule[i], *had;

		WRITE_ONCE(rule->filter->n_rules, rule->filter->n_rules + 1);
		had = baleen_hook_rules_find(old, rule->rule.image.name);
		if (!had)
			continue;
		free_percpu(rule->stats);
		rule->stats = had->stats;
		had->inherited = true;
	}
}

static void rules_free_retired(struct work_struct *work)
{
	rules_free_memory(container_of(to_rcu_work(work), struct baleen_hook_rules, retired));
}

/* A filter waits for its readers itself, so its reference goes at once: then its memory is
 * free after one grace period, and not after two.
 */
void baleen_hook_rules_retire(struct baleen_hook_rules *rules)
{
	for (u32 i = 0; i < rules->n; i++) {
		struct baleen_filter *filter = rules->rule[i].filter;

		WRITE_ONCE(filter->n_rules, filter->n_rules - 1);
		baleen_filter_put(filter);
	}
	INIT_RCU_WORK(&rules->retired, rules_free_retired);
	baleen_retire(&rules->retired);
}
