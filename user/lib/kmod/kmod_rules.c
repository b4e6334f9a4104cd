// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rules that the kernel module has on a device. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmod/kmod_rules.h"
#include "net/kmod_hook.h"
#include "util/shell.h"
#include "xdp/load.h"
#include "xdp/xdp.h"

_Static_assert(BALEEN_DEV_MAX_RULES == BALEEN_MAX_RULES, "as many rules in the module as in XDP");
_Static_assert(sizeof(struct baleen_dev_qualifiers) == sizeof(struct baleen_qualifiers),
	       "qualifiers of the module are those of the packet path");

/* --- reading --------------------------------------------------------------- */

static void parse_binding(const struct baleen_dev_binding *binding, struct baleen_kmod_rules *rules)
{
	rules->priority = binding->priority;
	rules->version = binding->version;
	rules->default_drop = binding->flags & BALEEN_DEV_DEFAULT_DROP;
	rules->dry_run = binding->flags & BALEEN_DEV_DRY_RUN;
	rules->n_rules = binding->n_rules;
	rules->stats = (struct baleen_stats){ .unmatched = binding->unmatched,
					      .vital = binding->vital,
					      .not_ip = binding->not_ip,
					      .mpls = binding->mpls,
					      .tags = binding->tags,
					      .version = binding->ip_version,
					      .too_short = binding->too_short };
	for (u32 i = 0; i < rules->n_rules; i++)
		rules->stats.rule[i] =
			(struct baleen_rule_stats){ .packets = rules->rule[i].packets,
						    .bytes = rules->rule[i].bytes };
}

/* Texts of the kernel end where they say, whatever it sent. */
static bool is_sound(const struct baleen_dev_binding *binding,
		     const struct baleen_dev_bound_rule *rule)
{
	if (!binding->n_rules || binding->n_rules > BALEEN_MAX_RULES)
		return false;
	for (u32 i = 0; i < binding->n_rules; i++)
		if (rule[i].name[BALEEN_DEV_NAME_BYTES - 1] ||
		    rule[i].filter[BALEEN_DEV_NAME_BYTES - 1] ||
		    !baleen_action_text(rule[i].action))
			return false;
	return true;
}

int baleen_kmod_rules_again(struct baleen_kmod_rules *rules, struct baleen_error *error)
{
	struct baleen_dev_bound_rule rule[BALEEN_MAX_RULES] = { 0 };
	struct baleen_dev_binding binding = { .ifindex = rules->ifindex,
					      .room = BALEEN_MAX_RULES,
					      .rules = (uintptr_t)rule,
					      .rule_bytes = sizeof(rule[0]) };
	int err = baleen_kmod_command(rules->fd, BALEEN_DEV_BINDING, &binding);

	if (err == -ENOENT)
		return baleen_fail(error, ENOENT, "the kernel module has no rules on %s",
				   rules->device);
	if (err)
		return baleen_fail(error, -err, "%s: %s", rules->device, baleen_kmod_explain(err));
	if (!is_sound(&binding, rule))
		return baleen_fail(error, EPROTO,
				   "%s: the module's rules are of another version of baleen",
				   rules->device);
	memcpy(rules->rule, rule, sizeof(rule));
	parse_binding(&binding, rules);
	return 0;
}

/* Opens /dev/baleen and reads the rules of a device; @rules owns the descriptor. */
static int open_index(struct baleen_kmod_rules *rules, u32 ifindex, bool for_writing,
		      struct baleen_error *error)
{
	int err;

	memset(rules, 0, sizeof(*rules));
	rules->ifindex = ifindex;
	if (!baleen_device_name(ifindex, rules->device))
		return baleen_fail(error, ENOENT, "device %u is gone", ifindex);
	err = baleen_kmod_open(for_writing, &rules->fd, error);
	if (err)
		return err == -ENODEV ? -ENOENT : err;
	err = baleen_kmod_rules_again(rules, error);
	if (err)
		baleen_kmod_rules_close(rules);
	return err;
}

int baleen_kmod_rules_open(struct baleen_kmod_rules *rules, const char *device, bool for_writing,
			   struct baleen_error *error)
{
	int ifindex = baleen_device_index(device);

	if (ifindex <= 0)
		return baleen_fail(error, ENOENT, "%s: no such device", device);
	return open_index(rules, ifindex, for_writing, error);
}

void baleen_kmod_rules_close(struct baleen_kmod_rules *rules)
{
	close(rules->fd);
	rules->fd = -1;
}

/* Devices come and go between the two calls: once more for those that came. */
static int list_devices(int fd, u32 **ifindexes, u32 *n)
{
	struct baleen_dev_bindings bindings = { 0 };
	u32 *room = NULL;
	int err;

	do {
		u32 *more = reallocarray(room, bindings.n ? bindings.n : 1, sizeof(*room));

		if (!more) {
			free(room);
			return -ENOMEM;
		}
		room = more;
		bindings.room = bindings.n;
		bindings.ifindexes = bindings.n ? (uintptr_t)room : 0;
		err = baleen_kmod_command(fd, BALEEN_DEV_BINDINGS, &bindings);
	} while (!err && bindings.n > bindings.room);
	if (err) {
		free(room);
		return err;
	}
	*ifindexes = room;
	*n = bindings.n;
	return 0;
}

int baleen_kmod_rules_each(int (*fn)(struct baleen_kmod_rules *rules, void *data), void *data,
			   struct baleen_error *error)
{
	struct baleen_kmod_rules rules;
	u32 *ifindexes, n;
	int fd, err = baleen_kmod_open(false, &fd, error);

	if (err)
		return err == -ENODEV ? 0 : err;
	err = list_devices(fd, &ifindexes, &n);
	close(fd);
	if (err)
		return baleen_fail(error, -err, "%s", baleen_kmod_explain(err));
	for (u32 i = 0; i < n && !err; i++) {
		err = open_index(&rules, ifindexes[i], false, error);
		if (!err) {
			err = fn(&rules, data);
			baleen_kmod_rules_close(&rules);
		} else if (err == -ENOENT) {
			err = 0;
		}
	}
	free(ifindexes);
	return err;
}

int baleen_kmod_rules_find(const struct baleen_kmod_rules *rules, const char *name)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp((const char *)rules->rule[i].name, name))
			return i;
	return -ENOENT;
}

int baleen_kmod_rules_filter(const struct baleen_kmod_rules *rules, u32 index,
			     struct baleen_filter *filter, struct baleen_error *error)
{
	const char *name = (const char *)rules->rule[index].name;
	struct baleen_dev_target target = baleen_kmod_target(name, rules->ifindex);
	struct baleen_error why;
	u64 version;
	int err = baleen_kmod_read(rules->fd, &target, filter, &version, &why);

	return err ? baleen_fail(error, -err, "%s:%s: %s", rules->device, name, why.text) : 0;
}

/* --- rulesets -------------------------------------------------------------- */

void baleen_ruleset_from_kmod(const struct baleen_kmod_rules *rules, struct baleen_ruleset *ruleset)
{
	memset(ruleset, 0, sizeof(*ruleset));
	ruleset->n_rules = rules->n_rules;
	ruleset->default_drop = rules->default_drop;
	ruleset->dry_run = rules->dry_run;
	for (u32 i = 0; i < rules->n_rules; i++) {
		struct baleen_ruleset_rule *rule = &ruleset->rule[i];

		memcpy(rule->name, rules->rule[i].name, sizeof(rule->name));
		rule->action = rules->rule[i].action;
		memcpy(&rule->qualifiers, &rules->rule[i].qualifiers, sizeof(rule->qualifiers));
		rule->live = i;
	}
}

/* Refuses a rule that the module would refuse, and says why. */
static int check_rule(const struct baleen_ruleset_rule *rule, struct baleen_error *error)
{
	const struct baleen_image *image;
	struct baleen_error why;

	if (rule->qualifiers.established)
		return baleen_fail(error, EOPNOTSUPP,
				   "rule '%s': %s: not by the kernel module, whose hook has "
				   "nftables' 'ct state' behind it",
				   rule->name,
				   rule->qualifiers.established & BALEEN_ESTABLISHED_SOCKET ?
					   "established" :
					   "conntrack");
	if (rule->rate_limit.rate)
		return baleen_fail(error, EOPNOTSUPP,
				   "rule '%s': limit: not by the kernel module, which keeps no "
				   "count by source",
				   rule->name);
	if (!rule->filter)
		return 0;
	image = &rule->filter->image;
	if (baleen_load_check(image, &why))
		return baleen_fail(error, EOPNOTSUPP, "rule '%s': %s", rule->name, why.text);
	return 0;
}

static void copy_name(u8 *to, const char *name)
{
	memcpy(to, name, strnlen(name, BALEEN_DEV_NAME_BYTES - 1));
}

/* A rule without an image keeps its filter: the module finds it by the rule's name. */
static int encode_rule(const struct baleen_ruleset_rule *rule, struct baleen_dev_rule *taken,
		       struct baleen_error *error)
{
	*taken = (struct baleen_dev_rule){ .action = rule->action };
	copy_name(taken->name, rule->name);
	memcpy(&taken->qualifiers, &rule->qualifiers, sizeof(rule->qualifiers));
	if (rule->shared[0]) {
		copy_name(taken->filter, rule->shared);
	} else if (rule->filter) {
		taken->image = (uintptr_t)rule->filter->bytes;
		taken->n_bytes = rule->filter->n_bytes;
	}
	return check_rule(rule, error);
}

static int explain_bind(int err, const char *device, struct baleen_error *error)
{
	switch (err) {
	case -EEXIST:
		return baleen_fail(error, EEXIST,
				   "%s has rules of the kernel module already: 'baleen swap' and "
				   "'baleen rule' change them, 'baleen detach %s' takes them off",
				   device, baleen_shell_word(device).text);
	case -ENOENT:
		return baleen_fail(error, ENOENT,
				   "%s: the rules or a filter that one asks are gone by now",
				   device);
	case -ESTALE:
		return baleen_fail(error, ESTALE, "%s: another command has just changed the rules",
				   device);
	case -EOPNOTSUPP:
		return baleen_fail(error, EOPNOTSUPP,
				   "%s: the kernel module filters Ethernet devices only", device);
	case -ENODEV: return baleen_fail(error, ENODEV, "%s: no such device", device);
	case -EPERM:
		return baleen_fail(error, EPERM,
				   "%s: needs CAP_NET_ADMIN in this network namespace", device);
	}
	return baleen_fail(error, -err, "%s: %s", device, baleen_kmod_explain(err));
}

/* @bind: of which device, and whether rules are replaced. */
static int put(int fd, const char *device, const struct baleen_ruleset *ruleset,
	       struct baleen_dev_bind *bind, struct baleen_error *error)
{
	struct baleen_dev_rule rule[BALEEN_MAX_RULES];
	int err = baleen_ruleset_check(ruleset, error);

	if (!err)
		err = baleen_ruleset_fits(ruleset, NULL, error);
	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		err = encode_rule(&ruleset->rule[i], &rule[i], error);
	if (err)
		return err;
	bind->rules = (uintptr_t)rule;
	bind->rule_bytes = sizeof(rule[0]);
	bind->n_rules = ruleset->n_rules;
	if (ruleset->default_drop)
		bind->flags |= BALEEN_DEV_DEFAULT_DROP;
	if (ruleset->dry_run)
		bind->flags |= BALEEN_DEV_DRY_RUN;
	err = baleen_kmod_command(fd, BALEEN_DEV_BIND, bind);
	return err ? explain_bind(err, device, error) : 0;
}

/* --- changing -------------------------------------------------------------- */

static bool is_filtered(const char *device)
{
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, device, false, NULL))
		return false;
	baleen_xdp_close(&xdp);
	return xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
}

/* `ip netns exec` hides the pins, but not the program. */
static int refuse_xdp(const char *device, int ifindex, struct baleen_error *error)
{
	struct baleen_program there = { 0 };

	if (baleen_device_program(ifindex, &there))
		there.name[0] = '\0';
	if (!baleen_load_is_ours(there.name) && !is_filtered(device))
		return 0;
	return baleen_fail(error, EBUSY,
			   "%s has a filter of XDP already: 'baleen detach %s' takes it off",
			   device, baleen_shell_word(device).text);
}

/* Opens the module for a device that may get rules. */
static int open_free(const char *device, int *fd, int *ifindex, struct baleen_error *error)
{
	int err = baleen_device_ifindex(device, ifindex, error);

	if (!err && *ifindex < 0)
		err = baleen_fail(error, EOPNOTSUPP,
				  "%s: the kernel module filters what comes in: attach without "
				  "--backend kmod",
				  device);
	if (!err)
		err = baleen_kmod_open(true, fd, error);
	if (err)
		return err;
	if (baleen_kmod_has_rules(*ifindex))
		err = explain_bind(-EEXIST, device, error);
	else
		err = refuse_xdp(device, *ifindex, error);
	if (err)
		close(*fd);
	return err;
}

int baleen_kmod_attach_check(const char *device, struct baleen_error *error)
{
	int fd, ifindex, err = open_free(device, &fd, &ifindex, error);

	if (!err)
		close(fd);
	return err;
}

int baleen_kmod_attach(const char *device, const struct baleen_ruleset *ruleset, int priority,
		       struct baleen_error *error)
{
	struct baleen_dev_bind bind = { .priority = priority };
	int fd, ifindex, err = open_free(device, &fd, &ifindex, error);

	if (err)
		return err;
	bind.ifindex = ifindex;
	err = put(fd, device, ruleset, &bind, error);
	close(fd);
	return err;
}

int baleen_kmod_rules_put(const struct baleen_kmod_rules *rules,
			  const struct baleen_ruleset *ruleset, struct baleen_error *error)
{
	struct baleen_dev_bind bind = { .ifindex = rules->ifindex,
					.flags = BALEEN_DEV_REPLACE,
					.version = rules->version };

	return put(rules->fd, rules->device, ruleset, &bind, error);
}

int baleen_kmod_detach(const char *device, struct baleen_error *error)
{
	int ifindex = baleen_device_index(device);
	struct baleen_dev_unbind unbind = { .ifindex = ifindex };
	int fd, err;

	if (ifindex <= 0)
		return baleen_fail(error, ENOENT, "%s: no such device", device);
	err = baleen_kmod_open(true, &fd, error);
	if (err)
		return err == -ENODEV ? -ENOENT : err;
	err = baleen_kmod_command(fd, BALEEN_DEV_UNBIND, &unbind);
	close(fd);
	if (err == -ENOENT)
		return baleen_fail(error, ENOENT, "the kernel module has no rules on %s", device);
	return err ? explain_bind(err, device, error) : 0;
}
