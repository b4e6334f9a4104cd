// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of a filter as a picture in SVG, readable on light and dark ground. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/drawing.h"
#include "cli/file/show.h"
#include "util/foreign.h"

static bool is_drawn(struct picture *picture, u32 domain)
{
	if (picture->filter->image.table[domain].kind == BALEEN_KIND_NONE)
		return false;
	picture_turn_to(picture, domain);
	return true;
}

static int check_cells(struct picture *picture, const char *title)
{
	u32 n_cells = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (is_drawn(picture, domain))
			n_cells += drawing_cells(picture);
	if (n_cells <= DRAWING_MAX_CELLS)
		return 0;
	return complain("%s: a picture of more than %d cells: --from N --count M draws a part",
			title, DRAWING_MAX_CELLS);
}

/* How large it is comes out with the last line, and is said before the first. */
int show_svg(struct picture *picture, const char *title)
{
	struct drawing drawing = { .has_letters = picture->n_keys };
	char *lines = NULL;
	size_t n_bytes;

	if (check_cells(picture, title))
		return EXIT_FAILED;
	drawing.out = open_memstream(&lines, &n_bytes);
	if (!drawing.out)
		return complain("%s", strerror(errno));
	drawing_title(&drawing, title);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		if (!is_drawn(picture, domain))
			continue;
		drawing_table(&drawing, picture);
		drawing_keys(&drawing, picture);
	}
	if (fclose(drawing.out))
		return complain("%s", strerror(ENOMEM));
	drawing_open(stdout, &drawing, "xmlns=\"http://www.w3.org/2000/svg\"");
	fputs("<title>", stdout);
	baleen_foreign_xml(stdout, title);
	fputs("</title><style>\n", stdout);
	drawing_style(stdout);
	fputs("</style>\n<rect width=\"100%\" height=\"100%\" class=\"ground\"/>\n", stdout);
	fwrite(lines, 1, n_bytes, stdout);
	free(lines);
	puts("</svg>");
	return finish_output(EXIT_DONE);
}
