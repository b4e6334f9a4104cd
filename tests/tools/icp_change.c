// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the packet program does to a filter: the same as live.h does alone, and nothing
 * wrong from two CPUs at a time.
 *
 *	tools/icp_change [ROUNDS]    rounds of both at once
 */
#include <pthread.h>
#include <sched.h>

#include "filter/live.h"
#include "filter/slots.h"
#include "icp_live.h"

#define N_OPS 200000
#define N_KEYS 20000
#define CAPACITY 16000
#define N_ROUNDS 20

static u32 n_rounds = N_ROUNDS;

struct world {
	const char *name;
	u32 kind;
	u32 hash;
};

static const struct world worlds[] = {
	{ "counting, blocked", BALEEN_KIND_COUNTING, BALEEN_HASH_BLOCKED },
	{ "counting, keyed", BALEEN_KIND_COUNTING, BALEEN_HASH_KEYED },
	{ "counting, squid", BALEEN_KIND_COUNTING, BALEEN_HASH_SQUID },
	{ "cuckoo", BALEEN_KIND_CUCKOO, 0 },
};

static const u8 *body(const struct baleen_filter *filter)
{
	return (const u8 *)filter->bytes + BALEEN_HEADER_BYTES;
}

static bool same_bytes(const struct baleen_filter *a, const struct baleen_filter *b)
{
	return !memcmp(body(a), body(b), a->n_bytes - BALEEN_HEADER_BYTES);
}

static u64 n_used(struct baleen_filter *filter)
{
	baleen_live_repair(filter);
	return baleen_filter_used(filter, BALEEN_TUPLE);
}

/* Byte by byte where the kind counts; else as sets, since keys may be in other slots. */
static bool same_filter(struct baleen_filter *live, struct baleen_filter *model)
{
	if (live->image.table[BALEEN_TUPLE].kind == BALEEN_KIND_COUNTING)
		return same_bytes(live, model);
	for (u32 i = 0; i < N_KEYS; i++) {
		struct baleen_key key = nth_key(i);

		if (baleen_filter_test(live, &key) != baleen_filter_test(model, &key))
			return false;
	}
	return n_used(live) == n_used(model);
}

static bool change_model(struct baleen_filter *model, const struct baleen_key *key, u32 event)
{
	bool changed = false;
	int err = event == BALEEN_STORE_INSERT ? baleen_live_add(model, key, &changed) :
						 baleen_live_del(model, key, &changed);

	if (err && err != -ENOSPC)
		errx(1, "the model refused a key: %s", strerror(-err));
	return changed;
}

/* --- one CPU ------------------------------------------------------------------- */

static bool agree_on_batch(struct live *live, struct baleen_filter *model,
			   struct baleen_icp_batch *batch)
{
	struct baleen_icp_batch asked = *batch;
	bool agree = true;

	apply(live, batch);
	for (u32 i = 0; i < asked.n; i++) {
		struct baleen_key key = baleen_squid_key(asked.key[i][0], asked.key[i][1]);
		bool changed = batch->event[i] != BALEEN_STORE_OTHER;

		agree &= change_model(model, &key, asked.event[i]) == changed;
	}
	return agree;
}

/* Random inserts and deletes; of keys that are absent, too, and of those counted more than once. */
static void does_what_userspace_does(struct live *live, const struct world *world)
{
	struct baleen_filter model = new_model(&live->filter[0].image);
	struct baleen_icp_batch batch = { .siblings = 1 };
	bool agree = true;
	u64 random = SEED;

	for (u32 i = 0; i < N_OPS; i++) {
		u64 x = next_random(&random);
		struct baleen_key key = nth_key((x >> 8) % N_KEYS);

		batch_push(&batch, &key, x & 1 ? BALEEN_STORE_INSERT : BALEEN_STORE_DELETE);
		if (batch.n == BALEEN_ICP_BATCH || i == N_OPS - 1)
			agree &= agree_on_batch(live, &model, &batch);
	}
	result(agree, world->name, "200,000 changes, each changed what it changes in userspace");
	result(same_filter(&live->filter[0], &model), world->name, "the filters are the same");
	baleen_filter_free(&model);
}

static void absent_keys_change_nothing(struct live *live, const struct world *world)
{
	struct baleen_filter *filter = &live->filter[0], before;
	struct baleen_error error;
	u32 n_changed = 0, n_asked = 0;

	if (baleen_filter_copy(filter, &before, &error))
		errx(1, "%s", error.text);
	for (u32 i = N_KEYS; i < 2 * N_KEYS; i++) {
		struct baleen_key key = nth_key(i);

		if (baleen_filter_test(filter, &key))
			continue;
		n_asked++;
		n_changed += apply_one(live, &key, BALEEN_STORE_DELETE);
	}
	result(n_asked > N_KEYS / 2 && !n_changed && same_bytes(filter, &before), world->name,
	       "to delete absent keys changes not one byte");
	baleen_filter_free(&before);
}

static void counters_stay_when_full(struct live *live, const struct world *world)
{
	struct baleen_key key = nth_key(3 * N_KEYS);
	u32 n_changed = 0;

	for (u32 i = 0; i < 40; i++)
		apply_one(live, &key, BALEEN_STORE_INSERT);
	for (u32 i = 0; i < 40; i++)
		n_changed += apply_one(live, &key, BALEEN_STORE_DELETE);
	result(n_changed == 40 && baleen_filter_test(&live->filter[0], &key), world->name,
	       "a counter that is full stays");
}

static void inserts_once(struct live *live, const struct world *world)
{
	struct baleen_key key = nth_key(3 * N_KEYS);
	bool right = apply_one(live, &key, BALEEN_STORE_INSERT);

	right &= !apply_one(live, &key, BALEEN_STORE_INSERT);
	right &= apply_one(live, &key, BALEEN_STORE_DELETE);
	right &= !apply_one(live, &key, BALEEN_STORE_DELETE);
	result(right && !baleen_filter_test(&live->filter[0], &key), world->name,
	       "a key is inserted once and deleted once");
}

/* --- two CPUs ------------------------------------------------------------------- */

/**
 * struct writer - one of two threads
 * @live: both have the same
 * @cpu: where it runs
 * @first: its first key
 * @event: what it does to each
 * @n_changed: how often the filter changed
 */
struct writer {
	const struct live *live;
	u32 cpu;
	u32 first;
	u32 event;
	u32 n_changed;
};

static pthread_barrier_t barrier;

static void *write_keys(void *context)
{
	struct baleen_icp_batch batch = { .siblings = 1 };
	struct writer *writer = context;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(writer->cpu, &cpus);
	if (pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus))
		errx(1, "cannot pin a thread to a CPU");
	writer->n_changed = 0;
	pthread_barrier_wait(&barrier);
	for (u32 i = 0; i < N_KEYS / 4; i++) {
		struct baleen_key key = nth_key(writer->first + i);

		batch_push(&batch, &key, writer->event);
		if (batch.n < BALEEN_ICP_BATCH && i < N_KEYS / 4 - 1)
			continue;
		u32 n = batch.n;

		apply(writer->live, &batch);
		while (n--)
			writer->n_changed += batch.event[n] == writer->event;
	}
	return NULL;
}

static u32 write_both(struct writer *writer)
{
	pthread_t thread[2];

	for (u32 i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, write_keys, &writer[i]))
			errx(1, "cannot start a thread");
	for (u32 i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return writer[0].n_changed + writer[1].n_changed;
}

/* Reads the keys that stay without a pause. */
struct reader {
	const struct baleen_filter *filter;
	bool stop;
	u64 n_missed;
	u64 n_reads;
};

#define FIRST_STAYING (4 * N_KEYS)
#define N_STAYING (N_KEYS / 8)

static void *read_keys(void *context)
{
	struct reader *reader = context;

	while (!__atomic_load_n(&reader->stop, __ATOMIC_ACQUIRE)) {
		struct baleen_key key = nth_key(FIRST_STAYING + reader->n_reads++ % N_STAYING);

		reader->n_missed += !baleen_filter_test(reader->filter, &key);
	}
	return NULL;
}

/* Keys of a counting table count as often as they are inserted, others once. */
static bool change_together(struct live *live, bool is_same, bool counts)
{
	u32 n_all = N_KEYS / 4 * (counts || !is_same ? 2 : 1);
	struct writer writer[2] = { { live, 0, 0, 0, 0 },
				    { live, 1, is_same ? 0 : N_KEYS / 4, 0, 0 } };
	bool right = true;

	for (u32 round = 0; round < n_rounds; round++) {
		writer[0].event = writer[1].event = BALEEN_STORE_INSERT;
		right &= write_both(writer) == n_all;
		for (u32 i = 0; i < N_KEYS / 4 * (is_same ? 1 : 2); i++) {
			struct baleen_key key = nth_key(i);

			right &= baleen_filter_test(&live->filter[0], &key);
		}
		writer[0].event = writer[1].event = BALEEN_STORE_DELETE;
		right &= write_both(writer) == n_all;
	}
	return right;
}

static void two_write_at_a_time(struct live *live, const struct world *world)
{
	bool counts = world->kind == BALEEN_KIND_COUNTING;
	struct baleen_filter *filter = &live->filter[0], before;
	struct reader reader = { .filter = filter };
	struct baleen_error error;
	pthread_t thread;

	for (u32 i = 0; i < N_STAYING; i++) {
		struct baleen_key key = nth_key(FIRST_STAYING + i);

		apply_one(live, &key, BALEEN_STORE_INSERT);
	}
	if (baleen_filter_copy(filter, &before, &error))
		errx(1, "%s", error.text);
	if (pthread_create(&thread, NULL, read_keys, &reader))
		errx(1, "cannot start a thread");
	result(change_together(live, false, counts), world->name,
	       "two CPUs with keys of their own lose none and count all");
	result(change_together(live, true, counts), world->name,
	       "two CPUs with the same keys lose none and count all");
	__atomic_store_n(&reader.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	result(reader.n_reads && !reader.n_missed, world->name,
	       "a reader never missed a key that stays");
	result(counts ? same_bytes(filter, &before) : n_used(filter) == n_used(&before),
	       world->name, "when all are deleted the filter is what it was");
	baleen_filter_free(&before);
}

/* --- room ------------------------------------------------------------------------ */

/* The share of slots in use when the first key is refused: search.h has 84 to 98 %. */
static void fills(u64 capacity)
{
	struct baleen_image image = make_image(BALEEN_KIND_CUCKOO, 0, capacity);
	double low = 1, high = 0, n_slots = 4.0 * image.table[BALEEN_TUPLE].n_buckets;
	struct live live;

	for (u32 fill = 0; fill < 20; fill++) {
		u64 n = 0, first = (u64)fill << 32;
		struct baleen_key key = nth_key(first);

		live_open(&live, &image, 1);
		while (apply_one(&live, &key, BALEEN_STORE_INSERT))
			key = nth_key(first + ++n);
		low = n / n_slots < low ? n / n_slots : low;
		high = n / n_slots > high ? n / n_slots : high;
		live_close(&live);
	}
	printf("# %.0f slots: the first key was refused at a load of %.3f to %.3f\n", n_slots, low,
	       high);
	result(low > 0.8, "cuckoo", "20 fills to 80 % at least");
}

static void test_world(const struct world *world)
{
	struct baleen_image image = make_image(world->kind, world->hash, CAPACITY);
	struct live live;

	live_open(&live, &image, 1);
	does_what_userspace_does(&live, world);
	absent_keys_change_nothing(&live, world);
	if (world->kind == BALEEN_KIND_COUNTING)
		counters_stay_when_full(&live, world);
	else
		inserts_once(&live, world);
	live_close(&live);
	live_open(&live, &image, 1);
	two_write_at_a_time(&live, world);
	live_close(&live);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		n_rounds = strtoul(argv[1], NULL, 10);
	if (!n_rounds)
		errx(2, "usage: icp_change [ROUNDS]");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		errx(1, "this takes two CPUs");
	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
		test_world(&worlds[i]);
	fills(1u << 10);
	fills(1u << 14);
	return finish_tests();
}
