// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names the other entries and feeds that hold the key of a single entry. */
#include <errno.h>
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/describe_entry.h"
#include "deploy/derive.h"
#include "state/entries.h"

/**
 * struct told - entries that were named
 * @target: DEV:RULE
 * @decision: what the entries so far say, of which the longest come first
 * @n: how many
 * @has_ban: one of them is a ban of all rules
 */
struct printed {
	const char *target;
	enum baleen_decision decision;
	u64 n;
	bool has_ban;
};

/* The first key that an entry holds, by which others are found; the one that was asked for. */
static int first_key(const struct baleen_rule_entry *entry, u32 key_spec, struct baleen_key *key)
{
	const char *fields = entry->key.fields, *reason;
	struct baleen_entry_key alone;

	if (!baleen_entry_key_is_addresses(&entry->key))
		return baleen_key_parse(fields, strlen(fields), key_spec, key, &reason);
	alone = entry->key;
	baleen_entry_key_fit(&alone, 128);
	*key = baleen_span_first_key(&alone.span);
	return 0;
}

/* Behind an exception nothing holds it that the exception takes it out of. */
static bool is_excepted(struct printed *printed, const struct baleen_reason *reason)
{
	bool is_out = printed->decision == BALEEN_DECIDED_OUT ||
		      (printed->decision == BALEEN_LEFT_TO_FEEDS && !reason->is_feed);

	if (!reason->is_feed)
		printed->decision = baleen_decision_with(printed->decision, &reason->entry);
	return is_out || (!reason->is_feed && reason->entry.is_exception);
}

static int say_reason(const struct baleen_reason *reason, void *data)
{
	struct printed *printed = data;

	if (is_excepted(printed, reason))
		return 0;
	printed->n++;
	printed->has_ban |= !reason->is_feed && reason->entry.is_ban &&
			    !baleen_origin_is_of_fleet(reason->entry.origin);
	if (reason->is_feed && reason->line)
		complain("%s: %s stays in force: line %llu of %s", printed->target, reason->text,
			 (unsigned long long)reason->line, baleen_feed_name(&reason->feed).text);
	else if (reason->is_feed)
		complain("%s: stays in force: the image %s holds it", printed->target,
			 baleen_feed_name(&reason->feed).text);
	else
		complain("%s: %s stays in force: entry of origin '%s'", printed->target,
			 entry_shown(&reason->entry).text, reason->entry.origin);
	return 0;
}

static struct printed explain(const char *target, const struct baleen_rule_store *state,
			      const struct baleen_stored_rule *rule,
			      const struct baleen_rule_entry *entry)
{
	struct printed printed = { .target = target };
	struct baleen_protected ignored;
	struct baleen_key key;

	if (first_key(entry, rule->key_spec, &key))
		return printed;
	/* Lists have no effect on addresses that are taken out of them. */
	if (!baleen_spec_is_address(rule->key_spec) ||
	    !baleen_protected_find(state, rule, &key, &ignored))
		baleen_derive_reasons(state, rule, &key, baleen_now_ms(), say_reason, &printed,
				      NULL);
	return printed;
}

u64 explain_entry(const char *target, const struct baleen_rule_store *state,
		  const struct baleen_stored_rule *rule, const struct baleen_rule_entry *entry)
{
	return explain(target, state, rule, entry).n;
}

/* A part of a ban is excepted once, for all rules. */
bool explain_device(const struct baleen_rule_store *state, const struct baleen_rule_entry *entry)
{
	char target[BALEEN_POINT_BYTES + BALEEN_NAME_BYTES + 1];
	struct baleen_stored_rules rules;
	bool has_ban = false;

	if (baleen_rule_store_get_rules(state, &rules, NULL))
		return false;
	for (u32 i = 0; i < rules.n_rules; i++) {
		struct printed printed;

		if (rules.rule[i].action != BALEEN_ACTION_DROP ||
		    rules.rule[i].key_spec != BALEEN_KEY_SRC)
			continue;
		snprintf(target, sizeof(target), "%s:%s", state->device, rules.rule[i].name);
		printed = explain(target, state, &rules.rule[i], entry);
		if (printed.n && !printed.has_ban)
			suggest_exception(target, entry);
		has_ban |= printed.has_ban;
	}
	return has_ban;
}
