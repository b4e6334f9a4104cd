// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parts of DEV:RULE and kmod:NAME. */
#include <stdio.h>
#include <string.h>

#include "cli/open/filter_name.h"
#include "deploy/conf.h"
#include "kmod/kmod_rules.h"
#include "net/device.h"
#include "state/scope.h"
#include "util/nearest.h"
#include "util/shell.h"
#include "xdp/xdp.h"

static const char prefix[] = "kmod:";

bool split_kmod(const char *argument, const char **name)
{
	if (strncmp(argument, prefix, strlen(prefix)))
		return false;
	*name = argument + strlen(prefix);
	return true;
}

bool split_live(const char *argument, char *device, size_t device_bytes, const char **rule)
{
	const char *colon = strrchr(argument, ':');
	const char *ignored;
	size_t length;

	if (*argument == '/' || *argument == '.' || !colon || split_kmod(argument, &ignored))
		return false;
	length = colon - argument;
	if (!length || length >= device_bytes || !colon[1])
		return false;
	memcpy(device, argument, length);
	device[length] = '\0';
	*rule = colon + 1;
	return true;
}

/* A device may be called fleet. */
bool is_shared_name(const char *argument)
{
	return !strcmp(argument, BALEEN_SCOPE_BANS) ||
	       (!strncmp(argument, BALEEN_ORIGIN_FLEET, sizeof(BALEEN_ORIGIN_FLEET) - 1) &&
		baleen_rule_fleet_is_set(argument + sizeof(BALEEN_ORIGIN_FLEET) - 1) &&
		!baleen_device_index("fleet"));
}

bool is_live_name(const char *argument)
{
	char device[BALEEN_POINT_BYTES];
	const char *name;

	return split_kmod(argument, &name) || split_live(argument, device, sizeof(device), &name);
}

int complain_no_bans(const struct baleen_error *error)
{
	return complain("%s: write 'bans' below a rule of " BALEEN_CONF_ROOT
			"/DEV.conf that drops, and 'baleen apply'",
			error->text);
}

/* Rules of a device that are in force, and those that its state has. */
struct rule_names {
	char name[3 * BALEEN_MAX_RULES][BALEEN_NAME_BYTES];
	u32 n;
};

static void add_name(struct rule_names *names, const char *name)
{
	snprintf(names->name[names->n++], BALEEN_NAME_BYTES, "%s", name);
}

/* Whoever cannot be asked has none. */
static void find_rules(const char *device, struct rule_names *names)
{
	struct baleen_kmod_rules kmod;
	struct baleen_stored_rules rules;
	struct baleen_rule_store state;
	struct baleen_xdp xdp;

	if (!baleen_xdp_open(&xdp, device, false, NULL)) {
		for (u32 i = 0; i < xdp.config.n_rules; i++)
			add_name(names, xdp.config.rule[i].image.name);
		baleen_xdp_close(&xdp);
	}
	if (!baleen_rule_store_open(&state, device, 0, NULL)) {
		if (!baleen_rule_store_get_rules(&state, &rules, NULL))
			for (u32 i = 0; i < rules.n_rules; i++)
				add_name(names, rules.rule[i].name);
		baleen_rule_store_close(&state);
	}
	if (!baleen_kmod_rules_open(&kmod, device, false, NULL)) {
		for (u32 i = 0; i < kmod.n_rules; i++)
			add_name(names, (const char *)kmod.rule[i].name);
		baleen_kmod_rules_close(&kmod);
	}
}

int complain_no_rule(const char *device, const char *rule)
{
	struct baleen_nearest nearest = { .typed = rule };
	struct rule_names names = { .n = 0 };
	char text[BALEEN_NEAREST_TEXT];

	find_rules(device, &names);
	for (u32 i = 0; i < names.n; i++)
		baleen_nearest_offer(&nearest, names.name[i]);
	return complain("%s has no rule '%s'%s: see 'baleen status %s'", device, rule,
			baleen_nearest_text(&nearest, text), baleen_shell_word(device).text);
}
