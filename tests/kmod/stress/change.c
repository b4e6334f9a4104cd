// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Adds and deletes keys of one filter after another, of every kind that can be
 * changed while it is asked, beside threads that ask it and that export it.
 *
 *      change SECONDS        for each kind
 *
 * Set 0 is in the image and stays; half of set 1 comes and goes by one thread, half
 * by another; set 2 is never in it.
 */
#include "stress.h"

#define N_STABLE 2000
#define N_CHURN 1000
#define N_ASKERS 2
#define N_CHANGERS 2
#define MAX_BATCH 200

static const char name[] = "stress-change";

struct shape {
	const char *what;
	struct baleen_build_options options;
	bool exact; /* no stranger is found, so each answer is known */
	bool forgets;
};

static const struct shape shapes[] = {
	{
		.what = "cuckoo",
		.options = { .kind = BALEEN_KIND_CUCKOO, .shape.load = 0.95 },
		.exact = true,
		.forgets = true,
	},
	{
		.what = "cuckoo, 2 slots, a stash",
		.options = { .kind = BALEEN_KIND_CUCKOO,
			     .shape = { .bucket_slots = 2, .has_stash = true } },
		.exact = true,
		.forgets = true,
	},
	{
		.what = "cuckoo, 12 bits",
		.options = { .kind = BALEEN_KIND_CUCKOO, .fpp = 0.01, .shape.slot_bits = 12 },
	},
	{
		.what = "bloom",
		.options = { .kind = BALEEN_KIND_BLOOM, .fpp = 0.001 },
	},
	{
		.what = "classic",
		.options = { .kind = BALEEN_KIND_CLASSIC, .fpp = 0.001 },
	},
	{
		.what = "counting",
		.options = { .kind = BALEEN_KIND_COUNTING, .fpp = 0.0001 },
		.forgets = true,
	},
};

struct round {
	const struct shape *shape;
	size_t n_bytes;
	atomic_ullong n_asked, n_changed, n_full, n_exported;
	bool is_in[2][N_CHURN]; /* of set 1, each half by its changer alone */
};

static struct baleen_key random_of(u64 *random, u32 set)
{
	u32 n = set == 0 ? N_STABLE : SET_KEYS;

	return key_in(set, random_below(random, 2), random_below(random, n));
}

static void *ask(void *data)
{
	struct baleen_key keys[MAX_BATCH];
	u8 sets[MAX_BATCH], answers[MAX_BATCH];
	struct worker *me = data;
	struct round *round = me->data;
	int fd = device_open(O_RDWR), err;

	while (!is_over_after(round->n_asked)) {
		for (u32 i = 0; i < MAX_BATCH; i++) {
			sets[i] = random_below(&me->random, 3);
			keys[i] = random_of(&me->random, sets[i]);
		}
		err = all_keys(fd, BALEEN_DEV_QUERY, name, keys, MAX_BATCH, answers);
		if (err) {
			finding("query: %s", strerror(-err));
			break;
		}
		for (u32 i = 0; i < MAX_BATCH; i++) {
			if (sets[i] == 0 && !answers[i])
				finding("a key that stays is missed");
			if (sets[i] == 2 && answers[i] && round->shape->exact)
				finding("a stranger is found");
		}
		round->n_asked += MAX_BATCH;
	}
	close(fd);
	return NULL;
}

/* Puts one key in or takes it out, and knows what the answer has to be. */
static void change_one(int fd, struct worker *me)
{
	struct round *round = me->data;
	u32 domain = random_below(&me->random, 2);
	u32 i = random_below(&me->random, N_CHURN / 2) * 2 + me->number;
	bool *is_in = &round->is_in[domain][i];
	unsigned long command = *is_in ? BALEEN_DEV_DELETE : BALEEN_DEV_INSERT;
	struct baleen_key key = key_in(1, domain, i);
	u8 changed = 2;
	int err;

	if (*is_in && !round->shape->forgets)
		command = BALEEN_DEV_INSERT;
	err = all_keys(fd, command, name, &key, 1, &changed);
	if (err == -ENOSPC && !*is_in) {
		round->n_full++;
		return;
	}
	if (err)
		finding("%s: %s", *is_in ? "delete" : "insert", strerror(-err));
	else if (round->shape->exact && changed != 1)
		finding("a change of a key that is %s changes nothing", *is_in ? "in" : "out");
	else
		*is_in = command == BALEEN_DEV_INSERT;
	round->n_changed++;
}

static void *change(void *data)
{
	struct worker *me = data;
	struct round *round = me->data;
	int fd = device_open(O_RDWR);

	while (!is_over_after(round->n_changed))
		change_one(fd, me);
	close(fd);
	return NULL;
}

/* What is in an image, as userspace reads it. */
static void check_export(const struct round *round, const void *bytes)
{
	struct baleen_image image;
	const char *reason = NULL;

	if (baleen_image_check(bytes, round->n_bytes, &image, &reason)) {
		finding("an export is refused: %s", reason);
		return;
	}
	for (u32 domain = 0; domain < 2; domain++) {
		for (u32 i = 0; i < N_STABLE; i++) {
			struct baleen_key in = key_in(0, domain, i), out = key_in(2, domain, i);

			if (!baleen_image_test(&image, bytes, &in))
				finding("a key that stays is not in an export");
			if (round->shape->exact && baleen_image_test(&image, bytes, &out))
				finding("a stranger is in an export");
		}
	}
}

static void *export(void *data)
{
	struct worker *me = data;
	struct round *round = me->data;
	void *bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, round->n_bytes));
	int fd = device_open(O_RDWR), err;

	while (!is_over_after(round->n_exported)) {
		err = device_export(fd, name, bytes, round->n_bytes, NULL);
		if (err) {
			finding("export: %s", strerror(-err));
			break;
		}
		check_export(round, bytes);
		round->n_exported++;
	}
	close(fd);
	free(bytes);
	return NULL;
}

/* The image as it was left: what was put in last is in, and of exact ones nothing else. */
static bool is_right(int fd, const struct round *round)
{
	struct baleen_key key;
	u8 answer = 2;

	for (u32 domain = 0; domain < 2; domain++) {
		for (u32 i = 0; i < N_CHURN; i++) {
			key = key_in(1, domain, i);
			if (all_keys(fd, BALEEN_DEV_QUERY, name, &key, 1, &answer))
				return false;
			if (round->is_in[domain][i] && !answer)
				return false;
			if (round->shape->exact && answer != round->is_in[domain][i])
				return false;
		}
	}
	return true;
}

static u64 n_known(const struct round *round)
{
	u64 n = 2 * N_STABLE;

	for (u32 i = 0; i < N_CHURN; i++)
		n += round->is_in[0][i] + round->is_in[1][i];
	return n;
}

static void test_result(int fd, struct round *round)
{
	const struct shape *shape = round->shape;
	struct baleen_dev_info info = { 0 };

	printf("# %s: %llu answers, %llu changes, %llu did not fit, %llu exports\n", shape->what,
	       round->n_asked, round->n_changed, round->n_full, round->n_exported);
	check(!n_findings, "changes, %s: nothing is missed, exports are right", shape->what);
	check(round->n_asked && round->n_changed && round->n_exported,
	      "changes, %s: there were changes, queries, exports", shape->what);
	check(is_right(fd, round), "changes, %s: what was put in last is in", shape->what);
	check(!device_info(fd, name, &info) && info.flags & BALEEN_DEV_COUNT_KNOWN &&
		      (!shape->exact || info.n_entries == n_known(round)),
	      "changes, %s: the number of keys is known", shape->what);
}

static void test_shape(int fd, const struct shape *shape, u32 seconds)
{
	struct baleen_build_options options = shape->options;
	struct worker askers[N_ASKERS], changers[N_CHANGERS], exporter;
	struct round round = { .shape = shape };
	struct baleen_list list = { 0 };
	struct baleen_filter filter;

	n_findings = 0;
	options.capacity = 2 * N_STABLE + N_CHURN;
	list_hosts(&list, 0, N_STABLE);
	filter = filter_of(&list, options);
	round.n_bytes = filter.n_bytes;
	if (device_create(fd, name, filter.bytes, filter.n_bytes))
		errx(1, "%s: create", shape->what);
	deadline_ms = now_ms() + seconds * 1000;
	workers_start(askers, N_ASKERS, ask, &round);
	workers_start(changers, N_CHANGERS, change, &round);
	workers_start(&exporter, 1, export, &round);
	workers_join(askers, N_ASKERS);
	workers_join(changers, N_CHANGERS);
	workers_join(&exporter, 1);
	test_result(fd, &round);
	if (device_destroy(fd, name))
		errx(1, "destroy");
	baleen_filter_free(&filter);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2)
		errx(1, "usage: change SECONDS");
	fd = device_open(O_RDWR);
	for (u32 i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		test_shape(fd, &shapes[i], atoi(argv[1]));
	return tap_end();
}
