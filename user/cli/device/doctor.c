// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen doctor: what is wrong with a device, and what mends it. */

#include <errno.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/open/devices.h"
#include "report/checkup.h"

static void print(const struct baleen_finding *finding)
{
	say("%-7s  %-12s  %s\n", baleen_level_text(finding->level), finding->check, finding->text);
	if (finding->command[0])
		say("%-7s  %-12s  # %s\n", "", "", finding->command);
}

static json_t *describe(const char *device, const struct baleen_finding *finding)
{
	json_t *json = json_object();

	json_object_set_new(json, "device", json_text(device));
	json_object_set_new(json, "check", json_string(finding->check));
	json_object_set_new(json, "level", json_string(baleen_level_text(finding->level)));
	json_object_set_new(json, "text", json_text(finding->text));
	json_object_set_new(json, "command",
			    finding->command[0] ? json_text(finding->command) : json_null());
	return json;
}

static int check(const char *device, json_t *all)
{
	struct baleen_checkup checkup;
	struct baleen_error error;
	int result = EXIT_DONE;

	if (baleen_checkup_run(device, &checkup, &error))
		return complain("%s", error.text);
	for (u32 i = 0; i < checkup.n; i++) {
		const struct baleen_finding *finding = &checkup.finding[i];

		if (finding->level == BALEEN_LEVEL_PROBLEM)
			result = EXIT_FAILED;
		if (all)
			json_array_append_new(all, describe(device, finding));
		else
			print(finding);
	}
	return result;
}

/* Both directions of a device are the one. */
static int find_devices(struct devices *devices)
{
	struct devices found = { 0 };
	int err = devices_with_filters(&found);

	if (!err)
		err = devices_with_states(&found);
	for (size_t i = 0; i < found.n && !err; i++) {
		char device[BALEEN_POINT_BYTES];

		if (devices_add(devices, baleen_device_base(found.name[i], device)))
			err = complain("%s", strerror(ENOMEM));
	}
	devices->is_partial = found.is_partial;
	devices_free(&found);
	return err;
}

static int check_each(json_t *all)
{
	struct devices devices = { 0 };
	int err = find_devices(&devices);
	int result = devices.is_partial ? EXIT_FAILED : EXIT_DONE;

	if (!err && !devices.n)
		err = complain(
			"no device here has a filter or a configuration: 'baleen doctor DEV' "
			"looks at one that is to get one");
	for (size_t i = 0; i < devices.n && !err; i++) {
		if (!all && i)
			putchar('\n');
		if (!all)
			say("%s:\n", devices.name[i]);
		if (check(devices.name[i], all))
			result = EXIT_FAILED;
	}
	devices_free(&devices);
	return err ? err : result;
}

static int run(int argc, char **argv)
{
	bool json = false;
	int err = options_parse(&doctor_command, &json, &argc, &argv);
	json_t *all;

	if (err)
		return err;
	all = json ? json_array() : NULL;
	err = argc ? check(*argv, all) : check_each(all);
	if (!all || json_array_size(all))
		return finish_collected(all, err);
	json_decref(all);
	return err;
}

static const struct option_spec options[] = {
	{ "json", 'j', NULL, option_flag,
	  .help = "an array of device, check, level, text and command, in a fixed order" },
	{ 0 },
};

const struct command doctor_command = {
	.name = "doctor",
	.synopsis = "[-j] [DEV]",
	.help = "Looks at a device, with or without a filter, and at its host: native XDP or why not,\n"
		"MTU, offloads, queues, VLAN tags, devices above and below, other programs, releases of\n"
		"kernel, libraries and compiler, privileges, state, disk, clock, fleet. Prints a line for\n"
		"each, behind '#' the command that mends what can be mended. Changes nothing: a program is\n"
		"loaded to see that it can be, and attached to nothing. Without DEV it looks at each that\n"
		"has a filter or a configuration.\n\n"
		"  ok               as it should be\n"
		"  note             costs speed, or surprises\n"
		"  problem          packets are not filtered as asked, or several times slower than they\n"
		"                   could be\n\n"
		"Exit: 1 when there is a problem.\n",
	.options = options,
	.asks = { 0, 1, "one device at most is asked for" },
	.run = run,
};
