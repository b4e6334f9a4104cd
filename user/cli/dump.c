// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen dump: the keys of an exact image, in ascending order. */
#include <getopt.h>
#include <stdlib.h>

#include "describe.h"
#include "input.h"
#include "plan.h"

static int print_keys(const u32 *ip4, size_t n, bool json)
{
	char text[BALEEN_KEY_TEXT];

	if (json)
		putchar('[');
	for (size_t i = 0; i < n; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = ip4[i] };

		baleen_key_format(&key, BALEEN_KEY_SRC, text);
		if (json)
			printf("%s\n  \"%s\"", i ? "," : "", text);
		else
			puts(text);
		/* A full disk or a closed pipe: no use in going on. */
		if (ferror(stdout))
			break;
	}
	if (json)
		puts("\n]");
	return finish_output(EXIT_DONE);
}

static int dump(const struct input *input, bool json)
{
	const struct baleen_filter *filter = &input->filter;
	struct baleen_error error;
	size_t n;
	u32 *ip4;
	int err;

	if (!baleen_image_is_exact(&filter->image)) {
		complain("%s: keys stored as hashes cannot be listed back (%s)", input->path,
			 filter->image.table[BALEEN_IP6].kind ? "IPv6 table" : "Bloom table");
		return EXIT_FAILED;
	}
	if (baleen_filter_list(filter, BALEEN_IP4, &ip4, &n, &error)) {
		complain("%s: %s", input->path, error.text);
		return EXIT_FAILED;
	}
	err = print_keys(ip4, n, json);
	free(ip4);
	return err;
}

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	struct list_options options;
	struct input input;
	bool json = false;
	int option, err = 0;

	list_options_init(&options);
	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		if (option == 'j')
			json = true;
		else
			err = list_option_take(&dump_command, &options, option, optarg);
		if (err)
			return err;
	}
	if (argc - optind != 1)
		return complain_usage(&dump_command, "one IMAGE is asked for");
	err = list_options_check(&dump_command, &options);
	if (err)
		return err;
	if (input_open(&input, argv[optind], &options))
		return EXIT_FAILED;
	err = dump(&input, json);
	input_close(&input);
	return err;
}

const struct command dump_command = {
	.name = "dump",
	.synopsis = "[-j] IMAGE",
	.help = "Prints the keys of an exact image, one a line, in ascending order.\n\n" LIST_OPTIONS_HELP
		"  -j, --json       an array of strings\n",
	.run = run,
};
