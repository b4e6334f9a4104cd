// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Swaps one filter among images of several kinds, while threads ask it.
 *
 *      swap SECONDS
 *
 *      set          0 always      1 sometimes     2 never
 *      image 0      listed        listed          -          cuckoo
 *      image 1      prefixes      -               -          directories, prefixes
 *      image 2      listed        listed          -          quotient
 *      image 3      listed        -               -          cuckoo, larger
 *
 * Every answer to a key of set 0 has to be yes, to one of set 2 no; and the filter
 * has counted what was asked.
 */
#include "stress.h"

#define N_IMAGES 4
#define N_ASKERS 4
#define MAX_BATCH 300

static const char name[] = "stress-swap";
static struct baleen_filter image[N_IMAGES];
static atomic_ullong n_queries, n_hits, n_swaps;

static struct baleen_filter make_image(u32 i)
{
	struct baleen_build_options options = {
		.name = name,
		.kind = i == 2 ? BALEEN_KIND_QUOTIENT : BALEEN_KIND_CUCKOO,
		.shape.load = i == 2 ? 0.5 : 0,
		.capacity = i == 3 ? 100000 : 0,
	};
	struct baleen_list list = { 0 };

	if (i == 1)
		list_prefixes(&list, 0);
	else
		list_hosts(&list, 0, SET_KEYS);
	if (i == 0 || i == 2)
		list_hosts(&list, 1, SET_KEYS);
	return filter_of(&list, options);
}

static void *ask(void *data)
{
	struct baleen_key keys[MAX_BATCH];
	u8 sets[MAX_BATCH], answers[MAX_BATCH];
	struct worker *me = data;
	int fd = device_open(O_RDWR), err;

	while (!is_over_after(n_queries)) {
		u32 n = 1 + random_below(&me->random, MAX_BATCH);

		for (u32 i = 0; i < n; i++) {
			sets[i] = random_below(&me->random, 3);
			keys[i] = key_in(sets[i], random_below(&me->random, 2),
					 random_below(&me->random, SET_KEYS));
		}
		err = all_keys(fd, BALEEN_DEV_QUERY, name, keys, n, answers);
		if (err) {
			finding("thread %u: query: %s", me->number, strerror(-err));
			break;
		}
		for (u32 i = 0; i < n; i++) {
			if (sets[i] == 0 && answers[i] != 1)
				finding("thread %u: a listed key is missed", me->number);
			if (sets[i] == 2 && answers[i] != 0)
				finding("thread %u: a stranger is found", me->number);
			n_hits += answers[i];
		}
		n_queries += n;
	}
	close(fd);
	return NULL;
}

/* By the command, and by writing the image as cat does. */
static void *swap(void *data)
{
	struct worker *me = data;
	int fd = device_open(O_RDWR), err;

	while (!is_over_after(n_swaps)) {
		const struct baleen_filter *next = &image[random_below(&me->random, N_IMAGES)];

		if (random_below(&me->random, 2)) {
			err = device_swap(fd, name, next->bytes, next->n_bytes, 0);
			if (err)
				finding("swap: %s", strerror(-err));
		} else if (write(fd, next->bytes, next->n_bytes) != (ssize_t)next->n_bytes) {
			finding("write: %s", strerror(errno));
		}
		n_swaps++;
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker askers[N_ASKERS], swapper;
	struct baleen_dev_info info;
	int fd;

	if (argc != 2)
		errx(1, "usage: swap SECONDS");
	for (u32 i = 0; i < N_IMAGES; i++)
		image[i] = make_image(i);
	fd = device_open(O_RDWR);
	if (device_create(fd, name, image[0].bytes, image[0].n_bytes))
		errx(1, "create");
	deadline_ms = now_ms() + atoi(argv[1]) * 1000;
	workers_start(askers, N_ASKERS, ask, NULL);
	workers_start(&swapper, 1, swap, NULL);
	workers_join(askers, N_ASKERS);
	workers_join(&swapper, 1);
	printf("# %llu answers, %llu swaps\n", n_queries, n_swaps);
	check(!n_findings, "swaps: every listed key is found, no stranger is");
	check(n_swaps > 0 && n_queries > 0, "swaps: there were some, and queries");
	check(!device_info(fd, name, &info) && info.counters.queries == n_queries &&
		      info.counters.query_hits == n_hits,
	      "swaps: the counters are the sum of what was asked");
	check(!device_destroy(fd, name), "swaps: destroy");
	return tap_end();
}
