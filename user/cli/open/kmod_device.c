// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rules of a device in the kernel module, as commands change them. */
#include <errno.h>
#include <string.h>

#include "cli/open/filter_name.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "net/kmod_hook.h"

/* Times that another command may be faster: each of them is done then. */
#define MAX_TRIES 100

bool is_kmod_device(const char *device)
{
	unsigned int ifindex = baleen_device_index(device);
	struct baleen_xdp xdp;

	if (!ifindex || !baleen_kmod_has_rules(ifindex))
		return false;
	if (baleen_xdp_open(&xdp, device, false, NULL))
		return true;
	baleen_xdp_close(&xdp);
	return xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED;
}

/* One with a name is meant by that, as others may ask it, too. */
static struct baleen_dev_target target_of(const struct baleen_kmod_rules *rules, u32 index)
{
	const struct baleen_dev_bound_rule *rule = &rules->rule[index];

	if (rule->filter[0])
		return baleen_kmod_target((const char *)rule->filter, 0);
	return baleen_kmod_target((const char *)rule->name, rules->ifindex);
}

int kmod_rule_open(struct kmod_filter *kmod, const char *argument, const char *device,
		   const char *rule, bool for_writing)
{
	struct baleen_kmod_rules rules;
	struct baleen_error error;
	int index;

	if (baleen_kmod_rules_open(&rules, device, for_writing, &error))
		return complain("%s", error.text);
	index = baleen_kmod_rules_find(&rules, rule);
	if (index < 0) {
		complain_no_rule(device, rule);
		baleen_kmod_rules_close(&rules);
		return EXIT_FAILED;
	}
	*kmod = (struct kmod_filter){ .argument = argument,
				      .target = target_of(&rules, index),
				      .fd = rules.fd,
				      .is_dropping =
					      rules.rule[index].action == BALEEN_ACTION_DROP };
	return 0;
}

static int refuse_sampling(const char *device, const struct baleen_ruleset *ruleset)
{
	if (!ruleset->sample_interval_ns)
		return 0;
	return complain(
		"%s: rules of the kernel module have no events: --sample is for those of XDP",
		device);
}

/* --- the guard ------------------------------------------------------------- */

/**
 * struct whole - a ruleset with all its filters
 * @ruleset: rules that stay have their filters, too
 * @copy: of these
 */
struct whole {
	struct baleen_ruleset ruleset;
	struct baleen_filter copy[BALEEN_MAX_RULES];
};

static void free_whole(struct whole *whole)
{
	for (u32 i = 0; i < whole->ruleset.n_rules; i++)
		baleen_filter_free(&whole->copy[i]);
}

static int read_whole(const struct baleen_kmod_rules *now, const struct baleen_ruleset *ruleset,
		      struct whole *whole)
{
	struct baleen_error error;

	*whole = (struct whole){ .ruleset = *ruleset };
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		struct baleen_ruleset_rule *rule = &whole->ruleset.rule[i];

		if (rule->filter)
			continue;
		if (baleen_kmod_rules_filter(now, rule->live, &whole->copy[i], &error)) {
			complain("%s", error.text);
			free_whole(whole);
			return EXIT_FAILED;
		}
		rule->filter = &whole->copy[i];
	}
	return 0;
}

static int guard(const struct baleen_kmod_rules *now, const struct baleen_ruleset *ruleset,
		 const struct rules *rules, bool is_forced)
{
	struct whole whole;
	const struct baleen_lockout_check check = { .device = now->device,
						    .ruleset = &whole.ruleset };
	int err;

	if (ruleset->dry_run)
		return 0;
	if (read_whole(now, ruleset, &whole))
		return EXIT_FAILED;
	err = guard_never(&check);
	if (!err)
		err = guard_host(&check, rules, is_forced);
	free_whole(&whole);
	return err;
}

/**
 * struct asked - a filter that is about to change, and the rules that ask it
 * @kmod: the filter
 * @filter: what is added to it or taken out of it, or what it will be
 * @op: which of them
 * @is_whole: what it will be
 */
struct asked {
	const struct kmod_filter *kmod;
	const struct baleen_filter *filter;
	enum baleen_set_op op;
	bool is_whole;
};

static bool asks(const struct baleen_kmod_rules *now, u32 index, const struct kmod_filter *kmod)
{
	const struct baleen_dev_bound_rule *rule = &now->rule[index];
	const u8 *name = kmod->target.name;

	if (kmod->target.ifindex)
		return now->ifindex == kmod->target.ifindex &&
		       !memcmp(rule->name, name, sizeof(rule->name));
	return !memcmp(rule->filter, name, sizeof(rule->filter));
}

static int guard_each(const struct baleen_kmod_rules *now, const struct baleen_ruleset *ruleset,
		      const struct asked *asked)
{
	struct baleen_host host = { 0 };
	struct whole whole;
	struct baleen_lockout_check check = {
		.device = now->device,
		.ruleset = &whole.ruleset,
		.delta = asked->filter,
		.op = asked->op,
		.host = &host,
	};
	int err = 0;

	if (read_whole(now, ruleset, &whole))
		return EXIT_FAILED;
	for (check.changed = 0; check.changed < now->n_rules && !err; check.changed++) {
		if (!asks(now, check.changed, asked->kmod))
			continue;
		err = guard_never(&check);
		if (!err)
			err = guard_host(&check, NULL, false);
	}
	baleen_host_free(&host);
	free_whole(&whole);
	return err;
}

static int guard_device(struct baleen_kmod_rules *now, void *data)
{
	const struct asked *asked = data;
	struct baleen_ruleset ruleset;
	u32 n = 0;

	baleen_ruleset_from_kmod(now, &ruleset);
	for (u32 i = 0; i < now->n_rules; i++) {
		if (!asks(now, i, asked->kmod))
			continue;
		n++;
		if (asked->is_whole)
			ruleset.rule[i].filter = asked->filter;
	}
	if (!n || ruleset.dry_run)
		return 0;
	return asked->is_whole ? guard(now, &ruleset, NULL, false) :
				 guard_each(now, &ruleset, asked);
}

static int guard_asked(struct asked *asked)
{
	struct baleen_error error;
	int err = baleen_kmod_rules_each(guard_device, asked, &error);

	if (err < 0)
		complain("%s: %s", asked->kmod->argument, error.text);
	return err ? EXIT_FAILED : 0;
}

int kmod_guard_change(const struct kmod_filter *kmod, const struct baleen_filter *delta,
		      enum baleen_set_op op)
{
	struct asked asked = { .kmod = kmod, .filter = delta, .op = op };

	return guard_asked(&asked);
}

int kmod_guard_image(const struct kmod_filter *kmod, const struct baleen_filter *filter)
{
	struct asked asked = { .kmod = kmod, .filter = filter, .is_whole = true };

	return guard_asked(&asked);
}

/* --- the change ------------------------------------------------------------ */

static int guard_rates_of(const struct baleen_ruleset *after, const struct list_options *lists)
{
	int err = 0;

	for (u32 i = 0; lists && i < after->n_rules && !err; i++)
		if (after->rule[i].filter)
			err = guard_rate(after->rule[i].name, after->rule[i].action,
					 after->rule[i].filter, lists->accept_fpp);
	return err;
}

static int check_keys(const struct baleen_kmod_rules *now, const struct baleen_ruleset *ruleset)
{
	u32 key_spec[BALEEN_MAX_RULES];
	struct baleen_error error;

	for (u32 i = 0; i < now->n_rules; i++)
		key_spec[i] = now->rule[i].info.key_spec;
	if (!baleen_ruleset_keeps_keys(ruleset, now->device, key_spec, &error))
		return 0;
	return complain("%s", error.text);
}

/* 0, EXIT_FAILED after a message, or -ESTALE when another was faster. */
static int try_edit(const struct baleen_kmod_rules *now, struct device_edit *edit)
{
	struct baleen_ruleset *after = &edit->after;
	struct baleen_error error;
	int err;

	baleen_ruleset_from_kmod(now, after);
	if (edit->edit(now, after, edit->data) || rules_leave_nobody(edit->rules, after) ||
	    refuse_sampling(now->device, after) || check_keys(now, after) ||
	    guard_rates_of(after, edit->lists) ||
	    (!edit->is_unguarded && guard(now, after, edit->rules, edit->is_forced)))
		return EXIT_FAILED;
	if (edit->is_trial)
		return 0;
	err = baleen_kmod_rules_put(now, after, &error);
	if (err && err != -ESTALE)
		complain("%s", error.text);
	return err && err != -ESTALE ? EXIT_FAILED : err;
}

int kmod_device_edit(const char *device, struct device_edit *edit)
{
	struct baleen_kmod_rules now;
	struct baleen_error error;
	int err = baleen_kmod_rules_open(&now, device, true, &error);

	if (err)
		return complain("%s", error.text);
	err = try_edit(&now, edit);
	for (u32 i = 1; i < MAX_TRIES && err == -ESTALE; i++) {
		if (baleen_kmod_rules_again(&now, &error))
			err = complain("%s", error.text);
		else
			err = try_edit(&now, edit);
	}
	if (err == -ESTALE)
		complain("%s: others change the rules all the time: nothing changed", device);
	baleen_kmod_rules_close(&now);
	return err ? EXIT_FAILED : 0;
}
