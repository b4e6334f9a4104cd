// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --trace: each step by which the keys of a list come into a small image, or go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/picture.h"
#include "cli/common/trace.h"
#include "filter/filter_strings.h"
#include "filter/live.h"
#include "filter/slots.h"
#include "filter/steps.h"
#include "ops/change.h"

/* A change of a copy: @picture is of the copy, and of the table of the key at hand. */
struct replay {
	struct picture picture;
	const struct baleen_list *list;
	enum baleen_set_op op;
	bool builds;
	bool is_silent;
	json_t *json;
};

/* --- steps in words ---------------------------------------------------------- */

static void print_bit(const struct replay *replay, const struct baleen_step *step)
{
	bool counts = picture_table(&replay->picture)->kind == BALEEN_KIND_COUNTING;
	const char *note = "";

	if (counts && step->after == BALEEN_COUNTER_MAX)
		note = step->before == step->after ? ": stuck" : ": stuck from now on";
	else if (step->before == step->after)
		note = counts ? "" : ": is set already";
	say("  %s %llu: %llu -> %llu%s\n", counts ? "counter" : "bit",
	    (unsigned long long)step->place, (unsigned long long)step->before,
	    (unsigned long long)step->after, note);
}

static const char *fingerprint(const struct replay *replay, const struct baleen_slots *slots,
			       u64 slot, char *text)
{
	u64 side = slots->side;

	return picture_number(&replay->picture, slot & ~(side << 1 | side),
			      side ? slots->slot_bits - 2 : slots->slot_bits, text);
}

static void print_put(const struct replay *replay, const struct baleen_step *step)
{
	struct baleen_slots slots = baleen_slots_of(replay->picture.filter, replay->picture.domain);
	char after[PICTURE_CELL_TEXT], before[PICTURE_CELL_TEXT];

	say("  bucket %llu, slot %u: ", (unsigned long long)step->place, step->i);
	if (!step->after)
		say("%s is taken out\n", fingerprint(replay, &slots, step->before, before));
	else if (!step->before)
		say("%s finds it free\n", fingerprint(replay, &slots, step->after, after));
	else
		say("%s takes it, %s is kicked out\n",
		    fingerprint(replay, &slots, step->after, after),
		    fingerprint(replay, &slots, step->before, before));
}

/* The three bits and the remainder, as `baleen show` draws them. */
static void print_quotient_slot(const struct replay *replay, const struct baleen_view_slot *slot)
{
	u32 bits = picture_table(&replay->picture)->slot_bits;
	char remainder[PICTURE_CELL_TEXT];

	picture_number(&replay->picture, slot->remainder, bits, remainder);
	if (!slot->is_used)
		memset(remainder, '-', strlen(remainder));
	say("%d %d %d %s", slot->occupied, slot->continued, slot->shifted, remainder);
}

static void print_slot(const struct replay *replay, const struct baleen_step *step)
{
	say("  slot %llu: ", (unsigned long long)step->place);
	print_quotient_slot(replay, &step->old);
	say(" -> ");
	print_quotient_slot(replay, &step->new);
	if (step->from != BALEEN_VIEW_NOWHERE)
		say(", from slot %u", step->from);
	putchar('\n');
}

static void print_steps(const struct replay *replay, const struct baleen_steps *steps)
{
	u32 kind = picture_table(&replay->picture)->kind;
	size_t n = steps->n;

	/* Half of these are what the walk kicked out, going back. */
	if (kind == BALEEN_KIND_CUCKOO && steps->is_stashed && n) {
		say("  %zu kicks find no free slot, and are undone\n", n / 2);
		n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (kind == BALEEN_KIND_CUCKOO)
			print_put(replay, &steps->step[i]);
		else if (kind == BALEEN_KIND_QUOTIENT)
			print_slot(replay, &steps->step[i]);
		else
			print_bit(replay, &steps->step[i]);
	}
	if (steps->is_stashed)
		say("  stash: %s\n", replay->op == BALEEN_SET_UNION ? "takes it" : "gives it back");
	if (!steps->n && !steps->is_stashed)
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
	if (!replay->is_silent && !replay->json)
		say("%s: %s\n", text,
		    picture_describe_key(&replay->picture, &shown, before, sizeof(before)));
	err = baleen_steps_change(copy, key, replay->op, replay->builds, &steps);
	if (!err && !replay->is_silent && replay->json)
		append_steps(replay, &shown, &steps);
	else if (!err && !replay->is_silent)
		print_steps(replay, &steps);
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
	trace->steps = is_json ? json_array() : NULL;
	return 0;
}

int trace_check(const struct trace *trace, const struct command *command)
{
	if (trace->base && !trace->is_wanted)
		return complain_usage(command, "--base is for --trace");
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
	replay.json = trace->steps;
	replay.picture.base = trace->base;
	err = replay_twice(&replay, &empty, built);
	baleen_filter_free(&empty);
	return err;
}

int trace_begin(struct trace *trace, const char *name, const struct baleen_filter *before,
		bool is_json)
{
	struct baleen_error error;

	if (!trace->is_wanted)
		return 0;
	if (begin(trace, name, &before->image, is_json))
		return EXIT_FAILED;
	if (baleen_filter_copy(before, &trace->before, &error))
		return complain("--trace: %s", error.text);
	return 0;
}

int trace_change(struct trace *trace, const struct baleen_list *change, enum baleen_set_op op,
		 const struct baleen_filter *after)
{
	struct replay replay = {
		.picture.base = trace->base,
		.list = change,
		.op = op,
		.json = trace->steps,
	};

	return trace->is_wanted ? replay_twice(&replay, &trace->before, after) : 0;
}

void trace_describe(const struct trace *trace, json_t *json)
{
	if (trace->steps)
		json_object_set(json, "trace", trace->steps);
}

void trace_free(struct trace *trace)
{
	baleen_filter_free(&trace->before);
	json_decref(trace->steps);
}
