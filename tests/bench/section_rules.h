/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several rules: does another one cost more than its own probe?
 */
#ifndef BENCH_SECTION_RULES_H
#define BENCH_SECTION_RULES_H

#include "table.h"

#define RULE_HOSTS 100000

/* The rows that are compared, as load_rules() and peers_add() make them. */
enum {
	RULES_EACH = 1,
	RULES_ONE = 3,
	RULES_PARSE = 4,
};

static void load_rules(struct bench *bench, struct column *column)
{
	struct baleen_filter filter[BALEEN_MAX_RULES], whole;
	struct bench_rule rule[BALEEN_MAX_RULES];
	struct peers peers = {};

	bench->n_listed = column->n;
	for (u32 i = 0; i < column->n_rules; i++) {
		filter_of_hosts(column->is_ip6, i * RULE_HOSTS, RULE_HOSTS, BALEEN_KIND_CUCKOO,
				&filter[i]);
		rule[i] = (struct bench_rule){ BALEEN_ACTION_DROP, NULL, &filter[i] };
	}
	bench_add_rules(bench, "Baleen, rules of 100 k hosts each", NULL, rule, column->n_rules);
	bench->one_by_one = true;
	bench_add_rules(bench, "  asked one by one", NULL, rule, column->n_rules);
	filter_of_hosts(column->is_ip6, 0, column->n, BALEEN_KIND_CUCKOO, &whole);
	bench_add_drop(bench, "Baleen, one rule of all these hosts", &whole);
	peers.n_floor_blocks = whole.image.n_blocks;
	peers_add(bench, &peers);
	baleen_filter_free(&whole);
	for (u32 i = 0; i < column->n_rules; i++)
		baleen_filter_free(&filter[i]);
}

static double above(const struct column *column, u32 row, u32 less)
{
	return column->cell[0][row].median - column->cell[0][less].median;
}

static double figure_probe(const struct section *section, const struct column *column, u32 mix,
			   u32 row)
{
	return above(column, RULES_ONE, RULES_PARSE);
}

static double figure_further(const struct section *section, const struct column *column, u32 mix,
			     u32 row)
{
	double one = section->column[0].cell[0][RULES_EACH].median;

	if (column->n_rules == 1)
		return -1;
	return (column->cell[0][RULES_EACH].median - one) / (column->n_rules - 1);
}

static void run_rules_of(const struct effort *effort, bool is_ip6)
{
	static const u32 n_rules[] = { 1, 2, 4, 16 };
	static struct section section;

	section = (struct section){
		.title = is_ip6 ? "IPv6, several rules" : "IPv4, several rules",
		.load = load_rules,
		.n_mixes = 1,
		.mix = { "none listed" },
		.n_columns = sizeof(n_rules) / sizeof(n_rules[0]),
	};
	for (u32 i = 0; i < section.n_columns; i++) {
		struct column *column = &section.column[i];

		*column = (struct column){ .is_ip6 = is_ip6,
					   .n = n_rules[i] * RULE_HOSTS,
					   .n_rules = n_rules[i] };
		snprintf(column->name, sizeof(column->name), "%u rule%s", n_rules[i], i ? "s" : "");
	}
	section_run(&section, effort);
	printf("\n%s, in ns\n", section.title);
	print_figures(&section, "one probe of so many hosts", 0, 0, figure_probe, 1);
	print_figures(&section, "each rule after the first", 0, 0, figure_further, 1);
	fflush(stdout);
}

static void run_rules(const struct effort *effort)
{
	run_rules_of(effort, false);
	run_rules_of(effort, true);
}

#endif /* BENCH_SECTION_RULES_H */
