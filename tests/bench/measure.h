/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Driving packets through programs: are they right, and how long does it take?
 *
 * All programs get the same packets, one program after the other, again and
 * again; what is kept is the difference to the no-op program of the same round.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <time.h>

#include "peers.h"
#include "pool.h"
#include "report.h"
#include "util/clock.h"

#define MAX_ROUNDS 101
#define MAX_MIXES 3
#define MAX_COLUMNS 5
#define MAX_RATIOS 4
#define WARM_PACKETS 200000
#define CHECK_PACKETS BENCH_POOL
#define SHARE_ONE (1ull << 32)
/* Where the time to load it is longer than that to measure it, and a figure is
 * far above what a load changes.
 */
#define MANY_ENTRIES 10000000

/* How much is measured. */
struct effort {
	u32 loads;
	u32 rounds;
	u32 packets;
};

/**
 * struct column - one list, and what was measured with it
 * @name: what is printed
 * @is_ip6: family of the packets
 * @n: entries
 * @nets: they are these prefixes; else hosts by index
 * @n_rules: rules that share them out
 * @pool: sources of each mix; NULL for sources by index
 * @share: of the mix's sources that are listed; filled in where there is a pool
 * @is_missing: nothing could be loaded, so there are no figures
 * @group_bits: of the directory that Baleen has chosen; filled in
 * @has: there are figures of this subject
 * @bytes: memory of each subject
 * @cell: figures in ns per packet, by mix and subject
 */
struct column {
	char name[24];
	bool is_ip6;
	u32 n;
	struct nets *nets;
	u32 n_rules;
	struct pool *pool[MAX_MIXES];
	double share[MAX_MIXES];
	bool is_missing;
	u32 group_bits;
	bool has[MAX_SUBJECTS];
	u64 bytes[MAX_SUBJECTS];
	struct spread cell[MAX_MIXES][MAX_SUBJECTS];
};

/* How many times the one the other is. */
struct ratio {
	u32 dividend;
	u32 divisor;
};

/**
 * struct section - a table for each mix of packets, a column for each list
 * @title: what is printed above
 * @load: loads the subjects for a column; the same in the same order for all
 * @n_mixes: how many
 * @mix: their names
 * @n_columns: how many
 * @column: the lists
 * @n_ratios: how many
 * @ratio: printed below the figures
 * @n_rows: how many; filled in with the first column
 * @row: names of the subjects
 */
struct section {
	const char *title;
	void (*load)(struct bench *bench, struct column *column);
	u32 n_mixes;
	const char *mix[MAX_MIXES];
	u32 n_columns;
	struct column column[MAX_COLUMNS];
	u32 n_ratios;
	struct ratio ratio[MAX_RATIOS];
	u32 n_rows;
	const char *row[MAX_SUBJECTS];
};

/* All rounds of one column, over all loads. */
struct samples {
	u32 n;
	double of[MAX_SUBJECTS][MAX_ROUNDS];
};

#define FRAME_BYTES 80
#define FRAME_VLAN 100
#define FRAME_SPORT 1024
#define FRAME_DPORT 443
#define FRAME_DST4 0xc0000201u
#define FRAME_DST6_HI 0x20010db8ffff0000ull
#define FRAME_DST6_LO 1ull

/* --- frames --------------------------------------------------------------- */

static u8 *put(u8 *at, u64 number, u32 n_bytes)
{
	while (n_bytes--)
		*at++ = number >> (8 * n_bytes);
	return at;
}

/* TCP; the driver fills in the source. Returns where the IP header stands. */
static u32 make_frame(bool is_ip6, bool is_tagged, u8 frame[FRAME_BYTES])
{
	u8 *at = frame, *ip;

	memset(frame, 0, FRAME_BYTES);
	at = put(at, 0x020000000001, 6);
	at = put(at, 0x020000000002, 6);
	if (is_tagged)
		at = put(at, (u64)BALEEN_ETHERTYPE_8021Q << 16 | FRAME_VLAN, 4);
	ip = put(at, is_ip6 ? BALEEN_ETHERTYPE_IP6 : BALEEN_ETHERTYPE_IP4, 2);
	if (is_ip6) {
		put(ip, 0x60000000, 4);
		put(ip + 4, 20 << 16 | BALEEN_PROTO_TCP << 8 | 64, 4);
		put(ip + 24, FRAME_DST6_HI, 8);
		at = put(ip + 32, FRAME_DST6_LO, 8);
	} else {
		put(ip, 0x4500 << 16 | 40, 4);
		put(ip + 8, 64 << 8 | BALEEN_PROTO_TCP, 2);
		at = put(ip + 16, FRAME_DST4, 4);
	}
	put(at, FRAME_SPORT << 16 | FRAME_DPORT, 4);
	at[BALEEN_TCP_FLAGS_AT] = BALEEN_TCP_ACK;
	return ip - frame;
}

/* --- driving -------------------------------------------------------------- */

/**
 * struct stream - packets to be sent
 * @by_index: sources are the indices' addresses, not those of the pool
 * @share: by index: of the packets that are listed, times 2^32
 * @state: by index: of the random numbers
 */
struct stream {
	bool by_index;
	u64 share;
	u64 state;
};

static void aim(const struct bench *bench, const struct subject *subject,
		const struct stream *stream)
{
	struct drive_bpf__bss *driver = bench->drive->bss;
	u32 zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(bench->drive->maps.bench_target), &zero,
				&subject->prog_fd, BPF_ANY))
		err(1, "choosing the program");
	driver->n_listed = bench->n_listed;
	driver->listed_share = stream->share;
	driver->random_state = stream->state;
	driver->pool_next = 0;
}

/* Returns the last packet's verdict. */
static u32 drive(const struct bench *bench, const struct subject *subject,
		 const struct stream *stream, u32 packets)
{
	const struct drive_bpf *skel = bench->drive;
	u8 frame[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = packets, );
	const struct bpf_program *program =
		stream->by_index ? skel->progs.drive_index_ip4 : skel->progs.drive_pool_ip4;

	if (bench->is_ip6)
		program =
			stream->by_index ? skel->progs.drive_index_ip6 : skel->progs.drive_pool_ip6;
	skel->bss->ip_offset = make_frame(bench->is_ip6, subject->is_tagged, frame);
	if (bpf_prog_test_run_opts(bpf_program__fd(program), &opts))
		err(1, "BPF_PROG_TEST_RUN");
	if (opts.retval != XDP_PASS && opts.retval != XDP_DROP)
		errx(1, "%s: the program was not reached", subject->name);
	return opts.retval;
}

/* Gives the driver the sources that are wanted, those that are again and again. */
static void use_pool(const struct bench *bench, const struct pool *pool, enum want want)
{
	struct bench_source *source = calloc(BENCH_POOL, sizeof(*source));
	u64 *ip4 = calloc(BENCH_POOL, sizeof(*ip4));

	if (!source || !ip4)
		err(1, "memory");
	for (u32 i = 0, at = 0; i < BENCH_POOL; at = (at + 1) % BENCH_POOL) {
		if (want != WANT_ANY && pool->is_listed[at] != (want == WANT_LISTED))
			continue;
		ip4[i] = pool->source[at].lo;
		source[i++] = pool->source[at];
	}
	if (bench->is_ip6)
		map_write(bpf_map__fd(bench->drive->maps.pool_ip6), source,
			  BENCH_POOL * sizeof(*source));
	else
		map_write(bpf_map__fd(bench->drive->maps.pool_ip4), ip4, BENCH_POOL * sizeof(*ip4));
	free(source);
	free(ip4);
}

/* --- is it right? --------------------------------------------------------- */

static u64 n_matched(const struct subject *subject)
{
	struct baleen_stats stats[libbpf_num_possible_cpus()];
	u64 matched = 0;
	u32 zero = 0;

	if (bpf_map_lookup_elem(subject->stats_fd, &zero, stats))
		err(1, "reading the counters");
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++)
		for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
			matched += stats[cpu].rule[i].packets;
	return matched;
}

/* 4 % is more than what the BPF Bloom map errs. */
static void check_subject(const struct bench *bench, const struct subject *subject,
			  const struct stream *stream, bool is_listed)
{
	u64 least = is_listed ? CHECK_PACKETS : 0, most = least, before, matched;
	u32 verdict;

	if (subject->judge == JUDGE_BLIND || subject->prog_fd < 0)
		return;
	if (subject->judge == JUDGE_NOTHING)
		least = most = 0;
	if (subject->judge == JUDGE_LOSSY && !is_listed)
		most = CHECK_PACKETS * 4 / 100;
	aim(bench, subject, stream);
	before = n_matched(subject);
	verdict = drive(bench, subject, stream, CHECK_PACKETS);
	matched = n_matched(subject) - before;
	if (matched < least || matched > most)
		errx(1, "%s: matched %llu of %u packets that are %s", subject->name, matched,
		     CHECK_PACKETS, is_listed ? "listed" : "not listed");
	if (subject->judge == JUDGE_EXACT && verdict != subject->verdict[is_listed])
		errx(1, "%s: gave verdict %u to a packet that is %s", subject->name, verdict,
		     is_listed ? "listed" : "not listed");
}

/* A program that answers wrongly is not worth timing. */
static void check_all(const struct bench *bench, const struct column *column, u32 mix)
{
	const struct pool *pool = column->pool[mix];

	for (u32 is_listed = 0; is_listed < 2; is_listed++) {
		const struct stream stream = {
			.by_index = !pool,
			.share = is_listed ? SHARE_ONE : 0,
			.state = 1,
		};

		if (pool && !(is_listed ? pool->n_listed : BENCH_POOL - pool->n_listed))
			continue;
		if (pool)
			use_pool(bench, pool, is_listed ? WANT_LISTED : WANT_UNLISTED);
		for (u32 i = 0; i < bench->n; i++)
			check_subject(bench, &bench->subject[i], &stream, is_listed);
	}
}

/* --- how long does it take? ----------------------------------------------- */

static double measure(const struct bench *bench, const struct subject *subject,
		      const struct stream *stream, u32 packets)
{
	u64 began;

	aim(bench, subject, stream);
	drive(bench, subject, stream, WARM_PACKETS);
	began = baleen_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	drive(bench, subject, stream, packets);
	return (double)(baleen_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / packets;
}

/* Appends the rounds of one load to those of the loads before. */
static void run_rounds(const struct bench *bench, const struct effort *effort, struct stream stream,
		       struct samples *samples)
{
	for (u32 round = 0; round < effort->rounds; round++) {
		u32 n = samples->n++;

		stream.state = baleen_mix64(n + 1);
		for (u32 i = 0; i < bench->n; i++) {
			const struct subject *subject = &bench->subject[i];

			if (subject->prog_fd < 0)
				continue;
			samples->of[i][n] = measure(bench, subject, &stream, effort->packets);
			if (i)
				samples->of[i][n] -= samples->of[0][n];
		}
	}
}

static void run_mix(const struct bench *bench, const struct effort *effort,
		    const struct column *column, u32 mix, struct samples *samples)
{
	const struct stream stream = {
		.by_index = !column->pool[mix],
		.share = column->share[mix] * SHARE_ONE,
	};

	check_all(bench, column, mix);
	if (bench->peers)
		peers_fill_floor(bench, column->share[mix]);
	if (column->pool[mix])
		use_pool(bench, column->pool[mix], WANT_ANY);
	run_rounds(bench, effort, stream, samples);
}

static void keep_names(const struct bench *bench, struct section *section)
{
	section->n_rows = bench->n;
	for (u32 i = 0; i < bench->n; i++)
		section->row[i] = bench->subject[i].name;
}

static void keep_memory(const struct bench *bench, struct column *column)
{
	for (u32 i = 0; i < bench->n; i++) {
		column->has[i] = bench->subject[i].prog_fd >= 0;
		column->bytes[i] = bench->subject[i].map_bytes;
	}
}

static void keep_figures(const struct section *section, struct samples *samples,
			 struct column *column)
{
	for (u32 mix = 0; mix < section->n_mixes; mix++)
		for (u32 i = 0; i < section->n_rows; i++)
			if (column->has[i])
				column->cell[mix][i] =
					quartiles(samples[mix].of[i], samples[mix].n);
}

/**
 * column_run() - measure one list, with every mix of packets
 * @section: where it belongs
 * @effort: how much is measured
 * @column: the list; gets the figures
 *
 * Where a program and its maps come to lie moves a figure by up to 2 ns, so all
 * is loaded anew for some of the rounds.
 */
static void column_run(struct section *section, const struct effort *effort, struct column *column)
{
	static struct samples samples[MAX_MIXES];
	static struct bench bench;
	u32 loads = column->n > MANY_ENTRIES ? 1 : effort->loads;

	if (column->is_missing)
		return;
	fprintf(stderr, "%s, %s ...\n", section->title, column->name);
	for (u32 mix = 0; mix < section->n_mixes; mix++) {
		samples[mix].n = 0;
		if (column->pool[mix])
			column->share[mix] = (double)column->pool[mix]->n_listed / BENCH_POOL;
	}
	for (u32 load = 0; load < loads; load++) {
		bench_open(&bench, column->is_ip6);
		section->load(&bench, column);
		keep_names(&bench, section);
		keep_memory(&bench, column);
		for (u32 mix = 0; mix < section->n_mixes; mix++)
			run_mix(&bench, effort, column, mix, &samples[mix]);
		bench_close(&bench);
	}
	keep_figures(section, samples, column);
}

#endif /* BENCH_MEASURE_H */
