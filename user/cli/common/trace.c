// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --trace: each step by which the keys of a list come into a small image, or go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/page_change.h"
#include "cli/common/page_moves.h"
#include "cli/common/picture_json.h"
#include "cli/common/step_text.h"
#include "cli/common/trace.h"
#include "filter/filter_strings.h"
#include "filter/live.h"
#include "filter/slots.h"
#include "filter/steps.h"
#include "ops/change.h"

/* A change of a copy: @picture is of the copy, and of the table of the key at hand. What is told
 * goes to @page and @json, where there are such; else it is printed.
 */
struct replay {
	struct picture picture;
	const struct baleen_list *list;
	enum baleen_set_op op;
	bool builds;
	bool is_silent;
	json_t *json;
	struct page_change *page;
};

/* --- steps in words ---------------------------------------------------------- */

static void print_steps(const struct replay *replay, const struct baleen_steps *steps)
{
	const char *stash = steps_stash_text(steps, replay->op);
	char text[STEP_TEXT];

	if (steps_undone_text(&replay->picture, steps, text))
		say("  %s\n", text);
	else
		for (size_t i = 0; i < steps->n; i++)
			say("  %s\n", step_text(&replay->picture, &steps->step[i], text));
	if (stash)
		say("  %s\n", stash);
	else if (!steps->n)
		puts("  nothing changes");
}

/* --- as JSON ----------------------------------------------------------------- */

static json_t *describe_slot_state(const struct baleen_view_slot *slot)
{
	return json_pack("{sb sb sb so}", "occupied", slot->occupied, "continued", slot->continued,
			 "shifted", slot->shifted, "remainder",
			 slot->is_used ? json_integer(slot->remainder) : json_null());
}

static json_t *describe_content(const struct baleen_slots *slots, u64 slot)
{
	u64 side = slots->side;

	return slot ? json_integer(slot & ~(side << 1 | side)) : json_null();
}

static json_t *describe_step(const struct replay *replay, const struct baleen_step *step)
{
	u32 kind = picture_table(&replay->picture)->kind;
	struct baleen_slots slots;

	if (kind == BALEEN_KIND_CUCKOO) {
		slots = baleen_slots_of(replay->picture.filter, replay->picture.domain);
		return json_pack("{sI si so so}", "bucket", (json_int_t)step->place, "slot",
				 step->i, "before", describe_content(&slots, step->before), "after",
				 describe_content(&slots, step->after));
	}
	if (baleen_kind_has_chains(kind))
		return json_pack("{sI si so so}", "bucket", (json_int_t)step->place, "behind",
				 step->i, "before",
				 step->adds ? json_null() : json_integer(step->before), "after",
				 step->adds ? json_integer(step->after) : json_null());
	if (kind == BALEEN_KIND_QUOTIENT)
		return json_pack("{sI so so so}", "slot", (json_int_t)step->place, "before",
				 describe_slot_state(&step->old), "after",
				 describe_slot_state(&step->new), "from",
				 step->from == BALEEN_VIEW_NOWHERE ? json_null() :
								     json_integer(step->from));
	return json_pack("{sI sI sI}", kind == BALEEN_KIND_COUNTING ? "counter" : "bit",
			 (json_int_t)step->place, "before", (json_int_t)step->before, "after",
			 (json_int_t)step->after);
}

static void append_steps(const struct replay *replay, const struct picture_key *key,
			 const struct baleen_steps *steps)
{
	json_t *all = json_array();

	for (size_t i = 0; i < steps->n; i++)
		json_array_append_new(all, describe_step(replay, &steps->step[i]));
	json_array_append_new(replay->json, json_pack("{so so sb}", "key", json_text(key->text),
						      "steps", all, "stash", steps->is_stashed));
}

/* --- keys one by one --------------------------------------------------------- */

static void tell_key(struct replay *replay, const struct baleen_filter *copy,
		     const struct picture_key *key, const char *where,
		     const struct baleen_steps *steps)
{
	if (replay->page && replay->is_silent)
		page_change_want(replay->page, key, steps);
	else if (replay->page)
		page_change_key(replay->page, key, steps, copy);
	if (replay->is_silent)
		return;
	if (replay->json) {
		append_steps(replay, key, steps);
	} else {
		say("%s: %s\n", key->text, where);
		print_steps(replay, steps);
	}
}

static int replay_key(struct replay *replay, struct baleen_filter *copy,
		      const struct baleen_key *key)
{
	char text[BALEEN_KEY_TEXT];
	struct picture_key shown = { .text = text, .key = *key };
	struct baleen_steps steps;
	char before[2048];
	int err;

	baleen_change_key_text(copy, replay->list, key, text);
	replay->picture.domain = key->domain;
	shown.is_asked = !baleen_view_key(copy, key->domain, key, &shown.where);
	picture_describe_key(&replay->picture, &shown, before, sizeof(before));
	err = baleen_steps_change(copy, key, replay->op, replay->builds, &steps);
	if (!err)
		tell_key(replay, copy, &shown, before, &steps);
	free(steps.step);
	return err;
}

/* A build inserts strings as they stand in the list; a change goes by its keys. */
static int replay_keys(struct replay *replay, struct baleen_filter *copy)
{
	const struct baleen_list *list = replay->list;
	bool has_strings = replay->builds && list->strings.n;
	u64 n = has_strings ? list->strings.n : baleen_change_n_keys(list);
	struct baleen_string string;
	size_t at = 0;
	int err = 0;

	replay->picture.filter = copy;
	for (u64 i = 0; i < n && !err; i++) {
		struct baleen_key key;

		if (!has_strings)
			key = baleen_change_key(list, i);
		else if (baleen_strings_next(&list->strings, &at, &string))
			key = baleen_string_key(copy, string);
		else
			break;
		err = replay_key(replay, copy, &key);
	}
	return err;
}

/* Changes a copy of @start in silence, then another aloud when that came to @result: what was
 * built anew from all its keys is not told as if it had changed key by key.
 */
static int replay_twice(struct replay *replay, const struct baleen_filter *start,
			const struct baleen_filter *result)
{
	struct baleen_filter copy;
	struct baleen_error error;
	int err = 0;

	for (int pass = 0; pass < 2 && !err; pass++) {
		if (baleen_filter_copy(start, &copy, &error))
			return complain("--trace: %s", error.text);
		replay->is_silent = !pass;
		err = replay_keys(replay, &copy);
		if (!err && result && !baleen_steps_equal(&copy, result))
			err = -ENOSPC;
		baleen_filter_free(&copy);
	}
	if (err == -ENOMEM)
		return complain("--trace: %s", strerror(ENOMEM));
	if (err)
		complain("--trace: not key by key: all keys have new places, which 'baleen show' "
			 "draws");
	return 0;
}

/* --- a command ----------------------------------------------------------------- */

static int begin(struct trace *trace, const char *name, const struct baleen_image *image,
		 bool is_json)
{
	struct baleen_error error;

	if (baleen_steps_are_few(image, &error))
		return complain("--trace: %s: %s", name, error.text);
	trace->steps = is_json || trace->is_html ? json_array() : NULL;
	return 0;
}

/* Begins the page, if there is to be one. @shown: the filter whose geometry it has. */
static int begin_page(struct trace *trace, const char *name, const struct baleen_filter *start,
		      const struct baleen_filter *shown, enum baleen_set_op op)
{
	struct picture picture = { .filter = shown };

	if (!trace->is_html)
		return 0;
	trace->page = calloc(1, sizeof(*trace->page));
	if (!trace->page || page_change_init(trace->page, start, op, trace->base))
		return complain("--trace: %s", strerror(ENOMEM));
	trace->shown = json_pack("[o]", picture_json(&picture, name));
	return 0;
}

int trace_check(const struct trace *trace, const struct command *command, bool is_json)
{
	if (trace->base && !trace->is_wanted)
		return complain_usage(command, "--base is for --trace");
	if (trace->is_html && !trace->is_wanted)
		return complain_usage(command, "--html is for --trace");
	if (trace->is_html && is_json)
		return complain_usage(command, "--json and --html: one of them");
	return 0;
}

int trace_build(struct trace *trace, const char *name, const struct baleen_list *list,
		const struct baleen_filter *built, bool is_json)
{
	struct replay replay = { .list = list, .op = BALEEN_SET_UNION, .builds = true };
	struct baleen_filter empty;
	struct baleen_error error;
	int err;

	if (!trace->is_wanted)
		return 0;
	if (begin(trace, name, &built->image, is_json))
		return EXIT_FAILED;
	if (baleen_filter_alloc(&empty, &built->image, &error))
		return complain("--trace: %s", error.text);
	err = begin_page(trace, name, &empty, built, BALEEN_SET_UNION);
	replay.json = trace->steps;
	replay.picture.base = trace->base;
	replay.page = trace->page;
	if (!err)
		err = replay_twice(&replay, &empty, built);
	baleen_filter_free(&empty);
	return err;
}

int trace_begin(struct trace *trace, const char *name, const struct baleen_filter *before,
		enum baleen_set_op op, bool is_json)
{
	struct baleen_error error;

	if (!trace->is_wanted)
		return 0;
	if (begin(trace, name, &before->image, is_json))
		return EXIT_FAILED;
	if (baleen_filter_copy(before, &trace->before, &error))
		return complain("--trace: %s", error.text);
	return begin_page(trace, name, before, before, op);
}

int trace_change(struct trace *trace, const struct baleen_list *change, enum baleen_set_op op,
		 const struct baleen_filter *after)
{
	struct replay replay = {
		.picture.base = trace->base,
		.list = change,
		.op = op,
		.json = trace->steps,
		.page = trace->page,
	};

	return trace->is_wanted ? replay_twice(&replay, &trace->before, after) : 0;
}

int trace_report(struct trace *trace, const char *command, const char *argument, json_t *report)
{
	char title[512];

	if (trace->steps)
		json_object_set(report, "trace", trace->steps);
	if (!trace->page && !trace->moves)
		return print_json(report);
	snprintf(title, sizeof(title), "%s: %.400s", command, argument);
	report = json_pack("{sOso}", "show", trace->shown, "change", report);
	return trace->moves ? page_print(&trace->moves->page, title, report) :
			      page_change_print(trace->page, title, report);
}

void trace_free(struct trace *trace)
{
	baleen_filter_free(&trace->before);
	json_decref(trace->steps);
	json_decref(trace->shown);
	if (trace->page)
		page_change_free(trace->page);
	free(trace->page);
	if (trace->moves)
		page_moves_free(trace->moves);
	free(trace->moves);
}
