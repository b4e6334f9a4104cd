// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules of the kernel module in the output of status. */
#include <errno.h>
#include <string.h>

#include "cli/device/status_rules.h"
#include "kmod/kmod_rules.h"

/* @all: the array, or NULL to print. */
static void show_rule(const struct baleen_kmod_rules *rules, u32 index, json_t *all, bool *sound)
{
	const struct baleen_dev_bound_rule *bound = &rules->rule[index];
	struct status_rule rule = { .name = (const char *)bound->name,
				    .action = bound->action,
				    .counted = rules->stats.rule[index],
				    .shared = (const char *)bound->filter };
	struct baleen_filter filter = { 0 };
	struct baleen_error error;

	memcpy(&rule.qualifiers, &bound->qualifiers, sizeof(rule.qualifiers));
	if (baleen_kmod_rules_filter(rules, index, &filter, &error)) {
		rule.damage = error.text;
		*sound = false;
	} else {
		rule.filter = &filter;
	}
	if (all)
		json_array_append_new(all, describe_status_rule(&rule));
	else
		print_status_rule(&rule);
	baleen_filter_free(&filter);
}

static struct status_verdicts verdicts_of(const struct baleen_kmod_rules *rules)
{
	return (struct status_verdicts){ .default_drop = rules->default_drop,
					 .dry_run = rules->dry_run,
					 .stats = &rules->stats };
}

static void describe_device(const struct baleen_kmod_rules *rules, json_t *all, bool *sound)
{
	struct status_verdicts verdicts = verdicts_of(rules);
	json_t *json = json_object(), *described = json_array();

	json_object_set_new(json, "device", json_text(rules->device));
	json_object_set_new(json, "ifindex", json_integer(rules->ifindex));
	json_object_set_new(json, "state", json_string("attached"));
	json_object_set_new(json, "enforced", json_true());
	json_object_set_new(json, "degraded", json_false());
	json_object_set_new(json, "requested_mode", json_string("kmod"));
	json_object_set_new(json, "place", json_string("netfilter"));
	json_object_set_new(json, "priority", json_integer(rules->priority));
	for (u32 i = 0; i < rules->n_rules; i++)
		show_rule(rules, i, described, sound);
	json_object_set_new(json, "rules", described);
	describe_status_verdicts(&verdicts, json);
	json_array_append_new(all, json);
}

static void print_device(const struct baleen_kmod_rules *rules, bool *sound)
{
	struct status_verdicts verdicts = verdicts_of(rules);

	say("%s: attached, kmod, priority %d\n", rules->device, rules->priority);
	print_status_dry_run(rules->dry_run);
	for (u32 i = 0; i < rules->n_rules; i++)
		show_rule(rules, i, NULL, sound);
	print_status_verdicts(&verdicts);
}

static int show(const struct baleen_kmod_rules *rules, json_t *all)
{
	bool sound = true;

	if (all)
		describe_device(rules, all, &sound);
	else
		print_device(rules, &sound);
	return sound ? EXIT_DONE : EXIT_FAILED;
}

int status_kmod(const char *device, json_t *all)
{
	struct baleen_kmod_rules rules;
	struct baleen_error error;
	int err = baleen_kmod_rules_open(&rules, device, false, &error);

	/* Without privileges, let the XDP path report that root is needed. */
	if (err == -ENOENT || err == -EACCES)
		return -ENOENT;
	if (err)
		return complain("%s", error.text);
	err = show(&rules, all);
	baleen_kmod_rules_close(&rules);
	return err;
}

struct walk {
	json_t *all;
	u32 n_shown;
	int result;
};

static int show_next(struct baleen_kmod_rules *rules, void *data)
{
	struct walk *walk = data;

	if (show(rules, walk->all))
		walk->result = EXIT_FAILED;
	walk->n_shown++;
	return 0;
}

int status_kmod_all(json_t *all, u32 *n_shown)
{
	struct walk walk = { .all = all, .result = EXIT_DONE };
	struct baleen_error error;

	if (baleen_kmod_rules_each(show_next, &walk, &error))
		walk.result = complain("%s", error.text);
	*n_shown += walk.n_shown;
	return walk.result;
}
