// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nanoseconds per packet of Baleen and its peers, above a no-op program.
 *
 *      BPF_PROG_TEST_RUN, repeat -> drive.bpf.c: a fresh source
 *                                     -> tail call -> the program under test
 *
 * Sources are random addresses, made on the way for hosts, and out of an array
 * for prefixes, where it takes a search to know whether one is listed. Before a
 * program is timed it has to judge them all: drop all that are listed and none
 * of the others.
 */
#include <getopt.h>

#include "section_hosts.h"
#include "section_ip6.h"
#include "section_kinds.h"
#include "section_loads.h"
#include "section_options.h"
#include "section_prefixes.h"
#include "section_queues.h"
#include "section_rules.h"

/**
 * struct options - what to measure, how long
 * @effort: how long
 * @is_quick: two sizes of each list
 * @sections: names of those to measure; all when there are none
 * @n_sections: how many
 * @size: hosts, in place of the usual numbers; 0 for these
 */
struct options {
	struct effort effort;
	bool is_quick;
	const char *sections[8];
	u32 n_sections;
	u32 size;
};

static void run_section_hosts(const struct options *options)
{
	static const u32 sizes[] = { 10000, 100000, 1000000, 4000000, 32000000 };
	static const u32 quick[] = { 10000, 1000000 };
	const u32 *ip4 = options->size ? &options->size : options->is_quick ? quick : sizes;
	const u32 *ip6 = options->size ? &options->size : &sizes[2];

	run_hosts(&options->effort, false, ip4, options->size ? 1 : options->is_quick ? 2 : 5);
	run_hosts(&options->effort, true, ip6, 1);
}

static const u32 prefix_sizes[] = { 1000, 100000, 1000000 };

static void run_section_prefixes(const struct options *options)
{
	run_prefixes(&options->effort, prefix_sizes, options->is_quick ? 2 : 3);
}

static void run_section_ip6(const struct options *options)
{
	run_ip6(&options->effort, prefix_sizes, options->is_quick ? 2 : 3);
	for (u32 i = 0; i < (options->is_quick ? 2 : 3); i++) {
		run_lengths(&options->effort, prefix_sizes[i]);
		run_deepest(&options->effort, prefix_sizes[i]);
	}
}

static void run_section_rules(const struct options *options)
{
	run_rules(&options->effort);
}

static void run_section_loads(const struct options *options)
{
	run_loads(&options->effort);
}

static void run_section_queues(const struct options *options)
{
	run_two_queues(&options->effort);
}

static void run_section_options(const struct options *options)
{
	run_options(&options->effort);
}

static void run_section_kinds(const struct options *options)
{
	run_kinds(&options->effort);
}

static const struct {
	const char *name;
	void (*run)(const struct options *options);
} sections[] = {
	{ "hosts", run_section_hosts },	    { "prefixes", run_section_prefixes },
	{ "ip6", run_section_ip6 },	    { "rules", run_section_rules },
	{ "options", run_section_options }, { "kinds", run_section_kinds },
	{ "queues", run_section_queues },   { "loads", run_section_loads },
};

#define N_SECTIONS (sizeof(sections) / sizeof(*sections))

static bool is_asked(const struct options *options, const char *name)
{
	for (u32 i = 0; i < options->n_sections; i++)
		if (!strcmp(options->sections[i], name))
			return true;
	return !options->n_sections;
}

static void print_machine_and_effort(const struct effort *effort, int cpu)
{
	printf("ns per packet above a no-op program, one core, a new source per packet\n");
	print_machine(cpu);
	printf("median (quartiles) of %u interleaved rounds of %u packets after each of %u loads\n",
	       effort->rounds, effort->packets, effort->loads);
	fflush(stdout);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: bench_xdp [--quick] [--section hosts|prefixes|ip6|rules|options|kinds|queues|loads]\n"
		"                 ... [--loads N] [--rounds N] [--packets N] [--size HOSTS]\n");
	exit(2);
}

static void add_section(struct options *options, const char *name)
{
	bool is_known = false;

	for (u32 i = 0; i < N_SECTIONS; i++)
		is_known |= !strcmp(sections[i].name, name);
	if (!is_known || options->n_sections == N_SECTIONS)
		usage();
	options->sections[options->n_sections++] = name;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "section", required_argument, NULL, 'S' },
		{ "loads", required_argument, NULL, 'l' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "packets", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{},
	};
	struct effort *effort = &options->effort;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'q':
			options->is_quick = true;
			effort->rounds = 3;
			effort->loads = 1;
			effort->packets = 300000;
			break;
		case 'S': add_section(options, optarg); break;
		case 'l': effort->loads = strtoul(optarg, NULL, 10); break;
		case 'r': effort->rounds = strtoul(optarg, NULL, 10); break;
		case 'p': effort->packets = strtoul(optarg, NULL, 10); break;
		case 's': options->size = strtoul(optarg, NULL, 10); break;
		default: usage();
		}
	}
	if (optind != argc || !effort->rounds || !effort->loads || !effort->packets ||
	    (u64)effort->rounds * effort->loads > MAX_ROUNDS)
		usage();
}

int main(int argc, char **argv)
{
	static struct options options = {
		.effort = { .loads = 3, .rounds = 5, .packets = 500000 },
	};

	parse_options(argc, argv, &options);
	print_machine_and_effort(&options.effort, pin_to_cpu());
	for (u32 i = 0; i < N_SECTIONS; i++)
		if (is_asked(&options, sections[i].name))
			sections[i].run(&options);
	return 0;
}
