// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen ban, baleen unban: an address in all rules that take bans, of all devices. */
#include <errno.h>
#include <string.h>

#include "cli/ban/describe_entry.h"
#include "cli/ban/parked_entries.h"
#include "cli/ban/ban.h"
#include "cli/open/filter_name.h"
#include "cli/open/session.h"
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
 * @change: of each key what is to be done with it
 * @n_parked: scopes without a rule that an unban has taken it out of
 */
struct ban {
	const struct command *command;
	const char *address;
	struct entry_options entry;
	bool exist, force, narrow, json;
	u64 wait_ms;
	struct baleen_rule_entry key[ENTRY_PAIR];
	size_t n_keys;
	struct baleen_bans bans;
	struct baleen_rule_entry_change change[ENTRY_PAIR];
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
	snprintf(text, TARGET_BYTES, "%s:%s", ban->bans.device[rule->device].name, rule->rule.name);
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

/* Has the rule it of this origin? @only_bans: by an entry of its own it does not count */
static bool has_it(const struct ban *ban, const struct baleen_ban_rule *rule, bool only_bans)
{
	for (size_t i = 0; i < rule->before.n; i++) {
		const struct baleen_rule_entry *there = &rule->before.entry[i];

		if ((there->is_ban || !only_bans) && !strcmp(there->origin, ban->key[0].origin))
			return true;
	}
	return false;
}

/* Would any rule be another one? Where rules have it by entries of their own, those that come later
 * would not.
 */
static bool has_news(const struct ban *ban)
{
	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		const struct baleen_ban_rule *rule = &ban->bans.rule[i];

		if (is_ban(ban) ? !has_it(ban, rule, true) : rule->before.n > 0)
			return true;
	}
	return false;
}

/* Says what else drops the address: entries and lines of any rule of these devices. */
static void explain(const struct ban *ban)
{
	for (u32 i = 0; i < ban->bans.n_devices; i++)
		if (ban->bans.device[i].has_state)
			explain_device(&ban->bans.device[i].deploy.state, &ban->key[0]);
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

/* Asks for all rules before any is changed. */
static int check_host(struct ban *ban)
{
	const struct entries entries = { .change = ban->change, .n = ban->n_keys };
	int err = 0;

	for (size_t i = 0; i < ban->bans.n_rules && !err; i++) {
		const struct baleen_ban_rule *rule = &ban->bans.rule[i];
		struct baleen_ban_device *device = &ban->bans.device[rule->device];

		err = guard_entries(&device->deploy, &rule->rule, BALEEN_SET_UNION, &entries,
				    &ban->bans.host, ban->force);
		if (err)
			suggest_narrow(&entries, ban->command->name, NULL);
	}
	return err;
}

/* The guard looks at what packets meet; where it cannot, peers of sessions are asked about by the
 * door.
 */
static bool is_guarded(const struct ban *ban)
{
	for (u32 i = 0; i < ban->bans.n_devices; i++)
		if (!ban->bans.device[i].is_held && !ban->bans.device[i].is_gone)
			return false;
	return true;
}

static int put(struct ban *ban)
{
	const struct baleen_ban_rule *refused = NULL;
	struct baleen_batch batch = { .change = ban->change,
				      .n = ban->n_keys,
				      .is_whole = true,
				      .cuts_sessions = !ban->narrow && is_guarded(ban),
				      .forces = ban->force,
				      .narrows = ban->narrow };
	char target[TARGET_BYTES], why[ENTRY_REFUSAL];
	struct baleen_error error;
	int err = baleen_bans_put(&ban->bans, &batch, ban->wait_ms, &refused, &error);

	if (!err)
		return 0;
	if (!refused)
		return complain("%s: nothing changed", error.text);
	complain("%s: '%s' not added: %s: nothing changed", target_text(ban, refused, target),
		 key_text(ban).text, entry_refusal(&ban->change[0], why));
	return suggest_word(&ban->change[0], ban->command->name, NULL);
}

static int change(struct ban *ban)
{
	struct baleen_error error;

	for (size_t i = 0; i < ban->n_keys; i++) {
		if (baleen_bans_remember(&ban->bans, &ban->key[i], &error))
			return complain("%s", error.text);
		ban->change[i].entry = ban->key[i];
		ban->change[i].op = is_ban(ban) ? BALEEN_RULE_ENTRY_PUT : BALEEN_RULE_ENTRY_REMOVE;
		if (!is_ban(ban))
			ban->change[i].entry.origin[0] = '\0';
	}
	if (!has_news(ban) && !ban->exist && !ban->n_parked)
		return complain_noop(ban);
	return (is_ban(ban) && !ban->narrow && check_host(ban)) || put(ban) ? EXIT_FAILED : 0;
}

/* --- report ------------------------------------------------------------------ */

static const char *result_text(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	if (!is_ban(ban))
		return rule->before.n ? "deleted" : "absent";
	return has_it(ban, rule, false) ? "renewed" : "added";
}

static bool is_behind(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	return ban->bans.device[rule->device].is_behind;
}

static bool is_narrowed(const struct ban *ban)
{
	return is_ban(ban) && ban->change[0].answer == BALEEN_GATE_NARROWED;
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
	if (is_ban(ban))
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
			    json_text(ban->n_keys ? key_text(ban).text : ban->address));
	if (is_ban(ban))
		json_object_set_new(json, "expires_ms",
				    ban->key[0].expires_ms ? json_integer(ban->key[0].expires_ms) :
							     json_null());
	json_object_set_new(json, "rules", rules);
	if (!is_ban(ban))
		json_object_set_new(json, "parked", json_integer(ban->n_parked));
	json_object_set_new(json, "behind", describe_behind(ban));
	return print_json(json);
}

static void print_origins(const struct baleen_ban_rule *rule)
{
	for (size_t i = 0; i < rule->before.n; i++)
		if (!is_repeated(rule, i))
			say("%s%s", i ? ", " : " (", rule->before.entry[i].origin);
	if (rule->before.n)
		putchar(')');
}

static void print_rule(const struct ban *ban, const struct baleen_ban_rule *rule)
{
	char target[TARGET_BYTES], end[BALEEN_DURATION_TEXT + 8], why[ENTRY_REFUSAL];

	say("%s: %s %s", target_text(ban, rule, target), key_text(ban).text,
	    result_text(ban, rule));
	if (!is_ban(ban))
		print_origins(rule);
	else if (ban->key[0].expires_ms)
		say(", ends %s", format_expiry(ban->key[0].expires_ms, end));
	if (is_narrowed(ban))
		say(", narrowed: %s", entry_refusal(&ban->change[0], why));
	say("%s\n", ban->bans.device[rule->device].is_attached ? "" : ", not attached now");
	print_widened(target, rule->widened, false);
}

static int report(const struct ban *ban)
{
	if (ban->json)
		return report_json(ban);
	for (size_t i = 0; i < ban->bans.n_rules; i++)
		if (!is_behind(ban, &ban->bans.rule[i]))
			print_rule(ban, &ban->bans.rule[i]);
	if (!is_ban(ban))
		explain(ban);
	return finish_output(EXIT_DONE);
}

/* Says when it could not be kept, and who is behind. */
static int check_done(const struct ban *ban)
{
	int err = session_kept(&ban->bans.book);

	return session_warn_behind(&ban->bans) ? EXIT_BEHIND : err;
}

/* --- command ------------------------------------------------------------------ */

static int run_opened(struct ban *ban)
{
	struct entries entries = { .change = ban->change };
	int err;

	for (u32 i = 0; i < ban->bans.n_devices; i++)
		if (ban->bans.device[i].is_held)
			session_warn_never(&ban->bans.device[i].deploy);
	err = make_keys(ban);
	entries.n = ban->n_keys;
	if (!err)
		err = change(ban);
	if (!err)
		err = report(ban);
	if (!err && is_ban(ban))
		entries_warn_bans_end(&entries, &ban->bans);
	return err ? err : check_done(ban);
}

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
	err = baleen_bans_open(&ban->bans, BALEEN_SCOPE_BANS, &error);
	if (!err) {
		err = run_opened(ban);
	} else if (err == -ENOENT && ban->n_parked) {
		err = ban->json ? report_json(ban) : finish_output(EXIT_DONE);
	} else if (err == -ENOENT) {
		err = complain_no_bans(&error);
	} else {
		err = complain("%s: nothing changed", error.text);
		for (u32 i = 0; i < ban->bans.n_devices; i++)
			suggest_mend(ban->bans.device[i].name);
	}
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
		"not have it, nothing changes anywhere. Devices and rules that come later have it, too.\n"
		"A device that cannot be changed now is named; it follows with baleend, or with the next\n"
		"command that changes it.\n"
		"Exit: 5 when a device is behind: the ban is kept, and the others have it.\n",
	.options = ban_options,
	.asks = { 1, 2, "an address is asked for, and how long at most" },
	.run = run_ban,
};

const struct command unban_command = {
	.name = "unban",
	.synopsis = "ADDR [OPTION...]",
	.help = "Deletes an address, prefix or range from every rule that takes bans, of all devices,\n"
		"whoever has banned it. What lists and other prefixes hold stays, and is named.\n"
		"A device that cannot be changed now is named; it follows with baleend, or with the next\n"
		"command that changes it.\n"
		"Exit: 5 when a device is behind: the others have let go.\n",
	.options = unban_options,
	.asks = { 1, 1, "one address is asked for" },
	.run = run_unban,
};
