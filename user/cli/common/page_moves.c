// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A resize or a merge as the steps of a page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/page_moves.h"
#include "filter/slots.h"

/* The new filter is drawn behind the old ones. */
static struct picture *picture_of(const struct page_moves *moves, u32 filter, u32 domain)
{
	return &moves->picture[filter][domain];
}

static void add_tables(struct page_moves *moves, u32 number, const struct baleen_filter *filter,
		       const char *name)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		struct picture *picture = picture_of(moves, number, domain);

		if (filter->image.table[domain].kind == BALEEN_KIND_NONE)
			continue;
		*picture = (struct picture){ .filter = filter, .domain = domain };
		/* As far as a page has room, and then it says so. */
		picture->is_ranged = true;
		picture->end = ~0ull;
		moves->table[number][domain] = moves->page.n_tables;
		page_add_table(&moves->page, picture, name);
	}
}

/* A quotient table fills row by row: what is in a slot depends on those before it. */
static int hide_rows(struct page_moves *moves, u32 domain)
{
	struct picture *picture = picture_of(moves, moves->n_sources, domain);
	u32 n = moves->result->image.table[domain].n_buckets;

	if (moves->result->image.table[domain].kind != BALEEN_KIND_QUOTIENT)
		return 0;
	moves->is_empty[domain] = malloc(n * sizeof(bool));
	if (!moves->is_empty[domain])
		return -ENOMEM;
	memset(moves->is_empty[domain], true, n * sizeof(bool));
	picture->filter = moves->result;
	picture->before = &moves->empty;
	picture->is_before = moves->is_empty[domain];
	return 0;
}

int page_moves_init(struct page_moves *moves, const struct baleen_filter *const *sources,
		    const char *const *names, u32 n, const struct baleen_filter *result, u32 base)
{
	struct baleen_error error;
	int err;

	*moves = (struct page_moves){ .n_sources = n, .result = result };
	page_init(&moves->page);
	moves->page.has_keys = false;
	moves->picture = calloc(n + 1, sizeof(*moves->picture));
	moves->table = calloc(n + 1, sizeof(*moves->table));
	if (!moves->picture || !moves->table)
		return -ENOMEM;
	err = baleen_filter_alloc(&moves->filling, &result->image, &error);
	if (!err)
		err = baleen_filter_alloc(&moves->empty, &result->image, &error);
	if (err)
		return err;
	for (u32 i = 0; i < n; i++)
		add_tables(moves, i, sources[i], names[i]);
	add_tables(moves, n, &moves->filling, "the new one");
	for (u32 i = 0; i <= n; i++)
		for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
			picture_of(moves, i, domain)->base = base;
	for (u32 domain = 0; domain <= BALEEN_TUPLE && !err; domain++)
		err = hide_rows(moves, domain);
	page_step(&moves->page, true, "before", NULL, 0, NULL);
	return err;
}

static void fill_counter(struct page_moves *moves, const struct baleen_move *move)
{
	const struct baleen_filter *from = picture_of(moves, move->source, move->domain)->filter;
	const struct baleen_table *table = &moves->filling.image.table[move->domain];
	u32 n = baleen_counter_get(&from->image.table[move->domain], from->bytes, move->place);

	for (; n &&
	       baleen_counter_get(table, moves->filling.bytes, move->to_place) < BALEEN_COUNTER_MAX;
	     n--)
		baleen_counter_step(table, moves->filling.bytes, move->to_place, true);
}

static void fill(struct page_moves *moves, const struct baleen_move *move)
{
	u32 domain = move->domain, kind = moves->result->image.table[domain].kind;
	struct baleen_slots old, new;

	if (kind == BALEEN_KIND_QUOTIENT) {
		moves->is_empty[domain][move->to_place] = false;
		return;
	}
	if (kind == BALEEN_KIND_CUCKOO) {
		old = baleen_slots_of(moves->result, domain);
		new = baleen_slots_of(&moves->filling, domain);
		baleen_slots_set(&new, move->to_place, move->to_i,
				 baleen_slots_get(&old, move->to_place, move->to_i));
		return;
	}
	baleen_plane_put(&moves->filling.image.table[domain], moves->filling.bytes, move->to_place,
			 true);
	if (kind == BALEEN_KIND_COUNTING)
		fill_counter(moves, move);
}

void page_moves_step(struct page_moves *moves, const struct baleen_move *move, const char *text)
{
	bool is_run = moves->result->image.table[move->domain].kind == BALEEN_KIND_QUOTIENT;

	fill(moves, move);
	page_step(&moves->page, false, text,
		  PAGE_AT(moves->table[moves->n_sources][move->domain], move->to_place,
			  is_run ? PAGE_REMAINDER : move->to_i),
		  1,
		  PAGE_AT(moves->table[move->source][move->domain], move->place,
			  is_run ? PAGE_REMAINDER : move->i));
}

void page_moves_finish(struct page_moves *moves)
{
	memcpy(moves->filling.bytes, moves->result->bytes, moves->result->n_bytes);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		picture_of(moves, moves->n_sources, domain)->before = NULL;
	page_step(&moves->page, true, "after", NULL, 0, NULL);
}

void page_moves_free(struct page_moves *moves)
{
	page_free(&moves->page);
	baleen_filter_free(&moves->filling);
	baleen_filter_free(&moves->empty);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		free(moves->is_empty[domain]);
	free(moves->picture);
	free(moves->table);
}
