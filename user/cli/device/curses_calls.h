/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions and variables of ncurses that are used; see util/late_library.h. */
#ifndef BALEEN_CLI_CURSES_CALLS_H
#define BALEEN_CLI_CURSES_CALLS_H

/* Functions, not macros that call others. */
#define NCURSES_NOMACROS
#include <ncurses.h>

#define CURSES_CALLS(CALL)       \
	CALL(newterm)            \
	CALL(endwin)             \
	CALL(delscreen)          \
	CALL(cbreak)             \
	CALL(noecho)             \
	CALL(nonl)               \
	CALL(curs_set)           \
	CALL(keypad)             \
	CALL(nodelay)            \
	CALL(has_colors)         \
	CALL(start_color)        \
	CALL(use_default_colors) \
	CALL(init_pair)          \
	CALL(COLOR_PAIR)         \
	CALL(attrset)            \
	CALL(mvaddstr)           \
	CALL(mvaddnstr)          \
	CALL(addch)              \
	CALL(getcurx)            \
	CALL(getcury)            \
	CALL(erase)              \
	CALL(refresh)            \
	CALL(getch)              \
	CALL(stdscr)             \
	CALL(COLS)               \
	CALL(LINES)

#endif /* BALEEN_CLI_CURSES_CALLS_H */
