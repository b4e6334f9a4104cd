// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two races of tests/litmus on this machine's own processors: a slot of a limit that changes
 * hands, and the start of a recording beside a change of the table.
 *
 *	tools/order [ROUNDS]
 *
 * None is seen on x86, nor on an emulator: it is for processors that keep less in order.
 */
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <baleen/rate_limit.h>

#define N_ROUNDS 10000
/* Sets, and beginnings of a recording, of each round. */
#define N_STARTS 256

static u32 n_rounds = N_ROUNDS, tap_n, tap_failed;

static void result(u64 n_wrong, const char *what)
{
	printf("%sok %u - %s, %u rounds\n", n_wrong ? "not " : "", ++tap_n, what, n_rounds);
	if (n_wrong)
		printf("# %llu times it was not so\n", (unsigned long long)n_wrong);
	tap_failed += !!n_wrong;
}

/* Both leave at the same instant: to be woken takes longer than what follows. */
static void meet(void)
{
	static u64 n_arrived;
	u64 all = (__atomic_fetch_add(&n_arrived, 1, __ATOMIC_SEQ_CST) | 1) + 1;

	while (__atomic_load_n(&n_arrived, __ATOMIC_ACQUIRE) < all)
		;
}

static u64 both(void *(*run)(void *data))
{
	pthread_t thread;
	void *other;
	u64 n_wrong;

	if (pthread_create(&thread, NULL, run, (void *)1))
		errx(1, "cannot start a thread");
	n_wrong = (uintptr_t)run(NULL);
	pthread_join(thread, &other);
	return n_wrong + (uintptr_t)other;
}

/* --- a limit -------------------------------------------------------------------- */

#define BURST 8u
#define INTERVAL_NS (3600 * 1000000000ull)
#define WINDOW_NS (BURST * INTERVAL_NS)
#define START_NS (1000 * WINDOW_NS)

static struct baleen_limit_set sets[N_STARTS];

/* Slots of four sources that are over their limit. */
static void fill_set(struct baleen_limit_set *set)
{
	for (u32 i = 0; i < BALEEN_LIMIT_SLOTS; i++) {
		set->source[i] = i + 1;
		set->full_ns[i] = START_NS + WINDOW_NS + BALEEN_LIMIT_HOLD_NS + i;
	}
}

/* Both send packets of one more source, which takes one of these slots, and send no more than it
 * may. No two packets have a time in common: see rate_limit.h.
 */
static void *send_packets(void *data)
{
	u64 thread = (uintptr_t)data, n_over = 0;

	for (u32 round = 0; round < n_rounds; round++) {
		for (u32 i = 0; i < N_STARTS && !data; i++)
			fill_set(&sets[i]);
		meet();
		for (u32 i = 0; i < N_STARTS; i++)
			for (u32 n = 0; n < BURST / 2; n++)
				n_over +=
					baleen_limit_charge(&sets[i], 100 + round, INTERVAL_NS,
							    WINDOW_NS, START_NS + 2 * n + thread) >=
					BALEEN_LIMIT_OVER;
		meet();
	}
	return (void *)(uintptr_t)n_over;
}

/* --- a recording -------------------------------------------------------------------- */

/* As icp_recorder.c and icp_feed.h have them: a line of its own for each. */
static struct {
	u64 value;
} __attribute__((aligned(BALEEN_BLOCK_BYTES))) table[N_STARTS], is_recording[N_STARTS];
static u64 seen[2][N_STARTS];

/* One begins to record, then reads the table; the other changes it, then looks whether it is to
 * record that. One of both sees the other.
 */
static void *record_or_change(void *data)
{
	u64 n_lost = 0;

	for (u32 round = 0; round < n_rounds; round++) {
		for (u32 i = 0; i < N_STARTS && !data; i++)
			table[i].value = is_recording[i].value = 0;
		meet();
		for (u32 i = 0; i < N_STARTS; i++) {
			if (!data) {
				__atomic_store_n(&is_recording[i].value, 1, __ATOMIC_SEQ_CST);
				__atomic_thread_fence(__ATOMIC_SEQ_CST);
				seen[0][i] = *(volatile u64 *)&table[i].value;
			} else {
				__sync_val_compare_and_swap(&table[i].value, 0, 1);
				seen[1][i] = *(volatile u64 *)&is_recording[i].value;
			}
		}
		meet();
		for (u32 i = 0; i < N_STARTS && !data; i++)
			n_lost += !seen[0][i] && !seen[1][i];
	}
	return (void *)(uintptr_t)n_lost;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		n_rounds = strtoul(argv[1], NULL, 10);
	if (argc > 2 || !n_rounds)
		errx(2, "usage: order [ROUNDS]");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		errx(1, "this takes two processors");
	result(both(send_packets), "no source is judged by the clock of another");
	result(both(record_or_change), "no change is neither read nor recorded");
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
