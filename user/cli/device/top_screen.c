// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen top: the full screen, by ncurses. */
#include <ncurses.h>
#include <unistd.h>

#include "cli/device/top.h"

static SCREEN *screen;

int top_screen_open(void)
{
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		complain("this terminal is of an unknown kind: use --batch, or set TERM");
		return EXIT_FAILED;
	}
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	/* Keep the background of the terminal. */
	if (has_colors() && start_color() == OK && use_default_colors() == OK) {
		init_pair(TOP_TITLE, -1, -1);
		init_pair(TOP_HEADER, -1, -1);
		init_pair(TOP_WARNING, COLOR_RED, -1);
	}
	return 0;
}

void top_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

static attr_t attributes(enum top_style style)
{
	switch (style) {
	case TOP_TITLE: return A_REVERSE;
	case TOP_HEADER: return A_BOLD;
	case TOP_WARNING: return A_BOLD | (has_colors() ? COLOR_PAIR(TOP_WARNING) : 0);
	default: return A_NORMAL;
	}
}

static void draw_line(int y, enum top_style style, const char *text)
{
	attrset(attributes(style));
	mvaddstr(y, 0, text);
	/* A title is a bar. */
	if (style == TOP_TITLE)
		while (getcury(stdscr) == y && getcurx(stdscr) < COLS - 1)
			addch(' ');
	attrset(A_NORMAL);
}

void top_screen_draw(const struct top_view *view, struct top_page *page)
{
	static const char keys[] = "q quit  p pause  s sort  c clear keys";

	page->width = COLS < 1 ? 1 : COLS > TOP_MAX_WIDTH ? TOP_MAX_WIDTH : COLS;
	page->height = LINES < 2 ? 1 : LINES - 1;
	top_layout(view, page);
	erase();
	for (u32 i = 0; i < page->n && (int)i < LINES - 1; i++)
		draw_line(i, page->style[i], page->text[i]);
	mvaddnstr(LINES - 1, 0, keys, COLS - 1);
	refresh();
}

enum top_key top_screen_key(void)
{
	if (!isatty(STDIN_FILENO))
		return TOP_KEY_LOST;
	switch (getch()) {
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
