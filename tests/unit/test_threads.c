// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Work of several threads: each task once, and what comes out is that of one thread. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "filter/cuckoo_fill.h"
#include "filter/filter.h"
#include "filter/plan.h"
#include "filter/slots.h"
#include "list/list_sort.h"
#include "lists.h"
#include "ops/build.h"
#include "random.h"
#include "util/threads.h"

#define SEED 0x746872656164ull

static const u32 thread_counts[] = { 1, 2, 3, 7 };

#define N_COUNTS (sizeof(thread_counts) / sizeof(thread_counts[0]))

/* --- tasks ----------------------------------------------------------------- */

struct tally {
	u32 n_tasks;
	u32 done[1000];
};

static void count_task(void *data, u32 number, u32 thread)
{
	struct tally *tally = data;

	assert_true(number < tally->n_tasks);
	assert_true(thread < baleen_threads());
	__atomic_fetch_add(&tally->done[number], 1, __ATOMIC_RELAXED);
}

static void each_task_is_done_once(void **state)
{
	static const u32 n_tasks[] = { 0, 1, 2, 3, 1000 };

	for (u32 i = 0; i < N_COUNTS; i++) {
		baleen_threads_set(thread_counts[i]);
		for (u32 j = 0; j < sizeof(n_tasks) / sizeof(n_tasks[0]); j++) {
			struct tally tally = { .n_tasks = n_tasks[j] };

			baleen_threads_run(n_tasks[j], count_task, &tally);
			for (u32 task = 0; task < 1000; task++)
				assert_int_equal(tally.done[task], task < n_tasks[j]);
		}
	}
}

static void threads_are_as_many_as_set(void **state)
{
	baleen_threads_set(5);
	assert_int_equal(baleen_threads(), 5);
	baleen_threads_set(100000);
	assert_int_equal(baleen_threads(), BALEEN_MAX_THREADS);
	baleen_threads_set(0);
	assert_in_range(baleen_threads(), 1, BALEEN_MAX_THREADS);
}

/* --- lists ----------------------------------------------------------------- */

/* Lines of all sorts, one in @bad_each of them bad. */
static int open_lines(u32 n, u32 bad_each)
{
	struct random random = random_from(SEED);
	char *text = malloc((size_t)n * 64);
	size_t used = 0;
	int fd;

	assert_non_null(text);
	for (u32 i = 0; i < n; i++) {
		u32 x = random_next(&random), sort = random_below(&random, 8);

		if (random_below(&random, bad_each) == 0)
			used += sprintf(text + used, "bad%u\n", i);
		else if (sort == 0)
			used += sprintf(text + used, "2001:db8:%x::%x\n", x >> 16, x & 0xffff);
		else if (sort == 1)
			used += sprintf(text + used, "%s%u.%u.0.0/%u # %*u\n", x & 1 ? "!" : "",
					x >> 24, x >> 16 & 255, 8 + x % 25, x % 20, x);
		else if (sort == 2)
			used += sprintf(text + used, "2001:db8:%x:%x::/%u\n", x >> 16, x & 0xffff,
					33 + x % 60);
		else
			used += sprintf(text + used, "%u.%u.%u.%u\n", x >> 24, x >> 16 & 255,
					x >> 8 & 255, x & 255);
	}
	fd = open_bytes(text, used);
	free(text);
	return fd;
}

/* Bad lines that were told, in their order. */
struct told {
	u64 n;
	u64 sum;
	u64 last;
};

static void note_bad(void *data, const struct baleen_list_problem *problem)
{
	struct told *told = data;
	u32 number;

	assert_true(problem->line > told->last);
	assert_int_equal(sscanf(problem->text, "bad%u", &number), 1);
	assert_int_equal(problem->line, number + 1);
	assert_string_equal(problem->file, "name");
	told->last = problem->line;
	told->n++;
	told->sum += problem->line;
}

static void assert_same_list(const struct baleen_list *a, const struct baleen_list *b)
{
	assert_int_equal(a->n_lines, b->n_lines);
	assert_int_equal(a->n_bad, b->n_bad);
	assert_int_equal(a->n_listed, b->n_listed);
	assert_int_equal(a->n_covered, b->n_covered);
	assert_int_equal(a->n_ip4, b->n_ip4);
	assert_int_equal(a->n_net4, b->n_net4);
	assert_int_equal(a->n_prefix6, b->n_prefix6);
	assert_memory_equal(a->ip4, b->ip4, a->n_ip4 * sizeof(*a->ip4));
	assert_memory_equal(a->net4, b->net4, a->n_net4 * sizeof(*a->net4));
	for (size_t i = 0; i < a->n_prefix6; i++) {
		assert_int_equal(a->prefix6[i].hi, b->prefix6[i].hi);
		assert_int_equal(a->prefix6[i].lo, b->prefix6[i].lo);
		assert_int_equal(a->prefix6[i].length, b->prefix6[i].length);
		assert_int_equal(a->prefix6[i].is_exception, b->prefix6[i].is_exception);
	}
}

static void read_all(struct baleen_list *list, int fd, struct told *told)
{
	const struct baleen_list_reader reader = { .on_bad = note_bad, .data = told };

	*list = (struct baleen_list){ 0 };
	*told = (struct told){ 0 };
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(baleen_list_read(list, fd, "name", &reader, NULL), 0);
	assert_int_equal(told->n, list->n_bad);
	assert_int_equal(baleen_list_finish(list), 0);
}

static void a_list_is_that_of_one_thread(void **state)
{
	static const u32 bad_each[] = { 1, 3, 5000, 1000000 };

	for (u32 i = 0; i < sizeof(bad_each) / sizeof(bad_each[0]); i++) {
		int fd = open_lines(100000, bad_each[i]);
		struct baleen_list one, list;
		struct told told_one, told;

		baleen_threads_set(1);
		read_all(&one, fd, &told_one);
		for (u32 j = 1; j < N_COUNTS; j++) {
			baleen_threads_set(thread_counts[j]);
			read_all(&list, fd, &told);
			assert_same_list(&one, &list);
			assert_int_equal(told.sum, told_one.sum);
			baleen_list_free(&list);
		}
		baleen_list_free(&one);
		close(fd);
	}
}

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Addresses that begin alike, in 0 to 4 bytes, and of which one in @others differs. */
static void addresses_are_sorted_as_by_qsort(void **state)
{
	static const u32 n = 160000, others[] = { 3, 1000, 1u << 31 };
	struct random random = random_from(SEED);
	u32 *want = malloc(n * sizeof(*want));

	assert_non_null(want);
	for (u32 i = 0; i < 5 * 3 * 2; i++) {
		u32 mask = i % 5 ? 0xffffffff << (32 - 8 * (i % 5)) : 0, other = others[i / 5 % 3];
		struct baleen_list list = { 0 };

		for (u32 j = 0; j < n; j++) {
			u32 x = random_next(&random);

			want[j] = random_below(&random, other) ? (x & ~mask) | (0x5bc2d0e7 & mask) :
								 x;
			assert_int_equal(baleen_list_add_ip4(&list, want[j]), 0);
		}
		baleen_threads_set(i < 15 ? 1 : 3);
		baleen_list_sort(&list);
		qsort(want, n, sizeof(*want), compare_u32);
		assert_memory_equal(list.ip4, want, n * sizeof(*want));
		baleen_list_free(&list);
	}
	free(want);
}

/* --- searches --------------------------------------------------------------- */

struct found {
	u32 n;
	u64 last;
	u64 sum;
	u32 stop_at;
};

static int note_line(const struct baleen_list_line *line, void *data)
{
	struct found *found = data;

	assert_true(line->number > found->last);
	found->last = line->number;
	found->sum += line->number * (1 + line->length + 200 * line->is_exception);
	return ++found->n == found->stop_at ? -ECANCELED : 0;
}

static void find(int fd, const struct baleen_key *key, struct found *found)
{
	int want = found->stop_at ? -ECANCELED : 0, err;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	err = baleen_list_find_each(fd, BALEEN_KEY_SRC, key, note_line, found);
	if (!found->stop_at || found->n == found->stop_at)
		assert_int_equal(err, want);
	else
		assert_int_equal(err, 0);
}

static void lines_are_found_as_by_one_thread(void **state)
{
	int fd = open_lines(100000, 5000);
	struct random random = random_from(SEED);

	for (u32 i = 0; i < 16; i++) {
		const struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = random_next(&random) };
		u32 stop_at = i % 4 ? 0 : 1 + i % 3;
		struct found one = { .stop_at = stop_at };
		u64 line_one = 0, line;
		char text_one[BALEEN_KEY_TEXT] = "", text[BALEEN_KEY_TEXT];
		int err_one, err;

		baleen_threads_set(1);
		find(fd, &key, &one);
		lseek(fd, 0, SEEK_SET);
		err_one = baleen_list_find(fd, BALEEN_KEY_SRC, &key, &line_one, text_one,
					   sizeof(text_one));
		for (u32 j = 1; j < N_COUNTS; j++) {
			struct found found = { .stop_at = stop_at };

			baleen_threads_set(thread_counts[j]);
			find(fd, &key, &found);
			assert_int_equal(found.n, one.n);
			assert_int_equal(found.sum, one.sum);
			line = 0;
			text[0] = '\0';
			lseek(fd, 0, SEEK_SET);
			err = baleen_list_find(fd, BALEEN_KEY_SRC, &key, &line, text, sizeof(text));
			assert_int_equal(err, err_one);
			assert_int_equal(line, line_one);
			assert_string_equal(text, text_one);
		}
	}
	close(fd);
}

/* --- tables ---------------------------------------------------------------- */

/* Hashes that come from a seed; each is there @copies times. */
struct hashes {
	u32 domain;
	u32 copies;
	u64 mask;
};

static void hash_number(const void *data, size_t at, size_t n, u64 *hash)
{
	const struct hashes *hashes = data;

	for (size_t i = 0; i < n; i++) {
		u64 x = (at + i) / hashes->copies;

		/* Odd multipliers: no two numbers come to the same. */
		x = hashes->domain == BALEEN_IP4 ? (u32)x * 0x9e3779b1u : x * 0x9e3779b97f4a7c15ull;
		hash[i] = x & hashes->mask;
	}
}

static void alloc_table(struct baleen_filter *filter, u32 domain, u64 n, double fpp)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };

	assert_int_equal(baleen_plan_table(domain, BALEEN_KIND_CUCKOO, n, fpp, &image.table[domain],
					   NULL),
			 0);
	assert_int_equal(baleen_tables_place(&image, NULL), 0);
	assert_int_equal(baleen_filter_alloc(filter, &image, NULL), 0);
}

static void assert_all_in(const struct baleen_filter *filter, const struct hashes *hashes, size_t n)
{
	const struct baleen_table *table = &filter->image.table[hashes->domain];

	for (size_t i = 0; i < n; i++) {
		struct baleen_cuckoo_place place;
		struct baleen_slots slots = baleen_slots_at(table, filter->bytes);
		u32 found = 0;
		u64 hash;

		hash_number(hashes, i, 1, &hash);
		place = hashes->domain == BALEEN_IP4 ?
				baleen_cuckoo_locate_permuted(table, hash, table->slot_bits) :
				baleen_cuckoo_locate_hash(table, hash, table->slot_bits);
		for (u32 j = 0; j < 4; j++) {
			found += baleen_slots_get(&slots, place.home, j) == place.slot;
			found += baleen_slots_get(&slots, place.other, j) ==
				 (place.slot | slots.side);
		}
		assert_int_equal(found, 1);
	}
}

static void a_full_table_is_that_of_one_thread(void **state)
{
	static const struct hashes all[] = {
		{ BALEEN_IP4, 1, UINT64_MAX },
		{ BALEEN_IP6, 1, UINT64_MAX },
		{ BALEEN_IP6, 2, UINT64_MAX },
		{ BALEEN_TUPLE, 1, UINT64_MAX },
	};
	const size_t n = 300000;

	for (u32 i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct baleen_fill fill = { n, hash_number, &all[i] };
		struct baleen_filter one, filter;

		for (u32 j = 0; j < N_COUNTS; j++) {
			baleen_threads_set(thread_counts[j]);
			alloc_table(j ? &filter : &one, all[i].domain, n, 0);
			assert_int_equal(baleen_cuckoo_fill(j ? &filter : &one, all[i].domain,
							    &fill),
					 0);
			if (!j) {
				assert_int_equal(one.image.table[all[i].domain].n_entries,
						 n / all[i].copies);
				assert_all_in(&one, &all[i], n);
				continue;
			}
			assert_memory_equal(one.bytes, filter.bytes, one.n_bytes);
			baleen_filter_free(&filter);
		}
		baleen_filter_free(&one);
	}
}

static bool is_zero(const struct baleen_filter *filter)
{
	const u8 *bytes = filter->bytes;

	for (size_t i = 0; i < filter->n_bytes; i++)
		if (bytes[i])
			return false;
	return true;
}

static void keys_without_room_leave_the_table_empty(void **state)
{
	static const struct hashes crowded = { BALEEN_IP6, 1, 0xffffffffffull };
	const struct baleen_fill fill = { 100000, hash_number, &crowded };
	struct baleen_filter filter;

	baleen_threads_set(3);
	alloc_table(&filter, BALEEN_IP6, fill.n, 0);
	assert_int_equal(baleen_cuckoo_fill(&filter, BALEEN_IP6, &fill), -ENOSPC);
	assert_int_equal(filter.image.table[BALEEN_IP6].n_entries, 0);
	assert_true(is_zero(&filter));
	baleen_filter_free(&filter);
}

static void other_tables_are_refused(void **state)
{
	static const struct hashes hashes = { BALEEN_IP6, 1, UINT64_MAX };
	struct baleen_fill fill = { 100000, hash_number, &hashes };
	struct baleen_filter filter;

	/* Fingerprints; more keys than the table is for; too few to be worth it. */
	alloc_table(&filter, BALEEN_IP6, fill.n, 0.01);
	assert_int_equal(baleen_cuckoo_fill(&filter, BALEEN_IP6, &fill), -EOPNOTSUPP);
	assert_true(is_zero(&filter));
	baleen_filter_free(&filter);
	alloc_table(&filter, BALEEN_IP6, fill.n / 2, 0);
	assert_int_equal(baleen_cuckoo_fill(&filter, BALEEN_IP6, &fill), -EOPNOTSUPP);
	fill.n = 100;
	assert_int_equal(baleen_cuckoo_fill(&filter, BALEEN_IP6, &fill), -EOPNOTSUPP);
	assert_true(is_zero(&filter));
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_is_done_once),
		cmocka_unit_test(threads_are_as_many_as_set),
		cmocka_unit_test(a_list_is_that_of_one_thread),
		cmocka_unit_test(addresses_are_sorted_as_by_qsort),
		cmocka_unit_test(lines_are_found_as_by_one_thread),
		cmocka_unit_test(a_full_table_is_that_of_one_thread),
		cmocka_unit_test(keys_without_room_leave_the_table_empty),
		cmocka_unit_test(other_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
