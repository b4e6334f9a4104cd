// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set diff: what one generation has and another has not. */
#include <string.h>

#include "cli/common/options.h"
#include "cli/set/set_verbs.h"
#include "set/set_publish.h"

struct diff {
	bool count;
	bool json;
	u64 n_removed;
	u64 n_added;
};

static void print_one(const struct diff *diff, char sign, const struct baleen_canon *canon, u32 g,
		      size_t i)
{
	char text[BALEEN_KEY_TEXT];

	if (!diff->count && !diff->json)
		say("%c%s\n", sign, baleen_canon_text(canon, g, i, text));
}

static void walk_group(struct diff *diff, const struct baleen_canon *a,
		       const struct baleen_canon *b, u32 g)
{
	const struct baleen_numbers *of_a = &a->group[g], *of_b = &b->group[g];
	size_t i = 0, j = 0;

	while (i < of_a->n || j < of_b->n) {
		bool has_a = i < of_a->n, has_b = j < of_b->n;
		baleen_u128 x = has_a ? baleen_numbers_at(of_a, i) : 0;
		baleen_u128 y = has_b ? baleen_numbers_at(of_b, j) : 0;

		if (has_a && has_b && x == y) {
			i++;
			j++;
		} else if (!has_b || (has_a && x < y)) {
			print_one(diff, '-', a, g, i++);
			diff->n_removed++;
		} else {
			print_one(diff, '+', b, g, j++);
			diff->n_added++;
		}
	}
}

static int report(const struct diff *diff)
{
	char removed[NUMBER_TEXT], added[NUMBER_TEXT];

	if (diff->json)
		return print_json(json_pack("{s:I, s:I}", "removed", (json_int_t)diff->n_removed,
					    "added", (json_int_t)diff->n_added));
	if (diff->count)
		say("%s removed, %s added\n", format_count(diff->n_removed, removed),
		    format_count(diff->n_added, added));
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct diff diff = { .count = false };
	struct baleen_canon a, b;
	struct baleen_set_head head;
	struct baleen_error error;
	int err = options_parse(&set_diff_command, &diff, &argc, &argv);

	if (err)
		return err;
	if (baleen_set_file_read(argv[0], &head, &a, &error))
		return complain("%s", error.text);
	if (baleen_set_file_read(argv[1], &head, &b, &error)) {
		baleen_canon_free(&a);
		return complain("%s", error.text);
	}
	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++)
		walk_group(&diff, &a, &b, g);
	baleen_canon_free(&a);
	baleen_canon_free(&b);
	return report(&diff);
}

static const struct option_spec table[] = {
	FLAG("count", 'c', diff, count, "only how many"),
	FLAG("json", 'j', diff, json, "how many, as an object"),
	{ 0 },
};

const struct command set_diff_command = {
	.name = "set diff",
	.synopsis = "[-c | -j] OLD NEW",
	.help = "Prints what goes, behind '-', and what comes, behind '+', between two full sets.\n",
	.options = table,
	.asks = { 2, 2, "two full sets are asked for" },
	.run = run,
};
