// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp detach: nobody is answered for any more. */

#include "cli/open/forget_stale.h"
#include "cli/common/options.h"
#include "cli/icp/icp_verbs.h"
#include "icp/icp.h"

static int report(const char *what, bool json)
{
	if (json)
		return print_json(json_pack("{s:o}", "detached", json_text(what)));
	say("%s: detached\n", what);
	return finish_output(EXIT_DONE);
}

static int detach(const char *device, bool json)
{
	struct baleen_error error;

	if (baleen_device_privileges(&error) || baleen_icp_detach(device, &error))
		return complain("%s", error.text);
	return report(device, json);
}

struct detach {
	bool stale, json;
};

static int run(int argc, char **argv)
{
	struct detach asked = { 0 };
	int err = options_parse(&icp_detach_command, &asked, &argc, &argv);

	if (err)
		return err;
	if (asked.stale && argc)
		return complain_usage(&icp_detach_command, "--gone takes no device");
	if (asked.stale)
		return forget_gone(baleen_icp_forget_stale, NULL, asked.json);
	if (argc != 1)
		return complain_usage(&icp_detach_command, "one device is asked for");
	return detach(*argv, asked.json);
}

static const struct option_spec options[] = {
	FLAG("gone", 0, detach, stale,
	     "forget what is left of devices that no longer exist, in all network namespaces; a "
	     "namespace is told by its cookie"),
	FLAG("json", 'j', detach, json, "say so as JSON; with --gone, an array"),
	{ 0 },
};

const struct command icp_detach_command = {
	.name = "icp detach",
	.synopsis = "[-j] DEV | --gone",
	.help = "Takes the programs off, with all that they knew and counted; the caches are asked\n"
		"themselves again.\n",
	.options = options,
	.run = run,
};
