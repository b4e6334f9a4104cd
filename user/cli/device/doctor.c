// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen doctor: what is wrong with a device, and what mends it. */

#include "cli/common/options.h"
#include "report/checkup.h"

static void print(const struct baleen_finding *finding)
{
	say("%-7s  %-12s  %s\n", baleen_level_text(finding->level), finding->check, finding->text);
	if (finding->command[0])
		say("%-7s  %-12s  # %s\n", "", "", finding->command);
}

static json_t *describe(const struct baleen_finding *finding)
{
	json_t *json = json_object();

	json_object_set_new(json, "check", json_string(finding->check));
	json_object_set_new(json, "level", json_string(baleen_level_text(finding->level)));
	json_object_set_new(json, "text", json_text(finding->text));
	json_object_set_new(json, "command",
			    finding->command[0] ? json_text(finding->command) : json_null());
	return json;
}

static int show(const struct baleen_checkup *checkup, bool json)
{
	json_t *all = json ? json_array() : NULL;
	int result = EXIT_DONE;

	for (u32 i = 0; i < checkup->n; i++) {
		const struct baleen_finding *finding = &checkup->finding[i];

		if (finding->level == BALEEN_LEVEL_PROBLEM)
			result = EXIT_FAILED;
		if (all)
			json_array_append_new(all, describe(finding));
		else
			print(finding);
	}
	return finish_collected(all, result);
}

static int run(int argc, char **argv)
{
	struct baleen_checkup checkup;
	struct baleen_error error;
	bool json = false;
	int err = options_parse(&doctor_command, &json, &argc, &argv);

	if (err)
		return err;
	if (baleen_checkup_run(*argv, &checkup, &error))
		return complain("%s", error.text);
	return show(&checkup, json);
}

static const struct option_spec options[] = {
	{ "json", 'j', NULL, option_flag,
	  .help = "an array of check, level, text and command, in a fixed order" },
	{ 0 },
};

const struct command doctor_command = {
	.name = "doctor",
	.synopsis = "[-j] DEV",
	.help = "Looks at a device, with or without a filter, and at its host: native XDP or why not,\n"
		"MTU, offloads, queues, VLAN tags, devices above and below, other programs, releases of\n"
		"kernel, libraries and compiler, privileges, state, disk, clock, fleet. Prints a line for\n"
		"each, behind '#' the command that mends what can be mended. Changes nothing: a program is\n"
		"loaded to see that it can be, and attached to nothing.\n\n"
		"  ok               as it should be\n"
		"  note             costs speed, or surprises\n"
		"  problem          packets are not filtered as asked, or several times slower than they\n"
		"                   could be\n\n"
		"Exit: 1 when there is a problem.\n",
	.options = options,
	.asks = { 1, 1, "one device is asked for" },
	.run = run,
};
