// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen show: what is in a filter, drawn. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/common/picture_json.h"
#include "cli/file/show.h"
#include "cli/open/filter_ref.h"
#include "filter/filter_strings.h"
#include "filter/plan.h"
#include "key/key_text.h"

/**
 * struct show - what is asked for
 * @lists: how a list is built
 * @from: --from; NOT_GIVEN
 * @count: --count; 0: not given
 * @base: --base
 * @json: print JSON
 * @svg: print SVG
 * @html: print a page
 */
struct show {
	struct list_options lists;
	u64 from;
	u64 count;
	u32 base;
	bool json;
	bool svg;
	bool html;
};

#define NOT_GIVEN (~0ull)

/* Places that --from without --count draws. */
#define DEFAULT_COUNT 64

/* --- keys ------------------------------------------------------------------ */

static int parse_key(const struct baleen_filter *filter, char *text, struct picture_key *key)
{
	struct baleen_string string = { (u8 *)text, strlen(text) };
	const char *reason;

	key->text = text;
	if (filter->image.key_spec == BALEEN_KEY_STRING)
		key->key = baleen_string_key(filter, string);
	else if (baleen_key_parse(text, strlen(text), filter->image.key_spec, &key->key, &reason))
		return complain("'%s': %s", text, reason);
	key->verdict = baleen_filter_test(filter, &key->key);
	return 0;
}

static int parse_keys(struct picture *picture, char **text, int n)
{
	int err = 0;

	picture->keys = calloc(n + 1, sizeof(*picture->keys));
	if (!picture->keys)
		return complain("not enough memory");
	for (; !err && picture->n_keys < (u32)n; picture->n_keys++) {
		struct picture_key *key = &picture->keys[picture->n_keys];

		key->letter = 'a' + picture->n_keys % 26;
		err = parse_key(picture->filter, text[picture->n_keys], key);
	}
	return err;
}

/* --- the forms ------------------------------------------------------------- */

static bool has_table(const struct picture *picture, u32 domain)
{
	return picture->filter->image.table[domain].kind != BALEEN_KIND_NONE;
}

static int print_text(struct picture *picture, const char *argument)
{
	print_filter(stdout, argument, picture->filter, written_entries(picture->filter));
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		if (!has_table(picture, domain))
			continue;
		putchar('\n');
		picture_turn_to(picture, domain);
		show_text(picture);
		show_text_keys(picture);
	}
	if (picture->n_keys)
		putchar('\n');
	for (u32 i = 0; i < picture->n_keys; i++)
		say("%s: %s\n", picture->keys[i].text, picture_verdict(picture, &picture->keys[i]));
	return finish_output(EXIT_DONE);
}

static int show(const struct show *asked, const struct baleen_filter *filter, char **argv, int argc)
{
	struct picture picture = {
		.filter = filter,
		.base = asked->base,
		.is_ranged = asked->from != NOT_GIVEN || asked->count,
		.from = asked->from == NOT_GIVEN ? 0 : asked->from,
	};
	int err = parse_keys(&picture, argv + 1, argc - 1);

	picture.end = picture.from + (asked->count ? asked->count : DEFAULT_COUNT);
	if (!err && asked->json)
		err = print_json(picture_json(&picture, *argv));
	else if (!err && asked->html)
		err = show_html(&picture, *argv, picture_json(&picture, *argv));
	else if (!err && asked->svg)
		err = show_svg(&picture, *argv);
	else if (!err)
		err = print_text(&picture, *argv);
	free(picture.keys);
	return err;
}

/* --- command --------------------------------------------------------------- */

static int parse_from(const struct option_use *use)
{
	u64 *from = use->to;
	char *end;

	*from = strtoull(use->argument, &end, 10);
	if (use->argument[0] < '0' || use->argument[0] > '9' || *end || *from >> 48)
		return option_refuse(use, "not the number of a bit, bucket or slot");
	return 0;
}

static int run(int argc, char **argv)
{
	struct show asked = { .from = NOT_GIVEN };
	struct filter_ref ref;
	int err;

	list_options_init(&asked.lists);
	err = options_parse(&show_command, &asked, &argc, &argv);
	if (!err)
		err = list_options_check(&show_command, &asked.lists);
	if (!err && asked.json + asked.svg + asked.html > 1)
		err = complain_usage(&show_command, "--json, --svg and --html: one of them");
	if (err)
		return err;
	if (filter_ref_open(&ref, *argv, &asked.lists))
		return EXIT_FAILED;
	err = filter_ref_load(&ref);
	if (!err)
		err = show(&asked, &ref.filter, argv, argc);
	filter_ref_close(&ref);
	return err;
}

static const struct option_spec options[] = {
	{ .table = list_option_table, .at = offsetof(struct show, lists) },
	VALUE("from", 0, "N", parse_from, show, from,
	      "draw from bit, counter, bucket or slot N on, counted from 0"),
	VALUE("count", 0, "M", option_keys, show, count, "draw M of them (64)"),
	BASE_OPTION(show, base),
	FLAG("svg", 0, show, svg, "print a picture in SVG"),
	FLAG("html", 0, show, html,
	     "print a page: the picture, each step by which the KEYs are looked up, and where a key "
	     "that is typed there is, if its hash has no secret"),
	FLAG("json", 'j', show, json,
	     "what info -j says, and of each table a summary and the places drawn"),
	{ 0 },
};

const struct command show_command = {
	.name = "show",
	.synopsis = "[-j | --svg | --html] [--from N] [--count M] [--base B] IMAGE [KEY...]",
	.help = "Draws what is in a filter: bits, counters, buckets and their slots, or the slots of\n"
		"a quotient filter with their three bits, runs and clusters; of each KEY also where it\n"
		"is looked up and what is there. Of a table of more than 64 rows it prints a summary,\n"
		"and draws only what a KEY asks or --from and --count say.\n",
	.options = options,
	.asks = { 1, INT_MAX, "no IMAGE given" },
	.run = run,
};
