// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules of devices: bound, replaced, unbound. */
#include <linux/capability.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter_netdev.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "binding.h"
#include "hook.h"

LIST_HEAD(baleen_bindings);

/* Version of the last binding, under RTNL: no two are the same. */
static u64 last_version;

struct baleen_binding *baleen_binding_find(const struct net *net, u32 ifindex)
{
	struct baleen_binding *binding;

	ASSERT_RTNL();
	list_for_each_entry(binding, &baleen_bindings, list) {
		const struct net_device *dev = binding->ops.dev;

		if (dev->ifindex == ifindex && net_eq(dev_net(dev), net))
			return binding;
	}
	return NULL;
}

static bool bind_may(const struct net *net)
{
	return ns_capable(net->user_ns, CAP_NET_ADMIN);
}

static int bind_check(const struct baleen_dev_bind *arg)
{
	const u32 known = BALEEN_DEV_DEFAULT_DROP | BALEEN_DEV_DRY_RUN | BALEEN_DEV_REPLACE;

	if (arg->reserved || arg->flags & ~known || !arg->n_rules ||
	    arg->n_rules > BALEEN_DEV_MAX_RULES)
		return -EINVAL;
	if (arg->flags & BALEEN_DEV_REPLACE ? arg->priority != 0 : arg->version != 0)
		return -EINVAL;
	return 0;
}

static void binding_free_retired(struct work_struct *work)
{
	struct baleen_binding *binding =
		container_of(to_rcu_work(work), struct baleen_binding, retired);

	free_percpu(binding->stats);
	kfree(binding);
}

/* Takes a binding off its device. Packets that are on their way may still ask it: under RTNL
 * nothing waits for them, since a namespace may have many devices. The module cannot go
 * away during the call: commands hold their file, and unregistering the notifier
 * waits for it.
 */
static void binding_remove(struct baleen_binding *binding)
{
	list_del(&binding->list);
	nf_unregister_net_hook(dev_net(binding->ops.dev), &binding->ops);
	baleen_hook_rules_retire(rtnl_dereference(binding->rules));
	INIT_RCU_WORK(&binding->retired, binding_free_retired);
	baleen_retire(&binding->retired);
	module_put(THIS_MODULE);
}

static int binding_add(struct net_device *dev, s32 priority, struct baleen_hook_rules *rules)
{
	struct baleen_binding *binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!binding)
		return -ENOMEM;
	binding->stats = alloc_percpu_gfp(struct baleen_stats, GFP_KERNEL_ACCOUNT);
	if (!binding->stats)
		goto no_stats;
	binding->version = ++last_version;
	binding->ops = (struct nf_hook_ops){
		.hook = baleen_hook_packet,
		.dev = dev,
		.priv = binding,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = priority,
	};
	RCU_INIT_POINTER(binding->rules, rules);
	err = nf_register_net_hook(dev_net(dev), &binding->ops);
	if (err)
		goto no_hook;
	/* Packets ask them from here on; RTNL keeps their filters. */
	baleen_hook_rules_follow(NULL, rules);
	__module_get(THIS_MODULE);
	list_add(&binding->list, &baleen_bindings);
	return 0;
no_hook:
	free_percpu(binding->stats);
no_stats:
	kfree(binding);
	return err;
}

static void binding_replace(struct baleen_binding *binding, struct baleen_hook_rules *rules)
{
	struct baleen_hook_rules *old = rtnl_dereference(binding->rules);

	baleen_hook_rules_follow(old, rules);
	rcu_assign_pointer(binding->rules, rules);
	binding->version = ++last_version;
	baleen_hook_rules_retire(old);
}

/* May the rules of @binding, NULL for none, be what @arg wants to put in place? */
static int bind_check_state(const struct baleen_binding *binding, const struct baleen_dev_bind *arg)
{
	if (!(arg->flags & BALEEN_DEV_REPLACE))
		return binding ? -EEXIST : 0;
	if (!binding)
		return -ENOENT;
	return arg->version && arg->version != binding->version ? -ESTALE : 0;
}

static int bind_rules_locked(struct net *net, const struct baleen_dev_bind *arg,
			     const struct baleen_dev_rule *asked, struct baleen_hook_rules *rules)
{
	struct net_device *dev = __dev_get_by_index(net, arg->ifindex);
	struct baleen_binding *binding;
	int err;

	if (!dev)
		return -ENODEV;
	if (dev->type != ARPHRD_ETHER)
		return -EOPNOTSUPP;
	binding = baleen_binding_find(net, arg->ifindex);
	err = bind_check_state(binding, arg);
	if (err)
		return err;
	err = baleen_hook_rules_complete(asked, binding ? rtnl_dereference(binding->rules) : NULL,
					 rules);
	if (err)
		return err;
	if (!binding)
		return binding_add(dev, arg->priority, rules);
	binding_replace(binding, rules);
	return 0;
}

int baleen_hook_bind(struct net *net, const struct baleen_dev_bind *arg)
{
	struct baleen_hook_rules *rules;
	struct baleen_dev_rule *asked;
	int err = bind_check(arg);

	if (err)
		return err;
	if (!bind_may(net))
		return -EPERM;
	err = baleen_hook_rules_copy(u64_to_user_ptr(arg->rules), arg->n_rules, arg->rule_bytes,
				     &asked, &rules);
	if (err)
		return err;
	rules->flags = arg->flags & (BALEEN_DEV_DEFAULT_DROP | BALEEN_DEV_DRY_RUN);
	rtnl_lock();
	err = bind_rules_locked(net, arg, asked, rules);
	rtnl_unlock();
	if (err)
		baleen_hook_rules_free(rules);
	else if (arg->flags & BALEEN_DEV_REPLACE)
		synchronize_net(); /* no packet is judged by the rules before */
	kfree(asked);
	return err;
}

int baleen_hook_unbind(struct net *net, const struct baleen_dev_unbind *arg)
{
	struct baleen_binding *binding;

	if (arg->reserved)
		return -EINVAL;
	if (!bind_may(net))
		return -EPERM;
	rtnl_lock();
	binding = baleen_binding_find(net, arg->ifindex);
	if (binding)
		binding_remove(binding);
	rtnl_unlock();
	if (!binding)
		return -ENOENT;
	synchronize_net(); /* no packet is judged by its rules */
	return 0;
}

/* A device goes away, or to another namespace, where its rules do not follow. */
static int hook_on_netdev_event(struct notifier_block *notifier, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct baleen_binding *binding;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	binding = baleen_binding_find(dev_net(dev), dev->ifindex);
	if (binding)
		binding_remove(binding);
	return NOTIFY_DONE;
}

static struct notifier_block hook_netdev_notifier = { .notifier_call = hook_on_netdev_event };

int baleen_hook_init(void)
{
	int err = baleen_hook_packets_init();

	if (err)
		return err;
	err = register_netdevice_notifier(&hook_netdev_notifier);
	if (err)
		baleen_hook_packets_exit();
	return err;
}

/* No binding is left: each holds a reference to the module. Packets of the last ones may still
 * run code of the hook, and have copies.
 */
void baleen_hook_exit(void)
{
	unregister_netdevice_notifier(&hook_netdev_notifier);
	synchronize_net();
	baleen_hook_packets_exit();
}
