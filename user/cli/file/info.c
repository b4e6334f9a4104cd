// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen info: what an image is. */
#include <limits.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/open/filter_ref.h"
#include "cli/open/kmod_describe.h"
#include "state/feeds.h"

/* A live rule has been changed since its filter was built; its state knows. */
static u64 count_written(const struct filter_ref *ref)
{
	struct baleen_rule_store state;
	u64 n;

	if (!filter_ref_is_live(ref))
		return written_entries(&ref->filter);
	if (!ref->device[0] || baleen_rule_store_open(&state, ref->device, 0, NULL))
		return 0;
	n = baleen_rule_written(&state, ref->rule);
	baleen_rule_store_close(&state);
	return n;
}

/* @all: the JSON array, or NULL to print. */
static int show(const char *argument, struct list_options *options, json_t *all)
{
	struct filter_ref ref;
	json_t *json;
	int err;

	if (!strcmp(argument, "kmod:"))
		return kmod_describe_all(all);
	err = filter_ref_open(&ref, argument, options);
	if (!err && all) {
		json = describe_written(&ref.filter, count_written(&ref));
		json_object_set_new(json, "file", json_text(argument));
		err = filter_ref_describe(&ref, json);
		json_array_append_new(all, json);
	} else if (!err) {
		print_filter(stdout, argument, &ref.filter, count_written(&ref));
		err = filter_ref_describe(&ref, NULL);
	}
	filter_ref_close(&ref);
	return err;
}

struct info {
	struct list_options lists;
	bool json;
};

static int run(int argc, char **argv)
{
	struct info info = { 0 };
	json_t *all = NULL;
	int err, result = EXIT_DONE;

	list_options_init(&info.lists);
	err = options_parse(&info_command, &info, &argc, &argv);
	if (!err)
		err = list_options_check(&info_command, &info.lists);
	if (err)
		return err;
	if (info.json)
		all = json_array();
	for (int i = 0; i < argc; i++)
		if (show(argv[i], &info.lists, all))
			result = EXIT_FAILED;
	return finish_collected(all, result);
}

static const struct option_spec options[] = {
	{ .table = list_option_table, .at = offsetof(struct info, lists) },
	FLAG("json", 'j', info, json, "an array with one object per image"),
	{ 0 },
};

const struct command info_command = {
	.name = "info",
	.synopsis = "[-j] IMAGE...",
	.help = "Prints kind, key, geometry, entries, fill, bits per key and predicted error, and how\n"
		"many entries of the lists were superfluous. Of a filter of the kernel module (kmod:NAME)\n"
		"also its version and its counters; 'kmod:' lists all of them.\n",
	.options = options,
	.asks = { 1, INT_MAX, "no IMAGE given" },
	.run = run,
};
