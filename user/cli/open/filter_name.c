// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parts of DEV:RULE and kmod:NAME. */
#include <string.h>

#include "cli/open/filter_name.h"
#include "deploy/conf.h"
#include "net/device.h"
#include "state/scope.h"
#include "util/shell.h"

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

int complain_no_rule(const char *device, const char *rule)
{
	return complain("%s has no rule '%s': see 'baleen status %s'", device, rule,
			baleen_shell_word(device).text);
}
