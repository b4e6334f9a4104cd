// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen merge: the union of images, lists and live rules. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "describe.h"
#include "guard.h"
#include "live.h"
#include "target.h"

enum {
	OPTION_FORCE = OPTION_OF_COMMAND,
	OPTION_WAIT,
	OPTION_ACCEPT_FPP,
};

/**
 * struct operand - one that is merged into the first
 * @input: an image or a view of a live map
 * @list: or a list, which needs no seed to go into any of them
 */
struct operand {
	struct input input;
	struct baleen_list list;
};

struct merge {
	char **paths;
	int n_paths;
	const char *out;
	char name[BALEEN_NAME_BYTES];
	u64 wait_ms;
	bool force, json;
	double accept_fpp;
	struct list_options lists;
	struct operand *operand; /* of paths 1 to n_paths - 1 */
	struct baleen_filter merged;
};

static int take_option(struct merge *merge, int option)
{
	switch (option) {
	case OPTION_FORCE: merge->force = true; return 0;
	case OPTION_WAIT: return take_wait(&merge_command, optarg, &merge->wait_ms);
	case OPTION_ACCEPT_FPP: return take_accept_fpp(&merge_command, optarg, &merge->accept_fpp);
	case 'o': merge->out = optarg; return 0;
	case 'j': merge->json = true; return 0;
	default: return list_option_take(&merge_command, &merge->lists, option, optarg);
	}
}

static int parse(struct merge *merge, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "skip-bad", no_argument, NULL, OPTION_SKIP_BAD },
		{ "allow-empty", no_argument, NULL, OPTION_ALLOW_EMPTY },
		{ "key", required_argument, NULL, OPTION_KEY },
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "wait", required_argument, NULL, OPTION_WAIT },
		{ "accept-fpp", required_argument, NULL, OPTION_ACCEPT_FPP },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "o:j", long_options, NULL)) != -1)
		err = take_option(merge, option);
	if (err)
		return err;
	merge->paths = argv + optind;
	merge->n_paths = argc - optind;
	if (merge->n_paths < 2)
		return complain_usage(&merge_command, "two or more images or lists are asked for");
	return merge->out ? output_check(&merge_command, merge->out, merge->name) : 0;
}

/* --- operands -------------------------------------------------------------- */

static int open_operand(struct merge *merge, struct operand *operand, const char *path)
{
	if (input_open_set(&operand->input, &operand->list, path, &merge->lists))
		return EXIT_FAILED;
	if (operand->input.is_list && baleen_list_finish(&operand->list)) {
		complain("%s: %s", path, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	return 0;
}

static int open_operands(struct merge *merge)
{
	int err = 0;

	merge->operand = calloc(merge->n_paths, sizeof(*merge->operand));
	if (!merge->operand) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	for (int i = 1; i < merge->n_paths && !err; i++)
		err = open_operand(merge, &merge->operand[i], merge->paths[i]);
	return err;
}

static void close_operands(struct merge *merge)
{
	for (int i = 1; merge->operand && i < merge->n_paths; i++) {
		input_close(&merge->operand[i].input);
		baleen_list_free(&merge->operand[i].list);
	}
	free(merge->operand);
}

/* --- merge ----------------------------------------------------------------- */

static int merge_one(const struct baleen_filter *a, const struct operand *b,
		     struct baleen_filter *merged)
{
	struct baleen_error error;
	int err;

	if (b->input.is_list)
		err = baleen_filter_edit(a, &b->list, BALEEN_SET_UNION, baleen_filter_room(a),
					 merged, &error);
	else
		err = baleen_filter_merge(a, &b->input.filter, merged, &error);
	if (err)
		complain("%s: %s", b->input.path, error.text);
	return err ? EXIT_FAILED : 0;
}

static int merge_all(struct merge *merge, const struct baleen_filter *first)
{
	int err = 0;

	for (int i = 1; i < merge->n_paths && !err; i++) {
		struct baleen_filter more;

		err = merge_one(i == 1 ? first : &merge->merged, &merge->operand[i], &more);
		if (err)
			break;
		baleen_filter_free(&merge->merged);
		merge->merged = more;
	}
	return err;
}

static int guard_operand(const struct target *target, const struct operand *operand)
{
	const struct baleen_build_options options = { .key_spec = operand->list.key_spec,
						      .kind = BALEEN_KIND_CUCKOO };
	struct baleen_filter built;
	struct baleen_error error;
	int err;

	if (!operand->input.is_list)
		return guard_change(target->xdp, target->index, &operand->input.filter,
				    BALEEN_SET_UNION);
	if (baleen_build(&operand->list, &options, &built, &error)) {
		complain("%s: %s", operand->input.path, error.text);
		return EXIT_FAILED;
	}
	err = guard_change(target->xdp, target->index, &built, BALEEN_SET_UNION);
	baleen_filter_free(&built);
	return err;
}

/* They become feeds of a rule that remembers what it is made of. */
static int remember_operands(const struct merge *merge, struct target *target)
{
	const struct baleen_state_rule *rule = target_state_rule(target);
	int err = 0;

	for (int i = 1; rule && i < merge->n_paths && !err; i++)
		err = hold_add_feed(&target->hold, rule->name, &merge->operand[i].input,
				    &merge->lists);
	return err;
}

/* Into the first operand, which nobody else changes meanwhile. */
static int merge_into_target(struct merge *merge)
{
	struct target target;
	int err = target_key_spec(merge->paths[0], &merge->lists.build.key_spec);

	if (!err)
		err = open_operands(merge);
	if (!err)
		err = target_open(&target, merge->paths[0], merge->wait_ms);
	if (err)
		return err;
	baleen_live_repair(&target.filter);
	err = merge_all(merge, &target.filter);
	if (!err && target.is_live)
		err = guard_raise(target.argument, &target.filter, &merge->merged,
				  merge->accept_fpp);
	for (int i = 1; target.is_live && !merge->force && i < merge->n_paths && !err; i++)
		err = guard_operand(&target, &merge->operand[i]);
	if (!err)
		err = remember_operands(merge, &target);
	if (!err)
		err = target_put(&target, &merge->merged);
	target_close(&target);
	return err;
}

static int merge_to_file(struct merge *merge)
{
	struct input first;
	int err = input_open(&first, merge->paths[0], &merge->lists);

	merge->lists.build.key_spec = first.filter.image.key_spec;
	if (!err)
		err = open_operands(merge);
	if (!err)
		err = merge_all(merge, &first.filter);
	input_close(&first);
	if (err)
		return err;
	memcpy(merge->merged.image.name, merge->name, sizeof(merge->name));
	baleen_filter_seal(&merge->merged);
	return output_write(merge->out, &merge->merged, 0600);
}

/* --- command --------------------------------------------------------------- */

static int report(const struct merge *merge)
{
	const char *path = merge->out ? merge->out : merge->paths[0];
	u64 n = merge->merged.image.n_entries;
	char entries[NUMBER_TEXT];

	if (merge->json)
		return print_json(describe_filter(&merge->merged));
	/* What two Bloom filters have in common nobody knows. */
	if (baleen_filter_has_bloom(&merge->merged))
		printf("%s: merged, false positive rate %.2g\n", path,
		       baleen_filter_worst_fpp(&merge->merged));
	else
		printf("%s: merged, %s entr%s\n", path, format_count(n, entries),
		       n == 1 ? "y" : "ies");
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct merge merge = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS,
			       .accept_fpp = DEFAULT_ACCEPT_FPP };
	int err;

	list_options_init(&merge.lists);
	err = parse(&merge, argc, argv);
	if (!err)
		err = merge.out ? merge_to_file(&merge) : merge_into_target(&merge);
	if (!err)
		err = report(&merge);
	close_operands(&merge);
	baleen_filter_free(&merge.merged);
	return err;
}

const struct command merge_command = {
	.name = "merge",
	.synopsis = "[-o OUT] A B...",
	.help = "The union of all of them goes to OUT, or replaces A, which then is an image file or\n"
		"a live rule. The others may be lists, images or live rules. Keys that are stored as\n"
		"hashes merge when both have the same seed (build --like), or from a list.\n\n"
		"  -o OUT           write an image there instead\n"
		"  --key SPEC       the fields of the keys, when A is a list\n"
		"  --skip-bad       pass over bad lines; otherwise they refuse the list\n"
		"  --allow-empty    take a list without a single key\n" WAIT_HELP ACCEPT_FPP_HELP
		"  --force          also when this host would cut itself off\n"
		"  -j, --json       describe the result as JSON\n",
	.run = run,
};
