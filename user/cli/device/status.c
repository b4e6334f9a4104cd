// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen status: what is in force, and what it has counted. */
#include <errno.h>
#include <string.h>

#include "cli/device/status_rules.h"
#include "cli/open/filter_name.h"
#include "cli/open/made_of.h"
#include "cli/open/never_names.h"
#include "cli/open/policy.h"
#include "icp/icp.h"
#include "state/feeds.h"
#include "state/rule_store_each.h"
#include "state/book.h"
#include "util/shell.h"
#include "xdp/limits.h"
#include "xdp/xdp.h"

static bool is_enforced(const struct baleen_xdp *xdp)
{
	return xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED ||
	       xdp->attach_status == BALEEN_ATTACH_STATUS_MOVED;
}

static bool is_degraded(const struct baleen_xdp *xdp)
{
	return xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED &&
	       xdp->there.mode == BALEEN_MODE_GENERIC;
}

/* A rule's filter as it is now; of a damaged one, why it is, and *sound is
 * cleared. Prints it, or returns it as JSON.
 */
static json_t *show_rule(const struct baleen_xdp *xdp, u32 index, const struct baleen_stats *stats,
			 const struct baleen_rule_store *state, bool as_json, bool *sound)
{
	const struct baleen_rule *configured = &xdp->config.rule[index];
	struct status_rule rule = { .name = configured->image.name,
				    .action = configured->action,
				    .qualifiers = configured->qualifiers,
				    .rate_limit = xdp->config.limit[index].typed,
				    .counted = baleen_xdp_rule_stats(xdp, index, stats) };
	struct baleen_filter filter = { 0 };
	struct baleen_limit_status limit;
	struct baleen_error error = { "" };
	json_t *json = NULL;

	if (rule.rate_limit.rate && !baleen_limit_look(xdp, index, &limit, &error))
		rule.limit = &limit;
	if (state)
		rule.n_written = baleen_rule_written(state, rule.name);
	if (baleen_xdp_map_rule(xdp, index, &filter, &error)) {
		rule.damage = error.text;
		*sound = false;
	} else {
		rule.filter = &filter;
	}
	if (as_json)
		json = describe_status_rule(&rule);
	else
		print_status_rule(&rule);
	baleen_filter_free(&filter);
	return json;
}

static struct status_verdicts verdicts_of(const struct baleen_xdp *xdp,
					  const struct baleen_stats *stats)
{
	return (struct status_verdicts){ .default_drop = xdp->config.default_drop,
					 .dry_run = xdp->config.dry_run,
					 .sample_interval_ns = xdp->config.sample_interval_ns,
					 .stats = stats };
}

/* Counts of decided and undecided packets. */
static void describe_verdicts(const struct baleen_xdp *xdp, const struct baleen_stats *stats,
			      const struct baleen_rule_store *state, json_t *json, bool *sound)
{
	struct status_verdicts verdicts = verdicts_of(xdp, stats);
	json_t *rules = json_array();

	for (u32 i = 0; i < xdp->config.n_rules; i++) {
		json_t *rule = show_rule(xdp, i, stats, state, true, sound);

		if (state)
			describe_made_of(state, xdp->config.rule[i].image.name, rule);
		json_array_append_new(rules, rule);
	}
	json_object_set_new(json, "rules", rules);
	describe_status_verdicts(&verdicts, json);
}

static json_t *describe_program(struct baleen_program program)
{
	baleen_program_name(&program);
	return json_pack("{s:I, s:s, s:s}", "id", (json_int_t)program.id, "name", program.name,
			 "mode", baleen_mode_text(program.mode));
}

static json_t *describe_device(const struct baleen_xdp *xdp, const struct baleen_stats *stats,
			       const struct baleen_rule_store *state, bool *sound)
{
	char old_name[BALEEN_POINT_BYTES];
	json_t *json = json_object();

	json_object_set_new(json, "device", json_text(xdp->device));
	json_object_set_new(json, "device_at_attach",
			    json_text(baleen_xdp_old_name(xdp, old_name)));
	json_object_set_new(json, "ifindex", json_integer(baleen_device_real(xdp->pins.ifindex)));
	json_object_set_new(json, "state",
			    json_string(baleen_attach_status_text(xdp->attach_status)));
	json_object_set_new(json, "enforced", json_boolean(is_enforced(xdp)));
	json_object_set_new(json, "degraded", json_boolean(is_degraded(xdp)));
	json_object_set_new(json, "requested_mode",
			    json_string(baleen_mode_text(xdp->config.mode)));
	json_object_set_new(json, "place",
			    json_string(baleen_attach_type_text(xdp->attachment.attach_type)));
	json_object_set_new(json, "program_id", json_integer(xdp->program_id));
	json_object_set_new(json, "program_is_current", json_boolean(baleen_xdp_is_current(xdp)));
	if (state) {
		describe_state(state, xdp->device, json);
		never_names_describe(state, json);
	}
	describe_verdicts(xdp, stats, state, json, sound);
	if (xdp->there.id)
		json_object_set_new(json, "program_on_device", describe_program(xdp->there));
	return json;
}

/* A device of the name of one that is gone, and that has what was applied to that. */
static bool is_made_anew(const char *device)
{
	struct baleen_rule_store state;
	bool is_kept;

	if (!baleen_device_index(device) || baleen_rule_store_open(&state, device, 0, NULL))
		return false;
	is_kept = state.is_kept;
	baleen_rule_store_close(&state);
	return is_kept;
}

static void print_absence(const char *device)
{
	say("NOT IN FORCE: what was applied is not attached; 'baleen apply %s' puts it on",
	    baleen_shell_word(device).text);
}

static void print_state(const struct baleen_xdp *xdp)
{
	const char *device = xdp->device;
	char old_name[BALEEN_POINT_BYTES];

	say("%s: ", device);
	switch (xdp->attach_status) {
	case BALEEN_ATTACH_STATUS_ATTACHED:
		say("attached, %s%s, program %u", baleen_mode_text(xdp->there.mode),
		    is_degraded(xdp) ? " (degraded: behind the driver)" : "", xdp->program_id);
		if (xdp->attachment.attach_type == BALEEN_ATTACH_TYPE_CHAIN)
			say(" in the chain of program %u", xdp->there.id);
		else if (xdp->attachment.attach_type == BALEEN_ATTACH_TYPE_NETLINK)
			say(xdp->pins.ifindex < 0 ? ", by a filter of tc" : ", without a link");
		if (strcmp(device, baleen_xdp_old_name(xdp, old_name)))
			say(", was %s at attach", old_name);
		break;
	case BALEEN_ATTACH_STATUS_GONE:
		if (is_made_anew(device)) {
			print_absence(device);
			break;
		}
		/* Not by its name, which another device may have by now. */
		say("NOT IN FORCE: device %d is gone; 'baleen detach --gone' forgets it",
		    baleen_device_real(xdp->pins.ifindex));
		break;
	case BALEEN_ATTACH_STATUS_MOVED:
		say("attached, but to a device that is now in another network namespace; "
		    "'baleen detach %s' takes the filter off",
		    baleen_shell_word(device).text);
		break;
	case BALEEN_ATTACH_STATUS_DETACHED:
		say("NOT IN FORCE: somebody detached it; attach again");
		break;
	case BALEEN_ATTACH_STATUS_REPLACED:
		say("NOT IN FORCE: program '%s' (id %u, %s) is there instead",
		    xdp->there.name[0] ? xdp->there.name : "?", xdp->there.id,
		    baleen_mode_text(xdp->there.mode));
		break;
	}
	putchar('\n');
}

static void print_device(const struct baleen_xdp *xdp, const struct baleen_stats *stats,
			 const struct baleen_rule_store *state, bool *sound)
{
	struct status_verdicts verdicts = verdicts_of(xdp, stats);

	print_state(xdp);
	if (!baleen_xdp_is_current(xdp))
		say("  the program is of another version of baleen: 'baleen refresh %s' puts this "
		    "one's on\n",
		    baleen_shell_word(xdp->device).text);
	print_status_dry_run(xdp->config.dry_run);
	if (state)
		print_confirm(state, xdp->device);
	if (state)
		print_edits(state, xdp->device);
	if (state && baleen_book_unkept_why(state))
		say("  NOT KEPT: %s: %s; the last changes end at a reboot, unless there is room "
		    "before\n",
		    baleen_book_unkept_why(state), state->book->path);
	if (state && baleen_rule_store_is_behind(state))
		say("  BEHIND: the last bans are kept, and not in force here until baleend, or the next "
		    "command that changes it, can change it\n");
	for (u32 i = 0; i < xdp->config.n_rules; i++) {
		show_rule(xdp, i, stats, state, false, sound);
		if (state)
			print_made_of(state, xdp->config.rule[i].image.name);
	}
	if (state)
		never_names_print(state);
	print_status_verdicts(&verdicts);
}

/* Prints or collects one device; EXIT_FAILED when something is not in force. */
static int show(const struct baleen_xdp *xdp, json_t *all)
{
	struct baleen_rule_store opened, *state = NULL;
	bool sound = is_enforced(xdp);
	struct baleen_stats stats;
	struct baleen_error error;
	int err;

	if (baleen_xdp_stats(xdp, &stats, &error))
		return complain("%s", error.text);
	/* Status is of what is in force: a state that cannot be read does not hide it. */
	err = baleen_rule_store_open(&opened, xdp->device, 0, &error);
	if (!err)
		state = &opened;
	else if (err != -ENOENT && xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED)
		complain("warning: %s", error.text);
	if (all)
		json_array_append_new(all, describe_device(xdp, &stats, state, &sound));
	else
		print_device(xdp, &stats, state, &sound);
	if (state)
		baleen_rule_store_close(state);
	return sound ? EXIT_DONE : EXIT_FAILED;
}

struct walk {
	json_t *all;
	u32 n_shown;
	int result;
};

static int show_pins(const struct baleen_pins *pins, void *data)
{
	struct walk *walk = data;
	struct baleen_error error;
	struct baleen_xdp xdp;
	int err = baleen_xdp_open_pins(&xdp, pins, &error);

	/* An attach that was killed left no link; the next one cleans up. */
	if (err == -ENOENT)
		return 0;
	if (err) {
		walk->result = complain("%s", error.text);
		return 0;
	}
	if (show(&xdp, walk->all))
		walk->result = EXIT_FAILED;
	baleen_xdp_close(&xdp);
	walk->n_shown++;
	return 0;
}

/* A device that was applied to, and has nothing of it. */
static int show_detached(struct baleen_rule_store_found *found, void *data)
{
	const char *device = found->device;
	struct walk *walk = data;
	struct baleen_xdp xdp;

	if (!found->is_kept)
		return 0;
	if (!baleen_xdp_open(&xdp, device, false, NULL)) {
		baleen_xdp_close(&xdp);
		return 0;
	}
	if (walk->all)
		json_array_append_new(walk->all,
				      json_pack("{s:o, s:s, s:b}", "device", json_text(device),
						"state", "not attached", "enforced", false));
	if (!walk->all) {
		say("%s: ", device);
		print_absence(device);
		putchar('\n');
	}
	walk->n_shown++;
	walk->result = EXIT_FAILED;
	return 0;
}

static int status_all(json_t *all)
{
	struct walk walk = { .all = all, .result = EXIT_DONE };
	struct baleen_error error;
	int err = baleen_pins_each(show_pins, &walk, &error);

	if (err) {
		if (err == -EACCES)
			baleen_device_privileges(&error);
		return complain("%s", error.text);
	}
	baleen_rule_store_each(show_detached, &walk, NULL);
	if (status_kmod_all(all, &walk.n_shown))
		walk.result = EXIT_FAILED;
	walk.n_shown += status_icp_all(all);
	if (!walk.n_shown && walk.result == EXIT_DONE && !all)
		puts("nothing is attached in this network namespace");
	return walk.result;
}

/* A device with rules of the module has no filter of XDP, unless somebody put one
 * there in the same moment: then both are shown.
 */
static int status_one(const char *device, json_t *all)
{
	struct baleen_error error;
	struct baleen_xdp xdp;
	const char *filter;
	int of_module, err;

	if (split_kmod(device, &filter))
		return complain("%s: a filter, not a device: 'baleen info %s' shows it", device,
				baleen_shell_word(device).text);
	of_module = status_kmod(device, all);
	err = baleen_xdp_open(&xdp, device, false, &error);
	if (err && of_module != -ENOENT)
		return of_module;
	if (err == -ENOENT && baleen_icp_is_there(device))
		complain("%s has no filter; it answers ICP queries: see 'baleen icp status %s'",
			 device, baleen_shell_word(device).text);
	else if (err)
		complain("%s", error.text);
	if (err)
		return EXIT_FAILED;
	err = show(&xdp, all);
	baleen_xdp_close(&xdp);
	return of_module == EXIT_FAILED ? of_module : err;
}

/**
 * struct status - what is asked for
 * @json: an array of objects, filled in; NULL for words
 * @is_short: a line a device
 */
struct status {
	json_t *json;
	bool is_short;
};

static int run(int argc, char **argv)
{
	struct status status = { 0 };
	int err = options_parse(&status_command, &status, &argc, &argv);

	if (err)
		return err;
	if (status.is_short && status.json)
		return complain_usage(&status_command, "--short and --json exclude each other");
	if (status.is_short)
		status.json = json_array();
	err = argc ? status_one(*argv, status.json) : status_all(status.json);
	if (!status.is_short)
		return finish_collected(status.json, err);
	if (print_status_short(status.json))
		err = EXIT_FAILED;
	json_decref(status.json);
	return finish_output(err);
}

static const struct option_spec options[] = {
	FLAG("short", 's', status, is_short, "a line a device"),
	VALUE("json", 'j', NULL, option_json, status, json, "an array with one object per device"),
	{ 0 },
};

const struct command status_command = {
	.name = "status",
	.synopsis = "[-s | -j] [DEV]",
	.help = "Prints what is in force on a device, or on every device of this network namespace:\n"
		"mode, rules, their entries and counters, and what passed unexamined and why. Tells\n"
		"when the device was deleted or renamed, or another program is there. Exit: 1 when a\n"
		"filter is not in force or its map is damaged, or DEV has none; 0 when no DEV is\n"
		"given and nothing is attached. Rules of the kernel module have the mode kmod; bytes\n"
		"of theirs are those of packets that were merged on the way.\n",
	.options = options,
	.asks = { 0, 1, "at most one device is asked for" },
	.run = run,
};
