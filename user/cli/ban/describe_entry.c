// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A single entry in the output of commands. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/ban/describe_entry.h"

const char *format_entry_time(u64 ms, char *text)
{
	time_t seconds = ms / 1000;
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(text, ENTRY_TIME_TEXT, "%Y-%m-%d %H:%M:%S", &local);
	return text;
}

const char *parked_why(const struct baleen_scope *scope)
{
	if (!strcmp(scope->name, BALEEN_SCOPE_BANS))
		return "no rule takes bans";
	return baleen_scope_is_shared(scope->name) ? "no rule has this statement" :
						     "the rule is not there";
}

/* Does a lone address stand for more than itself? */
static bool is_wider(const struct baleen_rule_entry *entry)
{
	return entry->key.is_lone && !baleen_entry_key_is_alone(&entry->key);
}

struct baleen_entry_text entry_shown(const struct baleen_rule_entry *entry)
{
	struct baleen_entry_text text = baleen_rule_entry_asked_text(entry);

	if (is_wider(entry))
		sprintf(text.text + strlen(text.text), " (/%d)",
			baleen_span_length(&entry->key.span));
	return text;
}

json_t *describe_entry(const struct baleen_rule_entry *entry)
{
	json_t *json = json_object();

	json_object_set_new(json, "entry", json_text(baleen_rule_entry_asked_text(entry).text));
	json_object_set_new(json, "stands_for",
			    is_wider(entry) ? json_text(baleen_entry_key_text(&entry->key).text) :
					      json_null());
	json_object_set_new(json, "origin", json_text(entry->origin));
	json_object_set_new(json, "reason", json_text(entry->reason));
	json_object_set_new(json, "added_ms", json_integer(entry->added_ms));
	json_object_set_new(json, "expires_ms",
			    entry->expires_ms ? json_integer(entry->expires_ms) : json_null());
	return json;
}

int asked_key_parse(struct asked_key *asked, const char *text)
{
	const char *reason;

	asked->text = text;
	asked->is_span = !baleen_span_parse(text, strlen(text), &asked->span, &reason);
	return asked->is_span || strchr(text, ',') ? 0 : complain("'%s': %s", text, reason);
}

bool asked_key_is_in(const struct asked_key *asked, const struct baleen_entry_key *key)
{
	const struct baleen_span *span = &asked->span;

	if (!asked->text)
		return true;
	if (!asked->is_span || !baleen_entry_key_is_addresses(key))
		return !strcmp(asked->text, baleen_entry_key_text(key).text);
	return span->is_ip6 == key->span.is_ip6 &&
	       baleen_ip6_compare(span->first, key->span.last) <= 0 &&
	       baleen_ip6_compare(key->span.first, span->last) <= 0;
}

void print_widened(const char *target, const char *prefix, bool is_trial)
{
	if (*prefix)
		say("%s: %s %s banned by the bans in it\n", target, prefix,
		    is_trial ? "would be" : "is");
}
