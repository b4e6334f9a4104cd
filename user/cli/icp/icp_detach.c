// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp detach: nobody is answered for any more. */
#include <errno.h>
#include <getopt.h>

#include "cli/open/forget_stale.h"
#include "cli/icp/icp_verbs.h"
#include "icp/icp_stale.h"

enum {
	OPTION_GONE = 256,
};

static int report(const char *what, bool json)
{
	if (json)
		return print_json(json_pack("{s:o}", "detached", json_text(what)));
	printf("%s: detached\n", what);
	return finish_output(EXIT_DONE);
}

static int detach(const char *device, bool json)
{
	struct baleen_error error;

	if (baleen_device_privileges(&error) || baleen_icp_detach(device, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return report(device, json);
}

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "gone", no_argument, NULL, OPTION_GONE },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	bool json = false, gone = false;
	int option;

	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		switch (option) {
		case 'j': json = true; break;
		case OPTION_GONE: gone = true; break;
		default:
			fprintf(stderr, "baleen: see 'baleen help icp detach'\n");
			return EXIT_USAGE;
		}
	}
	if (gone && optind < argc)
		return complain_usage(&icp_detach_command, "--gone takes no device");
	if (gone)
		return forget_gone(baleen_icp_forget_stale, NULL, json);
	if (argc - optind != 1)
		return complain_usage(&icp_detach_command, "one device is asked for");
	return detach(argv[optind], json);
}

const struct command icp_detach_command = {
	.name = "icp detach",
	.synopsis = "[-j] DEV | --gone",
	.help = "Takes the programs off, with all that they knew and counted; the caches are asked\n"
		"themselves again.\n\n"
		"  --gone           forget what is left of devices that no longer exist, in all network\n"
		"                   namespaces; a namespace is told by its cookie\n"
		"  -j, --json       say so as JSON; with --gone, an array\n",
	.run = run,
};
