/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of filters as a page of HTML, to be stepped through.
 *
 * The page has everything in it. Each step has a line of text and a drawing; the drawings are one,
 * of whose lines those that change are there more than once, each with the steps at which it is
 * shown: `<g data-at="FIRST LAST">`. So the script of a page, page.js, draws nothing, and puts no
 * text of others anywhere.
 */
#ifndef BALEEN_CLI_PAGE_H
#define BALEEN_CLI_PAGE_H

#include <jansson.h>

#include "cli/common/drawing.h"

/* More steps than these are of no use to whoever reads them. */
#define PAGE_MAX_STEPS 2000

/**
 * struct page_place - a cell
 * @table: as page_add_table() counts them, from 0 on
 * @place: bit, counter, bucket or slot
 * @cell: slot of the bucket; of a slot of a quotient table PAGE_REMAINDER, or one of its three
 *        bits; else 0
 */
struct page_place {
	u32 table;
	u64 place;
	u32 cell;
};

#define PAGE_REMAINDER 3

struct page_line;

/**
 * struct page - a page as it is made; all members but the first are its own
 * @has_keys: the pictures may have keys, whose letters need room
 */
struct page {
	bool has_keys;
	struct picture **table;
	const char **table_title;
	u32 n_tables;
	struct page_line *line;
	size_t n_lines;
	struct drawing drawing;
	FILE *svg, *steps;
	char *svg_text, *steps_text;
	size_t svg_bytes, steps_bytes;
	u32 n_steps;
	int err;
};

/* An empty page, which has keys. Whatever fails later is told by page_print(). */
void page_init(struct page *page);

/* Adds a table, before the first step. @picture stays where it is: it says at each step what there
 * is to draw. @title: NULL, or a line above it, which stays, too.
 */
void page_add_table(struct page *page, struct picture *picture, const char *title);

/* The cell of a place, of an insertion, say: in the order of struct page_place. */
#define PAGE_AT(table, place, cell) (&(struct page_place){ table, place, cell })

/**
 * page_step() - draw the tables as they are now
 * @page: the page
 * @is_heading: the steps that follow are of this one
 * @text: what happens
 * @now: n cells that this is about
 * @n: how many
 * @from: NULL, or the cell where what is in the first of them comes from
 */
void page_step(struct page *page, bool is_heading, const char *text, const struct page_place *now,
	       u32 n, const struct page_place *from);

/* The steps by which the table at hand is asked for a key. @table: of the page. */
void page_look_up(struct page *page, u32 table, const struct picture *picture,
		  const struct picture_key *key);

/* Prints the page. @title: of anybody's. @data: JSON for the script, freed here: "show" is an array
 * with what `baleen show -j` prints of each filter. Returns an exit code.
 */
int page_print(struct page *page, const char *title, json_t *data);

void page_free(struct page *page);

#endif /* BALEEN_CLI_PAGE_H */
