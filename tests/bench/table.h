/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of bench-xdp.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "measure.h"

#define NAME_WIDTH 44
#define CELL_WIDTH 19

static void print_head(const struct section *section, const char *what)
{
	char title[128];

	snprintf(title, sizeof(title), "%s, %s", section->title, what);
	printf("\n%-*s", NAME_WIDTH, title);
	for (u32 i = 0; i < section->n_columns; i++)
		printf(" %*s", CELL_WIDTH - 1, section->column[i].name);
	printf("\n");
}

/* A cell of its own for each column: -1 for none. */
typedef double figure_fn(const struct section *section, const struct column *column, u32 mix,
			 u32 row);

static void print_figures(const struct section *section, const char *name, u32 mix, u32 row,
			  figure_fn *figure, u32 decimals)
{
	printf("  %-*s", NAME_WIDTH - 2, name);
	for (u32 i = 0; i < section->n_columns; i++) {
		const struct column *column = &section->column[i];

		if (column->is_missing || figure(section, column, mix, row) < 0)
			printf(" %*s", CELL_WIDTH - 1, "-");
		else
			printf(" %*.*f", CELL_WIDTH - 1, decimals,
			       figure(section, column, mix, row));
	}
	printf("\n");
}

static double figure_ratio(const struct section *section, const struct column *column, u32 mix,
			   u32 row)
{
	const struct ratio *ratio = &section->ratio[row];

	if (!column->has[ratio->dividend] || !column->has[ratio->divisor])
		return -1;
	return column->cell[mix][ratio->dividend].median / column->cell[mix][ratio->divisor].median;
}

static double figure_share(const struct section *section, const struct column *column, u32 mix,
			   u32 row)
{
	return 100 * column->share[mix];
}

static double figure_memory(const struct section *section, const struct column *column, u32 mix,
			    u32 row)
{
	return column->has[row] ? column->bytes[row] / 1024. : -1;
}

static void print_row(const struct section *section, u32 mix, u32 row)
{
	printf("%-*s", NAME_WIDTH, section->row[row]);
	for (u32 i = 0; i < section->n_columns; i++) {
		const struct column *column = &section->column[i];
		const struct spread *cell = &column->cell[mix][row];
		int decimals = cell->high < 100;
		char text[64] = "-";

		if (!column->is_missing && column->has[row])
			snprintf(text, sizeof(text), "%.*f (%.*f-%.*f)", decimals, cell->median,
				 decimals, cell->low, decimals, cell->high);
		printf(" %*s", CELL_WIDTH - 1, text);
	}
	printf("\n");
}

static void print_mix(const struct section *section, u32 mix)
{
	print_head(section, section->mix[mix]);
	for (u32 row = 0; row < section->n_rows; row++)
		print_row(section, mix, row);
	print_figures(section, "packets listed, per cent", mix, 0, figure_share, 1);
	for (u32 i = 0; i < section->n_ratios; i++) {
		char name[128];

		snprintf(name, sizeof(name), "%s / %s", section->row[section->ratio[i].dividend],
			 section->row[section->ratio[i].divisor]);
		print_figures(section, name, mix, i, figure_ratio, 1);
	}
}

/* Rows without any are left out. */
static void print_memory(const struct section *section)
{
	print_head(section, "memory in KiB");
	for (u32 row = 0; row < section->n_rows; row++) {
		u64 bytes = 0;

		for (u32 i = 0; i < section->n_columns; i++)
			bytes += section->column[i].bytes[row];
		if (bytes)
			print_figures(section, section->row[row], 0, row, figure_memory, 0);
	}
}

/* Sizes as people write them. */
static void name_of_size(u32 n, char name[24])
{
	if (n % 1000000)
		snprintf(name, 24, "%u k", n / 1000);
	else
		snprintf(name, 24, "%u M", n / 1000000);
}

/**
 * section_run() - measure and print a section
 * @section: what
 * @effort: how much
 */
static void section_run(struct section *section, const struct effort *effort)
{
	for (u32 i = 0; i < section->n_columns; i++)
		column_run(section, effort, &section->column[i]);
	if (!section->n_rows)
		return;
	for (u32 mix = 0; mix < section->n_mixes; mix++)
		print_mix(section, mix);
	print_memory(section);
	fflush(stdout);
}

#endif /* BENCH_TABLE_H */
