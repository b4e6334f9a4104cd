// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Token buckets by source: the arithmetic beside a slow one, sets that are full, processors. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <baleen/rate_limit.h>

#include "random.h"

#define S 1000000000ull
#define START (5 * S)

static struct baleen_limit limit_of(u32 rate, u32 unit_s, u32 burst)
{
	const struct baleen_rate_limit typed = { .rate = rate, .unit_s = unit_s, .burst = burst };

	return baleen_limit_set_up(&typed, 1, 0);
}

/* --- what packets meet --- */

static void test_set_up(void **state)
{
	struct baleen_rate_limit typed = { .rate = 50, .unit_s = 1, .burst = 200 };
	struct baleen_limit limit = baleen_limit_set_up(&typed, 7, 32768);

	assert_int_equal(limit.interval_ns, 20000000);
	assert_int_equal(limit.window_ns, 4 * S);
	assert_int_equal(limit.src_mask, 0xffffffff);
	assert_int_equal(limit.src6_mask, ~0ull);
	assert_int_equal(limit.seed, 7);
	assert_int_equal(limit.first_set, 32768);
	typed = (struct baleen_rate_limit){
		.rate = 6, .unit_s = 60, .src_bits = 24, .src6_bits = 48
	};
	limit = baleen_limit_set_up(&typed, 7, 0);
	assert_int_equal(limit.interval_ns, 10 * S);
	assert_int_equal(limit.window_ns, 60 * S);
	assert_int_equal(limit.src_mask, 0xffffff00);
	assert_int_equal(limit.src6_mask, 0xffffffffffff0000ull);
	typed = (struct baleen_rate_limit){ 0 };
	assert_int_equal(baleen_limit_set_up(&typed, 7, 5).seed, 0);
}

static void test_sources(void **state)
{
	const struct baleen_rate_limit typed = {
		.rate = 1, .unit_s = 1, .src_bits = 24, .src6_bits = 56
	};
	struct baleen_limit limit = baleen_limit_set_up(&typed, 0, 0);

	assert_int_equal(baleen_limit_source(&limit, false, 0, 0xc0000207),
			 BALEEN_LIMIT_IP4 | 0xc0000200);
	assert_int_equal(baleen_limit_source(&limit, true, 0x20010db8000000ffull, 9),
			 0x20010db800000000ull);
	assert_int_equal(baleen_limit_source(&limit, true, 0, 1), 0);
	/* Multicast, which would be taken for IPv4. */
	assert_int_equal(baleen_limit_source(&limit, true, 0xff000000c0000200ull, 0), 0);
}

/* --- one bucket --- */

/**
 * struct slow - a token bucket that counts what it has, in time
 * @credit_ns: below 0 while the source is held
 * @at_ns: when that was so
 */
struct slow {
	__int128 credit_ns;
	u64 at_ns;
};

static enum baleen_limit_answer slow_take(struct slow *slow, const struct baleen_limit *limit,
					  u64 now_ns)
{
	slow->credit_ns += now_ns - slow->at_ns;
	if (slow->credit_ns > limit->window_ns)
		slow->credit_ns = limit->window_ns;
	slow->at_ns = now_ns;
	if (slow->credit_ns < 0)
		return BALEEN_LIMIT_OVER;
	if (slow->credit_ns < limit->interval_ns) {
		slow->credit_ns = -(__int128)BALEEN_LIMIT_HOLD_NS;
		return BALEEN_LIMIT_OVERRUN;
	}
	slow->credit_ns -= limit->interval_ns;
	return BALEEN_LIMIT_WITHIN;
}

static void compare(const struct baleen_limit *limit, struct random *random)
{
	struct slow slow = { .credit_ns = limit->window_ns, .at_ns = START };
	u64 full_ns = 0, now_ns = START, scale = limit->interval_ns * 2 + 2;
	u32 seen[BALEEN_LIMIT_OVERRUN + 1] = { 0 };

	for (u32 i = 0; i < 20000; i++) {
		enum baleen_limit_answer answer, want = slow_take(&slow, limit, now_ns);
		u64 next_ns = baleen_bucket_spend(full_ns, limit->interval_ns, limit->window_ns,
						  now_ns, &answer);

		if (answer != want)
			fail_msg("packet %u: %d, not %d (interval %llu window %llu)", i, answer,
				 want, (unsigned long long)limit->interval_ns,
				 (unsigned long long)limit->window_ns);
		assert_true(answer != BALEEN_LIMIT_OVER || next_ns == full_ns);
		full_ns = next_ns;
		seen[answer]++;
		/* Bursts, the rate itself, now and then a long silence. */
		if (random_below(random, 500) == 0)
			now_ns += limit->window_ns + 2 * S;
		else if (random_below(random, 4))
			now_ns += random_below(random, scale < ~0u ? scale : ~0u);
	}
	assert_true(seen[BALEEN_LIMIT_WITHIN] && seen[BALEEN_LIMIT_OVERRUN]);
}

static void test_bucket_beside_slow_one(void **state)
{
	static const u32 units[] = { 1, 60, 3600 };
	struct random random = random_from(16);

	for (u32 i = 0; i < 200; i++) {
		u32 rate = 1 + random_below(&random, i % 2 ? 1000000 : 100);
		struct baleen_limit limit =
			limit_of(rate, units[i % 3], 1 + random_below(&random, 300));

		compare(&limit, &random);
	}
}

/* A client at its rate is never over, however long. */
static void test_rate_is_allowed(void **state)
{
	struct baleen_limit limit = limit_of(50, 1, 1);
	enum baleen_limit_answer answer;
	u64 full_ns = 0;

	for (u32 i = 0; i < 100000; i++) {
		full_ns = baleen_bucket_spend(full_ns, limit.interval_ns, limit.window_ns,
					      START + i * limit.interval_ns, &answer);
		assert_int_equal(answer, BALEEN_LIMIT_WITHIN);
	}
}

static void test_told_once_a_second(void **state)
{
	struct baleen_limit limit = limit_of(50, 1, 200);
	u32 seen[BALEEN_LIMIT_OVERRUN + 1] = { 0 };
	enum baleen_limit_answer answer;
	u64 full_ns = 0;

	/* 20,000 packets a second, five seconds. */
	for (u32 i = 0; i < 100000; i++) {
		full_ns = baleen_bucket_spend(full_ns, limit.interval_ns, limit.window_ns,
					      START + i * 50000ull, &answer);
		seen[answer]++;
	}
	/* A token came in the 10 ms of the burst, or none. */
	assert_in_range(seen[BALEEN_LIMIT_WITHIN], 200, 201);
	assert_int_equal(seen[BALEEN_LIMIT_OVERRUN], 5);
}

/* --- sets --- */

static enum baleen_limit_answer take(struct baleen_limit_set *set, const struct baleen_limit *limit,
				     u64 source, u64 now_ns)
{
	return baleen_limit_charge(set, source, limit->interval_ns, limit->window_ns, now_ns);
}

static void test_four_sources(void **state)
{
	struct baleen_limit limit = limit_of(1, 1, 2);
	struct baleen_limit_set set = { 0 };

	for (u32 n = 0; n < 3; n++)
		for (u64 source = 1; source <= 4; source++)
			assert_int_equal(take(&set, &limit, source, START),
					 n < 2 ? BALEEN_LIMIT_WITHIN : BALEEN_LIMIT_OVERRUN);
	for (u64 source = 1; source <= 4; source++)
		assert_true(baleen_limit_is_over(&set, source, limit.interval_ns, limit.window_ns,
						 START));
	assert_false(baleen_limit_is_over(&set, 5, limit.interval_ns, limit.window_ns, START));
	assert_true(baleen_limit_is_over(&set, 1, limit.interval_ns, limit.window_ns,
					 START + BALEEN_LIMIT_HOLD_NS));
	assert_false(baleen_limit_is_over(&set, 1, limit.interval_ns, limit.window_ns,
					  START + BALEEN_LIMIT_HOLD_NS + limit.interval_ns));
}

/* Newcomers take slots from each other; who has few tokens left keeps his. */
static void test_full_set_forgets_the_idle(void **state)
{
	struct baleen_limit limit = limit_of(1, 1, 100);
	struct baleen_limit_set set = { 0 };
	u32 forgotten = 0, i = 0;

	while (take(&set, &limit, 1, START) != BALEEN_LIMIT_OVERRUN)
		i++;
	assert_int_equal(i, 100);
	for (u32 n = 0; n < 50; n++)
		take(&set, &limit, 2, START);
	for (u64 source = 1000; source < 2000; source++)
		forgotten += take(&set, &limit, source, START) == BALEEN_LIMIT_FORGETS;
	assert_int_equal(forgotten, 998);
	assert_int_equal(take(&set, &limit, 1, START), BALEEN_LIMIT_OVER);
	i = 50;
	while (take(&set, &limit, 2, START) != BALEEN_LIMIT_OVERRUN)
		i++;
	assert_int_equal(i, 100);
	/* Idle slots are nobody's loss. */
	assert_int_equal(take(&set, &limit, 3000, START + 1000 * S), BALEEN_LIMIT_WITHIN);
}

static void test_sets_are_in_their_part(void **state)
{
	const struct baleen_rate_limit typed = { .rate = 1, .unit_s = 1 };
	struct baleen_limit limit = baleen_limit_set_up(&typed, 99, 3 * BALEEN_LIMIT_SETS);
	u32 *n = calloc(BALEEN_LIMIT_SETS, sizeof(*n)), most = 0;

	for (u32 i = 0; i < 16 * BALEEN_LIMIT_SETS; i++) {
		u32 set = baleen_limit_set_of(&limit, BALEEN_LIMIT_IP4 | i << 8);

		assert_in_range(set, 3 * BALEEN_LIMIT_SETS, 4 * BALEEN_LIMIT_SETS - 1);
		n[set - limit.first_set]++;
	}
	for (u32 i = 0; i < BALEEN_LIMIT_SETS; i++)
		most = n[i] > most ? n[i] : most;
	/* Poisson with a mean of 16: more than 48 has a chance of 1e-10 for one set. */
	assert_in_range(most, 16, 48);
	free(n);
}

/* --- processors --- */

#define N_THREADS 4
#define N_SOURCES 20000
#define BURST 8

static struct baleen_limit_set shared[2];
static pthread_barrier_t barrier;

/* Each source is of one thread, and sends what it may. Slots change hands all the time. No two
 * threads have a time in common, as rate_limit.h says of processors: with equal times 13 of
 * 2,000 runs charged a token to another source, with these none.
 */
static void *send_bursts(void *data)
{
	struct baleen_limit limit = limit_of(1, 3600, BURST);
	u64 thread = (uintptr_t)data, over = 0;

	pthread_barrier_wait(&barrier);
	for (u64 i = 0; i < N_SOURCES; i++)
		for (u32 n = 0; n < BURST; n++)
			over += take(&shared[i % 2], &limit, thread << 32 | (i + 1),
				     START + i * N_THREADS + thread) >= BALEEN_LIMIT_OVER;
	return (void *)(uintptr_t)over;
}

static void test_nobody_pays_for_another(void **state)
{
	pthread_t thread[N_THREADS];

	memset(shared, 0, sizeof(shared));
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, send_bursts, (void *)(i + 1)), 0);
	for (u32 i = 0; i < N_THREADS; i++) {
		void *over;

		pthread_join(thread[i], &over);
		assert_int_equal((uintptr_t)over, 0);
	}
	pthread_barrier_destroy(&barrier);
}

/* All take from one bucket: what they may take together is what it has. A packet that
 * finds others at the bucket each time is let go, and counted here as one that took none.
 */
static void *send_one_source(void *data)
{
	struct baleen_limit limit = limit_of(1, 3600, N_SOURCES);
	u64 within = 0;

	pthread_barrier_wait(&barrier);
	for (u64 i = 0; i < N_SOURCES; i++)
		within += take(&shared[0], &limit, 7, START) == BALEEN_LIMIT_WITHIN;
	return (void *)(uintptr_t)within;
}

static void test_one_bucket_of_all(void **state)
{
	struct baleen_limit limit = limit_of(1, 3600, N_SOURCES);
	pthread_t thread[N_THREADS];
	u64 within = 0;

	memset(shared, 0, sizeof(shared));
	take(&shared[0], &limit, 7, START);
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, send_one_source, NULL), 0);
	for (u32 i = 0; i < N_THREADS; i++) {
		void *of_thread;

		pthread_join(thread[i], &of_thread);
		within += (uintptr_t)of_thread;
	}
	pthread_barrier_destroy(&barrier);
	assert_true(within >= N_SOURCES - 1 && within < N_THREADS * N_SOURCES);
	assert_true(baleen_limit_is_over(&shared[0], 7, limit.interval_ns, limit.window_ns, START));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_up),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_bucket_beside_slow_one),
		cmocka_unit_test(test_rate_is_allowed),
		cmocka_unit_test(test_told_once_a_second),
		cmocka_unit_test(test_four_sources),
		cmocka_unit_test(test_full_set_forgets_the_idle),
		cmocka_unit_test(test_sets_are_in_their_part),
		cmocka_unit_test(test_nobody_pays_for_another),
		cmocka_unit_test(test_one_bucket_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
