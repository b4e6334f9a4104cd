// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen ban, baleen unban: an address in all rules that take bans, of all devices. */
#include <errno.h>
#include <string.h>

#include "cli/ban/describe_entry.h"
#include "cli/ban/parked_entries.h"
#include "cli/ban/ban.h"
#include "cli/open/filter_name.h"
#include "cli/open/session.h"
#include "deploy/bans.h"
#include "net/device.h"
#include "util/duration.h"

/**
 * struct ban - one run of ban or unban
 * @command: which of them
 * @address: as typed
 * @entry: origin, reason and end
 * @exist: what changes nothing is fine
 * @force: also what would cut this host off, and what is too wide
 * @narrow: without what must not be dropped
 * @json: report as JSON
 * @wait_ms: for other writers of each device
 * @key: the keys that @address stands for
 * @n_keys: how many
 * @bans: the rules
 * @n_parked: scopes without a rule that an unban has taken it out of
 */
struct ban {
	const struct command *command;
	const char *address;
	struct entry_options entry;
	bool exist, force, narrow, json;
	u64 wait_ms;
	struct baleen_rule_entry key[BALEEN_BAN_MAX_KEYS];
	size_t n_keys;
	struct baleen_bans bans;
	size_t n_parked;
};

static bool is_ban(const struct ban *ban)
{
	return ban->command == &ban_command;
}

static struct baleen_entry_text key_text(const struct ban *ban)
{
	return baleen_entry_key_text(&ban->key[0].key);
}

/* DEV:RULE, into at least TARGET_BYTES bytes; returns @text. */
#define TARGET_BYTES (BALEEN_POINT_BYTES + BALEEN_NAME_BYTES)

static const char *target_text(const struct ban *ban, const struct baleen_ban_rule *rule,
			       char *text)
{
	snprintf(text, TARGET_BYTES, "%s:%s", ban->bans.deploy[rule->deploy].state.device,
		 rule->rule.name);
	return text;
}

/* --- arguments ------------------------------------------------------------- */

static int parse(struct ban *ban, int argc, char **argv)
{
	int err = options_parse(ban->command, ban, &argc, &argv);

	if (err)
		return err;
	ban->address = argv[0];
	if (argc > 1 && baleen_duration_parse(argv[1], &ban->entry.ttl_ms))
		return complain_usage(ban->command, "'%s': not a time such as 30s, 1h or 2d",
				      argv[1]);
	return 0;
}

/* One key for all rules: as wide as the widest of them has it. */
static u32 width_of(const struct ban *ban)
{
	u32 width = BALEEN_BAN_WIDTH_MAX;

	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		u32 of_rule = baleen_rule_ban_width(&ban->bans.rule[i].rule);

		width = of_rule < width ? of_rule : width;
	}
	return width;
}

/* An address of IPv6 is banned with what its host has; unbanned is the address alone, too. */
static int make_keys(struct ban *ban)
{
	struct baleen_error error;
	int n = entry_make_pair(ban->address, BALEEN_KEY_SRC, width_of(ban), &ban->entry, ban->key,
				&error);

	if (n < 0)
		return complain("%s", error.text);
	if (!ban->json)
		say_stands_for(NULL, ban->address, &ban->key[0], n > 1 && is_ban(ban));
	ban->n_keys = is_ban(ban) ? 1 : n;
	return 0;
}

/* Says what is wrong with an address before any device is held. */
static int check_address(const struct ban *ban)
{
	struct baleen_rule_entry ignored;
	struct baleen_error error;

	if (*ban->address == '!')
		return complain("'%s': an exception: 'baleen add' and 'baleen del' take it",
				ban->address);
	if (entry_make(ban->address, BALEEN_KEY_SRC, BALEEN_BAN_WIDTH_MAX, &ban->entry, &ignored,
		       NULL, &error))
		return complain("%s", error.text);
	return 0;
}

/* --- what is there ---------------------------------------------------------- */

static const struct baleen_rule_entry *find_own(const struct ban *ban,
						const struct baleen_ban_rule *rule)
{
	for (size_t i = 0; i < rule->n_before; i++)
		if (!strcmp(rule->before[i].entry.origin, ban->key[0].origin))
			return &rule->before[i].entry;
	return NULL;
}

static bool has_key(const struct baleen_ban_rule *rule, const struct baleen_rule_entry *key)
{
	for (size_t i = 0; i < rule->n_before; i++)
		if (!baleen_entry_key_compare(&rule->before[i].entry.key, &key->key))
			return true;
	return false;
}

static void add_change(struct baleen_ban_rule *rule, enum baleen_rule_entry_op op,
		       const struct baleen_rule_entry *entry)
{
	rule->change[rule->n_changes++] =
		(struct baleen_rule_entry_change){ .op = op, .entry = *entry };
}

/* Fills in what each rule has to change; how many have something new. */
static size_t plan(struct ban *ban)
{
	struct baleen_rule_entry any;
	size_t n_new = 0;

	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		struct baleen_ban_rule *rule = &ban->bans.rule[i];

		if (rule->is_left)
			continue;
		if (is_ban(ban)) {
			add_change(rule, BALEEN_RULE_ENTRY_PUT, &ban->key[0]);
			n_new += !find_own(ban, rule);
			continue;
		}
		for (size_t k = 0; k < ban->n_keys; k++) {
			if (!has_key(rule, &ban->key[k]))
				continue;
			any = ban->key[k];
			any.origin[0] = '\0';
			add_change(rule, BALEEN_RULE_ENTRY_REMOVE, &any);
		}
		n_new += rule->n_changes > 0;
	}
	return n_new;
}

/* Says what else drops the address: entries and lines of any rule of these devices. */
static void explain(const struct ban *ban)
{
	for (u32 d = 0; d < ban->bans.n_devices; d++)
		explain_device(&ban->bans.deploy[d].state, &ban->key[0]);
}

static int complain_noop(const struct ban *ban)
{
	if (is_ban(ban))
		return complain("%s is banned by origin '%s' already: nothing changed (--exist "
				"renews it)",
				key_text(ban).text, ban->key[0].origin);
	complain("%s is not banned: nothing changed (--exist does not mind)", key_text(ban).text);
	explain(ban);
	return EXIT_FAILED;
}

/* --- the change ------------------------------------------------------------- */

/* Asks for all rules before any is changed. The devices have gateways of their own, and one
 * survey of each is for the guard and the change of all its rules.
 */
static int check_host(const struct ban *ban)
{
	int err = 0;

	for (size_t i = 0; i < ban->bans.n_rules && !err; i++) {
		struct baleen_ban_rule *rule = &ban->bans.rule[i];
		const struct entries entries = { .change = rule->change, .n = rule->n_changes };

		err = guard_entries(&ban->bans.deploy[rule->deploy], &rule->rule, BALEEN_SET_UNION,
				    &entries, &ban->bans.host[rule->deploy], ban->force);
		if (err)
			suggest_narrow(&entries, ban->command->name, NULL);
	}
	return err;
}

static int put(struct ban *ban)
{
	const struct baleen_ban_rule *refused = NULL;
	const struct baleen_ban_word word = { .forces = ban->force, .narrows = ban->narrow };
	char target[TARGET_BYTES], why[ENTRY_REFUSAL];
	struct baleen_error error;
	int err = baleen_bans_put(&ban->bans, &word, &refused, &error);

	if (!err)
		return 0;
	/* Each is named at the end. */
	if (err == -EIO && ban->bans.n_sick)
		return EXIT_FAILED;
	if (!refused)
		return complain("%s: nothing changed", error.text);
	complain("%s: '%s' not added: %s: nothing changed", target_text(ban, refused, target),
		 key_text(ban).text, entry_refusal(&refused->change[0], why));
	return suggest_word(&refused->change[0], ban->command->name, NULL);
}

static int change(struct ban *ban)
{
	struct baleen_error error;

	for (size_t i = 0; i < ban->n_keys; i++)
		if (baleen_bans_remember(&ban->bans, &ban->key[i], &error))
			return complain("%s", error.text);
	if (!plan(ban) && !ban->exist && !ban->n_parked)
		return complain_noop(ban);
	return (is_ban(ban) && !ban->narrow && check_host(ban)) || put(ban) ? EXIT_FAILED : 0;
}

/* --- report ------------------------------------------------------------------ */

static const char *result_text(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	if (!is_ban(ban))
		return rule->n_changes ? "deleted" : "absent";
	return find_own(ban, rule) ? "renewed" : "added";
}

static bool is_narrowed(const struct baleen_ban_rule *rule)
{
	return rule->n_changes && rule->change[0].answer == BALEEN_GATE_NARROWED;
}

/* The origins that had banned it, each once. */
static json_t *describe_origins(const struct baleen_ban_rule *rule)
{
	json_t *origins = json_array();

	for (size_t i = 0; i < rule->n_before; i++)
		json_array_append_new(origins, json_text(rule->before[i].entry.origin));
	return origins;
}

/* The devices that were left out. */
static json_t *describe_sick(const struct ban *ban)
{
	json_t *sick = json_array();

	for (size_t i = 0; i < ban->bans.n_sick; i++)
		json_array_append_new(sick, json_pack("{s:o,s:o}", "device",
						      json_text(ban->bans.sick[i].device), "why",
						      json_text(ban->bans.sick[i].error.text)));
	return sick;
}

static int report_json(const struct ban *ban)
{
	json_t *rules = json_array(), *json = json_object();

	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		const struct baleen_ban_rule *rule = &ban->bans.rule[i];
		const struct baleen_deploy *deploy = &ban->bans.deploy[rule->deploy];
		json_t *one;

		if (rule->is_left)
			continue;
		one = json_object();
		json_object_set_new(one, "device", json_text(deploy->state.device));
		json_object_set_new(one, "rule", json_text(rule->rule.name));
		json_object_set_new(one, "result", json_string(result_text(ban, rule)));
		if (is_ban(ban))
			json_object_set_new(one, "narrowed", json_boolean(is_narrowed(rule)));
		json_object_set_new(one, "origins_before", describe_origins(rule));
		json_object_set_new(one, "attached", json_boolean(deploy->has_xdp));
		json_object_set_new(one, "in_place", json_boolean(rule->in_place));
		json_object_set_new(one, "prefix_banned",
				    *rule->widened ? json_text(rule->widened) : json_null());
		json_array_append_new(rules, one);
	}
	json_object_set_new(json, "entry",
			    json_text(ban->n_keys ? key_text(ban).text : ban->address));
	if (is_ban(ban))
		json_object_set_new(json, "expires_ms",
				    ban->key[0].expires_ms ? json_integer(ban->key[0].expires_ms) :
							     json_null());
	json_object_set_new(json, "rules", rules);
	if (!is_ban(ban))
		json_object_set_new(json, "parked", json_integer(ban->n_parked));
	json_object_set_new(json, "failed", describe_sick(ban));
	return print_json(json);
}

static void print_origins(const struct baleen_ban_rule *rule)
{
	for (size_t i = 0; i < rule->n_before; i++)
		say("%s%s", i ? ", " : " (", rule->before[i].entry.origin);
	if (rule->n_before)
		putchar(')');
}

static int report(const struct ban *ban)
{
	char target[TARGET_BYTES], end[BALEEN_DURATION_TEXT + 8], why[ENTRY_REFUSAL];

	if (ban->json)
		return report_json(ban);
	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		const struct baleen_ban_rule *rule = &ban->bans.rule[i];

		if (rule->is_left)
			continue;
		say("%s: %s %s", target_text(ban, rule, target), key_text(ban).text,
		    result_text(ban, rule));
		if (!is_ban(ban))
			print_origins(rule);
		else if (ban->key[0].expires_ms)
			say(", ends %s", format_expiry(ban->key[0].expires_ms, end));
		if (is_narrowed(rule))
			say(", narrowed: %s", entry_refusal(&rule->change[0], why));
		say("%s\n", ban->bans.deploy[rule->deploy].has_xdp ? "" : ", not attached now");
		print_widened(target, rule->widened, false);
	}
	if (!is_ban(ban))
		explain(ban);
	return finish_output(EXIT_DONE);
}

/* Says for each device when it could not be kept. */
static int check_kept(const struct ban *ban)
{
	int err = EXIT_DONE;

	for (u32 i = 0; i < ban->bans.n_devices; i++)
		if (session_kept(&ban->bans.deploy[i].state))
			err = EXIT_UNKEPT;
	return err;
}

/* Says which devices were left out; each can be asked again. */
static int complain_of_sick(const struct ban *ban)
{
	for (size_t i = 0; i < ban->bans.n_sick; i++) {
		const struct baleen_ban_sick *sick = &ban->bans.sick[i];

		complain("%s: nothing changed there: %s", sick->device, sick->error.text);
		suggest_mend(sick->device);
	}
	return ban->bans.n_sick ? EXIT_FAILED : EXIT_DONE;
}

/* With baleend each end is kept in time; without it, by whoever opens the device next. */
static void warn_ends(const struct ban *ban)
{
	bool is_in_force = false;

	for (u32 i = 0; i < ban->bans.n_devices; i++)
		is_in_force |= ban->bans.deploy[i].has_xdp;
	if (is_ban(ban) && ban->key[0].expires_ms && is_in_force)
		session_warn_ends(ban->bans.n_devices > 1 ? "these devices" :
							    ban->bans.deploy[0].state.device);
}

/* --- command ------------------------------------------------------------------ */

static int run(struct ban *ban, int argc, char **argv)
{
	struct baleen_error error;
	int err = parse(ban, argc, argv);

	if (!err)
		err = check_address(ban);
	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	if (!is_ban(ban) && unban_parked(ban->address, &ban->entry, ban->json, &ban->n_parked))
		return EXIT_FAILED;
	err = baleen_bans_open(&ban->bans, ban->wait_ms, &error);
	if (err == -ENOENT && ban->n_parked)
		return ban->json ? report_json(ban) : finish_output(EXIT_DONE);
	if (err == -ENOENT)
		return complain_no_bans(&error);
	if (err && !ban->bans.n_sick)
		return complain("%s: nothing changed", error.text);
	for (u32 i = 0; i < ban->bans.n_devices; i++)
		session_warn_never(&ban->bans.deploy[i]);
	if (!err)
		err = make_keys(ban);
	if (!err)
		err = change(ban);
	if (!err)
		err = report(ban);
	if (!err)
		warn_ends(ban);
	if (!err)
		err = check_kept(ban);
	if (complain_of_sick(ban))
		err = EXIT_FAILED;
	baleen_bans_close(&ban->bans);
	return err;
}

static int run_ban(int argc, char **argv)
{
	struct ban ban = { .command = &ban_command, .wait_ms = BALEEN_LOCK_TIMEOUT_MS };

	return run(&ban, argc, argv);
}

static int run_unban(int argc, char **argv)
{
	struct ban ban = { .command = &unban_command, .wait_ms = BALEEN_LOCK_TIMEOUT_MS };

	return run(&ban, argc, argv);
}

static const struct option_spec ban_options[] = {
	FLAG("exist", 0, ban, exist,
	     "also when it is banned in all of them already: it ends as said now, and keeps its reason unless one is given"),
	VALUE("origin", 0, "NAME", option_text, ban, entry.origin,
	      "who bans it, such as fail2ban; without it manual"),
	VALUE("reason", 0, "TEXT", option_text, ban, entry.reason, "why, for 'baleen why'"),
	WAIT_OPTION(ban, wait_ms),
	WIDE_OPTION(ban, force),
	NARROW_OPTION(ban, narrow),
	FLAG("json", 'j', ban, json, "report as JSON"),
	{ 0 },
};

static const struct option_spec unban_options[] = {
	FLAG("exist", 0, ban, exist, "also when it is banned in none of them"),
	WAIT_OPTION(ban, wait_ms),
	FLAG("json", 'j', ban, json, "report as JSON"),
	{ 0 },
};

const struct command ban_command = {
	.name = "ban",
	.synopsis = "ADDR [TTL] [--reason TEXT] [OPTION...]",
	.help = "Adds an address, prefix or range to every rule that takes bans, of all devices: those\n"
		"with 'bans' below them in a configuration, or behind them at attach. Without TTL, such\n"
		"as 1h30m, it stays until it is unbanned. A lone IPv6 address stands for its /64.\n"
		"Refuses what no feed may drop, and what would cut this host off. When one rule must\n"
		"not have it, nothing changes anywhere. A device that cannot be changed is named, and\n"
		"the others have it.\n",
	.options = ban_options,
	.asks = { 1, 2, "an address is asked for, and how long at most" },
	.run = run_ban,
};

const struct command unban_command = {
	.name = "unban",
	.synopsis = "ADDR [OPTION...]",
	.help = "Deletes an address, prefix or range from every rule that takes bans, of all devices,\n"
		"whoever has banned it. What lists and other prefixes hold stays, and is named.\n"
		"A device that cannot be changed is named, and the others are.\n",
	.options = unban_options,
	.asks = { 1, 1, "one address is asked for" },
	.run = run_unban,
};
