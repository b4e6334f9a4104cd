// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A table of a filter, drawn for a terminal. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/describe.h"
#include "cli/file/show.h"
#include "util/number.h"

/* Columns of the longest bar of a histogram. */
#define BAR_WIDTH 40

static bool is_coloured(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") && !getenv("NO_COLOR");
}

static bool is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* --- summary --------------------------------------------------------------- */

static void print_bars(const struct picture *picture, const struct baleen_view_summary *summary)
{
	char name[BALEEN_VIEW_NAME], count[NUMBER_TEXT];
	u64 longest = 1;

	for (u32 i = 0; i < summary->n_bars; i++)
		if (summary->bar[i] > longest)
			longest = summary->bar[i];
	for (u32 i = 0; i < summary->n_bars; i++) {
		u32 width = (summary->bar[i] * BAR_WIDTH + longest - 1) / longest;

		if (!summary->bar[i])
			continue;
		say("    %10s %14s  ",
		    baleen_view_bar_name(picture_table(picture), picture->domain, i, name),
		    format_count(summary->bar[i], count));
		while (width--)
			putchar('#');
		putchar('\n');
	}
}

static const char *bars_title(const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC: return "blocks of 512 bits by bits set";
	case BALEEN_KIND_COUNTING: return "counters by value; 15 is stuck";
	case BALEEN_KIND_QUOTIENT: return "runs by length";
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: return "buckets by the length of their chains";
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: return "groups by state";
	default: return "buckets by slots in use";
	}
}

static const char *places_text(const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC: return "%s bits, set: %s";
	case BALEEN_KIND_COUNTING: return "%s counters, above zero: %s";
	case BALEEN_KIND_QUOTIENT: return "%s slots, in use: %s";
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: return "%s groups, not empty: %s";
	case BALEEN_KIND_ENTRIES: return "entries: %s";
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: return "%s buckets, entries: %s";
	default: return "%s buckets, slots in use: %s";
	}
}

static void print_summary(const struct picture *picture)
{
	const struct baleen_table *table = picture_table(picture);
	struct baleen_view_summary summary;
	char count[NUMBER_TEXT], n_used[NUMBER_TEXT];

	baleen_view_summarise(picture->filter, picture->domain, &summary);
	say("%s %s: ", describe_family(picture->domain), baleen_kind_name(table->kind));
	say(places_text(table), format_count(summary.n_places, count),
	    format_count(summary.n_used, n_used));
	if (summary.n_runs) {
		say("; %s %s", format_count(summary.n_runs, count),
		    baleen_plural(summary.n_runs, "run", "runs"));
		say(" in %s %s, the longest %llu and %llu", format_count(summary.n_clusters, count),
		    baleen_plural(summary.n_clusters, "cluster", "clusters"),
		    (unsigned long long)summary.longest_run,
		    (unsigned long long)summary.longest_cluster);
	}
	putchar('\n');
	if (summary.n_bars && summary.n_used) {
		say("  %s:\n", bars_title(table));
		print_bars(picture, &summary);
	}
}

/* --- rows ------------------------------------------------------------------ */

struct style {
	bool coloured;
	bool utf8;
};

static void print_cell(const struct style *style, const struct picture_cell *cell, u32 width)
{
	static const char *const colour[] = { [PAINT_EMPTY] = "2",
					      [PAINT_USED] = "1",
					      [PAINT_MOVED] = "33",
					      [PAINT_STUCK] = "31;1" };

	if (style->coloured)
		say("\033[%s%sm%*s\033[0m", colour[cell->paint], cell->mark ? ";7" : "", (int)width,
		    cell->text);
	else
		say("%*s", (int)width, cell->text);
}

static const char *bracket_text(const struct style *style, u32 bracket)
{
	switch (bracket) {
	case 0: return " ";
	case BRACKET_BEGINS | BRACKET_GOES_ON | BRACKET_ENDS: return "[";
	case BRACKET_BEGINS | BRACKET_GOES_ON: return style->utf8 ? "\u250c" : "/";
	case BRACKET_GOES_ON | BRACKET_ENDS: return style->utf8 ? "\u2514" : "\\";
	default: return style->utf8 ? "\u2502" : "|";
	}
}

/* Between which cells a blank stands. */
static bool has_gap(const struct picture_row *row, u32 i)
{
	return i && (row->width > 1 || row->n <= 4 || i % 8 == 0);
}

/* The letters of keys, below the places where they are looked up. */
static void print_marks(const struct picture_row *row)
{
	u32 last = 0;

	for (u32 i = 0; i < row->n; i++)
		if (row->cell[i].mark)
			last = i + 1;
	if (!last)
		return;
	say("%14s", "");
	for (u32 i = 0; i < last; i++) {
		say("%s%*c", has_gap(row, i) ? " " : "", (int)picture_cell_width(row, i),
		    row->cell[i].mark ? row->cell[i].mark : ' ');
	}
	putchar('\n');
}

static void print_row(const struct picture *picture, const struct style *style, u64 n)
{
	struct picture_row row;

	picture_make_row(picture, n, &row);
	say("%12llu %s", (unsigned long long)row.place, bracket_text(style, row.bracket));
	for (u32 i = 0; i < row.n; i++) {
		if (has_gap(&row, i))
			putchar(' ');
		print_cell(style, &row.cell[i], picture_cell_width(&row, i));
	}
	say("%s%s\n", row.note[0] ? "  " : "", row.note);
	print_marks(&row);
}

static void print_rows(const struct picture *picture)
{
	const struct style style = { .coloured = is_coloured(), .utf8 = is_utf8() };
	u64 n_rows = picture_rows(picture);
	bool is_cut = false, any = false;

	for (u64 n = 0; n < n_rows && !ferror(stdout); n++) {
		if (!picture_has_row(picture, n)) {
			is_cut = true;
			continue;
		}
		if (!any && picture_table(picture)->kind == BALEEN_KIND_QUOTIENT)
			puts("        slot  o c s  remainder");
		if (is_cut && any && !picture->is_ranged)
			puts("         ...");
		print_row(picture, &style, n);
		is_cut = false;
		any = true;
	}
}

void show_text(const struct picture *picture)
{
	print_summary(picture);
	print_rows(picture);
}

void show_text_keys(const struct picture *picture)
{
	char text[2048];

	for (u32 i = 0; i < picture->n_keys; i++) {
		const struct picture_key *key = &picture->keys[i];

		if (key->is_asked)
			say("  %c = %s: %s\n", key->letter, key->text,
			    picture_describe_key(picture, key, text, sizeof(text)));
	}
}
