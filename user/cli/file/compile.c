// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen compile: a self-contained XDP object. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "cli/open/guard.h"
#include "ops/image_file.h"
#include "util/output.h"
#include "xdp/object.h"

struct compile {
	struct list_options lists;
	const char *path;
	const char *out;
	double accept_fpp;
	bool json;
};

static int compile(struct filter_ref *ref, const char *out)
{
	char name[BALEEN_NAME_BYTES];
	struct baleen_error error;
	struct baleen_rule rule;
	size_t n_bytes;
	void *object;
	int err;

	/* An image has its name in it; a list has that of its file. */
	if (ref->filter.image.name[0])
		strcpy(name, ref->filter.image.name);
	else if (rule_name_from_path(ref->argument, name))
		strcpy(name, "rule");
	baleen_rule_set(&rule, BALEEN_ACTION_DROP, name, NULL, &ref->filter.image);
	err = baleen_object_make(ref->filter.bytes, ref->filter.n_bytes, &rule, &object, &n_bytes,
				 &error);
	if (!err) {
		err = baleen_output_write(out, BALEEN_OUTPUT_TYPED, 0600, object, n_bytes, &error);
		free(object);
	}
	return err ? complain("%s", error.text) : 0;
}

static int parse(struct compile *asked, int argc, char **argv)
{
	const char *name;
	int err;

	list_options_init(&asked->lists);
	err = options_parse(&compile_command, asked, &argc, &argv);
	if (err)
		return err;
	if (!asked->out)
		return complain_usage(&compile_command, "-o OBJECT is missing");
	if (argc != 1)
		return complain_usage(&compile_command, "one IMAGE is asked for");
	if (split_kmod(asked->out, &name))
		return complain_usage(&compile_command,
				      "-o '%s': an object is a file, not a filter of the module",
				      asked->out);
	if (!baleen_file_may_replace(asked->out,
				     "\x7f"
				     "ELF",
				     4))
		return complain("%s: exists and is not an object: not overwritten", asked->out);
	asked->path = *argv;
	return list_options_check(&compile_command, &asked->lists);
}

static int run(int argc, char **argv)
{
	struct compile asked = { .accept_fpp = BALEEN_ACCEPT_FPP };
	struct filter_ref ref;
	int err = parse(&asked, argc, argv);

	if (err)
		return err;
	if (filter_ref_open(&ref, asked.path, &asked.lists))
		return EXIT_FAILED;
	err = guard_rate(ref.argument, BALEEN_ACTION_DROP, &ref.filter, asked.accept_fpp);
	if (!err)
		err = compile(&ref, asked.out);
	if (!err && asked.json) {
		json_t *description = describe_filter(&ref.filter);

		json_object_set_new(description, "file", json_text(asked.out));
		err = print_json(description);
	}
	filter_ref_close(&ref);
	return err;
}

static const struct option_spec options[] = {
	{ .table = list_option_table, .at = offsetof(struct compile, lists) },
	VALUE("output", 'o', "OBJECT", option_text, compile, out, "where to write"),
	ACCEPT_FPP_OPTION(compile, accept_fpp),
	FLAG("json", 'j', compile, json, "describe what was baked in as JSON"),
	{ 0 },
};

const struct command compile_command = {
	.name = "compile",
	.synopsis = "-o OBJECT IMAGE",
	.help = "Writes an XDP object that drops what the image lists, for programs that know\n"
		"nothing of Baleen; no compiler is needed. All else passes, also what is not IP:\n"
		"  ip link set dev eth0 xdp obj drop.bpf.o sec xdp       (jumbo: sec xdp.frags)\n"
		"  bpftool prog load drop.bpf.o /sys/fs/bpf/drop; bpftool net attach xdp pinned\n"
		"    /sys/fs/bpf/drop dev eth0\n"
		"  xdp-loader load eth0 drop.bpf.o\n",
	.options = options,
	.run = run,
};
