// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen merge, intersect and subtract: sets made of images, lists and live rules. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/common/trace.h"
#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "cli/open/guard.h"
#include "filter/filter_strings.h"
#include "filter/quotient_table.h"
#include "ops/algebra.h"
#include "ops/algebra_table.h"
#include "ops/change.h"

/**
 * struct operand - one that is combined with the first
 * @ref: an image or a view of a live map
 * @list: or a list, which needs no seed to go into any of them
 */
struct operand {
	struct filter_ref ref;
	struct baleen_list list;
};

/**
 * struct set_op - one run of a command
 * @command: which
 * @op: the set operation
 * @done: its name in the report
 * @paths: the operands as typed
 * @n_paths: how many
 * @out: -o, or NULL
 * @name: name of the image in @out
 * @wait_ms: for other writers
 * @force: also when this host would cut itself off
 * @json: report as JSON
 * @lists: how to read lists
 * @operand: of paths 1 to @n_paths - 1
 * @is_derived: the first is a live rule that is derived of them
 * @trace: --trace of a merge
 * @made: the result
 * @caveat: what of it is not as in a set, or NULL
 */
struct set_op {
	const struct command *command;
	enum baleen_set_op op;
	const char *done;
	char **paths;
	int n_paths;
	const char *out;
	char name[BALEEN_NAME_BYTES];
	u64 wait_ms;
	bool force, json;
	struct list_options lists;
	struct operand *operand;
	bool is_derived;
	struct trace trace;
	struct baleen_filter made;
	const char *caveat;
	bool has_copies;
};

static int parse(struct set_op *set, int argc, char **argv)
{
	int err = options_parse(set->command, set, &argc, &argv);

	if (err)
		return err;
	set->paths = argv;
	set->n_paths = argc;
	for (int i = 0; set->trace.is_wanted && i < argc; i++)
		if (is_live_name(argv[i]))
			return complain_usage(set->command, "--trace is for image files");
	err = trace_check(&set->trace, set->command, set->json);
	if (err)
		return err;
	return set->out ? output_check(set->command, set->out, set->name) : 0;
}

/* --- operands -------------------------------------------------------------- */

static int open_operand(struct set_op *set, struct operand *operand, const char *path)
{
	/* An intersection takes each key of a list once. */
	operand->list.keeps_copies = set->has_copies && set->op != BALEEN_SET_INTERSECTION;
	if (filter_ref_open_set(&operand->ref, &operand->list, path, &set->lists))
		return EXIT_FAILED;
	if (operand->ref.is_list && baleen_list_finish(&operand->list))
		return complain("%s: %s", path, strerror(ENOMEM));
	return 0;
}

/* The lists are read as the first operand is. */
static void adopt_head(struct set_op *set, const struct baleen_image *head)
{
	set->lists.build.key_spec = head->key_spec;
	set->has_copies = head->flags & BALEEN_FLAG_COPIES;
}

static int open_operands(struct set_op *set)
{
	int err = 0;

	set->operand = calloc(set->n_paths, sizeof(*set->operand));
	if (!set->operand)
		return complain("%s", strerror(ENOMEM));
	for (int i = 1; i < set->n_paths && !err; i++)
		err = open_operand(set, &set->operand[i], set->paths[i]);
	return err;
}

static void close_operands(struct set_op *set)
{
	for (int i = 1; set->operand && i < set->n_paths; i++) {
		filter_ref_close(&set->operand[i].ref);
		baleen_list_free(&set->operand[i].list);
	}
	free(set->operand);
}

/* --- combine --------------------------------------------------------------- */

static int combine_one(const struct set_op *set, const struct baleen_filter *a, struct operand *b,
		       struct baleen_filter *made)
{
	struct baleen_error error;
	int err;

	if (baleen_list_resolve(&b->list, a))
		err = baleen_fail(&error, ENOMEM, "%s", strerror(ENOMEM));
	else if (b->ref.is_list)
		err = baleen_filter_combine_list(a, &b->list, set->op, made, &error);
	else
		err = baleen_filter_combine(a, &b->ref.filter, set->op, set->paths[0], made,
					    &error);
	/* A list has no shape: what cannot be changed is the filter. */
	return err ? complain("%s: %s", b->ref.is_list ? set->paths[0] : b->ref.argument,
			      error.text) :
		     0;
}

static int combine_in_turn(struct set_op *set, const struct baleen_filter *first)
{
	int err = 0;

	for (int i = 1; i < set->n_paths && !err; i++) {
		struct baleen_filter more;

		err = combine_one(set, i == 1 ? first : &set->made, &set->operand[i], &more);
		if (err)
			break;
		baleen_filter_free(&set->made);
		set->made = more;
	}
	return err;
}

/* Quotient filters that fit, any number of them, in one sorted pass. */
static int combine_at_once(struct set_op *set, const struct baleen_filter *const *filters)
{
	struct baleen_error error;

	if (!baleen_quotient_merge(filters, set->n_paths, set->op, 0, &set->made, &error))
		return 0;
	return complain("%s: %s", set->paths[0], error.text);
}

static int combine_all(struct set_op *set, const struct baleen_filter *first)
{
	const struct baleen_filter **filters = calloc(set->n_paths, sizeof(*filters));
	bool has_list = false;
	int err;

	if (!filters)
		return complain("%s", strerror(ENOMEM));
	filters[0] = first;
	for (int i = 1; i < set->n_paths; i++) {
		filters[i] = &set->operand[i].ref.filter;
		has_list |= set->operand[i].ref.is_list;
	}
	if (has_list && set->trace.is_wanted)
		err = complain("--trace: keys of a list have no places: 'baleen build' makes an "
			       "image of it");
	else if (!has_list && baleen_filters_are_one_pass(filters, set->n_paths))
		err = combine_at_once(set, filters);
	else
		err = combine_in_turn(set, first);
	if (!err)
		err = trace_moves(&set->trace, filters, (const char *const *)set->paths,
				  set->n_paths, &set->made, set->json);
	free(filters);
	if (!err)
		set->caveat = baleen_combine_caveat(&set->made, set->op);
	return err;
}

/* --- into the first operand ------------------------------------------------- */

/* A rule that remembers what it is made of takes the operands of a union as lists. */
static int put_union(struct set_op *set, struct filter_ref *ref)
{
	for (int i = 1; i < set->n_paths; i++)
		if (filter_ref_remember(ref, &set->operand[i].ref, &set->lists))
			return EXIT_FAILED;
	return filter_ref_put(ref, &set->made);
}

/* A union that is derived comes to another Bloom filter than one that is made of the live one: that
 * is asked about then.
 */
static int put(struct set_op *set, struct filter_ref *ref)
{
	set->is_derived = set->op == BALEEN_SET_UNION && filter_ref_is_derived(ref);
	ref->is_forced = set->force;
	ref->guards_derived = set->is_derived && baleen_filter_has_bloom(&set->made);
	if (filter_ref_guard_raise(ref, &set->made, set->lists.accept_fpp) ||
	    (!ref->guards_derived && filter_ref_guard_image(ref, &set->made, set->force)))
		return EXIT_FAILED;
	if (set->op == BALEEN_SET_UNION)
		return put_union(set, ref);
	return filter_ref_replace(ref, &set->made, &set->lists);
}

static int combine_target(struct filter_ref *ref, void *data)
{
	struct set_op *set = data;
	int err = filter_ref_copy(ref);

	if (err)
		return err;
	baleen_filter_free(&set->made);
	err = combine_all(set, &ref->filter);
	return err ? err : put(set, ref);
}

/* The report is of the filter that was derived, which is in force also when it cannot be read. */
static void look_at_derived(struct set_op *set)
{
	struct filter_ref ref;

	if (filter_ref_open(&ref, set->paths[0], &set->lists)) {
		complain("%s: it is in force; what is reported was counted before", set->paths[0]);
	} else {
		baleen_filter_free(&set->made);
		set->made = ref.filter;
		ref.filter = (struct baleen_filter){ 0 };
	}
	filter_ref_close(&ref);
}

/* Which nobody else changes meanwhile. */
static int combine_into_target(struct set_op *set)
{
	struct baleen_image head;
	int err = filter_ref_head(set->paths[0], &head);

	if (!err) {
		adopt_head(set, &head);
		err = open_operands(set);
	}
	if (!err)
		err = filter_ref_change(set->paths[0], set->wait_ms, combine_target, set);
	if (!err && set->is_derived)
		look_at_derived(set);
	return err;
}

static int combine_to_file(struct set_op *set)
{
	struct filter_ref first;
	int err = filter_ref_open(&first, set->paths[0], &set->lists);

	if (!err) {
		adopt_head(set, &first.filter.image);
		err = open_operands(set);
	}
	if (!err)
		err = combine_all(set, &first.filter);
	filter_ref_close(&first);
	if (err)
		return err;
	memcpy(set->made.image.name, set->name, sizeof(set->name));
	baleen_filter_seal(&set->made);
	return output_write(set->out, &set->made, 0600);
}

/* --- commands --------------------------------------------------------------- */

static int report(struct set_op *set)
{
	const char *path = set->out ? set->out : set->paths[0];
	u64 n = set->made.image.n_entries;
	char entries[NUMBER_TEXT];

	if (set->caveat)
		complain("%s: %s", path, set->caveat);
	if (set->json || set->trace.is_html)
		return trace_report(&set->trace, set->command->name, path,
				    describe_filter(&set->made));
	/* The common keys of two Bloom filters cannot be counted. */
	if (baleen_filter_has_bloom(&set->made))
		say("%s: %s, false positive rate %.2g\n", path, set->done,
		    baleen_filter_worst_fpp(&set->made));
	else
		say("%s: %s, %s entr%s\n", path, set->done, format_count(n, entries),
		    n == 1 ? "y" : "ies");
	return finish_output(EXIT_DONE);
}

static int run(struct set_op *set, int argc, char **argv)
{
	int err;

	set->wait_ms = BALEEN_LOCK_TIMEOUT_MS;
	list_options_init(&set->lists);
	err = parse(set, argc, argv);
	if (!err)
		err = set->out ? combine_to_file(set) : combine_into_target(set);
	if (!err)
		err = report(set);
	close_operands(set);
	trace_free(&set->trace);
	baleen_filter_free(&set->made);
	return err;
}

static int run_merge(int argc, char **argv)
{
	struct set_op set = { .command = &merge_command, .op = BALEEN_SET_UNION, .done = "merged" };

	return run(&set, argc, argv);
}

static int run_intersect(int argc, char **argv)
{
	struct set_op set = { .command = &intersect_command,
			      .op = BALEEN_SET_INTERSECTION,
			      .done = "intersected" };

	return run(&set, argc, argv);
}

static int run_subtract(int argc, char **argv)
{
	struct set_op set = { .command = &subtract_command,
			      .op = BALEEN_SET_DIFFERENCE,
			      .done = "subtracted" };

	return run(&set, argc, argv);
}

static const struct option_spec options[] = {
	VALUE("output", 'o', "OUT", option_text, set_op, out, "write an image there instead"),
	VALUE("key", 0, "SPEC", list_key, set_op, lists, "the fields of the keys, when A is a list",
	      .words = KEY_WORDS),
	FLAG("skip-bad", 0, set_op, lists.skip_bad,
	     "pass over bad lines; otherwise they refuse the list"),
	FLAG("allow-empty", 0, set_op, lists.allow_empty, "take a list without a single key"),
	WAIT_OPTION(set_op, wait_ms),
	ACCEPT_FPP_OPTION(set_op, lists.accept_fpp),
	FORCE_OPTION(set_op, force),
	FLAG("json", 'j', set_op, json, "describe the result as JSON"),
	{ 0 },
};

static const struct option_spec merge_options[] = {
	{ .table = options },
	TRACE_OPTIONS(set_op, trace, TRACE_PLACES),
	{ 0 },
};

#define AT_LEAST_TWO                                                    \
	{                                                               \
		2, INT_MAX, "two or more images or lists are asked for" \
	}

const struct command merge_command = {
	.name = "merge",
	.synopsis = "[-o OUT] A B...",
	.help = "The union of all of them goes to OUT, or replaces A, which then is an image file or\n"
		"a live rule. The others may be lists, images or live rules. Filters that cannot be\n"
		"listed merge when they fit: one kind, geometry and seed (build --like, --seed);\n"
		"64-bit hashes and fingerprints of one length need the seed only. An exact image or\n"
		"a list goes into any.\n",
	.options = merge_options,
	.asks = AT_LEAST_TWO,
	.run = run_merge,
};

const struct command intersect_command = {
	.name = "intersect",
	.synopsis = "[-o OUT] A B...",
	.help = "What all of them have goes to OUT, or replaces A, which then is an image file or a\n"
		"live rule. Exact images and lists are exact. Of filters that cannot be listed what\n"
		"fits as for 'baleen merge' is kept: of Bloom filters every bit that all have, also\n"
		"such that no common key has set. Of a list what the filter holds is kept.\n"
		"The lists of a rule with a state give way to the result; single entries stay.\n",
	.options = options,
	.asks = AT_LEAST_TWO,
	.run = run_intersect,
};

const struct command subtract_command = {
	.name = "subtract",
	.synopsis = "[-o OUT] A B...",
	.help = "What A has and none of the others goes to OUT, or replaces A, which then is an image\n"
		"file or a live rule. It is exact where all can be listed. Of hashes and fingerprints\n"
		"of one seed, those of the others are taken out of A. A Bloom filter cannot forget,\n"
		"and a counting one only keys that are known to be in it ('baleen del').\n"
		"The lists of a rule with a state give way to the result; single entries stay.\n",
	.options = options,
	.asks = AT_LEAST_TWO,
	.run = run_subtract,
};
