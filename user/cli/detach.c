// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen detach: take the filter off a device. */
#include <getopt.h>

#include "cli.h"
#include "xdp.h"

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct baleen_error error;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		if (option != 'j') {
			fprintf(stderr, "baleen: see 'baleen help detach'\n");
			return EXIT_USAGE;
		}
		json = true;
	}
	if (argc - optind != 1)
		return complain_usage(&detach_command, "one device is asked for");
	if (baleen_device_privileges(&error) || baleen_xdp_detach(argv[optind], &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (json)
		return print_json(json_pack("{s:s}", "detached", argv[optind]));
	printf("%s: detached\n", argv[optind]);
	return finish_output(EXIT_DONE);
}

const struct command detach_command = {
	.name = "detach",
	.synopsis = "[-j] DEV",
	.help = "Takes the filter off a device and removes its pins. Also for a device that is gone,\n"
		"by the name it had.\n\n"
		"  -j, --json       say so as JSON\n",
	.run = run,
};
