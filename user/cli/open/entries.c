// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries as they are typed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open/entries.h"
#include "cli/open/filter_name.h"
#include "net/device.h"
#include "util/array.h"
#include "util/duration.h"

int entry_ttl(const struct option_use *use)
{
	struct entry_options *options = use->to;

	options->is_given = true;
	return baleen_duration_parse(use->argument, &options->ttl_ms) ?
		       option_refuse(use, "not a time such as 30s, 1h or 2d") :
		       0;
}

int entry_origin(const struct option_use *use)
{
	struct entry_options *options = use->to;

	options->is_given = true;
	options->origin = use->argument;
	return 0;
}

static int parse_reason(const struct option_use *use)
{
	struct entry_options *options = use->to;

	options->is_given = true;
	options->reason = use->argument;
	return 0;
}

const struct option_spec entry_option_table[] = {
	{ "ttl", 0, "TIME", entry_ttl,
	  .help = "the entries end after TIME: 30s, 10m, 1h30m, 2d; adding one again begins it "
		  "anew" },
	{ "origin", 0, "NAME", entry_origin,
	  .help = "who has them, such as fail2ban; without it manual" },
	{ "reason", 0, "TEXT", parse_reason, .help = "why, for 'baleen why'" },
	{ .help = "In a rule that drops, a lone IPv6 address that is typed stands for its /64, or as "
		  "wide as 'ban-width' says; say /128 for less.\n" },
	{ 0 },
};

int entries_append(struct entries *entries, enum baleen_rule_entry_op op,
		   const struct baleen_rule_entry *entry)
{
	if (baleen_array_add(&entries->change, entries->n))
		return complain("%s", strerror(ENOMEM));
	entries->change[entries->n++] =
		(struct baleen_rule_entry_change){ .op = op, .entry = *entry };
	return 0;
}

static bool has_end(const struct entries *entries)
{
	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_rule_entry_change *change = &entries->change[i];

		if (change->op == BALEEN_RULE_ENTRY_PUT && change->entry.expires_ms &&
		    change->result != -EPERM)
			return true;
	}
	return false;
}

void entries_warn_ends(const struct entries *entries, const struct baleen_deploy *deploy)
{
	if (deploy->has_xdp && has_end(entries))
		session_warn_ends(deploy->state.device);
}

void entries_warn_bans_end(const struct entries *entries, const struct baleen_bans *bans)
{
	bool is_in_force = false;

	for (u32 i = 0; i < bans->n_devices; i++)
		is_in_force |= bans->device[i].is_attached;
	if (is_in_force && has_end(entries))
		session_warn_ends(bans->n_devices > 1 ? "these devices" : bans->device[0].name);
}

void entries_free(struct entries *entries)
{
	free(entries->change);
	*entries = (struct entries){ 0 };
}

int entry_make(const char *text, u32 key_spec, u32 width, const struct entry_options *options,
	       struct baleen_rule_entry *entry, bool *is_widened, struct baleen_error *error)
{
	const char *origin = options->origin ? options->origin : BALEEN_ORIGIN_MANUAL;
	const char *reason = options->reason ? options->reason : "";
	int err;

	*entry = (struct baleen_rule_entry){ .added_ms = baleen_now_ms() };
	err = baleen_rule_entry_check(origin, reason, error);
	if (!err)
		err = baleen_rule_entry_parse(text, key_spec, width, entry, error);
	if (err)
		return err;
	if (is_widened)
		*is_widened = entry->key.is_lone && !baleen_entry_key_is_alone(&entry->key);
	strcpy(entry->origin, origin);
	strcpy(entry->reason, reason);
	if (options->ttl_ms)
		entry->expires_ms = entry->added_ms + options->ttl_ms;
	return 0;
}

int entry_make_pair(const char *text, u32 key_spec, u32 width, const struct entry_options *options,
		    struct baleen_rule_entry *pair, struct baleen_error *error)
{
	int err = entry_make(text, key_spec, width, options, &pair[0], NULL, error);

	if (err || !pair[0].key.is_lone)
		return err ? err : 1;
	err = entry_make(text, key_spec, BALEEN_AS_WRITTEN, options, &pair[1], NULL, error);
	return err ? err : 2;
}

void say_stands_for(const char *target, const char *text, const struct baleen_rule_entry *entry,
		    bool is_widened)
{
	struct baleen_entry_text key = baleen_entry_key_text(&entry->key);
	const char *colon = target ? ": " : "";

	target = target ?: "";
	text += *text == '!';
	if (is_widened)
		complain("%s%s%s stands for %s (say %s/128 for less)", target, colon, text,
			 key.text, text);
	else if (baleen_span_has_host_bits(text))
		complain("%s%s%s stands for %s", target, colon, text, key.text);
}

const char *entry_refusal(const struct baleen_rule_entry_change *change, char *text)
{
	return baleen_gate_text(change->answer, &change->protected, text);
}

/* The rule, of a state that is closed then; 0, or EXIT_FAILED after a message. */
static int parse_rule(struct baleen_rule_store *state, const char *name,
		      struct baleen_stored_rule *rule)
{
	struct baleen_stored_rules rules;
	struct baleen_error error;
	int index, err = baleen_rule_store_get_rules(state, &rules, &error);
	char device[BALEEN_POINT_BYTES];

	strcpy(device, state->device);
	baleen_rule_store_close(state);
	if (err)
		return complain("%s", error.text);
	index = baleen_rule_store_find_rule(&rules, name);
	if (index < 0)
		return complain_no_rule(device, name);
	*rule = rules.rule[index];
	return 0;
}

int entries_find(const char *argument, char *device, struct baleen_stored_rule *rule)
{
	struct baleen_rule_store state;
	struct baleen_error error, denied;
	const char *name;
	int err;

	if (!split_live(argument, device, BALEEN_POINT_BYTES, &name))
		return -ENOENT;
	err = baleen_rule_store_open(&state, device, 0, &error);
	if (err == -ENOENT)
		return -ENOENT;
	/* One that cannot be opened must not be gone around. */
	if (baleen_device_privileges(&denied)) {
		if (!err)
			baleen_rule_store_close(&state);
		return complain("%s", denied.text);
	}
	return err ? complain("%s", error.text) : parse_rule(&state, name, rule);
}

int entries_rule(const char *device, const char *name, struct baleen_stored_rule *rule)
{
	struct baleen_rule_store state;
	struct baleen_error error;

	if (baleen_rule_store_open(&state, device, 0, &error))
		return complain("%s", error.text);
	return parse_rule(&state, name, rule);
}

const char *format_expiry(u64 expires_ms, char *text)
{
	u64 now = baleen_now_ms();
	char span[BALEEN_DURATION_TEXT];

	if (!expires_ms)
		return strcpy(text, "never");
	format_span(expires_ms > now ? expires_ms - now : 1, span);
	sprintf(text, "in %s", span);
	return text;
}
