// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The journal of a resync against a model of Squid's store: random objects come and
 * go, events travel, programs run beside each other and beside the resync.
 *
 *      store of each feeder --events--> line --program--> filter of its generation
 *           |                                   |
 *           +--- snapshot, key by key           +--> log, while it is on
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <icp/icp_journal.h>

#include "random.h"

#define N_HISTORIES 100000
#define MAX_KEYS 12
#define MAX_FEEDERS 3
#define N_COUNTERS 9
#define LINE 4096
#define SIBLING 5
#define OLD 41
#define NEW 42

/* --- what is refused ---------------------------------------------------------- */

static struct baleen_icp_event event_of(u64 key, u32 generation, u32 event, bool changed)
{
	return (struct baleen_icp_event){
		.key_hi = key,
		.key_lo = ~key,
		.siblings = 1u << SIBLING,
		.changed = changed ? 1u << SIBLING : 0,
		.generation = generation,
		.event = event,
	};
}

static void test_refused(void **unused)
{
	struct baleen_icp_event event = event_of(1, OLD, BALEEN_STORE_INSERT, true);
	struct baleen_icp_journal journal;

	baleen_icp_journal_init(&journal, SIBLING, false);
	event.feeder = BALEEN_ICP_MAX_FEEDERS;
	assert_int_equal(baleen_icp_journal_event(&journal, &event), -EINVAL);
	event.feeder = 0;
	event.event = BALEEN_STORE_OTHER;
	assert_int_equal(baleen_icp_journal_event(&journal, &event), -EINVAL);
	event.event = BALEEN_STORE_DELETE;
	event.siblings = ~(1u << SIBLING);
	assert_int_equal(baleen_icp_journal_event(&journal, &event), 0);
	assert_int_equal(journal.n_keys, 0);
	baleen_icp_journal_free(&journal);
}

/* The last event of a key counts, whatever the snapshot says, before it and behind. */
static void test_last_event_wins(void **unused)
{
	struct baleen_icp_event came = event_of(1, OLD, BALEEN_STORE_INSERT, true);
	struct baleen_icp_event went = event_of(2, OLD, BALEEN_STORE_DELETE, true);
	struct baleen_icp_journal journal;

	baleen_icp_journal_init(&journal, SIBLING, false);
	assert_int_equal(baleen_icp_journal_object(&journal, 2, ~2ull, 0), 0);
	assert_int_equal(baleen_icp_journal_event(&journal, &went), 0);
	assert_int_equal(baleen_icp_journal_event(&journal, &came), 0);
	assert_int_equal(baleen_icp_journal_object(&journal, 2, ~2ull, 0), 0);
	assert_int_equal(baleen_icp_journal_object(&journal, 3, ~3ull, 0), 0);
	baleen_icp_journal_built(&journal, NEW);
	assert_int_equal(baleen_icp_journal_entries(&journal), 2);
	for (size_t i = 0; i < journal.n_keys; i++)
		assert_int_equal(baleen_icp_journal_wanted(&journal, &journal.key[i]),
				 journal.key[i].hi != 2);
	baleen_icp_journal_free(&journal);
}

/* A key that is far off asks for no more than a batch has room for. */
static void test_far_off(void **unused)
{
	struct baleen_icp_event event = event_of(1, NEW, BALEEN_STORE_INSERT, true);
	struct baleen_icp_journal journal;
	struct baleen_icp_batch batch;

	baleen_icp_journal_init(&journal, SIBLING, true);
	baleen_icp_journal_built(&journal, NEW);
	for (int i = 0; i < 40000; i++)
		assert_int_equal(baleen_icp_journal_event(&journal, &event), 0);
	assert_int_equal(baleen_icp_journal_entries(&journal), 40000);
	baleen_icp_journal_round(&journal);
	assert_int_equal(baleen_icp_journal_next(&journal, &batch), BALEEN_ICP_BATCH);
	assert_int_equal(batch.event[BALEEN_ICP_BATCH - 1], BALEEN_STORE_DELETE);
	baleen_icp_journal_applied(&journal, &batch);
	assert_int_equal(baleen_icp_journal_entries(&journal), 40000 - BALEEN_ICP_BATCH);
	assert_int_equal(baleen_icp_journal_next(&journal, &batch), 0);
	baleen_icp_journal_free(&journal);
}

/* Many keys, each found again; batches of all that differ. */
static void test_many(void **unused)
{
	struct random random = random_from(7);
	struct baleen_icp_journal journal;
	struct baleen_icp_batch batch;
	u32 n = 0;

	baleen_icp_journal_init(&journal, SIBLING, false);
	for (u64 i = 0; i < 20000; i++)
		assert_int_equal(baleen_icp_journal_object(&journal, i % 10000, i % 10000, 0), 0);
	assert_int_equal(journal.n_keys, 10000);
	baleen_icp_journal_built(&journal, NEW);
	for (u64 i = 0; i < 10000; i++) {
		struct baleen_icp_event event = event_of(0, OLD, BALEEN_STORE_DELETE, true);

		event.key_hi = event.key_lo = random_below(&random, 10000);
		assert_int_equal(baleen_icp_journal_event(&journal, &event), 0);
	}
	baleen_icp_journal_round(&journal);
	while (baleen_icp_journal_next(&journal, &batch)) {
		n += batch.n;
		baleen_icp_journal_applied(&journal, &batch);
	}
	assert_int_equal(baleen_icp_journal_entries(&journal), 10000 - n);
	assert_in_range(n, 6200, 6450); /* 10000 (1 - 1/e) = 6321, deviation 31 */
	baleen_icp_journal_round(&journal);
	assert_int_equal(baleen_icp_journal_next(&journal, &batch), 0);
	assert_int_equal(journal.n_open, 0);
	baleen_icp_journal_free(&journal);
}

/* --- the model ------------------------------------------------------------------ */

/**
 * struct filter - of one generation
 * @has: of a set: whether it has the key
 * @counter: of one that counts: two counters for each key, shared by many
 */
struct filter {
	bool has[MAX_KEYS];
	int counter[N_COUNTERS];
};

struct sent {
	u8 key;
	u8 event;
	bool is_early;
};

/**
 * struct run - a program that is at a feeder's event
 * @step: 0: at rest, 1: has its generation, 2: has changed the filter
 */
struct run {
	int step;
	u32 generation;
	struct sent sent;
	bool changed;
};

struct feeder {
	bool store[MAX_KEYS];
	struct sent line[LINE];
	u32 n_sent, n_taken;
	struct run run;
};

struct world {
	struct random random;
	bool counts;
	u32 n_keys, n_feeders;
	struct feeder feeder[MAX_FEEDERS];
	struct filter old, new;
	u32 link;
	bool is_recording;
	bool is_early;
	struct baleen_icp_event log[LINE];
	u32 n_logged, n_read;
	struct baleen_icp_journal journal;
};

static void counters_of(u32 key, u32 at[2])
{
	at[0] = key * 5 % N_COUNTERS;
	at[1] = (at[0] + 1 + key % (N_COUNTERS - 1)) % N_COUNTERS;
}

static bool count(struct filter *filter, u32 key, u32 event)
{
	u32 at[2];

	counters_of(key, at);
	if (event == BALEEN_STORE_DELETE && (!filter->counter[at[0]] || !filter->counter[at[1]]))
		return false;
	for (int i = 0; i < 2; i++)
		filter->counter[at[i]] += event == BALEEN_STORE_INSERT ? 1 : -1;
	return true;
}

static bool change(struct world *world, struct filter *filter, u32 key, u32 event)
{
	bool is_insert = event == BALEEN_STORE_INSERT, changed;

	if (world->counts)
		return count(filter, key, event);
	changed = filter->has[key] != is_insert;
	filter->has[key] = is_insert;
	return changed;
}

static void send(struct world *world, struct feeder *feeder, u32 key)
{
	u32 event = feeder->store[key] ? BALEEN_STORE_DELETE : BALEEN_STORE_INSERT;

	assert_true(feeder->n_sent < LINE);
	feeder->store[key] = !feeder->store[key];
	feeder->line[feeder->n_sent++] = (struct sent){ key, event, world->is_early };
}

/* One step of the program that is at this feeder's events. */
static void run(struct world *world, u32 number)
{
	struct feeder *feeder = &world->feeder[number];
	struct run *run = &feeder->run;
	struct baleen_icp_event event;

	switch (run->step) {
	case 0:
		if (feeder->n_taken == feeder->n_sent)
			return;
		run->sent = feeder->line[feeder->n_taken++];
		run->generation = world->link;
		run->step = 1;
		return;
	case 1:
		run->changed = change(world, run->generation == OLD ? &world->old : &world->new,
				      run->sent.key, run->sent.event);
		run->step = 2;
		return;
	default:
		event = event_of(run->sent.key, run->generation, run->sent.event, run->changed);
		event.feeder = number;
		assert_true(world->n_logged < LINE);
		if (world->is_recording)
			world->log[world->n_logged++] = event;
		run->step = 0;
	}
}

static void step(struct world *world)
{
	u32 number = random_below(&world->random, world->n_feeders);
	struct feeder *feeder = &world->feeder[number];
	u32 key = random_below(&world->random, world->n_keys);

	/* A set has no idea of two feeders' copies, so they have none there. */
	if (!world->counts)
		key -= key % world->n_feeders - number;
	if (random_below(&world->random, 4))
		run(world, number);
	else if (key < world->n_keys)
		send(world, feeder, key);
}

static void steps(struct world *world, u32 most)
{
	for (u32 n = random_below(&world->random, most + 1); n; n--)
		step(world);
}

static void read_log(struct world *world)
{
	for (; world->n_read < world->n_logged; world->n_read++)
		assert_int_equal(baleen_icp_journal_event(&world->journal,
							  &world->log[world->n_read]),
				 0);
}

static bool is_on_its_way(const struct world *world, const struct feeder *feeder)
{
	return world->counts && feeder->n_taken < feeder->n_sent &&
	       feeder->line[feeder->n_taken].is_early;
}

/* Programs that run now come to their end, whatever else goes on; where copies count,
 * so do events from before the end of the snapshot.
 */
static void barrier(struct world *world)
{
	for (u32 i = 0; i < world->n_feeders; i++) {
		struct feeder *feeder = &world->feeder[i];

		while (is_on_its_way(world, feeder) || feeder->run.step) {
			bool ends = !is_on_its_way(world, feeder) && feeder->run.step == 2;

			run(world, i);
			if (ends)
				break;
			steps(world, 2);
		}
	}
	read_log(world);
}

/* Every key is read at a moment of its own, and told to the journal when all are. */
static void snapshot(struct world *world)
{
	u32 order[MAX_KEYS * MAX_FEEDERS], n = world->n_keys * world->n_feeders, n_read = 0;

	for (u32 i = 0; i < n; i++) {
		u32 j = random_below(&world->random, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (u32 i = 0; i < n; i++) {
		steps(world, 4);
		if (!random_below(&world->random, 8))
			read_log(world);
		if (world->feeder[order[i] % world->n_feeders].store[order[i] / world->n_feeders])
			order[n_read++] = order[i];
	}
	world->is_early = false;
	for (u32 i = 0; i < n_read; i++) {
		u32 key = order[i] / world->n_feeders;

		assert_int_equal(baleen_icp_journal_object(&world->journal, key, ~(u64)key,
							   order[i] % world->n_feeders),
				 0);
	}
}

static void build(struct world *world)
{
	read_log(world);
	for (size_t i = 0; i < world->journal.n_keys; i++) {
		const struct baleen_icp_journal_key *key = &world->journal.key[i];

		for (u32 n = baleen_icp_journal_wanted(&world->journal, key); n; n--)
			change(world, &world->new, key->hi, BALEEN_STORE_INSERT);
	}
	baleen_icp_journal_built(&world->journal, NEW);
}

static void apply(struct world *world, struct baleen_icp_batch *batch)
{
	assert_int_equal(batch->siblings, 1u << SIBLING);
	for (u32 i = 0; i < batch->n; i++) {
		steps(world, 2);
		if (!change(world, &world->new, batch->key[i][0], batch->event[i]))
			batch->event[i] = BALEEN_STORE_OTHER;
		if (!random_below(&world->random, 4))
			read_log(world);
	}
}

/* As icp_resync.c does it. */
static void settle(struct world *world)
{
	struct baleen_icp_batch batch;
	u32 n_rounds = 0, n;

	do {
		barrier(world);
		baleen_icp_journal_round(&world->journal);
		for (n = 0; baleen_icp_journal_next(&world->journal, &batch); n++) {
			apply(world, &batch);
			baleen_icp_journal_applied(&world->journal, &batch);
		}
		assert_true(++n_rounds < 200);
	} while (n);
}

/* What the filter would be of the stores as they are. */
static void check(struct world *world, u64 seed)
{
	struct filter truth = { 0 };
	u32 n = 0;

	for (u32 i = 0; i < world->n_feeders; i++)
		for (u32 key = 0; key < world->n_keys; key++)
			if (world->feeder[i].store[key]) {
				change(world, &truth, key, BALEEN_STORE_INSERT);
				n++;
			}
	if (memcmp(&truth, &world->new, sizeof(truth)))
		fail_msg("history %llu: another filter than the store's", (unsigned long long)seed);
	assert_int_equal(baleen_icp_journal_entries(&world->journal), n);
}

static void history(u64 seed)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	world.random.state = seed;
	world.counts = random_below(&world.random, 2);
	world.n_keys = 1 + random_below(&world.random, MAX_KEYS);
	world.n_feeders = 1 + random_below(&world.random, MAX_FEEDERS);
	world.link = OLD;
	world.is_early = true;
	baleen_icp_journal_init(&world.journal, SIBLING, world.counts);
	steps(&world, 40);
	/* The old filter missed some: that is what a resync is for. */
	memset(&world.old, 0, sizeof(world.old));
	world.is_recording = true;
	snapshot(&world);
	steps(&world, 20);
	build(&world);
	steps(&world, 40);
	world.link = NEW;
	settle(&world);
	steps(&world, 100);
	world.is_early = true;
	for (u32 i = 0; i < world.n_feeders; i++)
		while (world.feeder[i].n_taken < world.feeder[i].n_sent || world.feeder[i].run.step)
			run(&world, i);
	read_log(&world);
	check(&world, seed);
	baleen_icp_journal_free(&world.journal);
}

static void test_histories(void **unused)
{
	for (u64 seed = 0; seed < N_HISTORIES; seed++)
		history(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_last_event_wins),
		cmocka_unit_test(test_far_off),	  cmocka_unit_test(test_many),
		cmocka_unit_test(test_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
