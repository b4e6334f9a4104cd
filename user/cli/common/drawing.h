/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a filter in SVG.
 *
 * A drawing is lines of elements, one line for each thing that can change with the content: a
 * cell, a bracket, a note. Two drawings of one table with another content, in the same order, have
 * the same number of lines at the same places, and differ in those that changed.
 */
#ifndef BALEEN_CLI_DRAWING_H
#define BALEEN_CLI_DRAWING_H

#include "cli/common/picture.h"

/* Cells that keep a picture below 200 kB: some 110 bytes each. */
#define DRAWING_MAX_CELLS 1500

/**
 * struct drawing - tables below each other
 * @out: where the lines go
 * @y: where the next one begins, in pixels
 * @width: of what was drawn
 * @has_letters: room is left for the letters of keys
 * @has_names: cells say which they are, for a script: `data-p="TABLE-PLACE-CELL"`
 * @omits_legend: the next table's signs are explained elsewhere
 * @n_tables: tables that were drawn
 */
struct drawing {
	FILE *out;
	u32 y;
	u32 width;
	bool has_letters;
	bool has_names;
	bool omits_legend;
	u32 n_tables;
};

/* Cells of the rows that are to be drawn; one more than DRAWING_MAX_CELLS stands for any more. */
u32 drawing_cells(const struct picture *picture);

/* A line in bold. */
void drawing_title(struct drawing *drawing, const char *title);

/* The table at hand, below a line of its kind, and what its signs mean. */
void drawing_table(struct drawing *drawing, const struct picture *picture);

/* Where keys are looked up in the table at hand, a line each. */
void drawing_keys(struct drawing *drawing, const struct picture *picture);

/* Begins an element of SVG as large as the drawing, with its ground. @attributes: of its own. */
void drawing_open(FILE *out, const struct drawing *drawing, const char *attributes);

/* The style of drawings. */
void drawing_style(FILE *out);

#endif /* BALEEN_CLI_DRAWING_H */
