// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen build: lists to an image. */
#include <getopt.h>

#include "cli/common/describe.h"
#include "cli/open/filter_target.h"

enum { OPTION_OUT = 'o', OPTION_JSON = 'j', OPTION_VERBOSE = 'v' };

/* Says why this kind was chosen, and that a chosen seed is a secret. */
static void explain(const struct list_options *options)
{
	if (*options->choice.why)
		complain("%s", options->choice.why);
	if (options->seed_text)
		complain("the seed is as secret as the text of --seed: who knows it can craft keys "
			 "that fill a bucket");
}

static int report(const struct input *input, const char *out, bool json, bool verbose)
{
	if (json) {
		json_t *description = describe_filter(&input->filter);

		json_object_set_new(description, "file", json_text(out));
		json_object_set_new(description, "lines", json_integer(input->n_lines));
		json_object_set_new(description, "bad_lines", json_integer(input->n_bad));
		return print_json(description);
	}
	if (input->n_covered) {
		char covered[NUMBER_TEXT], listed[NUMBER_TEXT];

		complain("%s of %s entries superfluous: listed twice, or others cover them",
			 format_count(input->n_covered, covered),
			 format_count(input->n_listed, listed));
	}
	if (verbose)
		print_filter(stderr, out, &input->filter);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "need", required_argument, NULL, OPTION_NEED },
		{ "like", required_argument, NULL, OPTION_LIKE },
		{ "output", required_argument, NULL, OPTION_OUT },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "verbose", no_argument, NULL, OPTION_VERBOSE },
		{ 0 },
	};
	char *stdin_only[] = { "-" };
	char name[BALEEN_NAME_BYTES];
	struct list_options options;
	struct input input = { 0 };
	bool json = false, verbose = false;
	const char *out = NULL;
	int option, err = 0;

	list_options_init(&options);
	options.chooses = true;
	while ((option = getopt_long(argc, argv, "o:jv0", long_options, NULL)) != -1) {
		switch (option) {
		case OPTION_OUT: out = optarg; break;
		case OPTION_JSON: json = true; break;
		case OPTION_VERBOSE: verbose = true; break;
		default: err = list_option_take(&build_command, &options, option, optarg);
		}
		if (err)
			return err;
	}
	if (!out)
		return complain_usage(&build_command, "-o IMAGE is missing");
	err = list_options_check(&build_command, &options);
	if (!err)
		err = output_check(&build_command, out, name);
	if (err)
		return err;
	options.build.name = name;
	if (optind == argc)
		err = input_build(&input, stdin_only, 1, &options);
	else
		err = input_build(&input, argv + optind, argc - optind, &options);
	if (!err && verbose)
		explain(&options);
	if (!err)
		err = output_write(out, &input.filter, 0600);
	if (!err)
		err = report(&input, out, json, verbose);
	input_close(&input);
	return err;
}

const struct command build_command = {
	.name = "build",
	.synopsis = "-o IMAGE [OPTION...] [LIST...]",
	.help = "Builds one image of all the lists; '-' or no LIST is standard input. The image is\n"
		"0600, because who knows its seed can craft keys that fill a bucket.\n\n" LIST_OPTIONS_HELP
		"  --need WHAT      choose a kind that can: delete, merge, resize, with commas\n"
		"                   between; with --fpp the smallest of them\n"
		"  --like IMAGE     take kind, geometry, key and seed from another image\n"
		"  -o IMAGE         where to write; the old file stays until the new one is whole; kmod:NAME\n"
		"                   is a filter of the kernel module\n"
		"  -j, --json       describe the image as JSON\n"
		"  -v, --verbose    describe the image, and why it is of this kind, on stderr\n",
	.run = run,
};
