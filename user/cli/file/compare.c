// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen compare: how much two sets have in common. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/open/filter_ref.h"
#include "filter/filter_strings.h"
#include "ops/algebra.h"
#include "ops/resize.h"

/* Doubles hold whole numbers up to here. */
#define WHOLE_MAX 0x1p53

/**
 * struct side - one of the two
 * @ref: an image, a view of a live map, or what was built of @list
 * @list: the list that it was, or that the image gave back
 * @has_list: @list is the set
 */
struct side {
	struct filter_ref ref;
	struct baleen_list list;
	bool has_list;
};

struct compare {
	char **paths;
	bool json;
	struct list_options lists;
	struct side side[2];
	struct baleen_comparison found;
};

/* --- open ------------------------------------------------------------------ */

static int open_side(struct compare *compare, int i)
{
	struct side *side = &compare->side[i];
	struct filter_ref *ref = &side->ref;

	if (filter_ref_open_set(ref, &side->list, compare->paths[i], &compare->lists))
		return EXIT_FAILED;
	if (!ref->is_list) {
		compare->lists.build.key_spec = ref->filter.image.key_spec;
		side->has_list = !baleen_filter_to_list(&ref->filter, &side->list, NULL);
		return 0;
	}
	side->has_list = true;
	if (!baleen_list_finish(&side->list))
		return 0;
	return complain("%s: %s", ref->argument, strerror(ENOMEM));
}

static int open_sides(struct compare *compare)
{
	/* The keys of a list beside an image have the fields of the image's. */
	int first =
		!filter_ref_is_image(compare->paths[0]) && filter_ref_is_image(compare->paths[1]);
	int err = open_side(compare, first);

	return err ? err : open_side(compare, !first);
}

static void close_sides(struct compare *compare)
{
	for (int i = 0; i < 2; i++) {
		filter_ref_close(&compare->side[i].ref);
		baleen_list_free(&compare->side[i].list);
	}
}

/* --- compare --------------------------------------------------------------- */

/* A filter of a list, like another, which may be too small for it. */
static int build_like(struct side *side, const struct baleen_filter *like)
{
	struct baleen_build_options options = { .like = &like->image };
	u64 n = side->list.n_ip4 + side->list.n_ip6 + side->list.n_key + side->list.strings.n;
	struct baleen_filter larger = { 0 };
	struct baleen_error error;
	int err = baleen_build(&side->list, &options, &side->ref.filter, &error);

	if (err == -ENOSPC && !baleen_filter_resize(like, 2 * n + 64, &larger, &error)) {
		options.like = &larger.image;
		err = baleen_build(&side->list, &options, &side->ref.filter, &error);
	}
	baleen_filter_free(&larger);
	return err ? complain("%s: %s", side->ref.argument, error.text) : 0;
}

static int compare_lists(struct compare *compare)
{
	struct side *a = &compare->side[0], *b = &compare->side[1];
	int err = baleen_list_resolve(&a->list, NULL);

	if (!err)
		err = baleen_list_resolve(&b->list, NULL);
	if (!err)
		err = baleen_lists_compare(&a->list, &b->list, &compare->found);
	if (!err)
		return 0;
	return complain("%s: %s", b->ref.argument,
			err == -EINVAL ? "has other keys" : strerror(-err));
}

static int compare_filters(struct compare *compare)
{
	struct side *a = &compare->side[0], *b = &compare->side[1];
	struct baleen_error error;
	int err = 0;

	if (a->ref.is_list)
		err = build_like(a, &b->ref.filter);
	else if (b->ref.is_list)
		err = build_like(b, &a->ref.filter);
	if (err)
		return err;
	if (!baleen_filters_compare(&a->ref.filter, &b->ref.filter, a->ref.argument,
				    &compare->found, &error))
		return 0;
	return complain("%s: %s", b->ref.argument, error.text);
}

/* --- report ---------------------------------------------------------------- */

static json_t *json_size(double n)
{
	return n < WHOLE_MAX ? json_integer(llround(n)) : json_real(n);
}

static json_t *json_side(const struct side *side, double n, double only)
{
	json_t *json = json_object();

	json_object_set_new(json, "name", json_text(side->ref.argument));
	json_object_set_new(json, "keys", json_size(n));
	json_object_set_new(json, "only", json_size(only));
	return json;
}

static int report_json(const struct compare *compare)
{
	const struct baleen_comparison *found = &compare->found;
	double either = found->n_a + found->n_b - found->n_both;
	json_t *json = json_object();

	json_object_set_new(json, "a",
			    json_side(&compare->side[0], found->n_a, found->n_a - found->n_both));
	json_object_set_new(json, "b",
			    json_side(&compare->side[1], found->n_b, found->n_b - found->n_both));
	json_object_set_new(json, "both", json_size(found->n_both));
	json_object_set_new(json, "either", json_size(either));
	json_object_set_new(json, "jaccard",
			    either ? json_real(found->n_both / either) : json_null());
	json_object_set_new(json, "exact", json_boolean(!found->is_estimate && !found->rate));
	json_object_set_new(json, "estimate", json_boolean(found->is_estimate));
	json_object_set_new(json, "fpp", json_real(found->rate));
	return print_json(json);
}

static void print_size(const char *before, const char *name, double n)
{
	char text[NUMBER_TEXT];

	if (n < WHOLE_MAX)
		format_count(llround(n), text);
	else
		snprintf(text, sizeof(text), "%.6g", n);
	say("%15s  %s%s\n", text, before, name);
}

static int report(const struct compare *compare)
{
	const struct baleen_comparison *found = &compare->found;
	const char *a = compare->paths[0], *b = compare->paths[1];
	double either = found->n_a + found->n_b - found->n_both;

	if (compare->json)
		return report_json(compare);
	if (found->is_estimate)
		puts("estimates, from the bits of Bloom filters:");
	else if (found->rate)
		say("by hashes and fingerprints, which err at a rate of up to %.2g:\n",
		    found->rate);
	print_size("in ", a, found->n_a);
	print_size("in ", b, found->n_b);
	print_size("in ", "both", found->n_both);
	print_size("in ", "either", either);
	print_size("only in ", a, found->n_a - found->n_both);
	print_size("only in ", b, found->n_b - found->n_both);
	if (either)
		say("%15.6g  Jaccard index, both of either\n", found->n_both / either);
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct compare compare = { 0 };
	int err;

	list_options_init(&compare.lists);
	err = options_parse(&compare_command, &compare, &argc, &argv);
	if (err)
		return err;
	compare.paths = argv;
	err = open_sides(&compare);
	if (!err)
		err = compare.side[0].has_list && compare.side[1].has_list ?
			      compare_lists(&compare) :
			      compare_filters(&compare);
	if (!err)
		err = report(&compare);
	close_sides(&compare);
	return err;
}

static const struct option_spec options[] = {
	VALUE("key", 0, "SPEC", list_key, compare, lists,
	      "the fields of the keys, when both are lists", .words = KEY_WORDS),
	FLAG("skip-bad", 0, compare, lists.skip_bad,
	     "pass over bad lines; otherwise they refuse the list"),
	FLAG("allow-empty", 0, compare, lists.allow_empty, "take a list without a single key"),
	FLAG("json", 'j', compare, json, "report as JSON"),
	{ 0 },
};

const struct command compare_command = {
	.name = "compare",
	.synopsis = "[-j] A B",
	.help = "Says how many addresses and keys A has, B, both, either, and only one of them. A and\n"
		"B are images, lists or live rules. What can be listed is exact. Hashes and\n"
		"fingerprints are compared when they have one seed. Of Bloom filters of one geometry\n"
		"and seed the bits are: these are estimates (Swamidass and Baldi). A list beside a\n"
		"filter that cannot be listed is made a filter like that.\n",
	.options = options,
	.asks = { 2, 2, "two images or lists are asked for" },
	.run = run,
};
