// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --trace of a resize or a merge: where each place of the old filters comes to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/page_moves.h"
#include "cli/common/picture_json.h"
#include "cli/common/trace.h"
#include "filter/slots.h"
#include "filter/steps.h"

#define MOVE_TEXT 320

/**
 * struct tracing - filters that came to another one
 * @trace: how it is told
 * @sources: they
 * @names: theirs
 * @n: how many
 * @result: the other one
 */
struct tracing {
	struct trace *trace;
	const struct baleen_filter *const *sources;
	const char *const *names;
	u32 n;
	const struct baleen_filter *result;
};

/* --- one place ------------------------------------------------------------- */

/* Its name and what it holds, into MOVE_TEXT / 2 bytes; returns @text. */
static const char *describe_place(const struct tracing *tracing, const struct baleen_filter *filter,
				  u32 domain, u64 place, u32 i, char *text)
{
	const struct picture picture = { .filter = filter,
					 .domain = domain,
					 .base = tracing->trace->base };
	const struct baleen_table *table = picture_table(&picture);
	char first[PICTURE_CELL_TEXT], second[PICTURE_CELL_TEXT];
	unsigned long long number = place;
	struct baleen_view_slot slot;
	struct picture_row row;

	switch (table->kind) {
	case BALEEN_KIND_QUOTIENT:
		slot = baleen_view_slot(filter, domain, place);
		snprintf(text, MOVE_TEXT / 2, "slot %llu: %s %s", number,
			 picture_number(&picture, slot.quotient, table->log2_buckets, first),
			 picture_number(&picture, slot.remainder, table->slot_bits, second));
		break;
	case BALEEN_KIND_CUCKOO:
		picture_make_row(&picture, place, &row);
		snprintf(text, MOVE_TEXT / 2, "bucket %llu, slot %u: %s", number, i,
			 row.cell[i].text);
		break;
	case BALEEN_KIND_COUNTING:
		snprintf(text, MOVE_TEXT / 2, "counter %llu: %u", number,
			 baleen_counter_get(table, filter->bytes, place));
		break;
	default: snprintf(text, MOVE_TEXT / 2, "bit %llu", number); break;
	}
	return text;
}

static json_t *place_json(const struct baleen_filter *filter, u32 domain, u64 place, u32 i)
{
	struct baleen_view_slot slot;

	switch (filter->image.table[domain].kind) {
	case BALEEN_KIND_QUOTIENT:
		slot = baleen_view_slot(filter, domain, place);
		return json_pack("{sI sI sI}", "slot", (json_int_t)place, "quotient",
				 (json_int_t)slot.quotient, "remainder",
				 (json_int_t)slot.remainder);
	case BALEEN_KIND_CUCKOO:
		return json_pack("{sI sI}", "bucket", (json_int_t)place, "slot", (json_int_t)i);
	case BALEEN_KIND_COUNTING: return json_pack("{sI}", "counter", (json_int_t)place);
	default: return json_pack("{sI}", "bit", (json_int_t)place);
	}
}

/* --- all moves ------------------------------------------------------------- */

static void tell_move(const struct tracing *tracing, const struct baleen_move *move)
{
	const struct baleen_filter *from = tracing->sources[move->source], *to = tracing->result;
	char old[MOVE_TEXT / 2], new[MOVE_TEXT / 2], text[MOVE_TEXT + 8];
	struct trace *trace = tracing->trace;

	describe_place(tracing, from, move->domain, move->place, move->i, old);
	describe_place(tracing, to, move->domain, move->to_place, move->to_i, new);
	snprintf(text, sizeof(text), "%s -> %s", old, new);
	if (trace->moves)
		page_moves_step(trace->moves, move, text);
	if (!trace->steps) {
		say("  %s\n", text);
		return;
	}
	json_array_append_new(trace->steps,
			      json_pack("{sI so so}", "filter", (json_int_t)move->source, "from",
					place_json(from, move->domain, move->place, move->i), "to",
					place_json(to, move->domain, move->to_place, move->to_i)));
}

static void tell_moves(const struct tracing *tracing, const struct baleen_moves *moves)
{
	for (size_t i = 0; i < moves->n; i++) {
		const struct baleen_move *move = &moves->move[i];

		if (!tracing->trace->steps && (!i || move[-1].source != move->source))
			say("%s:\n", tracing->names[move->source]);
		tell_move(tracing, move);
	}
}

static int find_moves(const struct tracing *tracing, struct baleen_moves *moves)
{
	int err = 0;

	for (u32 i = 0; i < tracing->n && !err; i++)
		err = baleen_moves_find(tracing->sources[i], i, tracing->result, moves);
	return err;
}

static int begin_page(const struct tracing *tracing)
{
	struct trace *trace = tracing->trace;

	trace->moves = calloc(1, sizeof(*trace->moves));
	if (!trace->moves || page_moves_init(trace->moves, tracing->sources, tracing->names,
					     tracing->n, tracing->result, trace->base))
		return complain("--trace: %s", strerror(ENOMEM));
	trace->shown = json_array();
	for (u32 i = 0; i <= tracing->n; i++) {
		struct picture picture = { .filter = i < tracing->n ? tracing->sources[i] :
								      tracing->result };

		json_array_append_new(trace->shown,
				      picture_json(&picture, i < tracing->n ? tracing->names[i] :
									      "the new one"));
	}
	return 0;
}

static int check(const struct tracing *tracing)
{
	struct baleen_error error;

	for (u32 i = 0; i < tracing->n; i++)
		if (baleen_steps_are_few(&tracing->sources[i]->image, &error))
			return complain("--trace: %s: %s", tracing->names[i], error.text);
	if (baleen_steps_are_few(&tracing->result->image, &error))
		return complain("--trace: the new one: %s", error.text);
	return 0;
}

int trace_moves(struct trace *trace, const struct baleen_filter *const *sources,
		const char *const *names, u32 n, const struct baleen_filter *result, bool is_json)
{
	const struct tracing tracing = { trace, sources, names, n, result };
	struct baleen_moves moves = { 0 };
	int err;

	if (!trace->is_wanted)
		return 0;
	if (check(&tracing))
		return EXIT_FAILED;
	trace->steps = is_json || trace->is_html ? json_array() : NULL;
	if (trace->is_html && begin_page(&tracing))
		return EXIT_FAILED;
	err = find_moves(&tracing, &moves);
	if (!err)
		tell_moves(&tracing, &moves);
	else if (err == -ENOMEM)
		complain("--trace: %s", strerror(ENOMEM));
	else
		complain("--trace: not place by place: all keys have new ones, which 'baleen show' "
			 "draws");
	if (trace->moves)
		page_moves_finish(trace->moves);
	free(moves.move);
	return err == -ENOMEM ? EXIT_FAILED : 0;
}
