/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs that are timed, loaded.
 */
#ifndef BENCH_SUBJECTS_H
#define BENCH_SUBJECTS_H

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "drive.skel.h"
#include "peers.skel.h"
#include "xdp/load.h"
#include "xdp/prefilter_rules.h"

#define MAX_SUBJECTS 24

/**
 * enum judge - what is checked of a program before it is timed
 * @JUDGE_BLIND: nothing: it only spends the time
 * @JUDGE_NOTHING: nothing matches
 * @JUDGE_LOSSY: all that is listed matches, and few others
 * @JUDGE_EXACT: all that is listed matches, and nothing else
 */
enum judge {
	JUDGE_BLIND,
	JUDGE_NOTHING,
	JUDGE_LOSSY,
	JUDGE_EXACT,
};

/**
 * struct subject - a program under test
 * @name: what is printed
 * @judge: what has to be right
 * @prog_fd: the program; -1 when it is not to be had for this list
 * @stats_fd: its baleen_stats map; -1 when it counts nothing
 * @map_bytes: memory of its sets
 * @is_tagged: it gets frames with a VLAN tag
 * @verdict: of what is not listed, and of what is
 * @loaded: what a program of Baleen's has in the kernel
 */
struct subject {
	const char *name;
	enum judge judge;
	int prog_fd;
	int stats_fd;
	u64 map_bytes;
	bool is_tagged;
	u32 verdict[2];
	struct baleen_loaded loaded;
};

/**
 * struct bench - everything that is loaded at a time
 * @is_ip6: family of the sources
 * @n_listed: sources by index below this are listed
 * @drive: the driver
 * @peers: the peers' programs and maps; NULL before peers_load()
 * @one_by_one: programs that are added next have no prefilter
 * @n: how many subjects; the first is the no-op program
 * @subject: the subjects
 */
struct bench {
	bool is_ip6;
	u64 n_listed;
	struct drive_bpf *drive;
	struct peers_bpf *peers;
	bool one_by_one;
	u32 n;
	struct subject subject[MAX_SUBJECTS];
};

/* A rule of a program under test. */
struct bench_rule {
	u32 action;
	const struct baleen_qualifiers *qualifiers;
	const struct baleen_filter *filter;
};

static u64 map_bytes(int fd)
{
	char path[64], line[256];
	u64 bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "memlock: %llu", &bytes);
	fclose(file);
	return bytes;
}

static void map_write(int fd, const void *bytes, size_t n_bytes)
{
	void *map = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		err(1, "mmap of a map");
	memcpy(map, bytes, n_bytes);
	munmap(map, n_bytes);
}

/* Without a program, which the caller sets. */
static struct subject *bench_add(struct bench *bench, const char *name, enum judge judge)
{
	struct subject *subject = &bench->subject[bench->n++];

	if (bench->n > MAX_SUBJECTS)
		errx(1, "more than %u programs", MAX_SUBJECTS);
	*subject = (struct subject){
		.name = name,
		.judge = judge,
		.prog_fd = -1,
		.stats_fd = -1,
		.verdict = { XDP_PASS, XDP_DROP },
	};
	baleen_loaded_init(&subject->loaded);
	return subject;
}

/* @policy has all but the rules; NULL is the default. */
static struct subject *bench_add_rules(struct bench *bench, const char *name,
				       const struct baleen_config *policy,
				       const struct bench_rule *rules, u32 n)
{
	struct subject *subject = bench_add(bench, name, JUDGE_EXACT);
	struct baleen_loaded *loaded = &subject->loaded;
	static struct baleen_config config;
	struct baleen_error error;

	memset(&config, 0, sizeof(config));
	if (policy)
		config = *policy;
	config.n_rules = n;
	for (u32 i = 0; i < n; i++) {
		baleen_rule_set(&config.rule[i], rules[i].action, "bench", rules[i].qualifiers,
				&rules[i].filter->image);
		config.rule[i].slot = i;
		if (baleen_load_map("bench", rules[i].filter, &loaded->rule_fd[i], &error))
			errx(1, "%s", error.text);
		subject->map_bytes += map_bytes(loaded->rule_fd[i]);
	}
	if (!bench->one_by_one)
		baleen_prefilter_rules(&config, loaded);
	if (config.prefilter_rules)
		subject->map_bytes += map_bytes(loaded->prefilter_fd);
	if (baleen_load_program(&config, loaded, &error))
		errx(1, "%s: %s", name, error.text);
	subject->prog_fd = loaded->program_fd;
	subject->stats_fd = loaded->stats_fd;
	return subject;
}

/* What `baleen attach --drop` loads, only not attached. */
static struct subject *bench_add_drop(struct bench *bench, const char *name,
				      const struct baleen_filter *filter)
{
	const struct bench_rule rule = { .action = BALEEN_ACTION_DROP, .filter = filter };

	return bench_add_rules(bench, name, NULL, &rule, 1);
}

/* Also the no-op program, which everything is compared with. */
static void bench_open(struct bench *bench, bool is_ip6)
{
	memset(bench, 0, sizeof(*bench));
	bench->is_ip6 = is_ip6;
	bench->drive = drive_bpf__open_and_load();
	if (!bench->drive)
		err(1, "loading drive.bpf.o");
	bench_add(bench, "no-op and driver, absolute", JUDGE_BLIND)->prog_fd =
		bpf_program__fd(bench->drive->progs.noop);
}

static void bench_close(struct bench *bench)
{
	for (u32 i = 0; i < bench->n; i++)
		baleen_loaded_close(&bench->subject[i].loaded);
	drive_bpf__destroy(bench->drive);
	peers_bpf__destroy(bench->peers);
}

#endif /* BENCH_SUBJECTS_H */
