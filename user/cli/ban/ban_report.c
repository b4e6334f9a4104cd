// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The answers of ban and unban: a line for each rule, or an object. */
#include <stdlib.h>
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/cmd_ban.h"
#include "cli/ban/describe_entry.h"
#include "cli/open/session.h"
#include "util/duration.h"

bool ban_is_ban(const struct ban *ban)
{
	return ban->command == &ban_command;
}

struct baleen_entry_text ban_key_text(const struct ban *ban)
{
	return ban->is_part ? baleen_entry_key_text(&ban->key[0].key) :
			      baleen_rule_entry_asked_text(&ban->key[0]);
}

const char *ban_target_text(const struct ban *ban, const struct baleen_ban_rule *rule, char *text)
{
	snprintf(text, BAN_TARGET_BYTES, "%s:%s", ban->bans.device[rule->device].name,
		 rule->rule.name);
	return text;
}

bool ban_has_it(const struct ban *ban, const struct baleen_ban_rule *rule, bool only_bans)
{
	for (size_t i = 0; i < rule->before.n; i++) {
		const struct baleen_rule_entry *there = &rule->before.entry[i];

		if ((there->is_ban || !only_bans) && !strcmp(there->origin, ban->key[0].origin))
			return true;
	}
	return false;
}

void ban_explain(const struct ban *ban)
{
	bool has_ban = false;

	for (u32 i = 0; i < ban->bans.n_devices; i++)
		if (ban->bans.device[i].has_state)
			has_ban |= explain_device(&ban->bans.device[i].deploy.state, &ban->key[0]);
	if (has_ban)
		complain("'baleen unban %s' once more excepts it from wider bans",
			 ban_key_text(ban).text);
}

static const char *result_text(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	if (ban->is_part)
		return "excepted";
	if (!ban_is_ban(ban))
		return rule->before.n ? "deleted" : "absent";
	return ban_has_it(ban, rule, false) ? "renewed" : "added";
}

static bool is_behind(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	return ban->bans.device[rule->device].is_behind;
}

static bool is_narrowed(const struct ban *ban)
{
	return ban_is_ban(ban) && ban->change[0].answer == BALEEN_GATE_NARROWED;
}

/* An origin may have banned it, and added it to a rule, too. */
static bool is_repeated(const struct baleen_ban_rule *rule, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(rule->before.entry[i].origin, rule->before.entry[at].origin))
			return true;
	return false;
}

/* The origins that had banned it, each once. */
static json_t *describe_origins(const struct baleen_ban_rule *rule)
{
	json_t *origins = json_array();

	for (size_t i = 0; i < rule->before.n; i++)
		if (!is_repeated(rule, i))
			json_array_append_new(origins, json_text(rule->before.entry[i].origin));
	return origins;
}

static json_t *describe_behind(const struct ban *ban)
{
	json_t *behind = json_array();

	for (u32 i = 0; i < ban->bans.n_devices; i++) {
		const struct baleen_ban_device *device = &ban->bans.device[i];

		if (device->is_behind)
			json_array_append_new(behind, json_pack("{s:o,s:o}", "device",
								json_text(device->name), "why",
								json_text(device->why.text)));
	}
	return behind;
}

static json_t *describe_rule(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	const struct baleen_ban_device *device = &ban->bans.device[rule->device];
	json_t *json = json_object();

	json_object_set_new(json, "device", json_text(device->name));
	json_object_set_new(json, "rule", json_text(rule->rule.name));
	json_object_set_new(json, "result",
			    json_string(device->is_behind ? "behind" : result_text(ban, rule)));
	if (ban_is_ban(ban))
		json_object_set_new(json, "narrowed", json_boolean(is_narrowed(ban)));
	json_object_set_new(json, "origins_before", describe_origins(rule));
	json_object_set_new(json, "attached",
			    device->is_behind ? json_null() : json_boolean(device->is_attached));
	json_object_set_new(json, "in_place", json_boolean(rule->in_place));
	json_object_set_new(json, "prefix_banned",
			    *rule->widened ? json_text(rule->widened) : json_null());
	return json;
}

static int report_json(const struct ban *ban)
{
	json_t *rules = json_array(), *json = json_object();

	for (size_t i = 0; i < ban->bans.n_rules; i++)
		json_array_append_new(rules, describe_rule(ban, &ban->bans.rule[i]));
	json_object_set_new(json, "entry",
			    json_text(ban->n_keys ? ban_key_text(ban).text : ban->address));
	if (ban_is_ban(ban))
		json_object_set_new(json, "expires_ms",
				    ban->key[0].expires_ms ? json_integer(ban->key[0].expires_ms) :
							     json_null());
	json_object_set_new(json, "rules", rules);
	if (!ban_is_ban(ban)) {
		json_object_set_new(json, "parked", json_integer(ban->n_parked));
		json_object_set_new(
			json, "excepted_from",
			ban->is_part ? json_text(baleen_rule_entry_asked_text(&ban->around).text) :
				       json_null());
	}
	json_object_set_new(json, "behind", describe_behind(ban));
	return print_json(json);
}

static void format_origins(const struct baleen_ban_rule *rule, FILE *out)
{
	for (size_t i = 0; i < rule->before.n; i++)
		if (!is_repeated(rule, i))
			fprintf(out, "%s%s", i ? ", " : " (", rule->before.entry[i].origin);
	if (rule->before.n)
		fputc(')', out);
}

/* The words behind its name; to be freed by the caller, NULL without memory. */
static char *format_rule(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	char end[BALEEN_DURATION_TEXT + 8], why[ENTRY_REFUSAL], *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	if (!out)
		return NULL;
	fprintf(out, "%s %s", ban_key_text(ban).text, result_text(ban, rule));
	if (ban->is_part)
		fprintf(out, " from %s (%s), which stays", entry_shown(&ban->around).text,
			ban->around.origin);
	else if (!ban_is_ban(ban))
		format_origins(rule, out);
	else if (ban->key[0].expires_ms)
		fprintf(out, ", ends %s", format_expiry(ban->key[0].expires_ms, end));
	if (is_narrowed(ban))
		fprintf(out, ", narrowed: %s", entry_refusal(&ban->change[0], why));
	if (!ban->bans.device[rule->device].is_attached)
		fputs(", not attached now", out);
	return fclose(out) ? NULL : text;
}

/* Rules with the same words are one line when there are more of them than fit a glance. */
#define MANY 4

static void print_rules(const struct ban *ban, char **text)
{
	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		char target[BAN_TARGET_BYTES];
		size_t n = 0;

		for (size_t k = i; k < ban->bans.n_rules && text[i]; k++)
			n += text[k] && !strcmp(text[i], text[k]);
		if (!n)
			continue;
		ban_target_text(ban, &ban->bans.rule[i], target);
		if (n > MANY)
			say("%s and %zu more: %s\n", target, n - 1, text[i]);
		else
			say("%s: %s\n", target, text[i]);
		print_widened(target, ban->bans.rule[i].widened, false);
		for (size_t k = i + 1; k < ban->bans.n_rules && n > MANY; k++) {
			if (!text[k] || strcmp(text[i], text[k]))
				continue;
			print_widened(ban_target_text(ban, &ban->bans.rule[k], target),
				      ban->bans.rule[k].widened, false);
			free(text[k]);
			text[k] = NULL;
		}
	}
}

int ban_report(const struct ban *ban)
{
	char **text;

	if (ban->json)
		return report_json(ban);
	text = calloc(ban->bans.n_rules + 1, sizeof(*text));
	for (size_t i = 0; text && i < ban->bans.n_rules; i++)
		if (!is_behind(ban, &ban->bans.rule[i]))
			text[i] = format_rule(ban, &ban->bans.rule[i]);
	if (text)
		print_rules(ban, text);
	for (size_t i = 0; text && i < ban->bans.n_rules; i++)
		free(text[i]);
	free(text);
	if (!ban_is_ban(ban))
		ban_explain(ban);
	return finish_output(EXIT_DONE);
}
