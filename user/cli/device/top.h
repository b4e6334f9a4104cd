/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of the live view, and the ways to show it.
 */
#ifndef BALEEN_CLI_TOP_H
#define BALEEN_CLI_TOP_H

#include "cli/common/cli.h"
#include "util/top_k.h"
#include "xdp/rates.h"
#include "xdp/watcher.h"

enum top_sort {
	TOP_SORT_ORDER,
	TOP_SORT_PACKETS,
	TOP_SORT_BYTES,
	TOP_N_SORTS,
};

/**
 * enum top_reader - who reads the events
 * @TOP_READER_NONE: there are none: nothing is sampled
 * @TOP_READER_US: this view
 * @TOP_READER_OTHER: somebody else
 */
enum top_reader {
	TOP_READER_NONE,
	TOP_READER_US,
	TOP_READER_OTHER,
};

/**
 * struct top_view - what is shown
 * @rates: rates of the device
 * @top_k: keys of the sampled events; empty when they are not ours
 * @reader: the process that reads the events
 * @watcher: @reader is this, if its pid is known
 * @sort: order of the rules
 * @interval_ms: between two looks
 * @is_paused: no look is taken
 * @utf8: blocks may be drawn
 */
struct top_view {
	struct baleen_rates rates;
	struct baleen_top_k top_k;
	enum top_reader reader;
	struct baleen_watcher watcher;
	enum top_sort sort;
	u64 interval_ms;
	bool is_paused;
	bool utf8;
};

/* The rules as they are to be shown: their numbers. */
void top_order(const struct top_view *view, u32 order[BALEEN_MAX_RULES]);

/* The rule of a slot, or what stands for none; valid as @rates. */
const char *top_slot_name(const struct baleen_rates *rates, u32 slot);

/* --- a page ---------------------------------------------------------------- */

#define TOP_MAX_LINES 128
#define TOP_MAX_WIDTH 250
#define TOP_LINE_BYTES (TOP_MAX_WIDTH * 4)

enum top_style {
	TOP_PLAIN,
	TOP_TITLE,
	TOP_HEADER,
	TOP_WARNING,
};

/**
 * struct top_page - a view as lines of text
 * @width: columns
 * @height: lines that there is room for
 * @n: lines
 * @style: style of each
 * @text: no wider than @width
 */
struct top_page {
	u32 width;
	u32 height;
	u32 n;
	enum top_style style[TOP_MAX_LINES];
	char text[TOP_MAX_LINES][TOP_LINE_BYTES];
};

/* Fills in the lines of a page whose width and height are set. */
void top_layout(const struct top_view *view, struct top_page *page);

/* The view as one line of JSON on stdout. */
void top_print_json(const struct top_view *view);

/* --- the screen ------------------------------------------------------------ */

/* Takes the terminal; 0, or EXIT_FAILED after a message. */
int top_screen_open(void);

/* Gives it back as it was; harmless without a screen. */
void top_screen_close(void);

void top_screen_draw(const struct top_view *view, struct top_page *page);

/**
 * enum top_key - what was pressed
 */
enum top_key {
	TOP_KEY_NONE,
	TOP_KEY_QUIT,
	TOP_KEY_PAUSE,
	TOP_KEY_SORT,
	TOP_KEY_CLEAR,
	TOP_KEY_RESIZE,
	TOP_KEY_LOST, /* the terminal is gone */
};

/* The next key, without waiting. */
enum top_key top_screen_key(void);

/* Prints which feeds and entries caused the sampled drops; returns an exit code. */
int top_show_feeds(const char *device, bool json);

#endif /* BALEEN_CLI_TOP_H */
