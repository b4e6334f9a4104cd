// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen match: which of these keys are in the set? */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/matching.h"
#include "cli/open/filter_ref.h"
#include "filter/copies.h"

#define OUTPUT_BYTES (64 * 1024)

struct match {
	struct list_options lists;
	struct filter_ref ref;
	struct matching matching;
	bool json;
	const char *file;
};

static int finish(struct match *match)
{
	struct matching *matching = &match->matching;
	int result = matching->n_matched && !matching->n_bad ? EXIT_DONE : EXIT_FAILED;

	if (matching->count_only)
		say("%llu\n", (unsigned long long)matching->n_matched);
	else if (match->json && print_json(json_incref(matching->found)))
		return EXIT_FAILED;
	if (matching->write_error)
		errno = matching->write_error;
	return finish_output(result);
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

	matching->ref = &match->ref;
	matching->ends_with_nul = match->lists.ends_with_nul;
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

static int check_copies(const struct match *match)
{
	struct baleen_error error;

	if (!match->matching.counts_copies ||
	    !baleen_copies_check(&match->ref.filter.image, &error))
		return 0;
	return complain("%s: %s", match->ref.argument, error.text);
}

static int run(int argc, char **argv)
{
	struct match match = { 0 };
	const struct matching *matching = &match.matching;
	int err;

	list_options_init(&match.lists);
	err = options_parse(&match_command, &match, &argc, &argv);
	if (!err && matching->counts_copies && (matching->inverted || matching->count_only))
		err = complain_usage(&match_command,
				     "--count-copies and --%s contradict each other",
				     matching->inverted ? "invert" : "count");
	if (!err)
		err = list_options_check(&match_command, &match.lists);
	if (err)
		return err;
	/* The kernel says whether a key is in; copies are counted in one of the filter. */
	match.lists.looks_at_live = !matching->counts_copies;
	if (filter_ref_open(&match.ref, *argv, &match.lists))
		return EXIT_FAILED;
	err = check_copies(&match);
	if (!err)
		err = match_keys(&match, argv + 1, argc - 1);
	filter_ref_close(&match.ref);
	return err;
}

static const struct option_spec options[] = {
	{ .table = list_option_table, .at = offsetof(struct match, lists) },
	FLAG("invert", 'v', match, matching.inverted, "print the keys that are not in the set"),
	FLAG("count", 'c', match, matching.count_only, "print how many, not which"),
	FLAG("count-copies", 0, match, matching.counts_copies,
	     "before each key how often it is in the set: in one that counts copies"),
	VALUE("file", 'f', "FILE", option_text, match, file, "keys from a file, one a line"),
	FLAG("json", 'j', match, json, "an array of the keys; with -c the count"),
	{ 0 },
};

const struct command match_command = {
	.name = "match",
	.synopsis = "[-vcj0] [--count-copies] [-f FILE] IMAGE [KEY...]",
	.help = "Prints the keys that are in the set: grep for sets. Without KEY and -f it reads\n"
		"standard input. On a live rule (DEV:RULE), or a cache that is answered for\n"
		"(DEV:SIBLING, keys are URLs), it reads the live map, and of a filter of the kernel\n"
		"module (kmod:NAME) it asks the kernel.\n"
		"Exit: 0 when a key was printed, 1 when none was or a key could not be read.\n",
	.options = options,
	.asks = { 1, INT_MAX, "no IMAGE given" },
	.run = run,
};
