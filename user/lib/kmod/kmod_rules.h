/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules that the kernel module has on a device.
 *
 * There is no lock: who changes rules says which version he has read, and the
 * module refuses (-ESTALE) when another was faster.
 */
#ifndef BALEEN_KMOD_RULES_H
#define BALEEN_KMOD_RULES_H

#include <net/if.h>

#include "kmod/kmod.h"
#include "xdp/ruleset.h"

/**
 * struct baleen_kmod_rules - the rules of a device, as found
 * @device: its name
 * @ifindex: its index
 * @fd: the module, see baleen_kmod_open()
 * @priority: priority of the hook among others on the device, lower ones first
 * @version: another number after each change of the rules
 * @default_drop: drop frames that no rule decides, except vital ones
 * @dry_run: count what would be dropped, drop nothing
 * @n_rules: how many
 * @rule: in order of evaluation
 * @stats: rule i has slot i
 */
struct baleen_kmod_rules {
	char device[IF_NAMESIZE];
	u32 ifindex;
	int fd;
	int priority;
	u64 version;
	bool default_drop;
	bool dry_run;
	u32 n_rules;
	struct baleen_dev_bound_rule rule[BALEEN_MAX_RULES];
	struct baleen_stats stats;
};

/**
 * baleen_kmod_rules_open() - look at the rules that the module has on a device
 * @rules: filled in; close with baleen_kmod_rules_close()
 * @device: its name
 * @for_writing: to change them or their filters
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there are none, also without the module or the device;
 * -EACCES; another negative errno.
 */
int baleen_kmod_rules_open(struct baleen_kmod_rules *rules, const char *device, bool for_writing,
			   struct baleen_error *error);

/**
 * baleen_kmod_rules_again() - look once more
 * @rules: opened; untouched on failure
 * @error: filled in on failure
 *
 * Return: as baleen_kmod_rules_open().
 */
int baleen_kmod_rules_again(struct baleen_kmod_rules *rules, struct baleen_error *error);

/**
 * baleen_kmod_rules_close() - let go
 * @rules: opened
 */
void baleen_kmod_rules_close(struct baleen_kmod_rules *rules);

/**
 * baleen_kmod_rules_each() - all devices of this network namespace that have some
 * @fn: called for each; anything but 0 ends the walk
 * @data: for @fn
 * @error: filled in on failure
 *
 * Return: what @fn returned last; 0 when there is none, or no module; a negative
 * errno.
 */
int baleen_kmod_rules_each(int (*fn)(struct baleen_kmod_rules *rules, void *data), void *data,
			   struct baleen_error *error);

/**
 * baleen_kmod_rules_find() - the rule of a name
 * @rules: opened
 * @name: the rule's name
 *
 * Return: its index, or -ENOENT.
 */
int baleen_kmod_rules_find(const struct baleen_kmod_rules *rules, const char *name);

/**
 * baleen_kmod_rules_filter() - a copy of the filter that a rule asks
 * @rules: opened
 * @index: index of the rule
 * @filter: a sealed image, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: as baleen_kmod_read().
 */
int baleen_kmod_rules_filter(const struct baleen_kmod_rules *rules, u32 index,
			     struct baleen_filter *filter, struct baleen_error *error);

/**
 * baleen_ruleset_from_kmod() - the ruleset that a device has
 * @rules: opened
 * @ruleset: filled in: rule i keeps the filter of rule i
 */
void baleen_ruleset_from_kmod(const struct baleen_kmod_rules *rules,
			      struct baleen_ruleset *ruleset);

/**
 * baleen_kmod_attach_check() - could rules be put on a device?
 * @device: its name
 * @error: filled in on failure
 *
 * Return: as baleen_kmod_attach().
 */
int baleen_kmod_attach_check(const char *device, struct baleen_error *error);

/**
 * baleen_kmod_attach() - put rules on a device that has none
 * @device: its name
 * @ruleset: of rules that continue none
 * @priority: priority of the hook
 * @error: filled in on failure
 *
 * Return: 0; -EEXIST when it has rules of the module already; -EBUSY when it has a
 * filter of XDP; another negative errno.
 */
int baleen_kmod_attach(const char *device, const struct baleen_ruleset *ruleset, int priority,
		       struct baleen_error *error);

/**
 * baleen_kmod_rules_put() - other rules for a device
 * @rules: opened for writing
 * @ruleset: edited from baleen_ruleset_from_kmod()
 * @error: filled in on failure
 *
 * Return: 0; -ESTALE when another has changed the rules since they were read;
 * -ENOENT when they are gone; another negative errno. Nothing has changed then.
 */
int baleen_kmod_rules_put(const struct baleen_kmod_rules *rules,
			  const struct baleen_ruleset *ruleset, struct baleen_error *error);

/**
 * baleen_kmod_detach() - take the rules off a device
 * @device: its name
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when it has none; another negative errno.
 */
int baleen_kmod_detach(const char *device, struct baleen_error *error);

#endif /* BALEEN_KMOD_RULES_H */
