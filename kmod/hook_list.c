// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists the rules that are bound to devices. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "binding.h"
#include "dev.h"
#include "hook.h"

/* --- one device --- */

static void binding_sum_stats(const struct baleen_binding *binding, struct baleen_dev_binding *arg)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct baleen_stats *stats = per_cpu_ptr(binding->stats, cpu);

		arg->unmatched += READ_ONCE(stats->unmatched);
		arg->vital += READ_ONCE(stats->vital);
		arg->not_ip += READ_ONCE(stats->not_ip);
		arg->mpls += READ_ONCE(stats->mpls);
		arg->tags += READ_ONCE(stats->tags);
		arg->ip_version += READ_ONCE(stats->version);
		arg->too_short += READ_ONCE(stats->too_short);
	}
}

static void snapshot_fill_rule(const struct baleen_hook_rule *from,
			       struct baleen_dev_bound_rule *to)
{
	int cpu;

	memcpy(to->name, from->rule.image.name, sizeof(to->name));
	memcpy(to->filter, from->filter->name, sizeof(to->filter));
	to->action = from->rule.action;
	memcpy(&to->qualifiers, &from->rule.qualifiers, sizeof(to->qualifiers));
	for_each_possible_cpu(cpu) {
		const struct baleen_rule_stats *stats = per_cpu_ptr(from->stats, cpu);

		to->packets += READ_ONCE(stats->packets);
		to->bytes += READ_ONCE(stats->bytes);
	}
}

/**
 * struct snapshot - a binding as it was, without RTNL
 * @arg: answer
 * @rule: answer
 * @filter: of each rule, a reference
 */
struct snapshot {
	struct baleen_dev_binding arg;
	struct baleen_dev_bound_rule rule[BALEEN_DEV_MAX_RULES];
	struct baleen_filter *filter[BALEEN_DEV_MAX_RULES];
};

static void snapshot_fill(const struct baleen_binding *binding, struct snapshot *snapshot)
{
	const struct baleen_hook_rules *rules = rtnl_dereference(binding->rules);

	snapshot->arg.n_rules = rules->n;
	snapshot->arg.flags = rules->flags;
	snapshot->arg.priority = binding->ops.priority;
	snapshot->arg.version = binding->version;
	binding_sum_stats(binding, &snapshot->arg);
	for (u32 i = 0; i < rules->n; i++) {
		snapshot_fill_rule(&rules->rule[i], &snapshot->rule[i]);
		snapshot->filter[i] = rules->rule[i].filter;
		baleen_filter_get(snapshot->filter[i]);
	}
}

/* The sums over all CPUs, of up to 16 filters: not under RTNL. */
static void snapshot_ask_filters(struct snapshot *snapshot)
{
	for (u32 i = 0; i < snapshot->arg.n_rules; i++) {
		struct baleen_dev_bound_rule *rule = &snapshot->rule[i];

		baleen_filter_info(snapshot->filter[i], &rule->info, NULL);
		if (!rule->filter[0])
			memcpy(rule->info.name, rule->name, sizeof(rule->info.name));
		baleen_filter_put(snapshot->filter[i]);
	}
}

static int snapshot_put_rules(const struct snapshot *snapshot, u32 n, u8 __user *rules,
			      u32 rule_bytes)
{
	for (u32 i = 0; i < n; i++)
		if (baleen_dev_put(rules + (size_t)i * rule_bytes, rule_bytes, &snapshot->rule[i],
				   sizeof(snapshot->rule[i])))
			return -EFAULT;
	return 0;
}

int baleen_hook_binding(struct net *net, struct baleen_dev_binding *arg)
{
	const struct baleen_binding *binding;
	struct snapshot *snapshot;
	int err = 0;

	if (arg->room)
		err = baleen_dev_check_size(arg->rule_bytes, sizeof(struct baleen_dev_bound_rule));
	if (err)
		return err;
	snapshot = kvzalloc(sizeof(*snapshot), GFP_KERNEL);
	if (!snapshot)
		return -ENOMEM;
	rtnl_lock();
	binding = baleen_binding_find(net, arg->ifindex);
	if (binding)
		snapshot_fill(binding, snapshot);
	rtnl_unlock();
	err = -ENOENT;
	if (!binding)
		goto no_binding;
	snapshot_ask_filters(snapshot);
	err = snapshot_put_rules(snapshot, min(arg->room, snapshot->arg.n_rules),
				 u64_to_user_ptr(arg->rules), arg->rule_bytes);
	if (err)
		goto no_binding;
	snapshot->arg.ifindex = arg->ifindex;
	snapshot->arg.room = arg->room;
	snapshot->arg.rules = arg->rules;
	snapshot->arg.rule_bytes = arg->rule_bytes;
	*arg = snapshot->arg;
no_binding:
	kvfree(snapshot);
	return err;
}

struct baleen_filter *baleen_hook_filter(struct net *net, const struct baleen_dev_target *target)
{
	const struct baleen_binding *binding;
	const struct baleen_hook_rule *rule = NULL;
	struct baleen_filter *filter = NULL;

	rtnl_lock();
	binding = baleen_binding_find(net, target->ifindex);
	if (binding)
		rule = baleen_hook_rules_find(rtnl_dereference(binding->rules),
					      (const char *)target->name);
	if (rule) {
		filter = rule->filter;
		baleen_filter_get(filter);
	}
	rtnl_unlock();
	return filter;
}

/* --- all devices of a namespace --- */

static int bindings_compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static u32 bindings_count(const struct net *net)
{
	const struct baleen_binding *binding;
	u32 n = 0;

	list_for_each_entry(binding, &baleen_bindings, list)
		n += net_eq(dev_net(binding->ops.dev), net);
	return n;
}

/* The indexes of all, to be freed with kvfree(). */
static int bindings_find(const struct net *net, u32 **ifindexes, u32 *n)
{
	const struct baleen_binding *binding;
	u32 *found = NULL, n_all, i = 0;
	int err = -ENOMEM;

	rtnl_lock();
	n_all = bindings_count(net);
	/* One more, since nothing at all would look like a failure. */
	found = kvmalloc_array((size_t)n_all + 1, sizeof(*found), GFP_KERNEL);
	if (!found)
		goto end;
	list_for_each_entry(binding, &baleen_bindings, list)
		if (net_eq(dev_net(binding->ops.dev), net))
			found[i++] = binding->ops.dev->ifindex;
	*ifindexes = found;
	*n = n_all;
	err = 0;
end:
	rtnl_unlock();
	return err;
}

int baleen_hook_bindings(struct net *net, struct baleen_dev_bindings *arg)
{
	u32 *ifindexes, n, n_given;
	int err = bindings_find(net, &ifindexes, &n);

	if (err)
		return err;
	sort(ifindexes, n, sizeof(*ifindexes), bindings_compare, NULL);
	n_given = min(n, arg->room);
	if (n_given &&
	    copy_to_user(u64_to_user_ptr(arg->ifindexes), ifindexes, n_given * sizeof(*ifindexes)))
		err = -EFAULT;
	else
		arg->n = n;
	kvfree(ifindexes);
	return err;
}
