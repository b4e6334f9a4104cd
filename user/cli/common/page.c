// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of filters as a page of HTML, to be stepped through. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/page.h"
#include "page_hash.h"
#include "util/array.h"
#include "util/foreign.h"

/* Files beside this one; the Makefile knows that they are in here, and hashes the scripts. */
#define EMBED(name, file)                                                                       \
	asm(".pushsection .rodata\n" #name ":\n.incbin \"user/cli/common/" file "\"\n.byte 0\n" \
	    ".popsection\n");                                                                   \
	extern const char name[] __attribute__((visibility("hidden")))

EMBED(page_style, "page.css");
EMBED(page_hashes, "hash.js");
EMBED(page_script, "page.js");

/**
 * struct page_line - a line of the drawing
 * @text: as it is now
 * @since: the step from which on
 */
struct page_line {
	char *text;
	u32 since;
};

void page_init(struct page *page)
{
	*page = (struct page){ .has_keys = true };
	page->svg = open_memstream(&page->svg_text, &page->svg_bytes);
	page->steps = open_memstream(&page->steps_text, &page->steps_bytes);
	if (!page->svg || !page->steps)
		page->err = -ENOMEM;
}

void page_add_table(struct page *page, struct picture *picture, const char *title)
{
	if (!page->err)
		page->err = baleen_array_add(&page->table, page->n_tables);
	if (!page->err)
		page->err = baleen_array_add(&page->table_title, page->n_tables);
	if (page->err)
		return;
	page->table[page->n_tables] = picture;
	page->table_title[page->n_tables++] = title;
}

/* --- the drawing ----------------------------------------------------------- */

static bool is_too_large(const struct page *page)
{
	u32 n_cells = 0;

	for (u32 i = 0; i < page->n_tables; i++)
		n_cells += drawing_cells(page->table[i]);
	return n_cells > DRAWING_MAX_CELLS;
}

/* Signs are explained where the last table of a kind is. */
static bool is_last_of_kind(const struct page *page, u32 n)
{
	u32 kind = picture_table(page->table[n])->kind;

	for (u32 i = n + 1; i < page->n_tables; i++)
		if (picture_table(page->table[i])->kind == kind)
			return false;
	return true;
}

static char *draw(struct page *page)
{
	struct drawing *drawing = &page->drawing;
	char *text = NULL;
	size_t n_bytes;

	*drawing =
		(struct drawing){ .has_letters = true, .has_names = true, .width = drawing->width };
	drawing->out = open_memstream(&text, &n_bytes);
	if (!drawing->out)
		return NULL;
	for (u32 i = 0; i < page->n_tables; i++) {
		if (page->table_title[i])
			drawing_title(drawing, page->table_title[i]);
		drawing->omits_legend = !is_last_of_kind(page, i);
		drawing_table(drawing, page->table[i]);
	}
	if (!fclose(drawing->out))
		return text;
	free(text);
	return NULL;
}

/* A line that is shown until before the step @end. */
static void put_line(struct page *page, const struct page_line *line, u32 end, bool is_last)
{
	if (!*line->text)
		return;
	if (!line->since && is_last)
		fprintf(page->svg, "%s\n", line->text);
	else
		fprintf(page->svg, "<g data-at=\"%u %u\">%s</g>\n", line->since, end - 1,
			line->text);
}

static int change_line(struct page *page, size_t i, const char *text)
{
	struct page_line *line = &page->line[i];
	char *copy;

	if (line->text && !strcmp(line->text, text))
		return 0;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	if (line->text)
		put_line(page, line, page->n_steps, false);
	free(line->text);
	*line = (struct page_line){ copy, page->n_steps };
	return 0;
}

/* A drawing has other lines than the one before where chains grow or get shorter. */
static int change_lines(struct page *page, char *text)
{
	size_t i = 0;
	char *next;

	for (; *text; text = next + 1, i++) {
		int err = 0;

		next = strchr(text, '\n');
		*next = '\0';
		if (i == page->n_lines) {
			err = baleen_array_add(&page->line, page->n_lines);
			if (err)
				return err;
			page->line[page->n_lines++] = (struct page_line){ 0 };
		}
		err = change_line(page, i, text);
		if (err)
			return err;
	}
	for (; i < page->n_lines; i++) {
		int err = change_line(page, i, "");

		if (err)
			return err;
	}
	return 0;
}

/* --- steps ----------------------------------------------------------------- */

static void put_place(FILE *stream, const struct page_place *place)
{
	fprintf(stream, "%u-%llu-%u", place->table, (unsigned long long)place->place, place->cell);
}

static void put_step(struct page *page, bool is_heading, const char *text,
		     const struct page_place *now, u32 n, const struct page_place *from)
{
	FILE *out = page->steps;

	fprintf(out, "<li%s data-now=\"", is_heading ? " class=\"heading\"" : "");
	for (u32 i = 0; i < n; i++) {
		fputs(i ? " " : "", out);
		put_place(out, &now[i]);
	}
	fputs("\" data-from=\"", out);
	if (from)
		put_place(out, from);
	fputs("\">", out);
	baleen_foreign_xml(out, text);
	fputs("</li>\n", out);
}

void page_step(struct page *page, bool is_heading, const char *text, const struct page_place *now,
	       u32 n, const struct page_place *from)
{
	char *lines;

	if (!page->err && page->n_steps == PAGE_MAX_STEPS)
		page->err = -E2BIG;
	if (!page->err && !page->n_steps && is_too_large(page))
		page->err = -EFBIG;
	if (page->err)
		return;
	lines = draw(page);
	page->err = lines ? change_lines(page, lines) : -ENOMEM;
	free(lines);
	put_step(page, is_heading, text, now, n, from);
	page->n_steps++;
}

/* --- the page -------------------------------------------------------------- */

static void print_head(const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src " PAGE_SCRIPT_HASHES "; "
	      "base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      stdout);
	baleen_foreign_xml(stdout, title);
	fputs("</title>\n<style>\n", stdout);
	drawing_style(stdout);
	fputs("\n", stdout);
	fwrite(page_style, 1, strlen(page_style), stdout);
	fputs("</style>\n</head>\n<body>\n<h1>", stdout);
	baleen_foreign_xml(stdout, title);
	fputs("</h1>\n", stdout);
}

static void print_controls(const struct page *page)
{
	if (page->n_steps == 1)
		return;
	say("<nav id=\"controls\">\n"
	    "<button id=\"first\" title=\"Home\">first</button>\n"
	    "<button id=\"back\" title=\"left arrow\">&#9664; back</button>\n"
	    "<button id=\"next\" title=\"right arrow\">next &#9654;</button>\n"
	    "<button id=\"last\" title=\"End\">last</button>\n"
	    "<label>step <input id=\"slider\" type=\"range\" min=\"0\" max=\"%u\" value=\"0\">"
	    "</label>\n<output id=\"at\"></output>\n</nav>\n"
	    "<noscript><p>Without scripts this page shows how it begins, and tells the steps."
	    "</p></noscript>\n",
	    page->n_steps - 1);
}

static void print_question(void)
{
	fputs("<form id=\"ask\">\n<label>Where is this key looked up? "
	      "<input id=\"key\" autocomplete=\"off\" spellcheck=\"false\"></label>\n"
	      "<output id=\"answer\"></output>\n</form>\n",
	      stdout);
}

static void print_drawing(const struct page *page, const char *title)
{
	fputs("<main>\n<div id=\"drawing\">\n", stdout);
	drawing_open(stdout, &page->drawing, "");
	fputs("<title>", stdout);
	baleen_foreign_xml(stdout, title);
	fputs("</title>\n", stdout);
	fwrite(page->svg_text, 1, page->svg_bytes, stdout);
	fputs("</svg>\n</div>\n<ol id=\"steps\" start=\"0\">\n", stdout);
	fwrite(page->steps_text, 1, page->steps_bytes, stdout);
	fputs("</ol>\n</main>\n", stdout);
}

static int print_scripts(json_t *data)
{
	char *json = json_dumps(data, JSON_INDENT(1) | JSON_REAL_PRECISION(6));

	if (!json)
		return -ENOMEM;
	fputs("<script type=\"application/json\" id=\"data\">\n", stdout);
	baleen_foreign_script(stdout, json);
	fputs("\n</script>\n<script>", stdout);
	fwrite(page_hashes, 1, strlen(page_hashes), stdout);
	fputs("</script>\n<script>", stdout);
	fwrite(page_script, 1, strlen(page_script), stdout);
	fputs("</script>\n</body>\n</html>\n", stdout);
	free(json);
	return 0;
}

static int complain_page(const struct page *page, const char *title)
{
	if (page->err == -E2BIG)
		return complain("%s: a page of more than %d steps: fewer keys make a shorter one",
				title, PAGE_MAX_STEPS);
	if (page->err == -EFBIG)
		return complain("%s: a page of more than %d cells: a smaller filter or fewer keys "
				"make a smaller one, and 'show --from N --count M' draws a part",
				title, DRAWING_MAX_CELLS);
	return complain("%s: %s", title, strerror(-page->err));
}

int page_print(struct page *page, const char *title, json_t *data)
{
	int err;

	for (size_t i = 0; !page->err && i < page->n_lines; i++)
		put_line(page, &page->line[i], page->n_steps, true);
	if (!page->err && (fflush(page->svg) || fflush(page->steps)))
		page->err = -ENOMEM;
	if (page->err) {
		json_decref(data);
		return complain_page(page, title);
	}
	print_head(title);
	print_controls(page);
	print_question();
	print_drawing(page, title);
	err = print_scripts(data);
	json_decref(data);
	return finish_output(err ? EXIT_FAILED : EXIT_DONE);
}

void page_free(struct page *page)
{
	if (page->svg)
		fclose(page->svg);
	if (page->steps)
		fclose(page->steps);
	free(page->svg_text);
	free(page->steps_text);
	for (size_t i = 0; i < page->n_lines; i++)
		free(page->line[i].text);
	free(page->line);
	free(page->table);
	free(page->table_title);
}
