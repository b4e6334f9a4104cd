// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A table of a filter as rows of cells. */
#include <stdarg.h>
#include <string.h>

#include "cli/common/picture.h"
#include "filter/estimate.h"
#include "filter/plan.h"
#include "filter/slots.h"
#include "key/key_text.h"

static bool is_wide(const struct baleen_table *table)
{
	return baleen_table_is_bit_array(table) || baleen_table_has_groups(table);
}

u32 picture_per_row(const struct picture *picture)
{
	return is_wide(picture_table(picture)) ? PICTURE_CELLS : 1;
}

u64 picture_rows(const struct picture *picture)
{
	u32 per_row = picture_per_row(picture);

	return (baleen_view_places(picture_table(picture)) + per_row - 1) / per_row;
}

void picture_turn_to(struct picture *picture, u32 domain)
{
	picture->domain = domain;
	for (u32 i = 0; i < picture->n_keys; i++) {
		struct picture_key *key = &picture->keys[i];

		key->is_asked = !baleen_view_key(picture->filter, domain, &key->key, &key->where);
	}
}

/* --- numbers --------------------------------------------------------------- */

const char *picture_number(const struct picture *picture, u64 value, u32 bits, char *text)
{
	u32 base = picture->base ? picture->base : bits <= 8 ? 2 : 16;

	if (base == 10) {
		snprintf(text, PICTURE_CELL_TEXT, "%llu", (unsigned long long)value);
	} else if (base == 16) {
		snprintf(text, PICTURE_CELL_TEXT, "%0*llx", (int)(bits + 3) / 4,
			 (unsigned long long)value);
	} else {
		for (u32 i = 0; i < bits; i++)
			text[i] = '0' + (value >> (bits - 1 - i) & 1);
		text[bits] = '\0';
	}
	return text;
}

/* Appends to a text of which @bytes is the size. */
static void append(char *text, size_t bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t bytes, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, bytes - length, format, args);
	va_end(args);
}

static void add_note(struct picture_row *row, const char *what, const struct picture_key *key)
{
	append(row->note, sizeof(row->note), "%s%s of %c", row->note[0] ? ", " : "", what,
	       key->letter);
}

static void mark(struct picture_cell *cell, const struct picture_key *key)
{
	size_t n = strlen(cell->letters);

	cell->mark = cell->mark ? '*' : key->letter;
	/* Both buckets of a key can be one. */
	if (!strchr(cell->letters, key->letter) && n + 1 < sizeof(cell->letters))
		cell->letters[n] = n + 2 < sizeof(cell->letters) ? key->letter : '+';
}

/* --- which rows ------------------------------------------------------------ */

static bool is_between(const struct baleen_table *table, u32 slot, u32 first, u32 n)
{
	return ((slot - first) & (table->n_buckets - 1)) < n;
}

/* Whether a key is looked up at one of the places of a row. */
static bool asks(const struct baleen_table *table, const struct baleen_view_key *where, u64 first,
		 u64 last)
{
	u32 n_before;

	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: return where->group >= first && where->group <= last;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT:
	case BALEEN_KIND_CUCKOO: return where->bucket[0] == first || where->bucket[1] == first;
	case BALEEN_KIND_QUOTIENT:
		/* From the start of the cluster on: that is how a run is found. */
		n_before = (where->run.first - where->run.cluster) & (table->n_buckets - 1);
		return where->quotient == first ||
		       (where->run.n &&
			is_between(table, first, where->run.cluster, n_before + where->run.n));
	default:
		for (u32 i = 0; i < where->positions.n; i++)
			if (where->positions.bit[i] >= first && where->positions.bit[i] <= last)
				return true;
		return false;
	}
}

bool picture_has_row(const struct picture *picture, u64 n)
{
	u32 per_row = picture_per_row(picture);
	u64 first = n * per_row, last = first + per_row - 1;

	if (picture->is_ranged)
		return last >= picture->from && first < picture->end;
	if (picture_rows(picture) <= PICTURE_SMALL_ROWS)
		return true;
	if (picture->wanted)
		return picture->wanted[n];
	for (u32 i = 0; i < picture->n_keys; i++)
		if (picture->keys[i].is_asked &&
		    asks(picture_table(picture), &picture->keys[i].where, first, last))
			return true;
	return false;
}

/* --- bits and groups ------------------------------------------------------- */

static void make_bit(const struct picture *picture, u64 position, struct picture_cell *cell)
{
	const struct baleen_table *table = picture_table(picture);
	void *bytes = picture->filter->bytes;
	u32 n;

	if (table->kind != BALEEN_KIND_COUNTING) {
		cell->paint = baleen_plane_get(table, bytes, position) ? PAINT_USED : PAINT_EMPTY;
		strcpy(cell->text, cell->paint ? "1" : ".");
		return;
	}
	n = baleen_counter_get(table, bytes, position);
	cell->paint = n == BALEEN_COUNTER_MAX ? PAINT_STUCK : n ? PAINT_USED : PAINT_EMPTY;
	cell->text[0] = n == BALEEN_COUNTER_MAX ? '!' : ".123456789abcde"[n];
	cell->text[1] = '\0';
}

static void make_group(const struct picture *picture, u32 group, struct picture_cell *cell)
{
	u32 state = baleen_view_group(picture->filter, picture->domain, group);

	cell->paint = state ? PAINT_USED : PAINT_EMPTY;
	cell->text[0] = ".#hL"[state];
	if (picture->domain == BALEEN_IP6_STEMS && state == BALEEN_GROUP_HOSTS)
		cell->text[0] = '/';
	cell->text[1] = '\0';
}

static void mark_places(const struct picture *picture, struct picture_row *row)
{
	bool is_group = baleen_table_has_groups(picture_table(picture));

	for (u32 i = 0; i < picture->n_keys; i++) {
		const struct picture_key *key = &picture->keys[i];
		const struct baleen_view_key *where = &key->where;

		if (!key->is_asked)
			continue;
		if (is_group && where->group - row->place < row->n)
			mark(&row->cell[where->group - row->place], key);
		for (u32 j = 0; !is_group && j < where->positions.n; j++) {
			u64 bit = where->positions.bit[j];

			if (bit - row->place < row->n &&
			    !baleen_positions_times(&where->positions, j, bit))
				mark(&row->cell[bit - row->place], key);
		}
	}
}

static void make_wide(const struct picture *picture, struct picture_row *row)
{
	u64 n_left = baleen_view_places(picture_table(picture)) - row->place;

	row->width = 1;
	row->n = n_left < PICTURE_CELLS ? n_left : PICTURE_CELLS;
	for (u32 i = 0; i < row->n; i++) {
		if (baleen_table_has_groups(picture_table(picture)))
			make_group(picture, row->place + i, &row->cell[i]);
		else
			make_bit(picture, row->place + i, &row->cell[i]);
	}
	mark_places(picture, row);
}

/* --- buckets --------------------------------------------------------------- */

/* Shows the content of a slot, without the bit that says that it is in use. */
static void make_slot(const struct picture *picture, const struct baleen_slots *slots, u64 slot,
		      struct picture_cell *cell)
{
	u32 bits = slots->slot_bits;
	u64 side = slots->side;
	bool is_moved = slot & side;

	picture_number(picture, slot & ~(side << 1 | side), side ? bits - 2 : bits, cell->text);
	cell->paint = !slot ? PAINT_EMPTY : is_moved ? PAINT_MOVED : PAINT_USED;
	if (!slot)
		memset(cell->text, '-', strlen(cell->text));
	if (side)
		append(cell->text, sizeof(cell->text), is_moved ? "'" : " ");
}

static void make_bucket(const struct picture *picture, struct picture_row *row)
{
	struct baleen_slots slots = baleen_slots_of(picture->filter, picture->domain);

	row->n = slots.n_slots;
	for (u32 i = 0; i < row->n; i++) {
		make_slot(picture, &slots, baleen_slots_get(&slots, row->place, i), &row->cell[i]);
		if (strlen(row->cell[i].text) > row->width)
			row->width = strlen(row->cell[i].text);
	}
	for (u32 k = 0; k < picture->n_keys; k++) {
		const struct picture_key *key = &picture->keys[k];

		for (u32 i = 0; i < 2 && key->is_asked; i++) {
			if (key->where.bucket[i] != row->place)
				continue;
			add_note(row, i ? "other" : "home", key);
			if (key->where.slot[i] != BALEEN_VIEW_NOWHERE)
				mark(&row->cell[key->where.slot[i]], key);
		}
	}
}

/* Copies of a key stand side by side. */
static bool is_in_slot(const struct picture *picture, const struct baleen_view_key *where, u64 slot)
{
	return where->slot[0] != BALEEN_VIEW_NOWHERE &&
	       ((slot - where->slot[0]) & (picture_table(picture)->n_buckets - 1)) <
		       where->n_copies;
}

/* --- slots of a quotient table --------------------------------------------- */

static void make_quotient(const struct picture *picture, struct picture_row *row)
{
	const struct baleen_table *table = picture_table(picture);
	struct baleen_view_slot slot =
		baleen_view_slot(picture->filter, picture->domain, row->place);
	struct picture_cell *cell = &row->cell[3];
	char number[PICTURE_CELL_TEXT];

	row->n = 4;
	row->n_narrow = 3;
	snprintf(row->cell[0].text, PICTURE_CELL_TEXT, "%d", slot.occupied);
	snprintf(row->cell[1].text, PICTURE_CELL_TEXT, "%d", slot.continued);
	snprintf(row->cell[2].text, PICTURE_CELL_TEXT, "%d", slot.shifted);
	for (u32 i = 0; i < row->n_narrow; i++)
		row->cell[i].paint = row->cell[i].text[0] == '1' ? PAINT_USED : PAINT_EMPTY;
	picture_number(picture, slot.remainder, table->slot_bits, cell->text);
	cell->paint = !slot.is_used ? PAINT_EMPTY : slot.shifted ? PAINT_MOVED : PAINT_USED;
	if (!slot.is_used)
		memset(cell->text, '-', strlen(cell->text));
	row->width = strlen(cell->text);
	if (slot.is_used) {
		row->bracket = (slot.shifted ? 0 : BRACKET_BEGINS) | BRACKET_GOES_ON |
			       (slot.ends_cluster ? BRACKET_ENDS : 0);
		append(row->note, sizeof(row->note), "run of %s%s",
		       picture_number(picture, slot.quotient, table->log2_buckets, number),
		       slot.ends_run ? ", its end" : "");
	}
	for (u32 k = 0; k < picture->n_keys; k++) {
		const struct picture_key *key = &picture->keys[k];

		if (key->is_asked && key->where.quotient == row->place)
			add_note(row, "quotient", key);
		if (key->is_asked && is_in_slot(picture, &key->where, row->place))
			mark(cell, key);
	}
}

/* --- chains ----------------------------------------------------------------- */

const char *picture_value(const struct picture *picture, u64 value, char *text)
{
	const struct baleen_table *table = picture_table(picture);
	const struct baleen_seed *seed = &picture->filter->image.seed;
	struct baleen_key key = { .domain = picture->domain };
	char shown[BALEEN_KEY_TEXT];

	if (table->kind != BALEEN_KIND_CHAINED || picture->domain == BALEEN_IP6 ||
	    picture->domain == BALEEN_TUPLE)
		return picture_number(picture, value, table->slot_bits, text);
	if (picture->domain == BALEEN_IP4)
		key.ip4 = baleen_unpermute32(seed, value);
	else
		key.lo = baleen_unpermute64(seed, value);
	baleen_key_format(&key, picture->filter->image.key_spec, shown);
	snprintf(text, PICTURE_CELL_TEXT, "%.*s", PICTURE_CELL_TEXT - 1, shown);
	return text;
}

static void make_chain(const struct picture *picture, struct picture_row *row)
{
	u64 value[PICTURE_CELLS];
	u32 n = baleen_view_chain(picture->filter, picture->domain, row->place, value,
				  PICTURE_CELLS);

	row->n = n < PICTURE_CELLS ? n : PICTURE_CELLS;
	for (u32 i = 0; i < row->n; i++) {
		row->cell[i].paint = i ? PAINT_MOVED : PAINT_USED;
		picture_value(picture, value[i], row->cell[i].text);
		if (strlen(row->cell[i].text) > row->width)
			row->width = strlen(row->cell[i].text);
	}
	if (!n) {
		row->n = row->width = 1;
		strcpy(row->cell[0].text, "-");
	}
	if (n > row->n)
		append(row->note, sizeof(row->note), "and %u more", n - row->n);
	for (u32 k = 0; k < picture->n_keys; k++) {
		const struct picture_key *key = &picture->keys[k];

		if (!key->is_asked || key->where.bucket[0] != row->place)
			continue;
		add_note(row, "bucket", key);
		if (key->where.slot[0] < row->n)
			mark(&row->cell[key->where.slot[0]], key);
	}
}

/* --- entries --------------------------------------------------------------- */

static void make_entry(const struct picture *picture, struct picture_row *row)
{
	const struct baleen_entry6 *entry =
		(const struct baleen_entry6 *)((const u8 *)picture->filter->bytes +
					       (size_t)picture_table(picture)->first_block *
						       BALEEN_BLOCK_BYTES) +
		row->place;
	struct baleen_key key = { .domain = BALEEN_IP6,
				  .hi = baleen_le64(entry->hi_le),
				  .lo = baleen_le64(entry->lo_le) };
	char address[BALEEN_KEY_TEXT];

	baleen_key_format(&key, BALEEN_KEY_SRC, address);
	row->n = 1;
	row->cell[0].paint = PAINT_USED;
	snprintf(row->cell[0].text, PICTURE_CELL_TEXT, "%s%.45s/%u", entry->is_exception ? "!" : "",
		 address, entry->length);
	row->width = strlen(row->cell[0].text);
}

void picture_make_row(const struct picture *picture, u64 n, struct picture_row *row)
{
	struct picture as_before = *picture;

	if (picture->before && picture->is_before[n]) {
		as_before.filter = picture->before;
		picture = &as_before;
	}
	memset(row, 0, sizeof(*row));
	row->place = n * picture_per_row(picture);
	switch (picture_table(picture)->kind) {
	case BALEEN_KIND_CUCKOO:
	case BALEEN_KIND_PREFIXES: make_bucket(picture, row); break;
	case BALEEN_KIND_QUOTIENT: make_quotient(picture, row); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: make_chain(picture, row); break;
	case BALEEN_KIND_ENTRIES: make_entry(picture, row); break;
	default: make_wide(picture, row); break;
	}
}

/* --- keys ------------------------------------------------------------------ */

static void describe_positions(const struct picture *picture, const struct baleen_view_key *where,
			       char *text, size_t bytes)
{
	const struct baleen_table *table = picture_table(picture);

	append(text, bytes, where->positions.n == 1 ? "bit" : "bits");
	for (u32 i = 0; i < where->positions.n; i++) {
		u64 bit = where->positions.bit[i];

		append(text, bytes, "%s %llu%s", i ? "," : "", (unsigned long long)bit,
		       baleen_plane_get(table, picture->filter->bytes, bit) ? "" : " (not set)");
	}
}

static void describe_copies(const struct picture *picture, const struct baleen_view_key *where,
			    char *text, size_t bytes)
{
	if (picture->filter->image.flags & BALEEN_FLAG_COPIES && where->n_copies > 1)
		append(text, bytes, ", %u copies", where->n_copies);
}

static void describe_buckets(const struct picture *picture, const struct baleen_view_key *where,
			     char *text, size_t bytes)
{
	u32 bits = picture_table(picture)->slot_bits;
	char number[PICTURE_CELL_TEXT];

	append(text, bytes, "fingerprint %s, buckets %u and %u: ",
	       picture_number(picture, where->fingerprint, bits < 16 ? bits : bits - 2, number),
	       where->bucket[0], where->bucket[1]);
	for (u32 i = 0; i < 2; i++) {
		if (where->slot[i] != BALEEN_VIEW_NOWHERE) {
			append(text, bytes, "in slot %u of %u", where->slot[i], where->bucket[i]);
			describe_copies(picture, where, text, bytes);
			return;
		}
	}
	append(text, bytes, where->is_stashed ? "in the stash" : "in neither");
}

static void describe_chain(const struct picture *picture, const struct baleen_view_key *where,
			   char *text, size_t bytes)
{
	char value[PICTURE_CELL_TEXT];

	append(text, bytes,
	       "value %s, bucket %u: ", picture_value(picture, where->fingerprint, value),
	       where->bucket[0]);
	if (!where->n_copies)
		append(text, bytes, "not in its chain");
	else
		append(text, bytes, "in its chain, behind %u", where->slot[0]);
	describe_copies(picture, where, text, bytes);
}

static void describe_run(const struct picture *picture, const struct baleen_view_key *where,
			 char *text, size_t bytes)
{
	const struct baleen_table *table = picture_table(picture);
	char quotient[PICTURE_CELL_TEXT], remainder[PICTURE_CELL_TEXT];

	append(text, bytes, "quotient %s, remainder %s: ",
	       picture_number(picture, where->quotient, table->log2_buckets, quotient),
	       picture_number(picture, where->remainder, table->slot_bits, remainder));
	if (!where->run.n)
		append(text, bytes, "no such run");
	else if (where->slot[0] == BALEEN_VIEW_NOWHERE)
		append(text, bytes, "not in the run from slot %u", where->run.first);
	else
		append(text, bytes, "in slot %u", where->slot[0]);
	describe_copies(picture, where, text, bytes);
}

const char *picture_describe_key(const struct picture *picture, const struct picture_key *key,
				 char *text, size_t bytes)
{
	const struct baleen_table *table = picture_table(picture);
	const struct baleen_view_key *where = &key->where;
	char name[BALEEN_VIEW_NAME];
	u32 state;

	text[0] = '\0';
	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE:
		state = baleen_view_group(picture->filter, picture->domain, where->group);
		append(text, bytes, "group %u: %s", where->group,
		       baleen_view_bar_name(table, picture->domain, state, name));
		break;
	case BALEEN_KIND_QUOTIENT: describe_run(picture, where, text, bytes); break;
	case BALEEN_KIND_CUCKOO: describe_buckets(picture, where, text, bytes); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: describe_chain(picture, where, text, bytes); break;
	default: describe_positions(picture, where, text, bytes); break;
	}
	return text;
}

const char *picture_verdict(const struct picture *picture, const struct picture_key *key)
{
	if (!key->verdict)
		return "no";
	return baleen_image_is_exact(&picture->filter->image) ? "yes" : "maybe";
}
