/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs that bench_xdp.c times, loaded over sets of one size.
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

#include "build.h"
#include "drive.skel.h"
#include "keys.h"
#include "load.h"
#include "peers.skel.h"

#define BLOOM_FPP 0.002
#define FILL_CHUNK 65536

enum subject_id {
	SUBJECT_NOOP,
	SUBJECT_PARSE,
	SUBJECT_FLOOR,
	SUBJECT_CUCKOO,
	SUBJECT_BLOOM,
	SUBJECT_KERNEL_BLOOM,
	SUBJECT_KERNEL_HASH,
	N_SUBJECTS,
};

static const char *const subject_name[N_SUBJECTS] = {
	[SUBJECT_NOOP] = "no-op and driver, absolute",
	[SUBJECT_PARSE] = "parse and count only",
	[SUBJECT_FLOOR] = "floor: one random load",
	[SUBJECT_CUCKOO] = "Baleen, cuckoo",
	[SUBJECT_BLOOM] = "Baleen, Bloom, error 0.2 %",
	[SUBJECT_KERNEL_BLOOM] = "BPF Bloom map, k=5",
	[SUBJECT_KERNEL_HASH] = "BPF hash map",
};

/**
 * struct subject - a program under test
 * @prog_fd: the program
 * @stats_fd: its baleen_stats map; -1 when it counts nothing
 * @map_bytes: memory of its set
 */
struct subject {
	int prog_fd;
	int stats_fd;
	u64 map_bytes;
};

/* Everything loaded for one set of one size. */
struct bench {
	bool is_ip6;
	u32 n;
	struct drive_bpf *drive;
	struct peers_bpf *peers;
	struct baleen_loaded cuckoo;
	struct baleen_loaded bloom;
	struct subject subject[N_SUBJECTS];
};

static const u8 frame_ip4[64] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00,
	0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1,
};

static const u8 frame_ip6[64] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd,
	0x60, 0, 0, 0, 0, 10, 17, 64,
};

static void fill_list(bool is_ip6, u32 n, struct baleen_list *list)
{
	memset(list, 0, sizeof(*list));
	if (is_ip6) {
		list->ip6 = malloc(n * sizeof(*list->ip6));
		list->n_ip6 = list->room_ip6 = n;
	} else {
		list->ip4 = malloc(n * sizeof(*list->ip4));
		list->n_ip4 = list->room_ip4 = n;
	}
	if (!list->ip4 && !list->ip6)
		err(1, "memory");
	for (u32 i = 0; is_ip6 && i < n; i++)
		list->ip6[i] = (struct baleen_ip6){ bench_ip6_hi(i), bench_ip6_lo(i) };
	for (u32 i = 0; !is_ip6 && i < n; i++)
		list->ip4[i] = bench_ip4(i);
	baleen_list_finish(list);
}

static void make_filter(bool is_ip6, u32 n, u32 kind, struct baleen_filter *filter)
{
	const struct baleen_build_options options = {
		.name = "bench",
		.key_spec = BALEEN_KEY_SRC,
		.kind = kind,
		.fpp = kind == BALEEN_KIND_BLOOM ? BLOOM_FPP : 0,
	};
	struct baleen_error error;
	struct baleen_list list;

	fill_list(is_ip6, n, &list);
	if (baleen_build(&list, &options, filter, &error))
		errx(1, "%s", error.text);
	baleen_list_free(&list);
}

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

static void write_blocks(int fd, const void *bytes, size_t n_bytes)
{
	void *map = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		err(1, "mmap of a map");
	memcpy(map, bytes, n_bytes);
	munmap(map, n_bytes);
}

/* What `baleen attach --drop` loads, only not attached. */
static void load_baleen(const struct bench *bench, u32 kind, struct baleen_loaded *loaded,
			struct subject *subject)
{
	static struct baleen_config config;
	struct baleen_filter filter;
	struct baleen_error error;

	make_filter(bench->is_ip6, bench->n, kind, &filter);
	config.n_rules = 1;
	baleen_rule_set(&config.rule[0], BALEEN_ACTION_DROP, "bench", NULL, &filter.image);
	baleen_loaded_init(loaded);
	if (baleen_load_map("bench", &filter, &loaded->rule_fd[0], &error) ||
	    baleen_load_program(&config, loaded, &error))
		errx(1, "%s", error.text);
	baleen_filter_free(&filter);
	subject->prog_fd = loaded->program_fd;
	subject->stats_fd = loaded->stats_fd;
	subject->map_bytes = map_bytes(loaded->rule_fd[0]);
}

/* In chunks: each is one run of a program that nothing interrupts. */
static void fill_peers(const struct bench *bench)
{
	struct peers_bpf *skel = bench->peers;

	skel->bss->fill_is_ip6 = bench->is_ip6;
	for (u32 first = 0; first < bench->n; first += FILL_CHUNK) {
		u32 rest = bench->n - first;
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame_ip4,
			    .data_size_in = sizeof(frame_ip4));

		skel->bss->fill_first = first;
		skel->bss->fill_n = rest < FILL_CHUNK ? rest : FILL_CHUNK;
		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.peer_fill), &opts))
			err(1, "filling the kernel's maps");
		if (opts.retval != XDP_PASS)
			errx(1, "filling the kernel's maps: refused after %u keys", first);
	}
}

static void set_peer(struct subject *subject, const struct bpf_program *prog,
		     const struct bpf_map *stats, const struct bpf_map *set)
{
	subject->prog_fd = bpf_program__fd(prog);
	subject->stats_fd = bpf_map__fd(stats);
	subject->map_bytes = set ? map_bytes(bpf_map__fd(set)) : 0;
}

/* The floor's array is as large as the cuckoo table. */
static void load_peers(struct bench *bench, u32 n_floor_blocks)
{
	struct peers_bpf *skel = peers_bpf__open();
	struct subject *subject = bench->subject;
	struct bpf_map *hash, *bloom;

	if (!skel)
		err(1, "opening peers.bpf.o");
	bench->peers = skel;
	hash = bench->is_ip6 ? skel->maps.hash_ip6 : skel->maps.hash_ip4;
	bloom = bench->is_ip6 ? skel->maps.bloom_ip6 : skel->maps.bloom_ip4;
	bpf_map__set_max_entries(hash, bench->n);
	bpf_map__set_max_entries(bloom, bench->n);
	bpf_map__set_max_entries(skel->maps.floor_blocks, n_floor_blocks);
	skel->rodata->n_floor_blocks = n_floor_blocks;
	if (peers_bpf__load(skel))
		err(1, "loading peers.bpf.o");
	fill_peers(bench);
	set_peer(&subject[SUBJECT_PARSE], skel->progs.peer_nothing, skel->maps.baleen_stats, NULL);
	set_peer(&subject[SUBJECT_FLOOR], skel->progs.peer_floor, skel->maps.baleen_stats,
		 skel->maps.floor_blocks);
	set_peer(&subject[SUBJECT_KERNEL_HASH], skel->progs.peer_hash, skel->maps.baleen_stats,
		 hash);
	set_peer(&subject[SUBJECT_KERNEL_BLOOM], skel->progs.peer_bloom, skel->maps.baleen_stats,
		 bloom);
}

static u32 map_entries(int fd)
{
	struct bpf_map_info info = {};
	u32 n_info = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &n_info))
		err(1, "map info");
	return info.max_entries;
}

static void bench_load(struct bench *bench)
{
	struct subject *subject = bench->subject;

	bench->drive = drive_bpf__open_and_load();
	if (!bench->drive)
		err(1, "loading drive.bpf.o");
	bench->drive->bss->n_listed = bench->n;
	subject[SUBJECT_NOOP].prog_fd = bpf_program__fd(bench->drive->progs.noop);
	subject[SUBJECT_NOOP].stats_fd = -1;
	load_baleen(bench, BALEEN_KIND_CUCKOO, &bench->cuckoo, &subject[SUBJECT_CUCKOO]);
	load_baleen(bench, BALEEN_KIND_BLOOM, &bench->bloom, &subject[SUBJECT_BLOOM]);
	load_peers(bench, map_entries(bench->cuckoo.rule_fd[0]));
}

static void bench_unload(struct bench *bench)
{
	drive_bpf__destroy(bench->drive);
	peers_bpf__destroy(bench->peers);
	baleen_loaded_close(&bench->cuckoo);
	baleen_loaded_close(&bench->bloom);
}

/* A share of 0: every load says no; otherwise half of them say yes. */
static void fill_floor(const struct bench *bench, u64 share)
{
	const struct bpf_map *map = bench->peers->maps.floor_blocks;
	size_t n_words = (size_t)bpf_map__max_entries(map) * BALEEN_BLOCK_WORDS;
	u64 *words = calloc(n_words, sizeof(*words));

	if (!words)
		err(1, "memory");
	for (size_t i = 0; share && i < n_words; i++)
		words[i] = baleen_mix64(i + 1);
	write_blocks(bpf_map__fd(map), words, n_words * sizeof(*words));
	free(words);
}

#endif /* BENCH_SUBJECTS_H */
