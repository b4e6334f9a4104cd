// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen detach: take the filter off a device. */
#include <errno.h>

#include "cli/common/options.h"
#include "cli/open/filter_name.h"
#include "cli/open/forget_stale.h"
#include "cli/open/kmod_filter.h"
#include "icp/icp.h"
#include "kmod/kmod_rules.h"
#include "state/entries.h"
#include "state/rule_store.h"
#include "state/rule_store_mend.h"
#include "util/number.h"
#include "util/shell.h"
#include "xdp/xdp.h"

struct detach {
	bool stale, forget, entries, json;
};

/* Rules named when a filter cannot go. */
#define RULES_TEXT 200

/* Entries wait for a rule of their name, unless they are to be forgotten, too. */
static int settle_entries(const char *device, bool entries, struct baleen_error *error)
{
	char n[NUMBER_TEXT];
	u64 n_entries = 0;
	int err = entries ? baleen_rule_entries_forget_device(device, &n_entries, error) :
			    baleen_rule_entries_count_device(device, &n_entries, error);

	if (!err && !entries && n_entries)
		complain("%s: %s single %s wait%s for rules of these names: 'baleen detach "
			 "--forget --entries %s' forgets %s",
			 device, format_count(n_entries, n),
			 baleen_plural(n_entries, "entry", "entries"), n_entries == 1 ? "s" : "",
			 baleen_shell_word(device).text, n_entries == 1 ? "it" : "them");
	return err;
}

static void settle_state(struct baleen_rule_store *state, bool forget)
{
	if (!state->is_kept || forget) {
		/* They wait for rules of the name that the device has now. */
		baleen_rule_entries_follow(state, NULL);
		baleen_rule_store_remove(state);
		return;
	}
	complain("%s: what was applied comes back at boot: 'baleen detach --forget %s' forgets it",
		 state->device, baleen_shell_word(state->device).text);
	baleen_rule_store_close(state);
}

/* The state of a deleted device cannot be found by its name. */
static void forget_state(const char *device, const struct baleen_pins *pins)
{
	if (!baleen_device_index(device))
		baleen_rule_store_forget(pins->netns_cookie, pins->ifindex);
}

/* @now: name of the device; empty when it is not known */
static int find_pins(const char *device, struct baleen_pins *pins, char *now)
{
	struct baleen_xdp xdp;

	*now = '\0';
	if (baleen_xdp_open(&xdp, device, false, NULL))
		return EXIT_FAILED;
	*pins = xdp.pins;
	strcpy(now, xdp.device);
	baleen_xdp_close(&xdp);
	return 0;
}

/* The filter of a device that was renamed, and has a state by its new name, is that one's. A
 * volatile state goes by the number, so it is that of both names.
 */
static int take_off(const char *device, const char *now, struct baleen_error *error)
{
	if (*now && strcmp(now, device) && baleen_rule_store_is_kept(now))
		return baleen_fail(error, ENOENT,
				   "%s: is %s now, which has rules of its own: 'baleen detach %s' "
				   "takes them off",
				   device, now, baleen_shell_word(now).text);
	return baleen_xdp_detach(device, error);
}

/* Without the filter that handed them on no packets come to it. */
static void take_off_behind(const char *device)
{
	struct baleen_icp icp;
	bool was_behind;

	if (baleen_icp_open(&icp, device, false, NULL))
		return;
	was_behind = icp.behind_fd >= 0 && icp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED;
	baleen_icp_close(&icp);
	if (was_behind)
		baleen_icp_detach(device, NULL);
}

/* The state is held meanwhile, so that who attaches next makes another. One that
 * cannot be had does not keep a filter on. A device that is not attached may still
 * have one to forget.
 */
static int detach_device(const char *device, bool forget, struct baleen_error *error)
{
	struct baleen_error no_state;
	struct baleen_rule_store state;
	struct baleen_pins pins = { 0 };
	char now[BALEEN_POINT_BYTES];
	bool has_pins = !find_pins(device, &pins, now);
	int held = baleen_rule_store_open(&state, device, BALEEN_LOCK_TIMEOUT_MS, &no_state);
	int err = take_off(device, now, error);

	if (!err)
		take_off_behind(device);
	if (held && held != -ENOENT && forget && (!err || err == -ENOENT || err == -ENODEV) &&
	    baleen_rule_store_discard(device, BALEEN_LOCK_TIMEOUT_MS, &no_state) > 0)
		return 0;
	if ((err == -ENOENT || err == -ENODEV) && forget && !held)
		err = 0;
	if (held && held != -ENOENT && err != -EXDEV)
		complain("warning: %s", no_state.text);
	if (!err && !held)
		settle_state(&state, forget);
	else if (!held)
		baleen_rule_store_close(&state);
	else if (!err && has_pins)
		forget_state(device, &pins);
	return err;
}

/* Without privileges, let the XDP path report the missing capability. */
static int detach_kmod(const char *device, struct baleen_error *error)
{
	int err = baleen_kmod_detach(device, error);

	return err == -EACCES ? -ENOENT : err;
}

static int detach_xdp(const struct detach *asked, const char *device, struct baleen_error *error)
{
	struct baleen_error none;
	int err = baleen_device_privileges(error);

	if (err)
		return err;
	err = detach_device(device, asked->forget, error);
	if (asked->forget && (!err || (asked->entries && err == -ENOENT))) {
		int settled = settle_entries(device, asked->entries, &none);

		if (settled > 0)
			return 0;
		if (settled && !err)
			return baleen_fail(error, -settled, "%s", none.text);
	}
	return err;
}

static int report(const char *what, bool json)
{
	if (json)
		return print_json(json_pack("{s:o}", "detached", json_text(what)));
	say("%s: detached\n", what);
	return finish_output(EXIT_DONE);
}

static int detach(const struct detach *asked, const char *device)
{
	struct baleen_error error;
	int err = detach_kmod(device, &error);

	if (err == -ENOENT)
		err = detach_xdp(asked, device, &error);
	if (err == -ENOENT && baleen_icp_is_there(device))
		complain("%s has no filter; it answers ICP queries: 'baleen icp detach %s' ends "
			 "that",
			 device, baleen_shell_word(device).text);
	else if (err)
		complain("%s", error.text);
	return err ? EXIT_FAILED : report(device, asked->json);
}

/* --- filters of the module ----------------------------------------------------- */

/**
 * struct asking - the rules that ask a filter
 * @name: name of the filter
 * @n: how many rules of this network namespace
 * @text: the first of them, as DEV:RULE with commas between
 */
struct asking {
	const char *name;
	u32 n;
	char text[RULES_TEXT];
};

static int note_rules(struct baleen_kmod_rules *rules, void *data)
{
	struct asking *asking = data;

	for (u32 i = 0; i < rules->n_rules; i++) {
		const struct baleen_dev_bound_rule *rule = &rules->rule[i];
		size_t at = strlen(asking->text);

		if (strncmp((const char *)rule->filter, asking->name, sizeof(rule->filter)))
			continue;
		snprintf(asking->text + at, sizeof(asking->text) - at, "%s%s:%.*s",
			 asking->n ? ", " : "", rules->device, (int)sizeof(rule->name), rule->name);
		asking->n++;
	}
	return 0;
}

static void complain_busy(const char *argument, const char *name)
{
	struct asking asking = { .name = name };

	baleen_kmod_rules_each(note_rules, &asking, NULL);
	if (asking.n)
		complain("%s: rules ask it: %s: 'baleen detach' or 'baleen rule' them first",
			 argument, asking.text);
	else
		complain("%s: rules of another network namespace ask it", argument);
}

static int detach_filter(const char *argument, const char *name)
{
	struct baleen_error error;
	struct kmod_filter kmod;
	int err = kmod_open(&kmod, argument, name, true);

	if (err)
		return err;
	err = baleen_kmod_destroy(kmod.fd, name, &error);
	if (err == -EBUSY)
		complain_busy(argument, name);
	else if (err)
		kmod_complain(&kmod, err, &error);
	kmod_close(&kmod);
	return err ? EXIT_FAILED : 0;
}

/* --- command ----------------------------------------------------------------- */

static void forget_state_of(const struct baleen_stale_pins *gone)
{
	baleen_rule_store_forget(gone->netns_cookie, gone->ifindex);
}

static int run(int argc, char **argv)
{
	struct detach asked = { 0 };
	const char *filter;
	int err = options_parse(&detach_command, &asked, &argc, &argv);

	if (err)
		return err;
	if (asked.stale && argc)
		return complain_usage(&detach_command, "--gone takes no device");
	if (asked.stale)
		return forget_gone(baleen_stale_pins_forget, forget_state_of, asked.json);
	if (argc != 1)
		return complain_usage(&detach_command, "one device is asked for");
	if (asked.entries && !asked.forget)
		return complain_usage(&detach_command, "--entries is for --forget");
	if (!split_kmod(*argv, &filter))
		return detach(&asked, *argv);
	if (asked.forget)
		return complain_usage(&detach_command, "--forget is for devices");
	err = detach_filter(*argv, filter);
	return err ? err : report(*argv, asked.json);
}

static const struct option_spec options[] = {
	FLAG("forget", 0, detach, forget,
	     "forget also what was applied to it, which else comes back at boot"),
	FLAG("entries", 0, detach, entries,
	     "with --forget: also the single entries of its rules, which else wait for rules of "
	     "these names"),
	FLAG("gone", 0, detach, stale,
	     "forget every filter whose link has lost its device, in all network namespaces, also "
	     "deleted ones; a namespace is told by its cookie"),
	FLAG("json", 'j', detach, json, "say so as JSON; with --gone, an array"),
	{ 0 },
};

const struct command detach_command = {
	.name = "detach",
	.synopsis = "[--forget [--entries]] [-j] DEV|kmod:NAME | --gone",
	.help = "Takes the filter off a device and removes its pins, or its rules out of the kernel\n"
		"module. Also for a device that is gone, by the name it had. kmod:NAME is a filter with a\n"
		"name, which goes out of the module when no rule asks it.\n",
	.options = options,
	.run = run,
};
