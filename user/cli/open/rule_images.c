// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The images of rules as they are typed. */
#include "cli/open/filter_ref.h"
#include "cli/open/rule_images.h"
#include "list/list_algebra.h"

static int open_any(struct filter_ref *ref)
{
	const struct baleen_build_options options = { .kind = BALEEN_KIND_CUCKOO,
						      .key_spec = BALEEN_KEY_SRC };
	struct baleen_list list = { 0 };
	struct baleen_error error;
	int err = baleen_list_from_text("0.0.0.0/0\n::/0\n", ANY_IMAGE, options.key_spec, &list,
					&error);

	*ref = (struct filter_ref){ .argument = ANY_IMAGE };
	if (!err)
		err = baleen_build(&list, &options, &ref->filter, &error);
	baleen_list_free(&list);
	return err ? complain("%s: %s", ANY_IMAGE, error.text) : 0;
}

static int open_image(struct rule_argument *rule, struct list_options *options)
{
	int err;

	if (is_any_argument(rule))
		return open_any(&rule->ref);
	options->special =
		rule->special == SPECIAL_REMOVE ? SPECIAL_IS_REMOVED : SPECIAL_IS_COUNTED;
	options->leaves_nobody = rule->action == BALEEN_ACTION_DROP;
	err = filter_ref_open(&rule->ref, rule->path, options);
	if (!err && options->leaves_nobody && !rule->ref.is_list)
		err = rule_leave_nobody(&rule->ref);
	if (err || rule->special != SPECIAL_REMOVE || rule->ref.is_list)
		return err;
	return complain("%s: is an image: 'special remove' is for lists", rule->path);
}

int rules_open(struct rules *rules, struct list_options *options)
{
	int err = 0;

	for (u32 i = 0; i < rules->n && !err; i++)
		err = open_image(&rules->rule[i], options);
	return err ? EXIT_FAILED : 0;
}

void rules_close(struct rules *rules)
{
	for (u32 i = 0; i < rules->n; i++)
		filter_ref_close(&rules->rule[i].ref);
}
