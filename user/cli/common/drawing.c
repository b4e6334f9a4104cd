// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of a filter in SVG. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/drawing.h"
#include "cli/common/palette.h"
#include "util/foreign.h"

/* Pixels. */
#define MARGIN 8
#define CHARACTER 8
#define ROW_HEIGHT 20
#define LETTERS_HEIGHT 12
#define CELL_HEIGHT 16
#define CELL_PADDING 5
#define CELL_GAP 4
#define BRACKET_WIDTH 12

/* Letters beside a slot; several are a `*`. */
#define LETTER_GAP 12

/* Width of lines of text that are longer than the tables. */
#define TEXT_WIDTH 560
#define LINE_CHARACTERS 90

/* Cells of the longest row that have a number each; of longer ones each eighth has. */
#define NUMBERED_CELLS 16

/* --- elements -------------------------------------------------------------- */

static void widen(struct drawing *drawing, u32 width)
{
	if (width > drawing->width)
		drawing->width = width;
}

static void draw_text(struct drawing *drawing, u32 x, u32 y, const char *class, const char *text)
{
	fprintf(drawing->out, "<text x=\"%u\" y=\"%u\"", x, y);
	if (*class)
		fprintf(drawing->out, " class=\"%s\"", class);
	fputc('>', drawing->out);
	baleen_foreign_xml(drawing->out, text);
	fputs("</text>", drawing->out);
	widen(drawing, x + strlen(text) * CHARACTER);
}

static void end_line(struct drawing *drawing)
{
	fputc('\n', drawing->out);
}

/* The baseline of the text of a row. */
static u32 text_y(const struct drawing *drawing)
{
	return drawing->y + 14;
}

/* --- what a table looks like ----------------------------------------------- */

/**
 * struct layout - columns of a table
 * @class: of its kind
 * @is_wide: cells are bits, counters or groups
 * @cells_x: where cells begin
 * @cell_width: characters of a cell
 * @n_narrow: cells of one character before it
 * @n_cells: cells of a row
 * @gap: between cells
 */
struct layout {
	const char *class;
	bool is_wide;
	u32 cells_x;
	u32 cell_width;
	u32 n_narrow;
	u32 n_cells;
	u32 gap;
};

/* Names of places, and what the cells of a row are. */
static const char *place_name(const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC: return "bit";
	case BALEEN_KIND_COUNTING: return "counter";
	case BALEEN_KIND_QUOTIENT: return "slot";
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: return "group";
	case BALEEN_KIND_ENTRIES: return "entry";
	default: return "bucket";
	}
}

static u32 count_digits(u64 n)
{
	char text[24];

	return snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
}

/* Numbers of base 10 have as many characters as the largest. */
static u32 slot_width(const struct picture *picture, const struct picture_row *row)
{
	u32 bits = picture_table(picture)->slot_bits;

	if (picture->base == 10 && bits && bits <= 64 && row->width > 1)
		return count_digits(~0ull >> (64 - bits)) + 1;
	return row->width;
}

static struct layout make_layout(const struct drawing *drawing, const struct picture *picture)
{
	const struct baleen_table *table = picture_table(picture);
	u32 label = count_digits(baleen_view_places(table)), name = strlen(place_name(table));
	struct layout layout = {
		.class = palette_class(baleen_kind_name(table->kind)),
		.is_wide = picture_per_row(picture) > 1,
		.cells_x = MARGIN + (label > name ? label : name) * CHARACTER + BRACKET_WIDTH,
	};
	struct picture_row row;

	for (u64 n = 0; n < picture_rows(picture); n++) {
		if (!picture_has_row(picture, n))
			continue;
		picture_make_row(picture, n, &row);
		if (slot_width(picture, &row) > layout.cell_width)
			layout.cell_width = slot_width(picture, &row);
		if (row.n > layout.n_cells)
			layout.n_cells = row.n;
		layout.n_narrow = row.n_narrow;
	}
	if (!layout.is_wide)
		layout.gap = CELL_GAP + (drawing->has_letters ? LETTER_GAP : 0);
	return layout;
}

static u32 cell_width(const struct layout *layout, u32 i)
{
	return (i < layout->n_narrow ? 1 : layout->cell_width) * CHARACTER + CELL_PADDING;
}

static u32 cell_x(const struct layout *layout, u32 i)
{
	u32 x = layout->cells_x;

	/* Letters are beside what a slot holds, not beside its three bits. */
	for (u32 k = 0; k < i; k++)
		x += cell_width(layout, k) + (k < layout->n_narrow ? CELL_GAP : layout->gap);
	return x;
}

u32 drawing_cells(const struct picture *picture)
{
	u64 n_rows = picture_rows(picture);
	u32 n = 0;

	for (u64 i = 0; i < n_rows && n <= DRAWING_MAX_CELLS; i++)
		if (picture_has_row(picture, i))
			n += picture_per_row(picture) > 1 ? PICTURE_CELLS : 4;
	return n > DRAWING_MAX_CELLS ? DRAWING_MAX_CELLS + 1 : n;
}

/* --- rows ------------------------------------------------------------------ */

static void draw_letters(struct drawing *drawing, const struct layout *layout,
			 const struct picture_cell *cell, u32 x, u32 width)
{
	char class[16], letters[PICTURE_LETTERS];

	strcpy(letters, cell->letters);
	if (letters[1])
		strcpy(class, "l");
	else
		snprintf(class, sizeof(class), "l k%u", (*letters - 'a') % PALETTE_KEYS);
	fprintf(drawing->out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" class=\"%s\"/>",
		x - 1, drawing->y, width + 2, CELL_HEIGHT + 2, class);
	if (layout->is_wide) {
		draw_text(drawing, x + 2, text_y(drawing) + LETTERS_HEIGHT + 2, class, letters);
		return;
	}
	/* There is room for one. */
	if (letters[1])
		strcpy(letters, "*");
	draw_text(drawing, x + width + 4, text_y(drawing), class, letters);
}

static void draw_cell(struct drawing *drawing, const struct layout *layout,
		      const struct picture_row *row, u32 i)
{
	static const char *const class[] = { "e", "u", "m", "s" };
	const struct picture_cell *cell = &row->cell[i];
	u32 x = cell_x(layout, i), width = cell_width(layout, i);

	fprintf(drawing->out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" class=\"%s%s%s\"",
		x, drawing->y + 1, width, CELL_HEIGHT, class[cell->paint], cell -> paint ? " " : "",
		cell->paint ? layout->class : "");
	if (drawing->has_names)
		fprintf(drawing->out, " data-p=\"%u-%llu-%u\"", drawing->n_tables,
			(unsigned long long)row->place + (layout->is_wide ? i : 0),
			layout->is_wide ? 0 : i);
	fputs("/>", drawing->out);
	widen(drawing, x + width);
	/* An empty bit needs no text. */
	if (strcmp(cell->text, "."))
		draw_text(drawing, x + 3, text_y(drawing), "", cell->text);
	if (cell->letters[0])
		draw_letters(drawing, layout, cell, x, width);
	end_line(drawing);
}

static void draw_bracket(struct drawing *drawing, const struct layout *layout, u32 bracket)
{
	u32 top = bracket & BRACKET_BEGINS ? 2 : 0;
	u32 bottom = bracket & BRACKET_ENDS ? ROW_HEIGHT - 4 : ROW_HEIGHT;

	if (bracket)
		fprintf(drawing->out, "<path d=\"M%u %uv%u\" class=\"b\"/>", layout->cells_x - 6,
			drawing->y + top, bottom - top);
	end_line(drawing);
}

static void draw_row(struct drawing *drawing, const struct layout *layout,
		     const struct picture *picture, u64 n)
{
	struct picture_row row;
	char place[24];

	picture_make_row(picture, n, &row);
	snprintf(place, sizeof(place), "%llu", (unsigned long long)row.place);
	draw_text(drawing, MARGIN, text_y(drawing), "", place);
	end_line(drawing);
	draw_bracket(drawing, layout, row.bracket);
	for (u32 i = 0; i < row.n; i++)
		draw_cell(drawing, layout, &row, i);
	if (row.note[0])
		draw_text(drawing, cell_x(layout, layout->n_cells) + CELL_GAP, text_y(drawing),
			  "faint", row.note);
	end_line(drawing);
	drawing->y += ROW_HEIGHT;
	if (layout->is_wide && drawing->has_letters)
		drawing->y += LETTERS_HEIGHT;
}

/* Rows are left out between this one and the one before. */
static void draw_gap(struct drawing *drawing)
{
	draw_text(drawing, MARGIN, text_y(drawing), "faint", "...");
	end_line(drawing);
	drawing->y += ROW_HEIGHT;
}

/* --- headers --------------------------------------------------------------- */

static const char *header_of(const struct picture *picture, const struct layout *layout, u32 i,
			     char *text)
{
	static const char *const bits[] = { "o", "c", "s", "remainder" };
	u32 kind = picture_table(picture)->kind;

	if (kind == BALEEN_KIND_QUOTIENT)
		return bits[i];
	if (kind == BALEEN_KIND_ENTRIES)
		return "";
	if (!layout->is_wide)
		snprintf(text, NUMBER_TEXT, layout->cell_width < 6 ? "%u" : "slot %u", i);
	else if (layout->n_cells <= NUMBERED_CELLS || i % 8 == 0)
		snprintf(text, NUMBER_TEXT, "%u", i);
	else
		return "";
	return text;
}

/* Names of the columns; those of bits and the like are numbers, from the first of the row on. */
static void draw_header(struct drawing *drawing, const struct layout *layout,
			const struct picture *picture)
{
	char text[NUMBER_TEXT];

	draw_text(drawing, MARGIN, text_y(drawing), "faint", place_name(picture_table(picture)));
	for (u32 i = 0; i < layout->n_cells; i++) {
		const char *header = header_of(picture, layout, i, text);

		if (*header)
			draw_text(drawing, cell_x(layout, i) + (layout->is_wide ? 1 : 3),
				  text_y(drawing), layout->is_wide ? "faint i" : "faint", header);
	}
	end_line(drawing);
	drawing->y += ROW_HEIGHT;
}

/* --- the legend ------------------------------------------------------------ */

/* Where the next sign of a legend goes. */
struct legend {
	u32 x;
	const struct layout *layout;
};

static void draw_sign(struct drawing *drawing, struct legend *legend, enum picture_paint paint,
		      const char *sign, const char *text)
{
	struct picture_row row = { .n = 1, .width = 1 };
	u32 width = CHARACTER + CELL_PADDING + 6 + strlen(text) * CHARACTER;
	struct layout alone = { .class = legend->layout->class, .cell_width = strlen(sign) };
	bool has_names = drawing->has_names;

	if (legend->x > MARGIN && legend->x + width > TEXT_WIDTH) {
		legend->x = MARGIN;
		drawing->y += ROW_HEIGHT;
	}
	alone.cells_x = legend->x;
	row.cell[0].paint = paint;
	snprintf(row.cell[0].text, PICTURE_CELL_TEXT, "%s", sign);
	drawing->has_names = false;
	draw_cell(drawing, &alone, &row, 0);
	drawing->has_names = has_names;
	draw_text(drawing, legend->x + cell_width(&alone, 0) + 6, text_y(drawing), "faint", text);
	end_line(drawing);
	legend->x += width + 2 * CHARACTER;
}

static void draw_words(struct drawing *drawing, const char *text)
{
	drawing->y += ROW_HEIGHT;
	draw_text(drawing, MARGIN, text_y(drawing), "faint", text);
	end_line(drawing);
}

static void draw_signs(struct drawing *drawing, struct legend *legend,
		       const struct picture *picture)
{
	const struct baleen_table *table = picture_table(picture);
	bool has_side = table->kind == BALEEN_KIND_CUCKOO && baleen_table_side(table);

	switch (table->kind) {
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC:
		draw_sign(drawing, legend, PAINT_USED, "1", "set");
		draw_sign(drawing, legend, PAINT_EMPTY, ".", "not set");
		break;
	case BALEEN_KIND_COUNTING:
		draw_sign(drawing, legend, PAINT_USED, "n", "keys here, a to e are 10 to 14");
		draw_sign(drawing, legend, PAINT_STUCK, "!", "stuck at 15");
		break;
	case BALEEN_KIND_QUOTIENT:
		draw_sign(drawing, legend, PAINT_USED, " ", "in the slot of its quotient");
		draw_sign(drawing, legend, PAINT_MOVED, " ", "shifted");
		draw_words(drawing, "o = is_occupied: some key has this slot's number as quotient");
		draw_words(drawing, "c = is_continuation: not the first of its run");
		draw_words(drawing, "s = is_shifted: not in the slot of its quotient");
		draw_words(drawing, "the line at the left of slots: a cluster");
		break;
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE:
		draw_sign(drawing, legend, PAINT_USED, "#", "all of it");
		if (picture->domain == BALEEN_IP6_STEMS)
			draw_sign(drawing, legend, PAINT_USED, "/", "prefixes");
		else
			draw_sign(drawing, legend, PAINT_USED, "h", "hosts");
		draw_sign(drawing, legend, PAINT_USED, "L", "goes on");
		draw_sign(drawing, legend, PAINT_EMPTY, ".", "nothing");
		break;
	case BALEEN_KIND_ENTRIES: break;
	default:
		draw_sign(drawing, legend, PAINT_USED, " ",
			  has_side ? "in the home bucket" : "in use");
		if (has_side)
			draw_sign(drawing, legend, PAINT_MOVED, "'", "in the other bucket");
		draw_sign(drawing, legend, PAINT_EMPTY, "-", "free");
	}
}

static void draw_legend(struct drawing *drawing, const struct layout *layout,
			const struct picture *picture)
{
	struct legend legend = { .x = MARGIN, .layout = layout };

	drawing->y += CELL_GAP;
	draw_signs(drawing, &legend, picture);
	if (drawing->has_letters)
		draw_words(drawing,
			   layout->is_wide ?
				   "framed, letters below: where these keys are looked up" :
				   "framed, letters beside: found here");
	drawing->y += ROW_HEIGHT;
}

/* --- tables ---------------------------------------------------------------- */

void drawing_title(struct drawing *drawing, const char *title)
{
	draw_text(drawing, MARGIN, text_y(drawing), "h", title);
	end_line(drawing);
	drawing->y += ROW_HEIGHT;
}

void drawing_table(struct drawing *drawing, const struct picture *picture)
{
	struct layout layout = make_layout(drawing, picture);
	u64 n_rows = picture_rows(picture);
	bool is_cut = false, any = false;

	drawing_title(drawing, baleen_kind_name(picture_table(picture)->kind));
	for (u64 n = 0; n < n_rows; n++) {
		if (!picture_has_row(picture, n)) {
			is_cut = true;
			continue;
		}
		if (!any)
			draw_header(drawing, &layout, picture);
		else if (is_cut)
			draw_gap(drawing);
		draw_row(drawing, &layout, picture, n);
		is_cut = false;
		any = true;
	}
	if (!drawing->omits_legend)
		draw_legend(drawing, &layout, picture);
	drawing->n_tables++;
}

/* In lines that end between words. */
static void draw_wrapped(struct drawing *drawing, const char *text)
{
	u32 x = MARGIN;
	char line[LINE_CHARACTERS + 1];

	while (*text) {
		u32 n = strlen(text);

		if (n > LINE_CHARACTERS)
			for (n = LINE_CHARACTERS; n > 1 && text[n] != ' ';)
				n--;
		/* A word that is longer is cut. */
		if (n == 1 && text[1])
			n = strnlen(text, LINE_CHARACTERS);
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		draw_text(drawing, x, text_y(drawing), "", line);
		drawing->y += ROW_HEIGHT;
		text += n + (text[n] == ' ');
		x = MARGIN + 4 * CHARACTER;
	}
	end_line(drawing);
}

void drawing_keys(struct drawing *drawing, const struct picture *picture)
{
	for (u32 i = 0; i < picture->n_keys; i++) {
		const struct picture_key *key = &picture->keys[i];
		char text[2048], line[2400];

		if (!key->is_asked)
			continue;
		snprintf(line, sizeof(line), "%c = %.200s: %s: %s", key->letter, key->text,
			 picture_verdict(picture, key),
			 picture_describe_key(picture, key, text, sizeof(text)));
		draw_wrapped(drawing, line);
	}
}

/* --- the whole ------------------------------------------------------------- */

void drawing_open(FILE *out, const struct drawing *drawing, const char *attributes)
{
	u32 width = drawing->width + MARGIN, height = drawing->y + MARGIN;

	fprintf(out, "<svg %s viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" role=\"img\">\n",
		attributes, width, height, width, height);
}

void drawing_style(FILE *out)
{
	palette_print(out);
	fputs("text{font:13px monospace}.h{font-weight:bold}.i{font-size:10px}"
	      "rect{stroke:#888;fill:none}.ground{stroke:none}"
	      ".u,.m,.s{fill:currentColor;fill-opacity:.3}"
	      ".m,.s{stroke:currentColor;stroke-width:2}.m{stroke-dasharray:4 2}"
	      "rect.l{stroke:currentColor;stroke-width:2;fill:none}"
	      "text.l{fill:currentColor;font-weight:bold}svg{color:#1a1a1a}"
	      ".b{stroke:currentColor;stroke-width:2;fill:none}"
	      "@media(prefers-color-scheme:dark){svg{color:#eee}}",
	      out);
}
