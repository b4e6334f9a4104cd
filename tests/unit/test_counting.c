// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counting Bloom filter: counters, deletions, and what a killed writer leaves. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "filter/kind.h"
#include "filter/live.h"
#include "filter/plan.h"
#include "filter/positions.h"
#include "planes.h"

#define N_KEYS 3000
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct geometry {
	u32 domain;
	u32 hash;
	u32 n_hashes;
	u64 n_bits;
} geometries[] = {
	{ BALEEN_IP4, BALEEN_HASH_BLOCKED, 8, 512 * 60 },
	{ BALEEN_IP6, BALEEN_HASH_BLOCKED, 2, 512 * 20 },
	{ BALEEN_IP4, BALEEN_HASH_KEYED, 7, 30001 },
	{ BALEEN_TUPLE, BALEEN_HASH_KEYED, 3, 512 * 25 },
	{ BALEEN_IP6, BALEEN_HASH_MURMUR3, 7, 30011 },
	{ BALEEN_IP4, BALEEN_HASH_MURMUR3, 20, 30011 },
	{ BALEEN_IP4, BALEEN_HASH_MURMUR3_FNV1A, 2, 9999 },
	{ BALEEN_TUPLE, BALEEN_HASH_SQUID, 4, 20008 },
};

static struct baleen_filter make_filter(const struct geometry *geometry, struct random *random)
{
	struct baleen_table table = plane_table(BALEEN_KIND_COUNTING, geometry->hash,
						geometry->n_hashes, geometry->n_bits);

	return table_filter(&table, geometry->domain, random);
}

/* --- refused ------------------------------------------------------------------ */

static void test_plan(void **state)
{
	static const struct baleen_shape odd = { .n_hashes = 3 }, many = { .n_bits = 1ull << 36 },
					 keyed = { .hash = BALEEN_HASH_KEYED, .n_bits = 1001 };
	struct baleen_error error;
	struct baleen_table table, poison;

	memset(&table, 0xa5, sizeof(table));
	memset(&poison, 0xa5, sizeof(poison));
	assert_int_equal(baleen_plan_shaped(0, BALEEN_KIND_COUNTING, 9, 0, NULL, &table, &error),
			 -EINVAL);
	assert_int_equal(baleen_plan_shaped(0, BALEEN_KIND_COUNTING, 9, 0.1, &odd, &table, &error),
			 -EINVAL);
	/* The bits alone would fit. */
	assert_int_equal(baleen_plan_shaped(0, BALEEN_KIND_COUNTING, 9, 0, &many, &table, &error),
			 -E2BIG);
	assert_memory_equal(&table, &poison, sizeof(table));
	assert_int_equal(baleen_plan_shaped(0, BALEEN_KIND_COUNTING, 9, 0, &keyed, &table, &error),
			 0);
	assert_int_equal(table.kind, BALEEN_KIND_COUNTING);
	assert_int_equal(baleen_table_bits(&table), 1001);
	assert_int_equal(table.n_blocks, 10);
}

static void test_refused_deletes(void **state)
{
	struct random random = random_from(1);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_filter filter = make_filter(&geometries[i], &random);
		u32 domain = geometries[i].domain, n_refused = 0;
		u8 *before = malloc(filter.n_bytes);

		for (u32 j = 0; j < 500; j++) {
			struct baleen_key key = random_key(&random, domain);

			assert_int_equal(insert_one(&filter, &key), 0);
		}
		memcpy(before, filter.bytes, filter.n_bytes);
		for (u32 j = 0; j < 1000; j++) {
			struct baleen_key key = random_key(&random, domain);
			bool changed = true;

			if (baleen_filter_test(&filter, &key))
				continue;
			assert_int_equal(baleen_live_del(&filter, &key, &changed), 0);
			assert_false(changed);
			n_refused++;
		}
		assert_true(n_refused > 800);
		assert_memory_equal(before, filter.bytes, filter.n_bytes);
		free(before);
		baleen_filter_free(&filter);
	}
}

/* --- counters ----------------------------------------------------------------- */

/* A full-width count for each bit: of a textbook's hash of each position, else of each bit of
 * a key once.
 */
static void count(const struct baleen_filter *filter, const struct baleen_key *key, u32 *counts,
		  int step)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	struct baleen_positions positions;

	if (table->hash == BALEEN_HASH_MURMUR3 || table->hash == BALEEN_HASH_MURMUR3_FNV1A) {
		for (u32 i = 0; i < table->n_hashes; i++)
			counts[baleen_classic_position(table, 0, key, i)] += step;
		return;
	}
	assert_int_equal(baleen_positions_of(&filter->image, key, &positions), 0);
	assert_in_range(positions.n, 1, filter->image.table[key->domain].n_hashes);
	for (u32 i = 0; i < positions.n; i++) {
		for (u32 j = 0; j < i; j++)
			assert_true(positions.bit[i] != positions.bit[j]);
		counts[positions.bit[i]] += step;
	}
}

static void assert_counts(const struct baleen_filter *filter, u32 domain, const u32 *counts)
{
	u64 n_bits = filter->image.table[domain].n_buckets * 512ull;

	for (u64 bit = 0; bit < n_bits; bit++) {
		assert_int_equal(plane_counter(filter, domain, bit), counts[bit]);
		assert_int_equal(baleen_counter_get(&filter->image.table[domain], filter->bytes,
						    bit),
				 counts[bit]);
		assert_int_equal(plane_bit(filter, domain, bit), counts[bit] > 0);
	}
}

/* Additions and deletions in random order, against the counts and a set. */
static void churn(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = make_filter(geometry, random);
	u32 domain = geometry->domain, n_in = 0;
	struct baleen_key *keys = malloc(N_KEYS * sizeof(*keys));
	u32 *counts = calloc(filter.image.table[domain].n_buckets, 512 * sizeof(*counts));
	bool *is_in = calloc(N_KEYS, sizeof(*is_in)), changed;

	for (u32 i = 0; i < N_KEYS; i++)
		keys[i] = random_key(random, domain);
	for (u32 round = 0; round < 4 * N_KEYS; round++) {
		u32 i = random_below(random, N_KEYS);

		/* At most a third of them, so that no counter comes to its end. */
		if (!is_in[i] && n_in > N_KEYS / 3)
			continue;
		if (is_in[i])
			assert_int_equal(baleen_live_del(&filter, &keys[i], &changed), 0);
		else
			assert_int_equal(baleen_live_add(&filter, &keys[i], &changed), 0);
		assert_true(changed);
		count(&filter, &keys[i], counts, is_in[i] ? -1 : 1);
		is_in[i] = !is_in[i];
		n_in += is_in[i] ? 1 : -1;
	}
	assert_counts(&filter, domain, counts);
	for (u32 i = 0; i < N_KEYS; i++) {
		assert_true(!is_in[i] || baleen_filter_test(&filter, &keys[i]));
		if (is_in[i])
			assert_int_equal(baleen_live_del(&filter, &keys[i], &changed), 0);
	}
	for (size_t i = BALEEN_HEADER_BYTES; i < filter.n_bytes; i++)
		assert_int_equal(((u8 *)filter.bytes)[i], 0);
	free(is_in);
	free(counts);
	free(keys);
	baleen_filter_free(&filter);
}

static void test_counts(void **state)
{
	struct random random = random_from(2);

	for (u32 i = 0; i < N_OF(geometries); i++)
		churn(&geometries[i], &random);
}

/* A list is counted as additions are, and the image is whole. */
static void test_insert(void **state)
{
	struct random random = random_from(3);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_filter filter = make_filter(&geometries[i], &random), other;
		u32 domain = geometries[i].domain;
		bool changed;

		assert_int_equal(baleen_filter_alloc(&other, &filter.image, NULL), 0);
		for (u32 j = 0; j < 500; j++) {
			struct baleen_key key = random_key(&random, domain);

			assert_int_equal(insert_one(&filter, &key), 0);
			assert_int_equal(baleen_live_add(&other, &key, &changed), 0);
		}
		assert_memory_equal(filter.bytes, other.bytes, filter.n_bytes);
		assert_int_equal(filter.image.table[domain].n_entries, 500);
		if (domain <= BALEEN_IP6)
			assert_sealed(&filter);
		baleen_filter_free(&other);
		baleen_filter_free(&filter);
	}
}

/* The example on top of counting.h. */
static void test_example(void **state)
{
	struct geometry plain = { BALEEN_IP4, BALEEN_HASH_BLOCKED, 2, 512 };
	struct baleen_positions positions = { .n = 2, .bit = { 3, 20 } };
	struct random random = random_from(4);
	struct baleen_filter filter = make_filter(&plain, &random);
	const u64 *word = (u64 *)filter.bytes + 64;

	baleen_plane_add(&filter.image.table[BALEEN_IP4], filter.bytes, &positions);
	assert_int_equal(baleen_le64(word[0]), 1 << 3 | 1 << 20);
	assert_int_equal(baleen_le64(word[8]), 1 << 12);
	assert_int_equal(baleen_le64(word[9]), 1 << 16);
	baleen_filter_free(&filter);
}

/* At 15 a counter stays, and so do its neighbours what they were. */
static void test_sticky(void **state)
{
	struct random random = random_from(5);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_filter filter = make_filter(&geometries[i], &random);
		u32 domain = geometries[i].domain;
		struct baleen_key key = random_key(&random, domain);
		struct baleen_positions positions;
		bool changed;

		assert_int_equal(baleen_positions_of(&filter.image, &key, &positions), 0);
		for (u32 n = 1; n <= 20; n++) {
			assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
			for (u32 j = 0; j < positions.n; j++)
				assert_int_equal(plane_counter(&filter, domain, positions.bit[j]),
						 n < 15 ? n : 15);
		}
		for (u32 n = 0; n < 40; n++) {
			assert_int_equal(baleen_live_del(&filter, &key, &changed), 0);
			assert_true(changed);
			assert_true(baleen_filter_test(&filter, &key));
		}
		for (u64 bit = 0; bit < geometries[i].n_bits; bit++) {
			u32 want = 0;

			for (u32 j = 0; j < positions.n; j++)
				want += positions.bit[j] == bit ? 15 : 0;
			assert_int_equal(plane_counter(&filter, domain, bit), want);
			assert_int_equal(plane_bit(&filter, domain, bit), want > 0);
		}
		baleen_filter_free(&filter);
	}
}

/* As a killed writer leaves it: a bit that nobody counts. */
static void test_uncounted(void **state)
{
	struct random random = random_from(6);
	struct baleen_filter filter = make_filter(&geometries[2], &random);
	struct baleen_key key = random_key(&random, BALEEN_IP4);
	struct baleen_positions positions;
	u8 *counters = (u8 *)filter.bytes + BALEEN_HEADER_BYTES;
	bool changed;

	assert_int_equal(baleen_positions_of(&filter.image, &key, &positions), 0);
	assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
	counters += filter.image.table[BALEEN_IP4].n_buckets * 64;
	counters[positions.bit[0] / 2] &= positions.bit[0] % 2 ? 0x0f : 0xf0;
	assert_int_equal(baleen_live_del(&filter, &key, &changed), 0);
	assert_true(changed);
	for (size_t i = BALEEN_HEADER_BYTES; i < filter.n_bytes; i++)
		assert_int_equal(((u8 *)filter.bytes)[i], 0);
	baleen_filter_free(&filter);
}

/* --- killed at every store ----------------------------------------------------- */

#define N_OTHERS 60

/**
 * struct trace - a change that may stop anywhere
 * @filter: in shared memory
 * @others: keys that are in and stay
 * @key: is added or removed
 * @add: which of the two
 */
struct trace {
	struct baleen_filter filter;
	struct baleen_key others[N_OTHERS];
	struct baleen_key key;
	bool add;
};

static int change(struct baleen_filter *filter, const struct trace *trace)
{
	bool changed;

	return trace->add ? baleen_live_add(filter, &trace->key, &changed) :
			    baleen_live_del(filter, &trace->key, &changed);
}

/* The next writer does it again, and then removes the others one by one: whoever
 * is still to be in is.
 */
static void assert_recovers(const struct trace *trace)
{
	struct baleen_filter copy;

	assert_int_equal(baleen_filter_alloc(&copy, &trace->filter.image, NULL), 0);
	memcpy(copy.bytes, trace->filter.bytes, copy.n_bytes);
	assert_int_equal(change(&copy, trace), 0);
	for (u32 i = 0; i < N_OTHERS; i++) {
		bool changed;

		for (u32 j = i; j < N_OTHERS; j++)
			assert_true(baleen_filter_test(&copy, &trace->others[j]));
		assert_int_equal(baleen_live_del(&copy, &trace->others[i], &changed), 0);
		assert_true(changed);
	}
	assert_true(!trace->add || baleen_filter_test(&copy, &trace->key));
	baleen_filter_free(&copy);
}

/* One word was stored; whoever is in is found. */
static void assert_stopped(const struct trace *trace, const u64 *last)
{
	const u64 *now = trace->filter.bytes;
	u32 n_words = 0;

	for (size_t i = 0; i < trace->filter.n_bytes / sizeof(*now); i++)
		n_words += now[i] != last[i];
	assert_int_equal(n_words, 1);
	for (u32 i = 0; i < N_OTHERS; i++)
		assert_true(baleen_filter_test(&trace->filter, &trace->others[i]));
	assert_recovers(trace);
}

/* The change, one instruction at a time; returns how many of them stored. */
static u32 step_through(struct trace *trace)
{
	u64 *last = malloc(trace->filter.n_bytes);
	u32 n_stores = 0;
	int status;
	pid_t pid;

	memcpy(last, trace->filter.bytes, trace->filter.n_bytes);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(change(&trace->filter, trace));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)) {
		if (memcmp(last, trace->filter.bytes, trace->filter.n_bytes)) {
			n_stores++;
			assert_stopped(trace, last);
			memcpy(last, trace->filter.bytes, trace->filter.n_bytes);
		}
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	free(last);
	return n_stores;
}

static void map_shared(struct baleen_filter *filter)
{
	void *bytes = mmap(NULL, filter->n_bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(bytes, MAP_FAILED);
	memcpy(bytes, filter->bytes, filter->n_bytes);
	free(filter->bytes);
	filter->bytes = bytes;
	filter->is_mapped = true;
}

/* Bits of the key that others have, and that nobody else has. */
static void count_bits(struct trace *trace, u32 *n_shared, u32 *n_own)
{
	struct baleen_positions positions;

	assert_int_equal(baleen_positions_of(&trace->filter.image, &trace->key, &positions), 0);
	*n_shared = 0;
	for (u32 i = 0; i < positions.n; i++)
		*n_shared += plane_bit(&trace->filter, trace->key.domain, positions.bit[i]);
	*n_own = positions.n - *n_shared;
}

/* Of a key with bits of both kinds each counter is stored, and each bit of its own. */
static void kill_everywhere(const struct geometry *geometry, struct random *random)
{
	struct trace trace = { .filter = make_filter(geometry, random), .add = true };
	u32 n_shared = 0, n_own = 0;

	map_shared(&trace.filter);
	for (u32 i = 0; i < N_OTHERS; i++) {
		trace.others[i] = random_key(random, geometry->domain);
		assert_int_equal(insert_one(&trace.filter, &trace.others[i]), 0);
	}
	for (u32 tries = 0; tries < 1000 && (!n_shared || !n_own); tries++) {
		trace.key = random_key(random, geometry->domain);
		count_bits(&trace, &n_shared, &n_own);
	}
	assert_true(n_shared && n_own);
	assert_int_equal(step_through(&trace), n_shared + 2 * n_own);
	assert_true(baleen_filter_test(&trace.filter, &trace.key));
	trace.add = false;
	assert_int_equal(step_through(&trace), n_shared + 2 * n_own);
	assert_false(baleen_filter_test(&trace.filter, &trace.key));
	baleen_filter_free(&trace.filter);
}

static void test_killed(void **state)
{
	static const struct geometry small[] = {
		{ BALEEN_IP4, BALEEN_HASH_BLOCKED, 4, 512 },
		{ BALEEN_IP6, BALEEN_HASH_KEYED, 5, 701 },
		{ BALEEN_IP4, BALEEN_HASH_MURMUR3, 3, 512 },
	};
	struct random random = random_from(7);

	for (u32 i = 0; i < N_OF(small); i++)
		kill_everywhere(&small[i], &random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),	  cmocka_unit_test(test_refused_deletes),
		cmocka_unit_test(test_counts),	  cmocka_unit_test(test_insert),
		cmocka_unit_test(test_example),	  cmocka_unit_test(test_sticky),
		cmocka_unit_test(test_uncounted), cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
