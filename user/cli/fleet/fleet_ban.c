// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet ban: bans of an operator, in the rules here that take the fleet, and so on all
 * hosts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "cli/open/devices.h"
#include "cli/open/entries.h"
#include "deploy/bans.h"
#include "fleet/fleet_policy.h"
#include "fleet/fleet_rule.h"
#include "net/device.h"
#include "state/rule_store_each.h"
#include "util/duration.h"
#include "util/number.h"

/* For the answers of all hosts. */
#define ASK_MS 1500

/**
 * struct ban - one run of the command
 * @entry: reason and end of the bans
 * @wait_ms: for other writers
 * @is_json: report as JSON
 * @hosts: so many are to enforce it, or "all"; NULL: nobody is asked
 * @least: the same
 * @key: the keys
 * @n_keys: how many
 * @devices: that have a rule which takes the fleet
 * @silent: DEVICE:RULE that takes the fleet, and whose bans do not go out; empty for none
 * @n_banned: keys banned, in any rule
 * @n_refused: keys refused, in any rule
 * @report: as JSON
 */
struct ban {
	struct entry_options entry;
	u64 wait_ms;
	bool is_json;
	const char *hosts;
	u64 least;
	char **key;
	int n_keys;
	struct devices devices;
	char silent[BALEEN_POINT_BYTES + BALEEN_NAME_BYTES + 1];
	u64 n_banned, n_refused;
	json_t *report;
};

/* A ban of a rule that goes out nowhere is no ban of a fleet. */
static bool goes_out(const struct baleen_stored_rule *rule)
{
	return *rule->fleet.set && baleen_fleet_rule_is_published(rule);
}

static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct baleen_stored_rules rules = { 0 };
	const char *device = found->device;
	struct ban *ban = data;
	bool takes = false;

	if (found->err)
		return 0;
	baleen_rule_store_get_rules(&found->state, &rules, NULL);
	for (u32 i = 0; i < rules.n_rules; i++) {
		const struct baleen_stored_rule *rule = &rules.rule[i];

		takes |= goes_out(rule);
		if (*rule->fleet.set && !goes_out(rule))
			snprintf(ban->silent, sizeof(ban->silent), "%s:%s", device, rule->name);
	}
	return takes ? devices_add(&ban->devices, device) : 0;
}

static int make_changes(const struct ban *ban, const struct baleen_stored_rule *rule,
			struct entries *entries)
{
	struct baleen_error error;
	int err = 0;

	for (int i = 0; i < ban->n_keys && !err; i++) {
		struct baleen_rule_entry entry;
		bool is_widened;

		if (entry_make(ban->key[i], rule->key_spec, baleen_rule_ban_width(rule),
			       &ban->entry, &entry, &is_widened, &error))
			return complain("%s", error.text);
		if (!ban->is_json && !ban->n_banned && !ban->n_refused)
			say_stands_for(NULL, ban->key[i], &entry, is_widened);
		if (entry.is_exception)
			return complain("'%s': a fleet has no exceptions: baleen fleet pardon",
					ban->key[i]);
		err = entries_append(entries, BALEEN_RULE_ENTRY_PUT, &entry);
	}
	return err;
}

static void report_rule(struct ban *ban, const char *device, const struct baleen_stored_rule *rule,
			const struct entries *entries)
{
	char why[ENTRY_REFUSAL];

	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_rule_entry_change *change = &entries->change[i];
		bool is_banned = change->result != -EPERM;

		ban->n_banned += is_banned;
		ban->n_refused += !is_banned;
		if (ban->is_json)
			json_array_append_new(
				ban->report,
				json_pack("{s:s, s:s, s:s, s:b}", "key",
					  baleen_entry_key_text(&change->entry.key).text, "device",
					  device, "rule", rule->name, "banned", is_banned));
		else if (is_banned)
			say("%s: banned in %s:%s\n", baleen_entry_key_text(&change->entry.key).text,
			    device, rule->name);
		if (!is_banned)
			complain("%s", entry_refusal(change, why));
	}
}

static int ban_in_rule(struct ban *ban, struct baleen_deploy *deploy,
		       const struct baleen_stored_rule *rule)
{
	struct entries entries = { 0 };
	struct baleen_batch batch = { .rule = rule->name };
	struct baleen_error error;
	int err = make_changes(ban, rule, &entries);

	batch.change = entries.change;
	batch.n = entries.n;
	if (!err && baleen_deploy_batch(deploy, &batch, &error))
		err = complain("%s", error.text);
	if (!err) {
		report_rule(ban, deploy->state.device, rule, &entries);
		entries_warn_ends(&entries, deploy);
	}
	entries_free(&entries);
	return err;
}

static int ban_on_device(struct ban *ban, const char *device)
{
	struct baleen_stored_rules rules;
	struct baleen_deploy deploy;
	struct baleen_error error;
	int err;

	baleen_bans_end_if_due();
	if (baleen_deploy_open(&deploy, device, ban->wait_ms, &error))
		return complain("%s", error.text);
	err = baleen_rule_store_get_rules(&deploy.state, &rules, &error) ?
		      complain("%s", error.text) :
		      0;
	for (u32 i = 0; i < rules.n_rules && !err; i++)
		if (goes_out(&rules.rule[i]))
			err = ban_in_rule(ban, &deploy, &rules.rule[i]);
	baleen_deploy_close(&deploy);
	return err;
}

static int ban_all(struct ban *ban)
{
	struct baleen_error error;
	int err = 0;

	if (baleen_rule_store_each(look_at_device, ban, &error))
		return complain("%s", error.text);
	if (!ban->devices.n && *ban->silent)
		return complain("%s: it takes bans of the fleet, and its own do not go out: those "
				"of a rule that drops by source address alone do",
				ban->silent);
	if (!ban->devices.n)
		return complain("no rule of this host takes bans of the fleet: 'feed fleet:bans' "
				"in its configuration makes one");
	for (size_t i = 0; i < ban->devices.n; i++)
		if (ban_on_device(ban, ban->devices.name[i]))
			err = EXIT_FAILED;
	return err;
}

/* It is banned here all the same: a host is the master of its own rules. */
static void tell_of_limits(const struct ban *ban, const char *publisher,
			   const struct baleen_fleet_grant *grant)
{
	char span[BALEEN_DURATION_TEXT];

	for (int i = 0; i < ban->n_keys; i++) {
		struct baleen_fleet_key key;
		u32 shortest;

		if (baleen_fleet_key_parse(ban->key[i], &key))
			continue;
		shortest = key.family == 4 ? grant->shortest_ip4 : grant->shortest_ip6;
		if (key.length < shortest)
			complain("%s: in force here alone: the policy lets %s ban no prefix "
				 "shorter than /%u",
				 ban->key[i], publisher, shortest);
	}
	if (ban->entry.ttl_ms > grant->max_ttl_ms)
		complain("--ttl: on other hosts it ends after %s: the policy lets no ban of %s "
			 "last longer",
			 baleen_duration_format(grant->max_ttl_ms, span), publisher);
}

/* Bans that other hosts will not take as they were asked for. */
static void tell_of_policy(const struct ban *ban, const struct baleen_fleet_conf *conf)
{
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	const struct baleen_fleet_grant *grant;
	struct baleen_fleet_policy policy;

	if (baleen_fleet_site_policy(conf, &policy, NULL, NULL))
		return;
	snprintf(publisher, sizeof(publisher), "%s/" FLEET_OPERATOR, conf->host);
	grant = baleen_fleet_policy_grant(&policy, publisher);
	if (!grant || !baleen_fleet_policy_key(&policy, publisher))
		complain("%s: the policy here does not know it: until it does, other hosts refuse "
			 "its bans",
			 publisher);
	else
		tell_of_limits(ban, publisher, grant);
	baleen_fleet_policy_free(&policy);
}

/* All, where there are fewer. */
static int parse_hosts(struct ban *ban)
{
	if (!ban->hosts)
		return 0;
	if (!strcmp(ban->hosts, "all"))
		ban->least = ~0ull;
	else if (baleen_count_parse(ban->hosts, &ban->least) || !ban->least)
		return complain_usage(&fleet_ban_command, "--hosts '%s': not a number, nor all",
				      ban->hosts);
	return ban->is_json ? complain_usage(&fleet_ban_command, "--hosts takes no --json") : 0;
}

/* It is said of each key where it is in force, and where not. */
static int wait_for_hosts(const struct ban *ban)
{
	const struct fleet_asking asking = { .wait_ms = ASK_MS, .least = ban->least };
	struct fleet_place place;
	int err = fleet_place_open(&place), ret = 0;

	if (err)
		return err;
	for (int i = 0; i < ban->n_keys; i++) {
		struct baleen_fleet_key key;

		err = baleen_fleet_key_parse(ban->key[i], &key) ?
			      complain("%s: no address or prefix, so nobody is asked about it",
				       ban->key[i]) :
			      fleet_ask(&place, &key, &asking);
		ret = ret ? ret : err;
	}
	fleet_place_close(&place);
	return ret;
}

static int run(int argc, char **argv)
{
	struct ban ban = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS };
	struct fleet_place place;
	struct baleen_error error;
	int err = options_parse(&fleet_ban_command, &ban, &argc, &argv);

	if (err)
		return err;
	err = parse_hosts(&ban);
	if (err)
		return err;
	if (ban.entry.origin)
		return complain_usage(&fleet_ban_command, "--origin: it is " FLEET_OPERATOR);
	ban.entry.origin = FLEET_OPERATOR;
	if (!ban.entry.ttl_ms)
		ban.entry.ttl_ms = BALEEN_FLEET_TTL_MS;
	ban.key = argv;
	ban.n_keys = argc;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = fleet_place_open(&place);
	if (err)
		return err;
	fleet_place_close(&place);
	ban.report = json_array();
	err = ban_all(&ban);
	devices_free(&ban.devices);
	if (!err && ban.n_banned)
		tell_of_policy(&ban, &place.conf);
	if (!err && ban.is_json)
		err = print_json(json_incref(ban.report));
	if (!err && ban.n_banned && ban.least)
		err = wait_for_hosts(&ban);
	json_decref(ban.report);
	if (err)
		return err;
	return finish_output(ban.n_refused ? EXIT_FAILED : EXIT_DONE);
}

static const struct option_spec options[] = {
	{ .table = entry_option_table, .at = offsetof(struct ban, entry) },
	WAIT_OPTION(ban, wait_ms),
	VALUE("hosts", 0, "N", option_text, ban, hosts,
	      "wait until N hosts, or all, enforce it, 10 s at the most; fails when they do not"),
	FLAG("json", 'j', ban, is_json, "report as JSON, an array"),
	{ 0 },
};

const struct command fleet_ban_command = {
	.name = "fleet ban",
	.synopsis = "[-j] [--ttl TIME] [--reason TEXT] [--hosts N] KEY...",
	.help = "Bans addresses or prefixes on all hosts, for a day unless --ttl says otherwise: in\n"
		"the rules of this host that take bans of the fleet, as origin operator, from where\n"
		"they go out. 'baleen del --origin operator' takes one back, 'baleen fleet pardon'\n"
		"those of all.\n",
	.options = options,
	.asks = { 1, 1 << 16, "an address or prefix is asked for" },
	.run = run,
};
