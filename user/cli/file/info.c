// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen info: what an image is. */
#include <getopt.h>

#include "cli/common/describe.h"
#include "cli/open/filter_ref.h"
#include "cli/open/kmod_named.h"

/* @all: the JSON array, or NULL to print. */
static int tell_file(const char *path, struct list_options *options, json_t *all)
{
	struct input input;
	json_t *json;
	int err = input_open(&input, path, options);

	if (!err && all) {
		json = describe_filter(&input.filter);
		json_object_set_new(json, "file", json_text(path));
		json_array_append_new(all, json);
	} else if (!err) {
		print_filter(stdout, path, &input.filter);
	}
	input_close(&input);
	return err;
}

static int tell(const char *argument, struct list_options *options, json_t *all)
{
	const char *name;

	if (!split_kmod(argument, &name))
		return tell_file(argument, options, all);
	return *name ? kmod_describe(argument, name, all) : kmod_describe_all(all);
}

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
	for (int i = optind; i < argc; i++)
		if (tell(argv[i], &options, json ? all : NULL))
			result = EXIT_FAILED;
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
		"many entries of the lists were superfluous. Of a filter of the kernel module (kmod:NAME)\n"
		"also its version and its counters; 'kmod:' lists all of them.\n\n" LIST_OPTIONS_HELP
		"  -j, --json       an array with one object per image\n",
	.run = run,
};
