// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen build: lists to an image. */

#include "cli/common/describe.h"
#include "cli/common/trace.h"
#include "cli/open/filter_ref.h"
#include "filter/estimate.h"

struct build {
	struct list_options lists;
	const char *out;
	bool json;
	bool verbose;
	struct trace trace;
	struct baleen_image planned;
};

/* Says why this kind was chosen, and that a chosen seed is a secret. */
static void explain(const struct list_options *options)
{
	if (*options->choice.why)
		complain("%s", options->choice.why);
	if (options->seed_text)
		complain("the seed is as secret as the text of --seed: who knows it can craft keys "
			 "that fill a bucket");
}

/* Why what was built is larger than planned: these keys find no room, or err at more. */
static void explain_size(const struct filter_ref *ref, const struct build *build)
{
	const struct baleen_build_options *options = &build->lists.build;
	char bytes[NUMBER_TEXT], planned_bytes[NUMBER_TEXT], why[96];

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &ref->filter.image.table[domain];
		u64 planned = build->planned.table[domain].n_blocks;

		if (!planned || planned >= table->n_blocks)
			continue;
		if (baleen_table_is_bit_array(table))
			snprintf(why, sizeof(why), "these keys would err at more than %g",
				 options->fpp);
		else if (options->shape.load)
			snprintf(why, sizeof(why), "the keys find no room at a load of %g",
				 options->shape.load);
		else
			snprintf(why, sizeof(why), "the keys find no room there");
		complain("%s: %s, not the planned %s: %s%s", build->out,
			 format_bytes((u64)table->n_blocks * BALEEN_BLOCK_BYTES, bytes),
			 format_bytes(planned * BALEEN_BLOCK_BYTES, planned_bytes),
			 options->seed ? "with this seed " : "", why);
	}
}

static int report(const struct filter_ref *ref, struct build *build)
{
	if (build->json || build->trace.is_html) {
		json_t *description = describe_filter(&ref->filter);

		json_object_set_new(description, "file", json_text(build->out));
		json_object_set_new(description, "lines", json_integer(ref->n_lines));
		json_object_set_new(description, "bad_lines", json_integer(ref->n_bad));
		return trace_report(&build->trace, "build", build->out, description);
	}
	if (ref->n_covered) {
		char covered[NUMBER_TEXT], listed[NUMBER_TEXT];

		complain("%s of %s entries superfluous: listed twice, or others cover them",
			 format_count(ref->n_covered, covered),
			 format_count(ref->n_listed, listed));
	}
	if (build->verbose)
		print_filter(stderr, build->out, &ref->filter, written_entries(&ref->filter));
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	char *stdin_only[] = { "-" };
	char name[BALEEN_NAME_BYTES];
	struct build build = { 0 };
	struct baleen_list list = { 0 };
	struct filter_ref ref = { 0 };
	int err;

	list_options_init(&build.lists);
	build.lists.chooses = true;
	err = options_parse(&build_command, &build, &argc, &argv);
	if (err)
		return err;
	if (!build.out)
		return complain_usage(&build_command, "-o IMAGE is missing");
	err = trace_check(&build.trace, &build_command, build.json);
	if (!err)
		err = list_options_check(&build_command, &build.lists);
	if (!err)
		err = output_check(&build_command, build.out, name);
	if (err)
		return err;
	build.lists.build.name = name;
	build.lists.build.planned = &build.planned;
	err = filter_ref_build(&ref, &list, argc ? argv : stdin_only, argc ? argc : 1,
			       &build.lists);
	if (!err && build.verbose)
		explain(&build.lists);
	if (!err)
		err = trace_build(&build.trace, build.out, &list, &ref.filter, build.json);
	if (!err)
		err = output_write(build.out, &ref.filter, 0600);
	if (!err)
		err = report(&ref, &build);
	if (!err)
		explain_size(&ref, &build);
	trace_free(&build.trace);
	filter_ref_close(&ref);
	baleen_list_free(&list);
	return err;
}

static const struct option_spec options[] = {
	{ .table = list_option_table, .at = offsetof(struct build, lists) },
	VALUE("need", 0, "WHAT", list_need, build, lists,
	      "choose a kind that can: delete, merge, resize, with commas between; with --fpp the "
	      "smallest of them",
	      .words = "delete merge resize"),
	VALUE("like", 0, "IMAGE", option_text, build, lists.like_path,
	      "take kind, geometry, key and seed from another image"),
	VALUE("output", 'o', "IMAGE", option_text, build, out,
	      "where to write; the old file stays until the new one is whole; kmod:NAME is a "
	      "filter of the kernel module"),
	TRACE_OPTIONS(build, trace, TRACE_STEPS),
	FLAG("json", 'j', build, json, "describe the image as JSON"),
	FLAG("verbose", 'v', build, verbose,
	     "describe the image, and why it is of this kind, on stderr"),
	{ 0 },
};

const struct command build_command = {
	.name = "build",
	.synopsis = "-o IMAGE [OPTION...] [LIST...]",
	.help = "Builds one image of all the lists; '-' or no LIST is standard input. The image is\n"
		"0600, because who knows its seed can craft keys that fill a bucket.\n",
	.options = options,
	.run = run,
};
