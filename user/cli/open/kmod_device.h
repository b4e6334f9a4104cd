/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of a device in the kernel module, as commands change them.
 */
#ifndef BALEEN_CLI_KMOD_DEVICE_H
#define BALEEN_CLI_KMOD_DEVICE_H

#include "cli/open/kmod_filter.h"
#include "cli/open/rules.h"
#include "kmod/kmod_rules.h"
#include "list/list_combine.h"
#include "state/protected.h"

/* Are the rules of this device the module's? Not when XDP filters there, too. */
bool is_kmod_device(const char *device);

/**
 * struct device_edit - a change of the rules of a device
 * @edit: edits what the device has; 0, or EXIT_FAILED after a message. Called again
 *        when another command was faster. @now: as the module has them; NULL with XDP
 * @data: for @edit
 * @rules: where rules with a filter come from; may be NULL
 * @lists: how those were read; may be NULL
 * @is_unguarded: it cannot cut this host off
 * @is_forced: also when this host would cut itself off
 * @is_trial: it is judged, and then not put on
 * @after: the ruleset that was put on
 * @is_configured: filled in: a rule with a new list is one of a configuration, which says
 *                 what becomes of special-purpose ranges
 * @n_special: filled in: entries of the lists in special-purpose ranges, which their rule
 *             takes out
 * @n_protected: filled in: those that hold protected addresses, which their rule takes out
 * @first_protected: one of these
 */
struct device_edit {
	int (*edit)(const struct baleen_kmod_rules *now, struct baleen_ruleset *ruleset,
		    const void *data);
	const void *data;
	struct rules *rules;
	const struct list_options *lists;
	bool is_unguarded;
	bool is_forced;
	bool is_trial;
	struct baleen_ruleset after;
	bool is_configured;
	u64 n_special;
	u64 n_protected;
	struct baleen_protected first_protected;
};

/* device_edit() of a device with rules of the module. */
int kmod_device_edit(const char *device, struct device_edit *edit);

/* Opens the filter that a rule asks, also one with a name; 0, or EXIT_FAILED after a
 * message.
 */
int kmod_rule_open(struct kmod_filter *kmod, const char *argument, const char *device,
		   const char *rule, bool for_writing);

/* guard_host() of a filter of the module, for every device of this network namespace
 * whose rules ask it.
 */
int kmod_guard_change(const struct kmod_filter *kmod, const struct baleen_filter *delta,
		      enum baleen_set_op op);

/* The same of another image in its place. */
int kmod_guard_image(const struct kmod_filter *kmod, const struct baleen_filter *filter);

#endif /* BALEEN_CLI_KMOD_DEVICE_H */
