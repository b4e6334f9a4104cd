// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps by which a table is asked for a key. */
#include <stdarg.h>
#include <string.h>

#include "cli/common/page.h"
#include "filter/plan.h"
#include "filter/slots.h"

#define LOOK_UP_TEXT 320

/**
 * struct look_up - a table and a key
 * @page: where steps go
 * @table: number of the table in it
 * @picture: of the table
 * @where: where it is asked for the key
 */
struct look_up {
	struct page *page;
	u32 table;
	const struct picture *picture;
	const struct baleen_view_key *where;
};

/* A step about one cell. */
static void tell(const struct look_up *look, u64 place, u32 cell, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void tell(const struct look_up *look, u64 place, u32 cell, const char *format, ...)
{
	char text[LOOK_UP_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	page_step(look->page, false, text, PAGE_AT(look->table, place, cell), 1, NULL);
}

/* The verdict, when all places have been looked at. */
static void conclude(const struct look_up *look, const char *text)
{
	page_step(look->page, false, text, NULL, 0, NULL);
}

/* --- bits ------------------------------------------------------------------ */

static void look_at_bits(const struct look_up *look)
{
	const struct baleen_table *table = picture_table(look->picture);
	bool counts = table->kind == BALEEN_KIND_COUNTING;

	for (u32 i = 0; i < look->where->positions.n; i++) {
		u64 bit = look->where->positions.bit[i];

		if (!baleen_plane_get(table, look->picture->filter->bytes, bit)) {
			tell(look, bit, 0, "%s %llu: %s: surely not in the set",
			     counts ? "counter" : "bit", (unsigned long long)bit,
			     counts ? "0" : "not set");
			return;
		}
		if (counts)
			tell(look, bit, 0, "counter %llu: %u", (unsigned long long)bit,
			     baleen_counter_get(table, look->picture->filter->bytes, bit));
		else
			tell(look, bit, 0, "bit %llu: set", (unsigned long long)bit);
	}
	conclude(look, counts ? "none is 0: maybe in the set" : "all are set: maybe in the set");
}

/* --- buckets --------------------------------------------------------------- */

static const char *found_text(const struct look_up *look)
{
	return baleen_image_is_exact(&look->picture->filter->image) ? "in the set" :
								      "maybe in the set";
}

static void look_at_buckets(const struct look_up *look)
{
	const struct baleen_view_key *where = look->where;
	struct baleen_slots slots = baleen_slots_of(look->picture->filter, look->picture->domain);

	for (u32 i = 0; i < 2; i++) {
		struct page_place cell[64];
		char text[LOOK_UP_TEXT];
		u32 n = 0;

		if (where->slot[i] != BALEEN_VIEW_NOWHERE) {
			tell(look, where->bucket[i], where->slot[i], "bucket %u, slot %u: %s",
			     where->bucket[i], where->slot[i], found_text(look));
			return;
		}
		for (; n < slots.n_slots && n < 64; n++)
			cell[n] = *PAGE_AT(look->table, where->bucket[i], n);
		snprintf(text, sizeof(text), "bucket %u: not there", where->bucket[i]);
		page_step(look->page, false, text, cell, n, NULL);
	}
	if (slots.table->n_stash)
		conclude(look, where->is_stashed ? "the stash has it: maybe in the set" :
						   "the stash: not there");
	if (!where->is_stashed)
		conclude(look, "in neither: not in the set");
}

/* --- slots of runs ----------------------------------------------------------- */

static struct baleen_view_slot slot_at(const struct look_up *look, u32 slot)
{
	return baleen_view_slot(look->picture->filter, look->picture->domain, slot);
}

static u32 neighbour(const struct look_up *look, u32 slot, int step)
{
	return (slot + step) & (picture_table(look->picture)->n_buckets - 1);
}

/* To the start of the cluster, counting the quotients that have a run on the way. */
static u32 go_left(const struct look_up *look, u32 *slot)
{
	u32 n_occupied = 1;

	while (*slot != look->where->run.cluster) {
		*slot = neighbour(look, *slot, -1);
		n_occupied += slot_at(look, *slot).occupied;
		tell(look, *slot, 2, "slot %u: %s%s", *slot,
		     slot_at(look, *slot).shifted ? "shifted, on to the left" :
						    "not shifted: here the cluster begins",
		     slot_at(look, *slot).occupied ? "; it is occupied" : "");
	}
	return n_occupied;
}

/* To the first slot of the run, as many runs to the right as are before it. */
static void go_right(const struct look_up *look, u32 *slot)
{
	u32 n_runs = 1;

	while (*slot != look->where->run.first) {
		*slot = neighbour(look, *slot, 1);
		if (slot_at(look, *slot).continued)
			tell(look, *slot, 1, "slot %u: goes on with run %u", *slot, n_runs);
		else
			tell(look, *slot, 1, "slot %u: run %u begins", *slot, ++n_runs);
	}
}

/* Remainders of a run ascend. */
static void compare(const struct look_up *look, u32 slot)
{
	u32 bits = picture_table(look->picture)->slot_bits;
	char wanted[PICTURE_CELL_TEXT], held[PICTURE_CELL_TEXT];

	picture_number(look->picture, look->where->remainder, bits, wanted);
	for (u32 i = 0; i < look->where->run.n; i++, slot = neighbour(look, slot, 1)) {
		u64 remainder = slot_at(look, slot).remainder;

		picture_number(look->picture, remainder, bits, held);
		if (remainder == look->where->remainder) {
			tell(look, slot, PAGE_REMAINDER, "slot %u: %s: %s", slot, held,
			     found_text(look));
			return;
		}
		if (remainder > look->where->remainder) {
			tell(look, slot, PAGE_REMAINDER,
			     "slot %u: %s is above %s, and a run ascends: not in the set", slot,
			     held, wanted);
			return;
		}
		tell(look, slot, PAGE_REMAINDER, "slot %u: %s is not %s", slot, held, wanted);
	}
	conclude(look, "the end of the run: not in the set");
}

static void look_at_run(const struct look_up *look)
{
	u32 slot = look->where->quotient, n_occupied;

	if (!look->where->run.n) {
		tell(look, slot, 0, "slot %u: not occupied, no such run: not in the set", slot);
		return;
	}
	tell(look, slot, 0, "slot %u: occupied, there is such a run%s", slot,
	     slot == look->where->run.cluster ? "; not shifted: here the cluster begins" : "");
	n_occupied = go_left(look, &slot);
	tell(look, slot, 1, "slot %u: run 1 begins; the run is number %u of the cluster", slot,
	     n_occupied);
	go_right(look, &slot);
	compare(look, slot);
}

/* --- groups ---------------------------------------------------------------- */

static void look_at_group(const struct look_up *look)
{
	const struct picture *picture = look->picture;
	u32 group = look->where->group;
	char name[BALEEN_VIEW_NAME];

	tell(look, group, 0, "group %u: %s", group,
	     baleen_view_bar_name(picture_table(picture), picture->domain,
				  baleen_view_group(picture->filter, picture->domain, group),
				  name));
}

void page_look_up(struct page *page, u32 table, const struct picture *picture,
		  const struct picture_key *key)
{
	const struct look_up look = { page, table, picture, &key->where };
	char text[2048], line[2400];

	snprintf(line, sizeof(line), "%c = %.200s: %s", key->letter, key->text,
		 picture_describe_key(picture, key, text, sizeof(text)));
	page_step(page, true, line, NULL, 0, NULL);
	switch (picture_table(picture)->kind) {
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: look_at_group(&look); break;
	case BALEEN_KIND_CUCKOO: look_at_buckets(&look); break;
	case BALEEN_KIND_QUOTIENT: look_at_run(&look); break;
	default: look_at_bits(&look); break;
	}
}
