// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of a filter, key by key, as the steps of a page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/page_change.h"
#include "cli/common/step_text.h"
#include "filter/live.h"
#include "filter/slots.h"

static struct picture *picture_of(struct page_change *change, u32 domain)
{
	return &change->picture[domain];
}

static int add_table(struct page_change *change, u32 domain, u32 base)
{
	struct picture *picture = picture_of(change, domain);

	*picture = (struct picture){
		.filter = &change->shown, .domain = domain, .base = base, .keys = &change->key
	};
	change->is_wanted[domain] = calloc(picture_rows(picture), sizeof(bool));
	if (!change->is_wanted[domain])
		return -ENOMEM;
	picture->wanted = change->is_wanted[domain];
	change->table[domain] = change->page.n_tables;
	page_add_table(&change->page, picture, NULL);
	return 0;
}

int page_change_init(struct page_change *change, const struct baleen_filter *start,
		     enum baleen_set_op op, u32 base)
{
	struct baleen_error error;
	int err;

	*change = (struct page_change){ .op = op };
	page_init(&change->page);
	err = baleen_filter_copy(start, &change->shown, &error);
	if (!err)
		err = baleen_filter_copy(start, &change->before, &error);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++)
		if (change->shown.image.table[domain].kind != BALEEN_KIND_NONE)
			err = add_table(change, domain, base);
	return err;
}

void page_change_free(struct page_change *change)
{
	page_free(&change->page);
	baleen_filter_free(&change->shown);
	baleen_filter_free(&change->before);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		free(change->is_wanted[domain]);
	free(change->is_before);
}

void page_change_want(struct page_change *change, const struct picture_key *key,
		      const struct baleen_steps *steps)
{
	u32 domain = key->key.domain;
	struct picture picture = *picture_of(change, domain);
	u32 per_row = picture_per_row(&picture);
	struct picture_key asked = *key;

	picture.wanted = NULL;
	picture.keys = &asked;
	picture.n_keys = 1;
	for (u64 n = 0; n < picture_rows(&picture); n++)
		change->is_wanted[domain][n] |= picture_has_row(&picture, n);
	for (size_t i = 0; i < steps->n; i++)
		change->is_wanted[domain][steps->step[i].place / per_row] = true;
}

/* --- one key --------------------------------------------------------------- */

static void tell(struct page_change *change, u32 domain, const struct baleen_step *step, u32 cell,
		 const struct page_place *from)
{
	char text[STEP_TEXT];

	page_step(&change->page, false, step_text(picture_of(change, domain), step, text),
		  PAGE_AT(change->table[domain], step->place, cell), 1, from);
}

/* Where the table, as it is shown, is asked for the key. */
static void find_key(struct page_change *change, u32 domain)
{
	picture_turn_to(picture_of(change, domain), domain);
}

static void tell_bits(struct page_change *change, u32 domain, const struct baleen_steps *steps)
{
	const struct baleen_table *table = &change->shown.image.table[domain];
	void *bytes = change->shown.bytes;

	for (size_t i = 0; i < steps->n; i++) {
		const struct baleen_step *step = &steps->step[i];

		if (table->kind == BALEEN_KIND_COUNTING && step->before != step->after)
			baleen_counter_step(table, bytes, step->place, step->after > step->before);
		baleen_plane_put(table, bytes, step->place, step->after);
		tell(change, domain, step, 0, NULL);
	}
}

/* Which slot is to be written; where slots ascend, that need not be where it was. */
static u32 slot_to_write(const struct baleen_slots *slots, const struct baleen_step *step)
{
	u32 i = 0;

	if (!slots->is_semi_sorted)
		return step->i;
	while (i + 1 < slots->n_slots && baleen_slots_get(slots, step->place, i) != step->before)
		i++;
	return i;
}

static void tell_slots(struct page_change *change, u32 domain, const struct baleen_steps *steps)
{
	struct baleen_slots slots = baleen_slots_of(&change->shown, domain);
	const struct baleen_step *kicked = NULL;
	char text[STEP_TEXT];

	if (steps_undone_text(picture_of(change, domain), steps, text)) {
		page_step(&change->page, false, text, NULL, 0, NULL);
		return;
	}
	for (size_t i = 0; i < steps->n; i++) {
		const struct baleen_step *step = &steps->step[i];
		u32 table = change->table[domain], at = slot_to_write(&slots, step);

		baleen_slots_set(&slots, step->place, at, step->after);
		find_key(change, domain);
		tell(change, domain, step, at,
		     kicked ? PAGE_AT(table, kicked->place, kicked->i) : NULL);
		kicked = step->before && step->after ? step : NULL;
	}
}

/* Shifts are told from their end: what moves on finds its place free. The steps are by slot, and
 * what is shifted past the last slot goes on in the first.
 */
static size_t first_step(const struct baleen_steps *steps, u32 n_slots)
{
	size_t i = 0;

	if (!steps->n || steps->step[0].place || steps->step[steps->n - 1].place != n_slots - 1)
		return 0;
	while (i + 1 < steps->n && steps->step[i + 1].place == steps->step[i].place + 1)
		i++;
	return (i + 1) % steps->n;
}

/* Rows that have not changed yet are drawn as they were. */
static void tell_run(struct page_change *change, u32 domain, const struct baleen_steps *steps,
		     const struct baleen_filter *after)
{
	struct picture *picture = picture_of(change, domain);
	u32 n_slots = picture_table(picture)->n_buckets;
	size_t first = first_step(steps, n_slots);

	memcpy(change->before.bytes, change->shown.bytes, change->shown.n_bytes);
	change->before.image = change->shown.image;
	free(change->is_before);
	change->is_before = malloc(n_slots * sizeof(bool));
	if (!change->is_before) {
		change->page.err = -ENOMEM;
		return;
	}
	memset(change->is_before, true, n_slots * sizeof(bool));
	memcpy(change->shown.bytes, after->bytes, after->n_bytes);
	change->shown.image = after->image;
	picture->before = &change->before;
	picture->is_before = change->is_before;
	for (size_t i = 0; i < steps->n; i++) {
		size_t k = change->op == BALEEN_SET_UNION ? steps->n - 1 - i : i;
		const struct baleen_step *step = &steps->step[(first + k) % steps->n];

		change->is_before[step->place] = false;
		if (i + 1 == steps->n) {
			picture->before = NULL;
			find_key(change, domain);
		}
		tell(change, domain, step, PAGE_REMAINDER,
		     step->from == BALEEN_VIEW_NOWHERE ?
			     NULL :
			     PAGE_AT(change->table[domain], step->from, PAGE_REMAINDER));
	}
	picture->before = NULL;
}

/* Entries are numbered by the table, so the chain comes from what it is then. */
static void tell_chain(struct page_change *change, u32 domain, const struct baleen_steps *steps,
		       const struct baleen_filter *after)
{
	memcpy(change->shown.bytes, after->bytes, after->n_bytes);
	change->shown.image = after->image;
	find_key(change, domain);
	for (size_t i = 0; i < steps->n; i++)
		tell(change, domain, &steps->step[i], steps->step[i].i, NULL);
}

static void begin(struct page_change *change)
{
	if (!change->is_begun)
		page_step(&change->page, true, "before", NULL, 0, NULL);
	change->is_begun = true;
}

void page_change_key(struct page_change *change, const struct picture_key *key,
		     const struct baleen_steps *steps, const struct baleen_filter *after)
{
	u32 domain = key->key.domain;
	struct picture *picture = picture_of(change, domain);
	char where[2048], line[2400];
	const char *stash = steps_stash_text(steps, change->op);

	begin(change);
	change->key = *key;
	change->key.letter = 'a';
	picture->n_keys = 1;
	snprintf(line, sizeof(line), "%s a = %.200s: %s",
		 change->op == BALEEN_SET_UNION ? "add" : "delete", key->text,
		 picture_describe_key(picture, &change->key, where, sizeof(where)));
	page_step(&change->page, true, line, NULL, 0, NULL);
	switch (picture_table(picture)->kind) {
	case BALEEN_KIND_CUCKOO: tell_slots(change, domain, steps); break;
	case BALEEN_KIND_QUOTIENT: tell_run(change, domain, steps, after); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: tell_chain(change, domain, steps, after); break;
	default: tell_bits(change, domain, steps); break;
	}
	memcpy(change->shown.bytes, after->bytes, after->n_bytes);
	change->shown.image = after->image;
	if (stash || !steps->n)
		page_step(&change->page, false, stash ? stash : "nothing changes", NULL, 0, NULL);
	picture->n_keys = 0;
}

int page_change_print(struct page_change *change, const char *title, json_t *data)
{
	begin(change);
	return page_print(&change->page, title, data);
}
