// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A live rule by name. */
#include <errno.h>
#include <string.h>

#include "api.h"
#include "net/device.h"
#include "xdp/ruleset.h"

int api_rule_parse(const char *text, struct api_rule *rule)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (!length || length >= sizeof(rule->device) || baleen_rule_name_check(colon + 1))
		return baleen_fail(api_error(), EINVAL, "'%s': not DEV:RULE", text);
	memcpy(rule->device, text, length);
	rule->device[length] = '\0';
	if (baleen_device_is_egress(rule->device))
		length -= sizeof(BALEEN_EGRESS) - 1;
	if (!length || length >= IF_NAMESIZE)
		return baleen_fail(api_error(), EINVAL, "'%s': not DEV:RULE", text);
	strcpy(rule->name, colon + 1);
	return 0;
}
