/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A network device that has rules, for the files of the hook.
 *
 * Packets reach the rules by one pointer: a published struct baleen_hook_rules never
 * changes, it is replaced as a whole.
 */
#ifndef BALEEN_KMOD_BINDING_H
#define BALEEN_KMOD_BINDING_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>

#include <baleen/stats.h>

#include "filter.h"

/**
 * struct baleen_hook_rule - a rule and what it asks
 * @rule: as the packet path of XDP has it, without slot and base
 * @filter: a reference
 * @stats: per CPU, its own: the next set of rules continues them, and a packet that is
 *         still in the old set counts for no other rule
 * @inherited: @stats have gone on to the next set; under RTNL
 */
struct baleen_hook_rule {
	struct baleen_rule rule;
	struct baleen_filter *filter;
	struct baleen_rule_stats __percpu *stats;
	bool inherited;
};

/**
 * struct baleen_hook_rules - the rules of a device
 * @n: how many
 * @flags: BALEEN_DEV_DEFAULT_DROP and _DRY_RUN
 * @needs_transport: some rule asks for the protocol or ports
 * @retired: frees it
 * @rule: in the order of evaluation
 */
struct baleen_hook_rules {
	u32 n;
	u32 flags;
	bool needs_transport;
	struct rcu_work retired;
	struct baleen_hook_rule rule[];
};

/**
 * struct baleen_binding - a device that has rules
 * @list: in the list of all, under RTNL
 * @ops: its hook, with the device
 * @rules: never NULL; written under RTNL, read under RCU
 * @stats: per CPU; those of the rules are their own
 * @version: see struct baleen_dev_binding; under RTNL
 * @retired: frees it
 *
 * It holds a reference to the module.
 */
struct baleen_binding {
	struct list_head list;
	struct nf_hook_ops ops;
	struct baleen_hook_rules __rcu *rules;
	struct baleen_stats __percpu *stats;
	u64 version;
	struct rcu_work retired;
};

/* All bindings of all namespaces, under RTNL. */
extern struct list_head baleen_bindings;

/**
 * baleen_binding_find() - the binding of a device
 * @net: its namespace
 * @ifindex: its index
 *
 * Context: under RTNL.
 * Return: it, or NULL.
 */
struct baleen_binding *baleen_binding_find(const struct net *net, u32 ifindex);

/**
 * baleen_hook_packet() - the verdict on a packet
 * @priv: struct baleen_binding
 * @skb: at the ingress hook: its data begins behind the Ethernet header
 * @state: not asked
 *
 * Context: under RCU, bottom halves off.
 * Return: NF_ACCEPT or NF_DROP.
 */
unsigned int baleen_hook_packet(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

/* Memory for copies of packets. */
int baleen_hook_packets_init(void);
void baleen_hook_packets_exit(void);

/**
 * baleen_hook_rules_copy() - rules as a process gives them
 * @from: @n of them
 * @n: 1 to BALEEN_DEV_MAX_RULES
 * @rule_bytes: size of one there
 * @asked: set on success to a copy of them, to be freed with kfree()
 * @rules: set on success, with the filters that are a rule's own; others are NULL
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, -E2BIG, -EFAULT, -ENOMEM, or as baleen_load_whole().
 */
int baleen_hook_rules_copy(const void __user *from, u32 n, u32 rule_bytes,
			   struct baleen_dev_rule **asked, struct baleen_hook_rules **rules);

/**
 * baleen_hook_rules_complete() - find the filters that are not there yet
 * @asked: of baleen_hook_rules_copy()
 * @old: the rules that the device has; NULL for none
 * @rules: completed
 *
 * Context: under RTNL, under which they have to be published.
 * Return: 0; -ENOENT; -EOPNOTSUPP for a filter of strings.
 */
int baleen_hook_rules_complete(const struct baleen_dev_rule *asked, struct baleen_hook_rules *old,
			       struct baleen_hook_rules *rules);

/**
 * baleen_hook_rules_find() - the rule of a name
 * @rules: rules of a device; NULL for none
 * @name: BALEEN_NAME_BYTES, padded with zeros
 *
 * Context: under RTNL.
 * Return: it, or NULL.
 */
struct baleen_hook_rule *baleen_hook_rules_find(struct baleen_hook_rules *rules, const char *name);

/**
 * baleen_hook_rules_follow() - make rules those of a device
 * @old: rules that the device has; NULL for none. Their counters go on
 * @rules: complete, not yet published
 *
 * Context: under RTNL.
 */
void baleen_hook_rules_follow(struct baleen_hook_rules *old, struct baleen_hook_rules *rules);

/**
 * baleen_hook_rules_retire() - the other end of baleen_hook_rules_follow()
 * @rules: no longer published; freed when no packet asks them any more
 *
 * Context: under RTNL.
 */
void baleen_hook_rules_retire(struct baleen_hook_rules *rules);

/**
 * baleen_hook_rules_free() - free rules that never were a device's
 * @rules: the rules
 *
 * Context: may sleep.
 */
void baleen_hook_rules_free(struct baleen_hook_rules *rules);

#endif /* BALEEN_KMOD_BINDING_H */
