/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The peers of peers.bpf.c: the kernel's maps, and the floor.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "filters.h"
#include "subjects.h"

#define FILL_CHUNK 65536

/**
 * struct peers - what the peers are to hold
 * @n_floor_blocks: size of the floor's array; 0 for no floor
 * @n_hosts: as many hosts, by index; 0 for none
 * @nets: prefixes; NULL for none
 */
struct peers {
	u32 n_floor_blocks;
	u32 n_hosts;
	const struct nets *nets;
};

/* In chunks: each is one run of a program that nothing interrupts. */
static void fill_hosts(const struct bench *bench, u32 n)
{
	struct peers_bpf *skel = bench->peers;
	u8 frame[64] = {};

	skel->bss->fill_is_ip6 = bench->is_ip6;
	for (u32 first = 0; first < n; first += FILL_CHUNK) {
		u32 rest = n - first;
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
			    .data_size_in = sizeof(frame));

		skel->bss->fill_first = first;
		skel->bss->fill_n = rest < FILL_CHUNK ? rest : FILL_CHUNK;
		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.peer_fill), &opts))
			err(1, "filling the kernel's maps");
		if (opts.retval != XDP_PASS)
			errx(1, "filling the kernel's maps: refused after %u keys", first);
	}
}

/* A prefix as the key of a trie: its length, then the address as it travels. */
static u32 write_trie_key(const struct nets *nets, const struct net *net, u8 *key)
{
	u32 n_bytes = nets_bits(nets) / 8;

	memcpy(key, &net->length, sizeof(net->length));
	for (u32 i = 0; i < n_bytes; i++)
		key[sizeof(net->length) + i] = net->first >> (8 * (n_bytes - 1 - i));
	return sizeof(net->length) + n_bytes;
}

static void fill_trie(const struct nets *nets, int fd)
{
	static u8 keys[FILL_CHUNK * 20];
	static u32 values[FILL_CHUNK];

	for (u32 first = 0, n = 0; first < nets->n; first += n) {
		u8 *key = keys;

		n = nets->n - first < FILL_CHUNK ? nets->n - first : FILL_CHUNK;
		for (u32 i = 0; i < n; i++)
			key += write_trie_key(nets, &nets->net[first + i], key);
		if (bpf_map_update_batch(fd, keys, values, &n, NULL) || !n)
			err(1, "filling the LPM trie");
	}
}

static void set_entries(struct bpf_map *map, u32 n)
{
	if (bpf_map__set_max_entries(map, n ? n : 1))
		errx(1, "size of a map");
}

/* Before the load: the geometry is constant, and the map its own. */
static u64 set_bitmap(struct peers_bpf *skel, const struct nets *nets, struct baleen_block *bitmap)
{
	struct baleen_filter rest;
	struct baleen_error error;
	u64 bytes;
	int fd;

	bitmap_of_nets(nets, bitmap, &rest);
	if (baleen_load_map("rest", &rest, &fd, &error))
		errx(1, "%s", error.text);
	skel->rodata_bitmap->bitmap_image = rest.image;
	set_entries(skel->maps.bitmap_groups, BITMAP_BLOCKS);
	if (bpf_map__reuse_fd(skel->maps.bitmap_hosts, fd))
		err(1, "a map for hosts");
	bytes = map_bytes(fd);
	close(fd);
	baleen_filter_free(&rest);
	return bytes;
}

static void set_peer(struct bench *bench, struct subject *subject, const struct bpf_program *prog,
		     const struct bpf_map *set)
{
	subject->prog_fd = bpf_program__fd(prog);
	subject->stats_fd = bpf_map__fd(bench->peers->maps.baleen_stats);
	subject->map_bytes += set ? map_bytes(bpf_map__fd(set)) : 0;
}

static void add_host_peers(struct bench *bench)
{
	struct peers_bpf *skel = bench->peers;

	set_peer(bench, bench_add(bench, "BPF Bloom map, k=5", JUDGE_LOSSY), skel->progs.peer_bloom,
		 bench->is_ip6 ? skel->maps.bloom_ip6 : skel->maps.bloom_ip4);
	set_peer(bench, bench_add(bench, "BPF hash map", JUDGE_EXACT), skel->progs.peer_hash,
		 bench->is_ip6 ? skel->maps.hash_ip6 : skel->maps.hash_ip4);
}

static void add_net_peers(struct bench *bench, u64 rest_bytes)
{
	struct peers_bpf *skel = bench->peers;
	struct subject *subject;

	if (!bench->is_ip6) {
		subject = bench_add(bench, "  bitmap of /24s and cuckoo", JUDGE_EXACT);
		subject->map_bytes = rest_bytes;
		set_peer(bench, subject, skel->progs.peer_bitmap, skel->maps.bitmap_groups);
	}
	set_peer(bench, bench_add(bench, "BPF LPM trie", JUDGE_EXACT), skel->progs.peer_trie,
		 bench->is_ip6 ? skel->maps.trie_ip6 : skel->maps.trie_ip4);
}

/**
 * peers_add() - load and fill the peers
 * @bench: gets parser, floor, and what holds hosts or prefixes
 * @peers: what they are to hold
 */
static void peers_add(struct bench *bench, const struct peers *peers)
{
	struct peers_bpf *skel = peers_bpf__open();
	bool is_ip6 = bench->is_ip6, has_bitmap = peers->nets && !is_ip6;
	struct baleen_block *bitmap = calloc(BITMAP_BLOCKS, sizeof(*bitmap));
	u32 n_nets = peers->nets ? peers->nets->n : 0;
	u64 rest_bytes = 0;

	if (!skel || !bitmap)
		err(1, "opening peers.bpf.o");
	bench->peers = skel;
	set_entries(is_ip6 ? skel->maps.hash_ip6 : skel->maps.hash_ip4, peers->n_hosts);
	set_entries(is_ip6 ? skel->maps.bloom_ip6 : skel->maps.bloom_ip4, peers->n_hosts);
	set_entries(is_ip6 ? skel->maps.trie_ip6 : skel->maps.trie_ip4, n_nets);
	set_entries(skel->maps.floor_blocks, peers->n_floor_blocks);
	if (peers->n_floor_blocks)
		skel->rodata->n_floor_blocks = peers->n_floor_blocks;
	if (has_bitmap)
		rest_bytes = set_bitmap(skel, peers->nets, bitmap);
	if (peers_bpf__load(skel))
		err(1, "loading peers.bpf.o");
	set_peer(bench, bench_add(bench, "parse and count only", JUDGE_NOTHING),
		 skel->progs.peer_nothing, NULL);
	if (peers->n_floor_blocks)
		set_peer(bench, bench_add(bench, "floor: one random load", JUDGE_BLIND),
			 skel->progs.peer_floor, skel->maps.floor_blocks);
	if (peers->n_hosts) {
		fill_hosts(bench, peers->n_hosts);
		add_host_peers(bench);
	}
	if (has_bitmap)
		map_write(bpf_map__fd(skel->maps.bitmap_groups), bitmap,
			  BITMAP_BLOCKS * sizeof(*bitmap));
	if (peers->nets) {
		fill_trie(peers->nets,
			  bpf_map__fd(is_ip6 ? skel->maps.trie_ip6 : skel->maps.trie_ip4));
		add_net_peers(bench, rest_bytes);
	}
	free(bitmap);
}

/* So many of the floor's loads say yes. */
static void peers_fill_floor(const struct bench *bench, double share)
{
	const struct bpf_map *map = bench->peers->maps.floor_blocks;
	size_t n_words = (size_t)bpf_map__max_entries(map) * BALEEN_BLOCK_WORDS;
	u64 *words = calloc(n_words, sizeof(*words));

	if (!words)
		err(1, "memory");
	for (size_t i = 0; i < n_words; i++)
		words[i] = (baleen_mix64(i + 1) >> 11) * 0x1p-53 < share;
	map_write(bpf_map__fd(map), words, n_words * sizeof(*words));
	free(words);
}

#endif /* BENCH_PEERS_H */
