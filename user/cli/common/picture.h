/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of a filter as rows of cells, which are printed as text or as SVG.
 */
#ifndef BALEEN_CLI_PICTURE_H
#define BALEEN_CLI_PICTURE_H

#include <stdio.h>

#include "filter/view.h"

/* Cells of a row: bits and groups; all others have less. */
#define PICTURE_CELLS 64

/* Characters of a cell: 64 bits in binary. */
#define PICTURE_CELL_TEXT 68

/* Rows that a table may have to be drawn whole where nobody asks for a part of it. */
#define PICTURE_SMALL_ROWS 64

/* Letters of a cell, and a NUL: more keys than these are a `+`. */
#define PICTURE_LETTERS 8

/**
 * struct picture_key - a key whose places are marked
 * @text: as it was typed
 * @key: what it is
 * @letter: marks its places
 * @verdict: what the filter says of it: 1 maybe, 0 surely not
 * @is_asked: the table at hand is asked for it
 * @where: where, then
 */
struct picture_key {
	const char *text;
	struct baleen_key key;
	char letter;
	int verdict;
	bool is_asked;
	struct baleen_view_key where;
};

/**
 * struct picture - what is drawn of a filter
 * @filter: the filter
 * @domain: domain of the table
 * @keys: keys whose places are marked
 * @n_keys: how many
 * @base: of the numbers in slots: 2, 10 or 16; 0: 2 up to 8 bits, else 16
 * @is_ranged: @from and @count say which places
 * @from: the first place
 * @end: the place behind the last
 * @wanted: NULL, or of each row of a large table whether it is drawn, whatever the keys
 * @before: NULL, or the filter as it was before it changed
 * @is_before: of each row whether it is drawn as in that
 */
struct picture {
	const struct baleen_filter *filter;
	u32 domain;
	struct picture_key *keys;
	u32 n_keys;
	u32 base;
	bool is_ranged;
	u64 from;
	u64 end;
	const bool *wanted;
	const struct baleen_filter *before;
	const bool *is_before;
};

enum picture_paint {
	PAINT_EMPTY,
	PAINT_USED,
	PAINT_MOVED, /* used, but not where its home is */
	PAINT_STUCK,
};

/**
 * struct picture_cell - a bit, a counter, a slot or a group
 * @text: what it holds
 * @paint: enum picture_paint
 * @mark: letter of a key that is looked up here; '*': several; 0: none
 * @letters: the letters of all of them
 */
struct picture_cell {
	char text[PICTURE_CELL_TEXT];
	u8 paint;
	char mark;
	char letters[PICTURE_LETTERS];
};

/**
 * struct picture_row - cells side by side
 * @place: number of the first
 * @n: how many
 * @n_narrow: the first so many have one character
 * @width: characters of the others
 * @cell: they
 * @bracket: quotient: whether a cluster begins (1), goes on (2), ends (4) here, or not (0)
 * @note: what is said behind it
 */
struct picture_row {
	u64 place;
	u32 n;
	u32 n_narrow;
	u32 width;
	struct picture_cell cell[PICTURE_CELLS];
	u8 bracket;
	char note[160];
};

enum { BRACKET_BEGINS = 1, BRACKET_GOES_ON = 2, BRACKET_ENDS = 4 };

static inline u32 picture_cell_width(const struct picture_row *row, u32 i)
{
	return i < row->n_narrow ? 1 : row->width;
}

/* The table that is drawn. */
static inline const struct baleen_table *picture_table(const struct picture *picture)
{
	return &picture->filter->image.table[picture->domain];
}

/* Goes on to a table: finds where it is asked for the keys. */
void picture_turn_to(struct picture *picture, u32 domain);

/* Places of a row. */
u32 picture_per_row(const struct picture *picture);

/* Rows of the whole table. */
u64 picture_rows(const struct picture *picture);

/* Whether a row is to be drawn: one of the range; without a range all rows of a small table,
 * and those of any where a key is looked up.
 */
bool picture_has_row(const struct picture *picture, u64 n);

void picture_make_row(const struct picture *picture, u64 n, struct picture_row *row);

/* Where the table is asked for a key, and what is there, in words; returns @text. */
const char *picture_describe_key(const struct picture *picture, const struct picture_key *key,
				 char *text, size_t bytes);

/* "yes", "maybe" or "no". */
const char *picture_verdict(const struct picture *picture, const struct picture_key *key);

/* A number in the base of the picture, as wide as @bits need; returns @text. */
const char *picture_number(const struct picture *picture, u64 value, u32 bits, char *text);

/* A value of a chain: the key where the table keeps it and a number shows it, else a number;
 * returns @text.
 */
const char *picture_value(const struct picture *picture, u64 value, char *text);

#endif /* BALEEN_CLI_PICTURE_H */
