// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen refresh: the program of this version for what another attached. */
#include <errno.h>

#include "cli/common/options.h"
#include "deploy/deploy.h"

static void print(const char *device, u32 old_id, u32 id, json_t *all)
{
	bool changed = id != old_id;

	if (all)
		json_array_append_new(all,
				      json_pack("{s:o, s:b, s:I}", "device", json_text(device),
						"changed", changed, "program_id", (json_int_t)id));
	else if (changed)
		say("%s: program %u of this version in place of program %u\n", device, id, old_id);
	else
		say("%s: program %u is of this version already\n", device, id);
}

static int refresh_and_print(const char *device, bool force, json_t *all)
{
	struct baleen_error error;
	u32 old_id, id;

	if (baleen_deploy_refresh(device, force, &old_id, &id, &error))
		return complain("%s", error.text);
	print(device, old_id, id, all);
	return EXIT_DONE;
}

struct walk {
	bool force;
	json_t *all;
	int result;
};

/* A filter out of force sees no packets: skip it. */
static int refresh_pins(const struct baleen_pins *pins, void *data)
{
	struct walk *walk = data;
	struct baleen_error error;
	struct baleen_xdp xdp;
	bool is_attached;
	int err = baleen_xdp_open_pins(&xdp, pins, &error);

	if (err == -ENOENT)
		return 0;
	if (err) {
		walk->result = complain("%s", error.text);
		return 0;
	}
	is_attached = xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	baleen_xdp_close(&xdp);
	if (is_attached && refresh_and_print(xdp.device, walk->force, walk->all))
		walk->result = EXIT_FAILED;
	return 0;
}

static int refresh_all(bool force, json_t *all)
{
	struct walk walk = { .force = force, .all = all };
	struct baleen_error error;

	if (baleen_pins_each(refresh_pins, &walk, &error))
		return complain("%s", error.text);
	return walk.result;
}

struct refresh {
	bool force;
	json_t *all;
};

static int run(int argc, char **argv)
{
	struct refresh asked = { 0 };
	struct baleen_error error;
	int err = options_parse(&refresh_command, &asked, &argc, &argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = argc ? refresh_and_print(*argv, asked.force, asked.all) :
		     refresh_all(asked.force, asked.all);
	return finish_collected(asked.all, err);
}

static const struct option_spec options[] = {
	FLAG("force", 0, refresh, force,
	     "also in place of this version's, as after a change of the kernel's JIT"),
	VALUE("json", 'j', NULL, option_json, refresh, all, "an array with one object per device"),
	{ 0 },
};

const struct command refresh_command = {
	.name = "refresh",
	.synopsis = "[-j] [--force] [DEV]",
	.help = "Puts the program of this version of baleen on a device where another version's is, as\n"
		"after an upgrade; without DEV on every device of this network namespace that has a\n"
		"filter in force. Rules, filters and counters are the same ones, the change is one step,\n"
		"and no packet is without a filter. A program of this version stays as it is.\n",
	.options = options,
	.asks = { 0, 1, "at most one device is asked for" },
	.run = run,
};
