// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of a filter as a picture in SVG, readable on light and dark ground. */
#include <string.h>

#include "cli/file/show.h"
#include "util/foreign.h"

/* Size of a character of the font, of a row, and of the column of numbers. */
#define CHARACTER 8
#define ROW_HEIGHT 20
#define LABEL_WIDTH 100
#define WIDTH 960

/* Cells that keep a picture below 200 kB: some 110 bytes each. */
#define MAX_CELLS 1500

static void print_line(u32 x, u32 y, const char *class, const char *text)
{
	say("<text x=\"%u\" y=\"%u\"%s%s%s>", x, y, *class ? " class=\"" : "", class,
	    *class ? "\"" : "");
	baleen_foreign_xml(stdout, text);
	puts("</text>");
}

static void print_cell(const struct picture_cell *cell, u32 x, u32 y, u32 width)
{
	static const char *const class[] = { "e", "u", "m", "s" };

	say("<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"16\" class=\"%s%s\"/>\n", x, y - 13,
	    width, class[cell->paint], cell -> mark ? " k" : "");
	/* An empty bit needs no text. */
	if (strcmp(cell->text, "."))
		print_line(x + 3, y, "", cell->text);
}

static void print_row(const struct picture *picture, u64 n, u32 y)
{
	u32 x = LABEL_WIDTH;
	struct picture_row row;
	char place[24];

	picture_make_row(picture, n, &row);
	snprintf(place, sizeof(place), "%llu", (unsigned long long)row.place);
	print_line(4, y, "", place);
	if (row.bracket)
		say("<path d=\"M%u %uv%u\" class=\"b\"/>\n", LABEL_WIDTH - 6,
		    y - (row.bracket & BRACKET_BEGINS ? 13 : 16),
		    row.bracket & BRACKET_ENDS ? 16 : 20);
	for (u32 i = 0; i < row.n; i++) {
		u32 width = picture_cell_width(&row, i) * CHARACTER + 5;

		print_cell(&row.cell[i], x, y, width);
		x += width + (row.width > 1 ? 4 : 0);
	}
	if (row.note[0])
		print_line(x + 8, y, "n", row.note);
}

static u32 count_rows(const struct picture *picture, u64 *n_cells)
{
	u64 n_rows = picture_rows(picture);
	u32 n = 0;

	for (u64 i = 0; i < n_rows && *n_cells <= MAX_CELLS; i++) {
		if (picture_has_row(picture, i)) {
			*n_cells += picture_per_row(picture) > 1 ? PICTURE_CELLS : 4;
			n++;
		}
	}
	return n;
}

static u32 print_table(struct picture *picture, u32 domain, u32 y)
{
	u64 n_rows;

	picture_turn_to(picture, domain);
	n_rows = picture_rows(picture);
	y += ROW_HEIGHT;
	print_line(4, y, "h", baleen_kind_name(picture_table(picture)->kind));
	for (u64 n = 0; n < n_rows; n++)
		if (picture_has_row(picture, n))
			print_row(picture, n, y += ROW_HEIGHT);
	for (u32 i = 0; i < picture->n_keys; i++) {
		const struct picture_key *key = &picture->keys[i];
		char text[2048], line[2400];

		if (!key->is_asked)
			continue;
		snprintf(line, sizeof(line), "%c = %.200s: %s: %s", key->letter, key->text,
			 show_verdict(picture, key),
			 picture_describe_key(picture, key, text, sizeof(text)));
		print_line(4, y += ROW_HEIGHT, "n", line);
	}
	return y;
}

int show_svg(struct picture *picture, const char *title)
{
	static const char style[] =
		"<style>.g{fill:#fff;stroke:none}text{font:13px monospace;fill:#1a1a1a}.h{font-weight:bold}.n{fill:#555}"
		"rect{stroke:#999;fill:none}.u{fill:#a8d1f0}.m{fill:#f4d58d}.s{fill:#f2a5a0}"
		".k{stroke:#c0392b;stroke-width:2}.b{stroke:#1a1a1a;stroke-width:2;fill:none}"
		"@media(prefers-color-scheme:dark){.g{fill:#1a1a1a}text{fill:#eee}.n{fill:#bbb}rect{stroke:#777}"
		".u{fill:#1f4e79}.m{fill:#7a5c00}.s{fill:#8c2f27}.b{stroke:#eee}}</style>";
	const struct baleen_image *image = &picture->filter->image;
	u32 n_rows = 2, y = ROW_HEIGHT;
	u64 n_cells = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		if (image->table[domain].kind == BALEEN_KIND_NONE)
			continue;
		picture_turn_to(picture, domain);
		n_rows += count_rows(picture, &n_cells) + 1 + picture->n_keys;
	}
	if (n_cells > MAX_CELLS)
		return complain(
			"%s: a picture of more than %d cells: --from N --count M draws a part",
			title, MAX_CELLS);
	say("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" role=\"img\">\n",
	    WIDTH, n_rows * ROW_HEIGHT);
	fputs("<title>", stdout);
	baleen_foreign_xml(stdout, title);
	say("</title>%s\n<rect width=\"100%%\" height=\"100%%\" class=\"g\"/>\n", style);
	print_line(4, y, "h", title);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (image->table[domain].kind != BALEEN_KIND_NONE)
			y = print_table(picture, domain, y);
	puts("</svg>");
	return finish_output(EXIT_DONE);
}
