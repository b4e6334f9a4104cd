// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen match: which of these keys are in the set? */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/matching.h"
#include "cli/open/filter_ref.h"

#define OUTPUT_BYTES (64 * 1024)

struct match {
	struct list_options options;
	struct input input;
	struct matching matching;
	bool json;
	const char *file;
};

static int finish(struct match *match)
{
	struct matching *matching = &match->matching;
	int result = matching->n_matched && !matching->n_bad ? EXIT_DONE : EXIT_FAILED;

	if (matching->count_only)
		printf("%llu\n", (unsigned long long)matching->n_matched);
	else if (match->json && print_json(json_incref(matching->found)))
		return EXIT_FAILED;
	if (matching->write_error)
		errno = matching->write_error;
	return finish_output(result);
}

static int parse(struct match *match, int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ "invert", no_argument, NULL, 'v' },
		{ "count", no_argument, NULL, 'c' },
		{ "file", required_argument, NULL, 'f' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "jvcf:0", long_options, NULL)) != -1) {
		switch (option) {
		case 'j': match->json = true; break;
		case 'v': match->matching.inverted = true; break;
		case 'c': match->matching.count_only = true; break;
		case 'f': match->file = optarg; break;
		default: err = list_option_take(&match_command, &match->options, option, optarg);
		}
	}
	if (!err && optind == argc)
		return complain_usage(&match_command, "no IMAGE given");
	return err ? err : list_options_check(&match_command, &match->options);
}

/* On a terminal a key appears when its line was typed. */
static void buffer_output(void)
{
	static char buffer[OUTPUT_BYTES];

	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

static int match_keys(struct match *match, char **keys, int n_keys)
{
	struct matching *matching = &match->matching;
	int err = 0;

	matching->filter = &match->input.filter;
	if (match->input.kmod.fd)
		matching->kmod = &match->input.kmod;
	matching->ends_with_nul = match->options.ends_with_nul;
	if (match->json)
		matching->found = json_array();
	buffer_output();
	for (int i = 0; i < n_keys && !matching->is_lost; i++)
		matching_key(matching, keys[i], strlen(keys[i]));
	if (!matching->is_lost && (match->file || !n_keys))
		err = matching_file(matching, match->file ? match->file : "-");
	if (matching->is_lost)
		err = EXIT_FAILED;
	if (!err)
		err = finish(match);
	json_decref(matching->found);
	return err;
}

static int run(int argc, char **argv)
{
	struct match match = { 0 };
	int err;

	list_options_init(&match.options);
	match.options.looks_at_live = true;
	err = parse(&match, argc, argv);
	if (err)
		return err;
	if (input_open(&match.input, argv[optind], &match.options))
		return EXIT_FAILED;
	err = match_keys(&match, argv + optind + 1, argc - optind - 1);
	input_close(&match.input);
	return err;
}

const struct command match_command = {
	.name = "match",
	.synopsis = "[-vcj0] [-f FILE] IMAGE [KEY...]",
	.help = "Prints the keys that are in the set: grep for sets. Without KEY and -f it reads\n"
		"standard input. On a live rule (DEV:RULE) it reads the live map, and of a filter of\n"
		"the kernel module (kmod:NAME) it asks the kernel.\n"
		"Exit: 0 when a key was printed, 1 when none was or a key could not be read.\n\n" LIST_OPTIONS_HELP
		"  -v, --invert     print the keys that are not in the set\n"
		"  -c, --count      print how many, not which\n"
		"  -f, --file FILE  keys from a file, one a line\n"
		"  -j, --json       an array of the keys; with -c the count\n",
	.run = run,
};
