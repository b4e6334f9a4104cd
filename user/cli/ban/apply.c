// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen apply: which configuration onto which device. */
#include <errno.h>
#include <string.h>

#include "cli/ban/apply.h"
#include "cli/open/session.h"
#include "cli/common/options.h"
#include "deploy/conf_find.h"
#include "deploy/gone.h"
#include "net/device.h"
#include "util/duration.h"

/* A window below a second cannot be confirmed by anybody, one above a day is none. */
#define MIN_CONFIRM_MS 1000
#define MAX_CONFIRM_MS 86400000

/* --- arguments ------------------------------------------------------------------ */

static int parse_confirm(const struct option_use *use)
{
	u64 *confirm_ms = use->to;

	if (baleen_duration_parse(use->argument, confirm_ms) || *confirm_ms < MIN_CONFIRM_MS ||
	    *confirm_ms > MAX_CONFIRM_MS)
		return option_refuse(use, "not a time from 1s to 1d such as 60s");
	return 0;
}

static int parse(struct apply *apply, int *argc, char ***argv)
{
	int err = options_parse(&apply_command, apply, argc, argv);

	apply->looks |= apply->shows_lines;
	if (!err && apply->conf_path && *argc > 1)
		err = complain_usage(&apply_command, "-c is for one device");
	if (!err && apply->looks && apply->confirm_ms)
		err = complain_usage(&apply_command,
				     "--confirm has nothing to confirm with --check "
				     "and --diff");
	if (!err && apply->is_all && (*argc || apply->conf_path))
		err = complain_usage(&apply_command, "--all takes no device and no -c");
	if (!err && apply->is_new && (!*argc || apply->conf_path || apply->confirm_ms))
		err = complain_usage(&apply_command,
				     "--new is for named devices, without -c and --confirm");
	if (!err && apply->ifindex && (!apply->is_new || *argc != 1))
		err = complain_usage(&apply_command, "--ifindex is for --new with one device");
	return err;
}

/* --- all devices ------------------------------------------------------------------------ */

/* One that failed is worse than one that changed, and that worse than none. */
static void add_result(struct apply *apply, int result)
{
	if (result == EXIT_FAILED || apply->result == EXIT_DONE)
		apply->result = result;
}

/* Devices come and go, most of them are not meant: --new says nothing of these. */
static bool is_wanted(const struct apply *apply, const char *device, bool is_default, int err)
{
	if (!apply->is_new)
		return true;
	return err == -ENOENT || (!err && !is_default) ? false :
							 !baleen_rule_store_is_there(device);
}

static int apply_to_one(const char *device, void *data)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct apply *apply = data;
	struct baleen_error error;
	bool is_default;
	int err = baleen_conf_find(device, path, sizeof(path), &is_default, &error);

	if (!is_wanted(apply, device, is_default, err))
		return 0;
	if (strchr(device, '.') && !strcmp(strrchr(device, '.'), BALEEN_CONF_SUFFIX) &&
	    !baleen_device_index(device)) {
		add_result(apply, complain("%s: no such device: 'baleen apply DEV' finds its "
					   "configuration, and -c FILE names one",
					   device));
		return 0;
	}
	if (err)
		add_result(apply, complain("%s", error.text));
	else
		add_result(apply, apply_to(apply, device, path, is_default));
	return 0;
}

/* /etc/baleen/DEV.conf is of DEV, if none is named. */
static int apply_file(struct apply *apply, const char *device)
{
	char name[BALEEN_POINT_BYTES];
	bool is_default;

	if (!conf_goal_device_of(apply->conf_path, name, sizeof(name), &is_default) && !device)
		return complain_usage(&apply_command,
				      "-c %s: of which device? its name is not "
				      "DEV.conf",
				      apply->conf_path);
	add_result(apply, apply_to(apply, device ? device : name, apply->conf_path, is_default));
	return 0;
}

static int apply_all(struct apply *apply, int argc, char **argv)
{
	struct baleen_error error;

	if (apply->conf_path)
		return apply_file(apply, argc ? argv[0] : NULL);
	for (int i = 0; i < argc; i++)
		apply_to_one(argv[i], apply);
	if (argc)
		return 0;
	if (baleen_conf_each(apply_to_one, apply, &error))
		return complain("%s", error.text);
	return 0;
}

static int run(int argc, char **argv)
{
	struct apply apply = { 0 };
	struct baleen_error error;
	int err = parse(&apply, &argc, &argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error) ||
	    (apply.ifindex && baleen_device_expect(apply.ifindex, argv[0], &error)))
		return complain("%s", error.text);
	err = mend_book(apply.looks);
	if (!err)
		err = apply_all(&apply, argc, argv);
	/* Where baleend does not run, each device that comes looks for those that went. */
	if (apply.is_new)
		baleen_gone_tidy();
	if (!err)
		err = apply.result;
	if (err == EXIT_CHANGED && apply.quiet_change)
		err = EXIT_DONE;
	return finish_collected(apply.json, err);
}

static const struct option_spec options[] = {
	VALUE("conf", 'c', "FILE", option_text, apply, conf_path, "this configuration instead"),
	FLAG("all", 0, apply, is_all,
	     "every device that has a configuration, as when none is named"),
	FLAG("new", 0, apply, is_new,
	     "for rules of udev: only devices that default.conf matches and nothing was applied to "
	     "yet; others are left alone without a word"),
	FLAG("offline", 0, apply, is_offline,
	     "ask no server: take what another device has of a URL, or fail"),
	VALUE("ifindex", 0, "N", option_ifindex, apply, ifindex,
	      "with --new: DEV is what udev is about to call the device of this number"),
	FLAG("check", 0, apply, looks,
	     "only say what would change; whether it would cut this host off is asked when it is "
	     "done"),
	FLAG("diff", 0, apply, shows_lines,
	     "the same, as lines of the configuration: which come and go, and which of them were "
	     "edited by hand"),
	VALUE("confirm", 0, "TIME", parse_confirm, apply, confirm_ms,
	      "the previous state comes back in TIME (60s, 5m) unless 'baleen confirm DEV' is "
	      "said; meanwhile another 'apply --confirm' may follow"),
	FLAG("force", 0, apply, force,
	     "also when this host would cut itself off, or a feed is beyond its limits"),
	FLAG("quiet-change", 0, apply, quiet_change, "exit 0, not 3, when something changed"),
	VALUE("json", 'j', NULL, option_json, apply, json, "an array with one object per device"),
	{ 0 },
};

const struct command apply_command = {
	.name = "apply",
	.synopsis = "[DEV...|--all] [-c FILE] [--check|--diff] [--confirm TIME] [OPTION...]",
	.help = "Makes devices what their configurations say: /etc/baleen/DEV.conf, or default.conf for\n"
		"those that its 'match' names and that have no file of their own; all of them when none\n"
		"is named. Prints what changes, and changes it in one step: each packet\n"
		"sees the old rules or the new ones. Feeds from files are read, those from URLs fetched\n"
		"when there is no good copy of them. What is the same already is left alone. A filter\n"
		"that was attached by hand is taken over, and single entries of rules that go on stay.\n"
		"When anything is wrong with a configuration, a feed or its limits, nothing changes.\n"
		"Exit: 0 nothing had to change, 3 something did (0 with --quiet-change), 1 failed.\n",
	.options = options,
	.run = run,
};
