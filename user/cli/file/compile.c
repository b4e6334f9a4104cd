// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen compile: a self-contained XDP object. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/open/guard.h"
#include "ops/image_file.h"
#include "xdp/object.h"

static int compile(struct input *input, const char *out)
{
	char name[BALEEN_NAME_BYTES];
	struct baleen_error error;
	struct baleen_rule rule;
	size_t n_bytes;
	void *object;
	int err;

	/* An image has its name in it; a list has that of its file. */
	if (input->filter.image.name[0])
		strcpy(name, input->filter.image.name);
	else if (rule_name_from_path(input->path, name))
		strcpy(name, "rule");
	baleen_rule_set(&rule, BALEEN_ACTION_DROP, name, NULL, &input->filter.image);
	err = baleen_object_make(input->filter.bytes, input->filter.n_bytes, &rule, &object,
				 &n_bytes, &error);
	if (!err) {
		err = baleen_file_write(out, object, n_bytes, 0600, &error);
		free(object);
	}
	if (err)
		complain("%s", error.text);
	return err ? EXIT_FAILED : 0;
}

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "output", required_argument, NULL, 'o' },
		{ "accept-fpp", required_argument, NULL, OPTION_OF_COMMAND },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	double accept_fpp = DEFAULT_ACCEPT_FPP;
	struct list_options options;
	const char *name, *out = NULL;
	struct input input;
	bool json = false;
	int option, err = 0;

	list_options_init(&options);
	while ((option = getopt_long(argc, argv, "o:j", long_options, NULL)) != -1) {
		switch (option) {
		case 'o': out = optarg; break;
		case 'j': json = true; break;
		case OPTION_OF_COMMAND:
			err = take_accept_fpp(&compile_command, optarg, &accept_fpp);
			break;
		default: err = list_option_take(&compile_command, &options, option, optarg);
		}
		if (err)
			return err;
	}
	if (!out)
		return complain_usage(&compile_command, "-o OBJECT is missing");
	if (argc - optind != 1)
		return complain_usage(&compile_command, "one IMAGE is asked for");
	if (split_kmod(out, &name))
		return complain_usage(&compile_command,
				      "-o '%s': an object is a file, not a filter of the module",
				      out);
	if (!baleen_file_may_replace(out,
				     "\x7f"
				     "ELF",
				     4)) {
		complain("%s: exists and is not an object: not overwritten", out);
		return EXIT_FAILED;
	}
	err = list_options_check(&compile_command, &options);
	if (err)
		return err;
	if (input_open(&input, argv[optind], &options))
		return EXIT_FAILED;
	err = guard_rate(input.path, BALEEN_ACTION_DROP, &input.filter, accept_fpp);
	if (!err)
		err = compile(&input, out);
	if (!err && json) {
		json_t *description = describe_filter(&input.filter);

		json_object_set_new(description, "file", json_text(out));
		err = print_json(description);
	}
	input_close(&input);
	return err;
}

const struct command compile_command = {
	.name = "compile",
	.synopsis = "-o OBJECT IMAGE",
	.help = "Writes an XDP object that drops what the image lists, for programs that know\n"
		"nothing of Baleen; no compiler is needed. All else passes, also what is not IP:\n"
		"  ip link set dev eth0 xdp obj drop.bpf.o sec xdp       (jumbo: sec xdp.frags)\n"
		"  bpftool prog load drop.bpf.o /sys/fs/bpf/drop; bpftool net attach xdp pinned\n"
		"    /sys/fs/bpf/drop dev eth0\n"
		"  xdp-loader load eth0 drop.bpf.o\n\n" LIST_OPTIONS_HELP
		"  -o OBJECT        where to write\n" ACCEPT_FPP_HELP
		"  -j, --json       describe what was baked in as JSON\n",
	.run = run,
};
