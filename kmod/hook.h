/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules on the netfilter ingress hook of a network device.
 *
 * The hook sees packets as the stack does: behind the driver and generic XDP, merged
 * by GRO up to 64 KiB, in pieces, the outermost VLAN tag beside the packet. The
 * kernel has discarded frames that end less than two bytes behind their first tag.
 */
#ifndef BALEEN_KMOD_HOOK_H
#define BALEEN_KMOD_HOOK_H

#include <linux/types.h>

struct baleen_dev_bind;
struct baleen_dev_binding;
struct baleen_dev_bindings;
struct baleen_dev_target;
struct baleen_dev_unbind;
struct baleen_filter;
struct net;

/* The commands of their names, with the arguments copied in; outputs are written to
 * @arg, and to the addresses in it, on success only. Context: may sleep.
 */
int baleen_hook_bind(struct net *net, const struct baleen_dev_bind *arg);
int baleen_hook_unbind(struct net *net, const struct baleen_dev_unbind *arg);
int baleen_hook_binding(struct net *net, struct baleen_dev_binding *arg);
int baleen_hook_bindings(struct net *net, struct baleen_dev_bindings *arg);

/**
 * baleen_hook_filter() - the filter that a rule asks
 * @net: network namespace of the device
 * @target: with an ifindex
 *
 * Context: may sleep; takes RTNL.
 * Return: it with a reference for the caller, or NULL.
 */
struct baleen_filter *baleen_hook_filter(struct net *net, const struct baleen_dev_target *target);

int baleen_hook_init(void);
void baleen_hook_exit(void);

#endif /* BALEEN_KMOD_HOOK_H */
