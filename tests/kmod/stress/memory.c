// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reaches the limit of the module's memory again and again, by several threads.
 *
 *      memory SECONDS
 *
 * The parameter max_bytes is set to what LIMIT filters take, to the byte. Whoever lists the
 * filters holds them all at that moment, so together they never take more.
 */
#include "stress.h"

#define N_THREADS 4
#define N_NAMES 4 /* of each thread */
#define LIMIT 10
#define PARAMETER "/sys/module/baleen/parameters/max_bytes"

/* Bytes of memory that come with an image of less than 2 MiB, at the most. */
#define MOST_BESIDE 16384

/* How long the module may take to free what was destroyed. */
#define FREE_MS 20000

static struct baleen_filter filter;
static atomic_ullong n_made, n_refused, n_lists;

static const char *name_of(char *name, u32 thread, u32 n)
{
	snprintf(name, BALEEN_NAME_BYTES, "stress-memory-%u-%u", thread, n);
	return name;
}

static void set_limit(u64 bytes)
{
	int fd = open(PARAMETER, O_WRONLY);

	if (fd < 0 || dprintf(fd, "%llu\n", (unsigned long long)bytes) < 0 || close(fd))
		err(1, PARAMETER);
}

static u64 get_limit(void)
{
	FILE *file = fopen(PARAMETER, "r");
	unsigned long long bytes;

	if (!file || fscanf(file, "%llu", &bytes) != 1)
		err(1, PARAMETER);
	fclose(file);
	return bytes;
}

static int make(int fd, u32 thread, u32 n)
{
	char name[BALEEN_NAME_BYTES];

	return device_create(fd, name_of(name, thread, n), filter.bytes, filter.n_bytes);
}

static void check_list(int fd)
{
	struct baleen_dev_info infos[N_THREADS * N_NAMES];
	struct baleen_dev_list arg = { .infos = address(infos),
				       .room = N_OF(infos),
				       .info_bytes = sizeof(infos[0]) };
	int err = command(fd, BALEEN_DEV_LIST, &arg);

	if (err)
		finding("list: %s", strerror(-err));
	else if (arg.n > LIMIT)
		finding("%u filters where there is memory for %u", arg.n, LIMIT);
	n_lists++;
}

static void *fill(void *data)
{
	bool is_there[N_NAMES] = { false };
	struct worker *me = data;
	int fd = device_open(O_RDWR);
	char name[BALEEN_NAME_BYTES];

	while (!is_over_after(n_made && n_refused && n_lists)) {
		u32 n = random_below(&me->random, N_NAMES);
		int err = is_there[n] ? device_destroy(fd, name_of(name, me->number, n)) :
					make(fd, me->number, n);

		if (!err)
			is_there[n] = !is_there[n];
		if (!err && is_there[n])
			n_made++;
		else if (err == -ENOSPC)
			n_refused++;
		else if (err)
			finding("thread %u: %s", me->number, strerror(-err));
		if (n_refused % 8 == 0)
			check_list(fd);
	}
	close(fd);
	return NULL;
}

/* The lowest limit under which there is room for one filter: what the module counts for it. */
static u64 cost_of_one(int fd)
{
	u64 low = 1, high = 2 * filter.n_bytes + MOST_BESIDE;

	while (low < high) {
		u64 middle = low + (high - low) / 2;
		int err = (set_limit(middle), make(fd, 0, 0));
		char name[BALEEN_NAME_BYTES];

		if (err && err != -ENOSPC)
			errx(1, "make: %s", strerror(-err));
		if (!err)
			device_destroy(fd, name_of(name, 0, 0));
		if (err)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void destroy_all(int fd)
{
	char name[BALEEN_NAME_BYTES];

	for (u32 i = 0; i < N_THREADS; i++)
		for (u32 n = 0; n < N_NAMES; n++)
			device_destroy(fd, name_of(name, i, n));
}

/* Nothing was lost on the way: as many fit as at first, once they are freed. */
static bool has_room(int fd)
{
	u64 until_ms = now_ms() + FREE_MS;
	u32 n = 0;

	while (n < LIMIT && now_ms() < until_ms)
		n += !make(fd, n / N_NAMES, n % N_NAMES);
	return n == LIMIT && make(fd, LIMIT / N_NAMES, LIMIT % N_NAMES) == -ENOSPC;
}

int main(int argc, char **argv)
{
	struct worker workers[N_THREADS];
	struct baleen_list list = { 0 };
	int fd = device_open(O_RDWR);
	u64 limit = get_limit(), cost;

	if (argc != 2)
		errx(1, "usage: memory SECONDS");
	list_hosts(&list, 0, SET_KEYS);
	filter = filter_of(&list, (struct baleen_build_options){ .kind = BALEEN_KIND_CUCKOO });
	cost = cost_of_one(fd);
	printf("# an image of %zu bytes counts as %llu\n", filter.n_bytes,
	       (unsigned long long)cost);
	check(cost >= filter.n_bytes && cost < filter.n_bytes + MOST_BESIDE,
	      "memory: an image counts as its size, and little more");
	set_limit(cost * LIMIT);
	deadline_ms = now_ms() + atoi(argv[1]) * 1000;
	workers_start(workers, N_THREADS, fill, NULL);
	workers_join(workers, N_THREADS);
	printf("# %llu created, %llu refused, %llu lists\n", n_made, n_refused, n_lists);
	check(!n_findings, "memory: never more than the limit, and no other refusal");
	check(n_made && n_refused && n_lists, "memory: it was reached, and listed");
	destroy_all(fd);
	check(has_room(fd), "memory: all of it is there again");
	destroy_all(fd);
	set_limit(limit);
	check(device_n(fd) == 0, "memory: nothing is left");
	return tap_end();
}
