// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen top: the full screen, by ncurses. */
#include <unistd.h>

#include "cli/device/curses_calls.h"
#include "cli/device/top.h"
#include "late.h"
#include "util/late_library.h"

static struct {
	CURSES_CALLS(BALEEN_LATE_POINTER)
} lib;

static SCREEN *screen;

int top_screen_open(void)
{
	static const char *const names[] = { CURSES_CALLS(BALEEN_LATE_NAME) NULL };
	struct baleen_error error;

	if (baleen_late_load(BALEEN_LIBNCURSESW, names, &lib, &error))
		return complain("%s: use --batch, which needs none", error.text);
	screen = lib.newterm(NULL, stdout, stdin);
	if (!screen)
		return complain("this terminal is of an unknown kind: use --batch, or set TERM");
	lib.cbreak();
	lib.noecho();
	lib.nonl();
	lib.curs_set(0);
	lib.keypad(*lib.stdscr, TRUE);
	lib.nodelay(*lib.stdscr, TRUE);
	/* Keep the background of the terminal. */
	if (lib.has_colors() && lib.start_color() == OK && lib.use_default_colors() == OK) {
		lib.init_pair(TOP_TITLE, -1, -1);
		lib.init_pair(TOP_HEADER, -1, -1);
		lib.init_pair(TOP_WARNING, COLOR_RED, -1);
	}
	return 0;
}

void top_screen_close(void)
{
	if (!screen)
		return;
	lib.endwin();
	lib.delscreen(screen);
	screen = NULL;
}

static attr_t attributes(enum top_style style)
{
	switch (style) {
	case TOP_TITLE: return A_REVERSE;
	case TOP_HEADER: return A_BOLD;
	case TOP_WARNING: return A_BOLD | (lib.has_colors() ? lib.COLOR_PAIR(TOP_WARNING) : 0);
	default: return A_NORMAL;
	}
}

static void draw_line(int y, enum top_style style, const char *text)
{
	lib.attrset(attributes(style));
	lib.mvaddstr(y, 0, text);
	/* A title is a bar. */
	if (style == TOP_TITLE)
		while (lib.getcury(*lib.stdscr) == y && lib.getcurx(*lib.stdscr) < *lib.COLS - 1)
			lib.addch(' ');
	lib.attrset(A_NORMAL);
}

void top_screen_draw(const struct top_view *view, struct top_page *page)
{
	static const char keys[] = "q quit  p pause  s sort  c clear keys";

	page->width = *lib.COLS < 1 ? 1 : *lib.COLS > TOP_MAX_WIDTH ? TOP_MAX_WIDTH : *lib.COLS;
	page->height = *lib.LINES < 2 ? 1 : *lib.LINES - 1;
	top_layout(view, page);
	lib.erase();
	for (u32 i = 0; i < page->n && (int)i < *lib.LINES - 1; i++)
		draw_line(i, page->style[i], page->text[i]);
	lib.mvaddnstr(*lib.LINES - 1, 0, keys, *lib.COLS - 1);
	lib.refresh();
}

enum top_key top_screen_key(void)
{
	if (!isatty(STDIN_FILENO))
		return TOP_KEY_LOST;
	switch (lib.getch()) {
	case 'q':
	case 'Q': return TOP_KEY_QUIT;
	case 'p':
	case ' ': return TOP_KEY_PAUSE;
	case 's': return TOP_KEY_SORT;
	case 'c': return TOP_KEY_CLEAR;
	case KEY_RESIZE: return TOP_KEY_RESIZE;
	default: return TOP_KEY_NONE;
	}
}
