// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A step by which a key comes into a table, or goes, in words. */
#include <string.h>

#include "cli/common/step_text.h"
#include "filter/slots.h"

static void describe_bit(const struct picture *picture, const struct baleen_step *step, char *text)
{
	bool counts = picture_table(picture)->kind == BALEEN_KIND_COUNTING;
	const char *note = "";

	if (counts && step->after == BALEEN_COUNTER_MAX)
		note = step->before == step->after ? ": stuck" : ": stuck from now on";
	else if (step->before == step->after)
		note = counts ? "" : ": is set already";
	snprintf(text, STEP_TEXT, "%s %llu: %llu -> %llu%s", counts ? "counter" : "bit",
		 (unsigned long long)step->place, (unsigned long long)step->before,
		 (unsigned long long)step->after, note);
}

static const char *fingerprint(const struct picture *picture, const struct baleen_slots *slots,
			       u64 slot, char *text)
{
	u64 side = slots->side;

	return picture_number(picture, slot & ~(side << 1 | side),
			      side ? slots->slot_bits - 2 : slots->slot_bits, text);
}

static void describe_put(const struct picture *picture, const struct baleen_step *step, char *text)
{
	struct baleen_slots slots = baleen_slots_of(picture->filter, picture->domain);
	char after[PICTURE_CELL_TEXT], before[PICTURE_CELL_TEXT];
	int n = snprintf(text, STEP_TEXT, "bucket %llu, slot %u: ", (unsigned long long)step->place,
			 step->i);

	fingerprint(picture, &slots, step->after, after);
	fingerprint(picture, &slots, step->before, before);
	if (!step->after)
		snprintf(text + n, STEP_TEXT - n, "%s is taken out", before);
	else if (!step->before)
		snprintf(text + n, STEP_TEXT - n, "%s finds it free", after);
	else
		snprintf(text + n, STEP_TEXT - n, "%s takes it, %s is kicked out", after, before);
}

/* The three bits and the remainder, as `baleen show` draws them; returns @text. */
static const char *slot_state(const struct picture *picture, const struct baleen_view_slot *slot,
			      char *text)
{
	char remainder[PICTURE_CELL_TEXT];

	picture_number(picture, slot->remainder, picture_table(picture)->slot_bits, remainder);
	if (!slot->is_used)
		memset(remainder, '-', strlen(remainder));
	sprintf(text, "%d %d %d %s", slot->occupied, slot->continued, slot->shifted, remainder);
	return text;
}

static void describe_slot(const struct picture *picture, const struct baleen_step *step, char *text)
{
	char old[PICTURE_CELL_TEXT + 8], new[PICTURE_CELL_TEXT + 8];
	int n = snprintf(text, STEP_TEXT, "slot %llu: %s -> %s", (unsigned long long)step->place,
			 slot_state(picture, &step->old, old),
			 slot_state(picture, &step->new, new));

	if (step->from != BALEEN_VIEW_NOWHERE)
		snprintf(text + n, STEP_TEXT - n, ", from slot %u", step->from);
}

static void describe_link(const struct picture *picture, const struct baleen_step *step, char *text)
{
	char value[PICTURE_CELL_TEXT];

	picture_value(picture, step->adds ? step->after : step->before, value);
	if (step->adds)
		snprintf(text, STEP_TEXT, "bucket %llu: %s becomes the first of its chain",
			 (unsigned long long)step->place, value);
	else
		snprintf(text, STEP_TEXT, "bucket %llu: %s is taken out, behind %u",
			 (unsigned long long)step->place, value, step->i);
}

const char *step_text(const struct picture *picture, const struct baleen_step *step, char *text)
{
	switch (picture_table(picture)->kind) {
	case BALEEN_KIND_CUCKOO: describe_put(picture, step, text); break;
	case BALEEN_KIND_QUOTIENT: describe_slot(picture, step, text); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: describe_link(picture, step, text); break;
	default: describe_bit(picture, step, text); break;
	}
	return text;
}

/* Half of these are what the walk kicked out, going back. */
const char *steps_undone_text(const struct picture *picture, const struct baleen_steps *steps,
			      char *text)
{
	if (picture_table(picture)->kind != BALEEN_KIND_CUCKOO || !steps->is_stashed || !steps->n)
		return NULL;
	snprintf(text, STEP_TEXT, "%zu kicks find no free slot, and are undone", steps->n / 2);
	return text;
}

const char *steps_stash_text(const struct baleen_steps *steps, enum baleen_set_op op)
{
	if (!steps->is_stashed)
		return NULL;
	return op == BALEEN_SET_UNION ? "stash: takes it" : "stash: gives it back";
}
