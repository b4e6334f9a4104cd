// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen info: what an image is. */
#include <getopt.h>

#include "describe.h"
#include "input.h"

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct list_options options;
	json_t *all = json_array();
	bool json = false;
	int option, err = 0, result = EXIT_DONE;

	list_options_init(&options);
	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		if (option == 'j')
			json = true;
		else
			err = list_option_take(&info_command, &options, option, optarg);
		if (err)
			goto out;
	}
	if (optind == argc)
		err = complain_usage(&info_command, "no IMAGE given");
	else
		err = list_options_check(&info_command, &options);
	if (err)
		goto out;
	for (int i = optind; i < argc; i++) {
		struct input input;

		if (input_open(&input, argv[i], &options)) {
			result = EXIT_FAILED;
		} else if (json) {
			json_t *description = describe_filter(&input.filter);

			json_object_set_new(description, "file", json_text(argv[i]));
			json_array_append_new(all, description);
		} else {
			print_filter(stdout, argv[i], &input.filter);
		}
		input_close(&input);
	}
	if (json)
		err = print_json(json_incref(all)) ? EXIT_FAILED : result;
	else
		err = finish_output(result);
out:
	json_decref(all);
	return err;
}

const struct command info_command = {
	.name = "info",
	.synopsis = "[-j] IMAGE...",
	.help = "Prints kind, key, geometry, entries, fill, bits per key and predicted error, and how\n"
		"many entries of the lists were superfluous.\n\n" LIST_OPTIONS_HELP
		"  -j, --json       an array with one object per image\n",
	.run = run,
};
