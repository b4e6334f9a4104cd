// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen ban, baleen unban: an address in all rules that take bans, of all devices. */
#include <errno.h>
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/describe_entry.h"
#include "cli/ban/parked_entries.h"
#include "cli/ban/cmd_ban.h"
#include "cli/open/filter_name.h"
#include "cli/open/session.h"
#include "state/bans_around.h"
#include "net/device.h"
#include "util/duration.h"
#include "util/shell.h"

/* --- arguments ------------------------------------------------------------- */

static bool is_address(const char *text)
{
	struct baleen_span ignored;
	const char *reason;

	return !baleen_span_parse(text, strlen(text), &ignored, &reason);
}

static int parse(struct ban *ban, int argc, char **argv)
{
	int err = options_parse(ban->command, ban, &argc, &argv);

	if (err)
		return err;
	ban->address = argv[0];
	if (argc > 1 && !is_address(ban->address) && is_address(argv[1]))
		return complain_usage(ban->command, "'%s': bans are of all devices: 'baleen %s %s'",
				      ban->address, ban->command->name,
				      baleen_shell_word(argv[1]).text);
	if (argc > 1 && baleen_duration_parse(argv[1], &ban->entry.ttl_ms))
		return complain_usage(ban->command, "'%s': not a time such as 30s, 1h or 2d",
				      argv[1]);
	return 0;
}

/* An address of IPv6 is banned with what its host has; unbanned is the address alone, too. */
static int make_keys(struct ban *ban)
{
	struct baleen_error error;
	int n = entry_make_pair(ban->address, BALEEN_KEY_SRC, ban->bans.book.ban_width, &ban->entry,
				ban->key, &error);

	if (n < 0)
		return complain("%s", error.text);
	if (!ban->json)
		say_stands_for(NULL, ban->address, &ban->key[0],
			       ban_is_ban(ban) && n > 1 &&
				       !baleen_entry_key_is_alone(&ban->key[0].key));
	ban->n_keys = ban_is_ban(ban) ? 1 : n;
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
	if (entry_make(ban->address, BALEEN_KEY_SRC, BALEEN_AS_WRITTEN, &ban->entry, &ignored, NULL,
		       &error))
		return complain("%s", error.text);
	return 0;
}

/* --- what is there ---------------------------------------------------------- */

/* Would any rule be another one? Where rules have it by entries of their own, those that come later
 * would not.
 */
static bool has_news(const struct ban *ban)
{
	for (size_t i = 0; i < ban->bans.n_rules; i++) {
		const struct baleen_ban_rule *rule = &ban->bans.rule[i];

		if (ban_is_ban(ban) ? !ban_has_it(ban, rule, true) : rule->before.n > 0)
			return true;
	}
	return false;
}

/* --- a part of a ban ---------------------------------------------------------- */

/* Is it a part of a wider ban, and no exception of it yet? 1, 0, or a negative errno. */
static int find_around(struct ban *unban, struct baleen_error *error)
{
	int ret =
		baleen_bans_find_around(&unban->bans.book, &unban->key[unban->n_keys - 1].key.span,
					false, baleen_now_ms(), &unban->around, error);

	return ret > 0 ? !unban->around.is_exception : ret;
}

/* Lets the address alone pass, of IPv6, too: the rest of the ban stays. */
static void except(struct ban *unban)
{
	struct baleen_rule_entry *entry = &unban->change[0].entry;

	*entry = unban->key[unban->n_keys - 1];
	entry->is_exception = true;
	entry->expires_ms = 0;
	strcpy(entry->origin, BALEEN_ORIGIN_UNBAN);
	unban->change[0].op = BALEEN_RULE_ENTRY_PUT;
	unban->key[0] = unban->key[unban->n_keys - 1];
	unban->n_keys = 1;
	unban->is_part = true;
}

static int complain_noop(const struct ban *ban)
{
	if (ban_is_ban(ban))
		return complain("%s is banned by origin '%s' already: nothing changed (--exist "
				"renews it)",
				ban_key_text(ban).text, ban->key[0].origin);
	if (ban->around.is_exception)
		complain("%s is excepted from a wider ban already: nothing changed (--exist does "
			 "not mind)",
			 ban_key_text(ban).text);
	else
		complain("%s is not banned: nothing changed (--exist does not mind)",
			 ban_key_text(ban).text);
	ban_explain(ban);
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
	char target[BAN_TARGET_BYTES], why[ENTRY_REFUSAL];
	struct baleen_error error;
	int err = baleen_bans_put(&ban->bans, &batch, ban->wait_ms, &refused, &error);

	if (!err)
		return 0;
	if (!refused)
		return complain("%s: nothing changed", error.text);
	complain("%s: '%s' not added: %s: nothing changed", ban_target_text(ban, refused, target),
		 ban_key_text(ban).text, entry_refusal(&ban->change[0], why));
	return suggest_word(&ban->change[0], ban->command->name, NULL);
}

static int change(struct ban *ban)
{
	struct baleen_error error;

	for (size_t i = 0; i < ban->n_keys; i++) {
		if (baleen_bans_remember(&ban->bans, &ban->key[i], ban_is_ban(ban), &error))
			return complain("%s", error.text);
		ban->change[i].entry = ban->key[i];
		ban->change[i].op =
			ban_is_ban(ban) ? BALEEN_RULE_ENTRY_PUT : BALEEN_RULE_ENTRY_REMOVE;
		if (!ban_is_ban(ban))
			ban->change[i].entry.origin[0] = '\0';
	}
	if (!ban_is_ban(ban) && !has_news(ban) && !ban->n_parked) {
		int part = find_around(ban, &error);

		if (part < 0)
			return complain("%s", error.text);
		if (part)
			except(ban);
	}
	if (!has_news(ban) && !ban->exist && !ban->n_parked && !ban->is_part)
		return complain_noop(ban);
	return (ban_is_ban(ban) && !ban->narrow && check_host(ban)) || put(ban) ? EXIT_FAILED : 0;
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
		err = ban_report(ban);
	if (!err && ban_is_ban(ban))
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
	if (!ban_is_ban(ban) && unban_parked(ban->address, &ban->entry, ban->json, &ban->n_parked))
		return EXIT_FAILED;
	err = baleen_bans_open(&ban->bans, BALEEN_SCOPE_BANS, &error);
	if (!err) {
		err = run_opened(ban);
	} else if (err == -ENOENT && ban->n_parked) {
		err = ban->json ? ban_report(ban) : finish_output(EXIT_DONE);
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
		"A part of a wider ban becomes an exception of it, until that ban ends.\n"
		"A device that cannot be changed now is named; it follows with baleend, or with the next\n"
		"command that changes it.\n"
		"Exit: 5 when a device is behind: the others have let go.\n",
	.options = unban_options,
	.asks = { 1, 1, "one address is asked for" },
	.run = run_unban,
};
