// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bans that a rule takes, and how wide they are. */
#include <stdio.h>
#include <string.h>

#include "key/key_spec.h"
#include "state/rule_store.h"
#include "util/duration.h"

const char *baleen_rule_bans_refuse(const struct baleen_stored_rule *rule)
{
	if (rule->action != BALEEN_ACTION_DROP)
		return "bans are for a rule that drops";
	if (rule->key_spec != BALEEN_KEY_SRC)
		return "bans are for a rule whose key is the source address";
	return rule->is_any ? "any and bans exclude each other" : NULL;
}

u32 baleen_rule_ban_width(const struct baleen_stored_rule *rule)
{
	if (rule->action != BALEEN_ACTION_DROP || !baleen_spec_is_address(rule->key_spec))
		return BALEEN_BAN_WIDTH_MAX;
	return rule->ban_width ?: BALEEN_BAN_WIDTH;
}

const char *baleen_widen_format(const struct baleen_widen *widen, char *text)
{
	*text = '\0';
	for (u32 i = 0; i < 2; i++)
		if (widen[i].n)
			sprintf(text + strlen(text), "%s%u in /%u", *text ? ", " : "", widen[i].n,
				widen[i].length);
	return text;
}

const char *baleen_widen_parse(const char *text, struct baleen_widen *widen)
{
	struct baleen_widen parsed[2] = { 0 };
	int n_bytes;
	u32 n, length;

	do {
		struct baleen_widen *of;

		n_bytes = 0;
		if (sscanf(text, "%4u in /%3u%n", &n, &length, &n_bytes) < 2 || !n_bytes)
			return "not N in /LENGTH, such as 8 in /24, 8 in /48";
		if (length < 8 || length > 127)
			return "a length is 8 to 31 for IPv4, 32 to 127 for IPv6";
		of = &parsed[length >= 32];
		if (of->n)
			return "two lengths of one family";
		if (n < 2 || n > BALEEN_WIDEN_MAX)
			return "a number of bans is 2 to 1000";
		if (length < 32 && n > 1u << (32 - length))
			return "more bans than the prefix has addresses";
		*of = (struct baleen_widen){ n, length };
		text += n_bytes;
	} while (!strncmp(text, ", ", 2) && (text += 2));
	if (*text)
		return "not N in /LENGTH, such as 8 in /24, 8 in /48";
	memcpy(widen, parsed, sizeof(parsed));
	return NULL;
}

void baleen_rule_bans_set(struct baleen_stored_rule *rule, const struct baleen_rule_bans *bans)
{
	rule->takes_bans |= bans->takes_bans;
	if (*bans->fleet.set)
		rule->fleet = bans->fleet;
	if (bans->ban_width)
		rule->ban_width = bans->ban_width;
	if (bans->widen[0].n || bans->widen[1].n)
		memcpy(rule->widen, bans->widen, sizeof(rule->widen));
}

const char *baleen_rule_widen_refuse(const struct baleen_stored_rule *rule)
{
	if (rule->action != BALEEN_ACTION_DROP || !baleen_spec_is_address(rule->key_spec))
		return "widen is for a rule that drops by an address";
	return rule->is_any ? "any and widen exclude each other" : NULL;
}

const char *baleen_rule_fleet_format(const struct baleen_rule_fleet *fleet, char *text)
{
	char ttl[BALEEN_DURATION_TEXT];

	*text = '\0';
	if (*fleet->set)
		sprintf(text, BALEEN_ORIGIN_FLEET "%s", fleet->set);
	if (*fleet->set && fleet->max_ttl_s)
		sprintf(text + strlen(text), " max-ttl %s",
			baleen_duration_format_exact(fleet->max_ttl_s * 1000ull, ttl));
	return text;
}

bool baleen_rule_fleet_is_set(const char *name)
{
	size_t length = strlen(name);

	return length && length < BALEEN_RULE_FLEET_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == length;
}

const char *baleen_rule_fleet_refuse(const struct baleen_stored_rule *rule)
{
	if (rule->action == BALEEN_ACTION_ALLOW)
		return "bans of a fleet are for a rule that drops or counts";
	if (!baleen_spec_is_address(rule->key_spec))
		return "bans of a fleet are for keys of one address";
	return rule->is_any ? "any and feeds exclude each other" : NULL;
}
