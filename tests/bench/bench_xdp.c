// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nanoseconds per packet of Baleen and its peers, above a no-op program.
 *
 *      BPF_PROG_TEST_RUN, repeat -> drive.bpf.c: a fresh random source
 *                                     -> tail call -> the program under test
 *
 * All programs get the same packets, one program after the other, again and
 * again; what is printed is the median and the quartiles over these rounds
 * of the difference to the no-op program in the same round.
 */
#include <getopt.h>
#include <sched.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "subjects.h"

#define MAX_ROUNDS 101
#define MAX_SIZES 5
#define WARM_PACKETS 500000
#define SHARE_ONE (1ull << 32)

/**
 * struct cell - one number of a table with its noise, in ns per packet
 * @low: lower quartile
 * @median: median
 * @high: upper quartile
 */
struct cell {
	double low;
	double median;
	double high;
};

/* What one size measured, for one mix. */
struct column {
	struct cell cell[N_SUBJECTS];
};

/* All rounds of one size and one mix, over all loads. */
struct samples {
	u32 n;
	double of[N_SUBJECTS][MAX_ROUNDS];
};

struct options {
	u32 loads;
	u32 rounds;
	u32 packets;
	u32 n_sizes;
	u32 sizes[MAX_SIZES];
};

/* --- measuring ----------------------------------------------------------- */

static u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void drive(const struct bench *bench, u32 packets)
{
	const struct drive_bpf *skel = bench->drive;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = bench->is_ip6 ? frame_ip6 : frame_ip4,
		    .data_size_in = sizeof(frame_ip4), .repeat = packets, );
	int fd = bpf_program__fd(bench->is_ip6 ? skel->progs.drive_ip6 : skel->progs.drive_ip4);

	if (bpf_prog_test_run_opts(fd, &opts))
		err(1, "BPF_PROG_TEST_RUN");
	if (opts.retval != XDP_PASS && opts.retval != XDP_DROP)
		errx(1, "the program under test was not reached");
}

static u64 n_dropped(const struct subject *subject)
{
	struct baleen_stats stats[libbpf_num_possible_cpus()];
	u64 dropped = 0;
	u32 zero = 0;

	if (bpf_map_lookup_elem(subject->stats_fd, &zero, stats))
		err(1, "reading the counters");
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++)
		dropped += stats[cpu].rule[0].packets;
	return dropped;
}

/* A program that answers wrongly is not worth timing. */
static void check_dropped(enum subject_id id, u64 dropped, u32 packets, u64 share)
{
	double got = (double)dropped / packets, want = (double)share / SHARE_ONE;
	bool is_exact = id == SUBJECT_CUCKOO || id == SUBJECT_KERNEL_HASH;

	if (id == SUBJECT_PARSE)
		want = 0;
	/* 3 % is what the BPF Bloom map errs, 1 % far beyond chance. */
	if ((is_exact && !share && dropped) || got < want - .01 || got > want + .04)
		errx(1, "%s: dropped %.4f of the packets instead of %.4f", subject_name[id], got,
		     want);
}

static double measure(const struct bench *bench, enum subject_id id, u64 share, u32 round,
		      u32 packets)
{
	const struct subject *subject = &bench->subject[id];
	u32 zero = 0;
	u64 before = 0, began, ended;

	if (bpf_map_update_elem(bpf_map__fd(bench->drive->maps.bench_target), &zero,
				&subject->prog_fd, BPF_ANY))
		err(1, "choosing the program");
	bench->drive->bss->listed_share = share;
	bench->drive->bss->random_state = baleen_mix64(round + 1);
	drive(bench, WARM_PACKETS);
	if (subject->stats_fd >= 0)
		before = n_dropped(subject);
	began = cpu_ns();
	drive(bench, packets);
	ended = cpu_ns();
	if (subject->stats_fd >= 0)
		check_dropped(id, n_dropped(subject) - before, packets, share);
	return (double)(ended - began) / packets;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct cell quartiles(double *samples, u32 n)
{
	qsort(samples, n, sizeof(*samples), compare_double);
	return (struct cell){ samples[n / 4], samples[n / 2], samples[n - 1 - n / 4] };
}

/* Appends the rounds of one load to those of the loads before. */
static void run_rounds(const struct bench *bench, const struct options *options, u64 share,
		       struct samples *samples)
{
	fill_floor(bench, share);
	for (u32 round = 0; round < options->rounds; round++) {
		u32 n = samples->n++;

		for (int id = 0; id < N_SUBJECTS; id++) {
			samples->of[id][n] = measure(bench, id, share, n, options->packets);
			if (id != SUBJECT_NOOP)
				samples->of[id][n] -= samples->of[SUBJECT_NOOP][n];
		}
	}
}

static struct column column_of(struct samples *samples)
{
	struct column column;

	for (int id = 0; id < N_SUBJECTS; id++)
		column.cell[id] = quartiles(samples->of[id], samples->n);
	return column;
}

/* Where a program and its maps come to lie moves a figure by up to 2 ns, so
 * all is loaded anew for some of the rounds; not at the largest size, where
 * filling the peers takes half a minute and the figure is ten times that.
 */
static void run_size(const struct options *options, struct bench *bench, struct column *none,
		     struct column *half, u64 bytes[N_SUBJECTS])
{
	static struct samples samples[2];
	u32 loads = bench->n > 10000000 ? 1 : options->loads;

	samples[0].n = samples[1].n = 0;
	for (u32 load = 0; load < loads; load++) {
		bench_load(bench);
		run_rounds(bench, options, 0, &samples[0]);
		run_rounds(bench, options, SHARE_ONE / 2, &samples[1]);
		for (int id = 0; id < N_SUBJECTS; id++)
			bytes[id] = bench->subject[id].map_bytes;
		bench_unload(bench);
	}
	*none = column_of(&samples[0]);
	*half = column_of(&samples[1]);
}

/* --- printing ------------------------------------------------------------ */

static const char *size_text(u32 n, char text[16])
{
	if (n % 1000000)
		snprintf(text, 16, "%u k", n / 1000);
	else
		snprintf(text, 16, "%u M", n / 1000000);
	return text;
}

static void print_head(const char *title, const u32 *sizes, u32 n_sizes)
{
	char text[16];

	printf("\n%-27s", title);
	for (u32 i = 0; i < n_sizes; i++)
		printf("%20s", size_text(sizes[i], text));
	printf("\n");
}

static void print_ratio(const char *name, const struct column *columns, u32 n, enum subject_id id)
{
	printf("  %-25s", name);
	for (u32 i = 0; i < n; i++)
		printf("%20.1f",
		       columns[i].cell[id].median / columns[i].cell[SUBJECT_CUCKOO].median);
	printf("\n");
}

static void print_columns(const struct column *columns, u32 n)
{
	for (int id = 0; id < N_SUBJECTS; id++) {
		printf("%-27s", subject_name[id]);
		for (u32 i = 0; i < n; i++) {
			const struct cell *cell = &columns[i].cell[id];
			char text[64];

			snprintf(text, sizeof(text), "%.1f (%.1f-%.1f)", cell->median, cell->low,
				 cell->high);
			printf("%20s", text);
		}
		printf("\n");
	}
	printf("  %-25s", "cuckoo above the floor");
	for (u32 i = 0; i < n; i++)
		printf("%20.1f", columns[i].cell[SUBJECT_CUCKOO].median -
					 columns[i].cell[SUBJECT_FLOOR].median);
	printf("\n");
	print_ratio("BPF hash map / cuckoo", columns, n, SUBJECT_KERNEL_HASH);
	print_ratio("BPF Bloom map / cuckoo", columns, n, SUBJECT_KERNEL_BLOOM);
}

static void print_memory(u64 bytes[][N_SUBJECTS], u32 n)
{
	for (int id = SUBJECT_FLOOR; id < N_SUBJECTS; id++) {
		printf("%-27s", subject_name[id]);
		for (u32 i = 0; i < n; i++)
			printf("%20.0f", bytes[i][id] / 1024.);
		printf("\n");
	}
}

/* --- the whole ----------------------------------------------------------- */

static void run_family(const struct options *options, bool is_ip6, const u32 *sizes, u32 n_sizes)
{
	struct column none[MAX_SIZES], half[MAX_SIZES];
	u64 bytes[MAX_SIZES][N_SUBJECTS];
	const char *family = is_ip6 ? "IPv6" : "IPv4";
	char title[64];

	for (u32 i = 0; i < n_sizes; i++) {
		struct bench bench = { .is_ip6 = is_ip6, .n = sizes[i] };

		fprintf(stderr, "%s, %u entries ...\n", family, sizes[i]);
		run_size(options, &bench, &none[i], &half[i], bytes[i]);
	}
	snprintf(title, sizeof(title), "%s, no packet listed", family);
	print_head(title, sizes, n_sizes);
	print_columns(none, n_sizes);
	snprintf(title, sizeof(title), "%s, half of them listed", family);
	print_head(title, sizes, n_sizes);
	print_columns(half, n_sizes);
	snprintf(title, sizeof(title), "%s, memory in KiB", family);
	print_head(title, sizes, n_sizes);
	print_memory(bytes, n_sizes);
	fflush(stdout);
}

static void read_line(const char *path, const char *prefix, char *out, size_t n_out)
{
	FILE *file = fopen(path, "r");
	char line[256];

	snprintf(out, n_out, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = line + strlen(prefix);

		if (strncmp(line, prefix, strlen(prefix)))
			continue;
		value += strspn(value, "\t :");
		snprintf(out, n_out, "%.*s", (int)strcspn(value, "\n"), value);
		break;
	}
	if (file)
		fclose(file);
}

static void print_machine(const struct options *options, int cpu)
{
	char model[128], cache[128], jit[16];
	struct utsname uts;

	uname(&uts);
	read_line("/proc/cpuinfo", "model name", model, sizeof(model));
	read_line("/sys/devices/system/cpu/cpu0/cache/index3/size", "", cache, sizeof(cache));
	read_line("/proc/sys/net/core/bpf_jit_enable", "", jit, sizeof(jit));
	printf("ns per packet above a no-op program, one core, a new random source per packet\n");
	printf("kernel %s, %s, L3 %s, CPU %d, JIT %s\n", uts.release, model, cache, cpu,
	       strcmp(jit, "0") ? "on" : "OFF");
	printf("median (quartiles) of %u interleaved rounds of %u packets after each of %u loads\n",
	       options->rounds, options->packets, options->loads);
	fflush(stdout);
}

/* The last CPU: interrupts tend to be on the first. */
static int pin_to_cpu(void)
{
	int cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "CPU %d", cpu);
	return cpu;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: bench_xdp [--quick] [--loads N] [--rounds N] [--packets N] [--size N]\n");
	exit(2);
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "loads", required_argument, NULL, 'l' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "packets", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'q':
			options->rounds = 3;
			options->loads = 1;
			options->n_sizes = 2;
			options->sizes[0] = 10000;
			options->sizes[1] = 1000000;
			break;
		case 'l': options->loads = strtoul(optarg, NULL, 10); break;
		case 'r': options->rounds = strtoul(optarg, NULL, 10); break;
		case 'p': options->packets = strtoul(optarg, NULL, 10); break;
		case 's':
			options->n_sizes = 1;
			options->sizes[0] = strtoul(optarg, NULL, 10);
			break;
		default: usage();
		}
	}
	if (optind != argc || !options->rounds || !options->loads ||
	    (u64)options->rounds * options->loads > MAX_ROUNDS || !options->packets ||
	    !options->sizes[0])
		usage();
}

int main(int argc, char **argv)
{
	struct options options = {
		.loads = 3,
		.rounds = 5,
		.packets = 1000000,
		.n_sizes = MAX_SIZES,
		.sizes = { 10000, 100000, 1000000, 4000000, 32000000 },
	};
	const u32 ip6_size = 1000000;

	parse_options(argc, argv, &options);
	print_machine(&options, pin_to_cpu());
	run_family(&options, false, options.sizes, options.n_sizes);
	run_family(&options, true, &ip6_size, 1);
	return 0;
}
