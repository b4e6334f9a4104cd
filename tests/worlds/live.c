// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readers beside a writer: keys that stay listed are asked for without a
 * pause, by userspace and by a BPF program over the live map, while other keys
 * come and go and push them about. No answer may be no.
 *
 * Each key moves once at most, from home to its other bucket, so a round
 * begins with the table restored, while nobody reads. In packed buckets, where keys come
 * beside others in one word and do not go, none moves.
 *
 *	worlds/live [ROUNDS]
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/live.h"
#include "filter/slots.h"
#include "xdp/load.h"

#include "live.skel.h"

/* In `make check-all`, which sets TEST_ALL, and in `make check`. */
#define N_ROUNDS 10000
#define N_ROUNDS_SOME 300
#define N_BUCKETS 16
#define N_SLOTS (N_BUCKETS * BALEEN_BUCKET_SLOTS)
#define N_STAYING (N_SLOTS / 2)
#define SEED 0x6b72696c6cull

struct world {
	const char *name;
	u32 domain;
	u32 slot_bits;
	u32 bucket_slots;
};

#define SEMI_SORTED (4 | BALEEN_PACKED | BALEEN_SEMI_SORTED)

static const struct world worlds[] = {
	{ "cuckoo IPv4, 32-bit slots", BALEEN_IP4, 32, 0 },
	{ "cuckoo IPv6, 64-bit slots", BALEEN_IP6, 64, 0 },
	{ "cuckoo IPv6, 16-bit slots", BALEEN_IP6, 16, 0 },
	{ "cuckoo IPv6, packed slots of 13 bits", BALEEN_IP6, 13, 4 | BALEEN_PACKED },
	{ "cuckoo IPv6, packed slots of 31 bits", BALEEN_IP6, 31, 4 | BALEEN_PACKED },
	{ "cuckoo IPv6, semi-sorted slots of 9 bits", BALEEN_IP6, 9, SEMI_SORTED },
	{ "cuckoo IPv6, semi-sorted slots of 17 bits", BALEEN_IP6, 17, SEMI_SORTED },
};

/**
 * struct stress - a filter, its writer and one reader
 * @domain: the keys' domain
 * @random: state of the writer's keys
 * @filter: the writer's mapping of the live map
 * @start: the body at the beginning of each round
 * @bpf: the BPF reader, and what it shares with us
 * @n_moved: staying keys that were moved while they were read
 * @n_changes: keys added and removed
 *
 * Keys that stay listed are in @bpf->bss->keys; they are all the reader asks.
 */
struct stress {
	u32 domain;
	u64 random;
	struct baleen_filter filter;
	void *start;
	struct live_bpf *bpf;
	u64 n_moved;
	u64 n_changes;
};

static u32 tap_n, tap_failed;

static void result(bool right, const char *world, const char *what)
{
	printf("%sok %u - %s: %s\n", right ? "" : "not ", ++tap_n, world, what);
	tap_failed += !right;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static u64 next_random(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* A key that the table does not hold. */
static struct baleen_key new_key(struct stress *stress)
{
	struct baleen_key key = { .domain = stress->domain };

	do {
		if (key.domain == BALEEN_IP4) {
			key.ip4 = next_random(&stress->random);
		} else {
			key.hi = next_random(&stress->random);
			key.lo = next_random(&stress->random);
		}
	} while (baleen_filter_test(&stress->filter, &key));
	return key;
}

static u32 n_rounds;

/* --- the readers ---------------------------------------------------------- */

static u64 load(const u64 *x)
{
	return __atomic_load_n(x, __ATOMIC_ACQUIRE);
}

static void store(u64 *x, u64 value)
{
	__atomic_store_n(x, value, __ATOMIC_RELEASE);
}

/* As live.bpf.c does it. */
static void *read_in_userspace(void *context)
{
	struct stress *stress = context;
	struct live_bpf__bss *shared = stress->bpf->bss;

	for (u32 i = 0; !load(&shared->stop); i++) {
		store(&shared->held, load(&shared->hold));
		if (shared->held)
			continue;
		shared->n_missed +=
			!baleen_filter_test(&stress->filter, &shared->keys[i % N_STAYING]);
		store(&shared->n_reads, shared->n_reads + 1);
	}
	return NULL;
}

static void *read_in_bpf(void *context)
{
	struct stress *stress = context;
	LIBBPF_OPTS(bpf_test_run_opts, run);

	while (!load(&stress->bpf->bss->stop))
		if (bpf_prog_test_run_opts(bpf_program__fd(stress->bpf->progs.read_on), &run) ||
		    run.retval)
			err(1, "cannot run the reader");
	return NULL;
}

/* --- the writer ----------------------------------------------------------- */

static bool moves(const struct stress *stress)
{
	return !baleen_table_is_packed(&stress->filter.image.table[stress->domain]);
}

static bool is_home(const struct stress *stress, const struct baleen_key *key)
{
	const struct baleen_image *image = &stress->filter.image;
	struct baleen_slots slots = baleen_slots_of(&stress->filter, key->domain);
	struct baleen_cuckoo_place place = baleen_cuckoo_locate(slots.table, &image->seed, key);
	bool found = false;

	for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++)
		found |= baleen_slots_get(&slots, place.home, i) == place.slot;
	return found;
}

static u32 n_home(const struct stress *stress)
{
	u32 n = 0;

	for (u32 i = 0; i < N_STAYING; i++)
		n += is_home(stress, &stress->bpf->bss->keys[i]);
	return n;
}

/* Adds keys until there is no room, and removes them. */
static void fill_and_empty(struct stress *stress)
{
	struct baleen_key coming[N_SLOTS];
	bool changed;
	u32 n = 0;

	coming[0] = new_key(stress);
	while (!baleen_live_add(&stress->filter, &coming[n], &changed))
		coming[++n] = new_key(stress);
	stress->n_changes += n;
	if (!moves(stress))
		return;
	stress->n_changes += n;
	while (n--)
		if (baleen_live_del(&stress->filter, &coming[n], &changed) || !changed)
			errx(1, "an added key was not there");
}

/* Until the reader is where it should be; it never stops on its own. */
static void wait_until(const u64 *x, u64 low)
{
	while (load(x) < low)
		sched_yield();
}

static void write_rounds(struct stress *stress)
{
	struct live_bpf__bss *shared = stress->bpf->bss;
	u8 *body = (u8 *)stress->filter.bytes + BALEEN_HEADER_BYTES;

	for (u64 round = 1; round <= n_rounds; round++) {
		store(&shared->hold, round);
		wait_until(&shared->held, round);
		memcpy(body, stress->start, stress->filter.n_bytes - BALEEN_HEADER_BYTES);
		stress->n_moved += n_home(stress);
		store(&shared->hold, 0);
		wait_until(&shared->n_reads, load(&shared->n_reads) + 1);
		fill_and_empty(stress);
		stress->n_moved -= n_home(stress);
	}
	store(&shared->stop, 1);
	store(&shared->hold, n_rounds);
}

/* --- both ----------------------------------------------------------------- */

static void make_image(const struct world *world, u64 *random, struct baleen_image *image)
{
	struct baleen_table *table = &image->table[world->domain];

	*image = (struct baleen_image){ .key_spec = BALEEN_KEY_SRC };
	table->kind = BALEEN_KIND_CUCKOO;
	table->slot_bits = world->slot_bits;
	table->bucket_slots = world->bucket_slots;
	table->n_buckets = N_BUCKETS;
	table->log2_buckets = baleen_log2(N_BUCKETS);
	table->first_block = BALEEN_HEADER_BLOCKS;
	table->n_blocks = baleen_table_blocks(table);
	image->n_blocks = BALEEN_HEADER_BLOCKS + table->n_blocks;
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image->seed.word[i] = next_random(random);
}

/* Over an empty filter in a live map, which it maps. */
static void load_reader(struct stress *stress)
{
	struct live_bpf *bpf = live_bpf__open();
	struct baleen_error error;
	void *bytes;
	int fd;

	if (!bpf)
		err(1, "cannot open the reader");
	if (baleen_load_map("live", &stress->filter, &fd, &error))
		errx(1, "%s", error.text);
	memcpy((void *)&bpf->rodata->image, &stress->filter.image, sizeof(bpf->rodata->image));
	bpf->rodata->n_keys = N_STAYING;
	if (bpf_map__reuse_fd(bpf->maps.filter, fd) || live_bpf__load(bpf))
		err(1, "cannot load the reader");
	bytes = mmap(NULL, stress->filter.n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		err(1, "cannot map the filter");
	close(fd);
	free(stress->filter.bytes);
	stress->filter.bytes = bytes;
	stress->filter.is_mapped = true;
	stress->bpf = bpf;
}

/* Where no key gives way, both buckets of one key may be full, and another takes its turn. */
static void add_staying(const struct world *world, struct stress *stress, struct baleen_key *key)
{
	bool changed;
	int err, n_tries = 0;

	do {
		*key = new_key(stress);
		err = baleen_live_add(&stress->filter, key, &changed);
	} while (err == -ENOSPC && world->bucket_slots & BALEEN_PACKED && n_tries++ < N_SLOTS);
	if (err)
		errx(1, "%s: no room for a key that stays", world->name);
}

/* Half full of keys that stay. */
static void stress_open(const struct world *world, struct stress *stress)
{
	struct baleen_error error;
	struct baleen_image image;

	*stress = (struct stress){ .domain = world->domain, .random = SEED };
	make_image(world, &stress->random, &image);
	if (baleen_filter_alloc(&stress->filter, &image, &error))
		errx(1, "%s", error.text);
	load_reader(stress);
	for (u32 i = 0; i < N_STAYING; i++)
		add_staying(world, stress, &stress->bpf->bss->keys[i]);
	stress->start = malloc(stress->filter.n_bytes);
	if (!stress->start)
		err(1, "memory");
	memcpy(stress->start, (u8 *)stress->filter.bytes + BALEEN_HEADER_BYTES,
	       stress->filter.n_bytes - BALEEN_HEADER_BYTES);
}

static void stress_close(struct stress *stress)
{
	live_bpf__destroy(stress->bpf);
	baleen_filter_free(&stress->filter);
	free(stress->start);
}

/* The least that a tenth of the staying keys moving in a round would make. */
#define MIN_MOVED (n_rounds * N_STAYING / 10)

static void report(const struct world *world, const struct stress *stress, const char *reader)
{
	const struct live_bpf__bss *shared = stress->bpf->bss;
	char what[64];

	printf("# %s, %s: %llu keys added or removed, %llu listed keys moved, %llu reads, "
	       "%llu missed\n",
	       world->name, reader, (unsigned long long)stress->n_changes,
	       (unsigned long long)stress->n_moved, (unsigned long long)shared->n_reads,
	       (unsigned long long)shared->n_missed);
	snprintf(what, sizeof(what), "%s reads keys that move", reader);
	if (moves(stress))
		result(stress->n_moved >= MIN_MOVED, world->name, what);
	snprintf(what, sizeof(what), "%s misses none of them", reader);
	result(!shared->n_missed, world->name, what);
}

static void try_reader(const struct world *world, void *(*reader)(void *), const char *name)
{
	struct stress stress;
	pthread_t thread;

	stress_open(world, &stress);
	if (pthread_create(&thread, NULL, reader, &stress))
		errx(1, "cannot start a reader");
	write_rounds(&stress);
	pthread_join(thread, NULL);
	report(world, &stress, name);
	stress_close(&stress);
}

int main(int argc, char **argv)
{
	u32 n_worlds = sizeof(worlds) / sizeof(worlds[0]);

	n_rounds = argc > 1	      ? strtoul(argv[1], NULL, 10) :
		   getenv("TEST_ALL") ? N_ROUNDS :
					N_ROUNDS_SOME;
	if (!n_rounds)
		errx(2, "usage: live [ROUNDS]");
	printf("# seed 0x%llx, %u of %u rounds\n", SEED, n_rounds, N_ROUNDS);
	for (u32 i = 0; i < n_worlds; i++) {
		try_reader(&worlds[i], read_in_userspace, "userspace");
		try_reader(&worlds[i], read_in_bpf, "BPF");
	}
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
