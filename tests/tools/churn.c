// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ten million random changes of a filter of each kind, held against a plain set.
 *
 * Usage: churn [KIND]...: prints TAP
 *
 * An epoch is OPS_PER_EPOCH keys inserted (again, some of them) or, where the kind can
 * forget and the key is in, deleted, and then a resize or a merge. After it every key of the set
 * must be found; an exact filter must hold no other key of the universe, and count as many. A kind
 * that cannot forget begins each epoch empty.
 */
#include <stdio.h>
#include <string.h>

#include "filter/bloom_bits.h"
#include "filter/live.h"
#include "filter/quotient_table.h"
#include "ops/algebra.h"
#include "ops/change.h"
#include "ops/resize.h"
#include "set.h"
#include "shaped.h"

/* In `make check-all`, which sets TEST_ALL, and in `make check`. */
#define N_EPOCHS 100
#define N_EPOCHS_SOME 16
#define OPS_PER_EPOCH 100000
#define N_MERGED 1000
#define MAX_COPIES 3

/* Indices of the keys that come and go: half of them are in at a time. */
#define N_UNIVERSE 40000
/* Of a kind that cannot forget: it is full at the end of an epoch. */
#define N_GROWING 200000

/* What a kind can do, beside insert. */
enum {
	DELETE = 1,
	RESIZE = 2,
	HALVE = 4,
	MERGE = 8,
	COPIES = 16,
};

/**
 * struct churned - a kind and what is done to it
 * @shaped: the geometry
 * @can: DELETE, RESIZE, HALVE, MERGE; COPIES: it keeps keys that look alike apart
 */
struct churned {
	struct shaped shaped;
	u32 can;
};

/**
 * struct churn - a filter and the set that it should hold
 * @churned: what it is
 * @filter: the filter
 * @set: indices of the keys that are in
 * @n_universe: indices are below
 * @random: state of the generator
 * @n_done: inserts, deletes, resizes and merges
 * @n_events: of them, resizes and merges
 * @is_exact: no key is ever taken for another
 * @bad: what went wrong first; NULL: nothing
 */
struct churn {
	const struct churned *churned;
	struct baleen_filter filter;
	struct set set;
	u32 n_universe;
	u64 random;
	u64 n_done;
	u64 n_events;
	bool is_exact;
	const char *bad;
};

#define BITS (HALVE | MERGE)
#define ALL (DELETE | RESIZE | MERGE)

static const struct churned kinds[] = {
	{ { "bloom", BALEEN_WORD, BALEEN_KIND_BLOOM, { 0 }, 0.01 }, BITS },
	{ { "classic",
	    BALEEN_WORD,
	    BALEEN_KIND_CLASSIC,
	    { .n_bits = 1 << 21, .n_hashes = 4 },
	    0.5 },
	  BITS },
	{ { "classic murmur3",
	    BALEEN_IP4,
	    BALEEN_KIND_CLASSIC,
	    { .n_bits = 2000000, .n_hashes = 2, .hash = BALEEN_HASH_MURMUR3 },
	    0.5 },
	  BITS },
	{ { "counting", BALEEN_WORD, BALEEN_KIND_COUNTING, { 0 }, 0.001 }, DELETE | MERGE },
	{ { "counting keyed",
	    BALEEN_WORD,
	    BALEEN_KIND_COUNTING,
	    { .n_bits = 1 << 19, .n_hashes = 5, .hash = BALEEN_HASH_KEYED },
	    0.5 },
	  DELETE | MERGE },
	{ { "cuckoo of IPv4", BALEEN_IP4, BALEEN_KIND_CUCKOO, { 0 }, 0 }, ALL },
	{ { "cuckoo of words", BALEEN_WORD, BALEEN_KIND_CUCKOO, { 0 }, 0 }, ALL },
	{ { "cuckoo of hashes, with copies",
	    BALEEN_WORD,
	    BALEEN_KIND_CUCKOO,
	    { .slot_bits = 16 },
	    0.001 },
	  DELETE | COPIES },
	{ { "quotient of IPv4", BALEEN_IP4, BALEEN_KIND_QUOTIENT, { 0 }, 0 }, ALL },
	{ { "quotient of words", BALEEN_WORD, BALEEN_KIND_QUOTIENT, { 0 }, 0 }, ALL },
	{ { "quotient of hashes", BALEEN_WORD, BALEEN_KIND_QUOTIENT, { 0 }, 0.001 },
	  RESIZE | MERGE },
	{ { "quotient of hashes, with copies", BALEEN_WORD, BALEEN_KIND_QUOTIENT, { 0 }, 0.001 },
	  ALL | COPIES },
};

#define N_CHURNED (sizeof(kinds) / sizeof(*kinds))

static u32 random_below(struct churn *churn, u32 n)
{
	churn->random += 0x9e3779b97f4a7c15ull;
	return (baleen_mix64(churn->random) >> 32) * n >> 32;
}

static void fail(struct churn *churn, const char *why)
{
	if (!churn->bad)
		churn->bad = why;
}

static void begin(struct churn *churn, u64 seed)
{
	const struct shaped *shaped = &churn->churned->shaped;

	baleen_filter_free(&churn->filter);
	set_clear(&churn->set);
	churn->filter = shaped_filter(shaped, churn->n_universe, seed);
	if (churn->churned->can & COPIES)
		churn->filter.image.flags |= BALEEN_FLAG_COPIES;
	churn->is_exact = baleen_table_is_exact(&churn->filter.image, shaped->domain);
}

/* Takes another filter in place of the one there is. */
static void replace(struct churn *churn, int err, struct baleen_filter *made,
		    const struct baleen_error *error)
{
	if (err) {
		fprintf(stderr, "# %s\n", error->text);
		fail(churn, "it could not be resized or merged");
		return;
	}
	baleen_filter_free(&churn->filter);
	churn->filter = *made;
	churn->n_done++;
	churn->n_events++;
}

/* --- changes --------------------------------------------------------------- */

/* In the way of a build and in that of a live rule, by turns. */
static int insert_key(struct churn *churn, u32 index, const struct baleen_key *key, bool *changed)
{
	const struct baleen_kind_ops *ops = baleen_kind_ops(churn->churned->shaped.kind);
	size_t n_done;

	*changed = !set_has(&churn->set, index);
	if (ops->add && churn->n_done % 2)
		return baleen_live_add(&churn->filter, key, changed);
	return baleen_filter_insert(&churn->filter, key, 1, &n_done);
}

static int delete_key(struct churn *churn, const struct baleen_key *key, bool *changed)
{
	if (churn->churned->shaped.kind == BALEEN_KIND_QUOTIENT)
		return baleen_quotient_del(&churn->filter, key, changed);
	return baleen_live_del(&churn->filter, key, changed);
}

static void insert(struct churn *churn, u32 index)
{
	struct baleen_key key = shaped_key(churn->churned->shaped.domain, index);
	bool changed;

	churn->n_done++;
	/* Of one that is refused nothing may be left. */
	if (insert_key(churn, index, &key, &changed)) {
		if (churn->is_exact && baleen_filter_test(&churn->filter, &key))
			fail(churn, "a key that was refused is in");
		return;
	}
	if (churn->is_exact && changed == set_has(&churn->set, index))
		fail(churn, "whether a key was in is told wrongly");
	set_add(&churn->set, index);
}

static void delete (struct churn *churn, u32 index)
{
	struct baleen_key key = shaped_key(churn->churned->shaped.domain, index);
	bool changed = false;

	churn->n_done++;
	if (delete_key(churn, &key, &changed) || !changed)
		fail(churn, "a key that was in could not be deleted");
	set_remove(&churn->set, index);
}

static void change_keys(struct churn *churn)
{
	for (u32 i = 0; i < OPS_PER_EPOCH; i++) {
		u32 index = random_below(churn, churn->n_universe);

		if (set_has(&churn->set, index) && churn->churned->can & DELETE)
			delete (churn, index);
		else
			insert(churn, index);
	}
}

static void resize(struct churn *churn)
{
	u64 capacity = churn->set.n + random_below(churn, 3 * churn->n_universe) + 1;
	struct baleen_filter made;
	struct baleen_error error;

	replace(churn, baleen_filter_resize(&churn->filter, capacity, &made, &error), &made,
		&error);
}

static void halve(struct churn *churn)
{
	struct baleen_filter made;
	struct baleen_error error;

	/* Said, and nothing else done, where there is no half of it. */
	if (baleen_table_bits(&churn->filter.image.table[churn->churned->shaped.domain]) % 1024 &&
	    baleen_filter_halve(&churn->filter, &made, &error) == -EOPNOTSUPP)
		return;
	replace(churn, baleen_filter_halve(&churn->filter, &made, &error), &made, &error);
}

/* With a filter of the same geometry and seed that has keys of its own. */
static void merge(struct churn *churn)
{
	u32 domain = churn->churned->shaped.domain;
	struct baleen_filter other, made;
	struct baleen_error error;
	int err = baleen_filter_alloc(&other, &churn->filter.image, &error);

	if (err)
		errx(1, "%s", error.text);
	for (u32 i = 0; i < N_MERGED; i++) {
		u32 index = random_below(churn, churn->n_universe);
		struct baleen_key key = shaped_key(domain, index);
		size_t n_done;

		/* Counted in both it would have to be deleted twice. */
		if (!churn->is_exact && set_has(&churn->set, index))
			continue;
		if (baleen_filter_insert(&other, &key, 1, &n_done))
			errx(1, "no room for %u keys", N_MERGED);
		set_add(&churn->set, index);
	}
	baleen_filter_seal(&other);
	replace(churn, baleen_filter_merge(&churn->filter, &other, &made, &error), &made, &error);
	baleen_filter_free(&other);
}

/* --- checks ---------------------------------------------------------------- */

static void check(struct churn *churn)
{
	u32 domain = churn->churned->shaped.domain;
	struct baleen_key keys[SHAPED_CHUNK];
	u8 found[SHAPED_CHUNK];

	for (u32 at = 0; at < churn->n_universe; at += SHAPED_CHUNK) {
		size_t n = shaped_keys(domain, at, churn->n_universe - at, keys);

		baleen_filter_test_many(&churn->filter, keys, n, found);
		for (u32 i = 0; i < n; i++) {
			bool is_in = set_has(&churn->set, at + i);

			if (is_in && !found[i])
				fail(churn, "a key of the set is missing");
			if (!is_in && found[i] && churn->is_exact)
				fail(churn, "a key is in that is not of the set");
		}
	}
	if (churn->is_exact && baleen_filter_count(&churn->filter, domain) != churn->set.n)
		fail(churn, "the count is not that of the set");
}

static void do_event(struct churn *churn, u32 epoch)
{
	u32 can = churn->churned->can;

	/* What was changed as a live rule is, was not counted. */
	baleen_change_seal(&churn->filter);
	if (epoch % 2 && can & RESIZE)
		resize(churn);
	else if (epoch % 2 && can & HALVE)
		halve(churn);
	else if (can & MERGE)
		merge(churn);
}

static bool run_churn(const struct churned *churned, u32 number)
{
	struct churn churn = { .churned = churned, .random = number };
	bool forgets = churned->can & DELETE;
	u32 n_epochs = getenv("TEST_ALL") ? N_EPOCHS : N_EPOCHS_SOME;

	churn.n_universe = forgets ? N_UNIVERSE : N_GROWING;
	set_init(&churn.set, N_GROWING);
	for (u32 epoch = 0; epoch < n_epochs && !churn.bad; epoch++) {
		if (!epoch || !forgets)
			begin(&churn, epoch);
		change_keys(&churn);
		check(&churn);
		do_event(&churn, epoch);
		check(&churn);
	}
	printf("%s %u - %s: %u of %u epochs, %llu changes, %llu of them resizes and merges%s%s\n",
	       churn.bad ? "not ok" : "ok", number, churned->shaped.name, n_epochs, N_EPOCHS,
	       (unsigned long long)churn.n_done, (unsigned long long)churn.n_events,
	       churn.bad ? ": " : "", churn.bad ? churn.bad : "");
	fflush(stdout);
	set_free(&churn.set);
	baleen_filter_free(&churn.filter);
	return !churn.bad;
}

static bool is_asked(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (!strncmp(name, argv[i], strlen(argv[i])))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	u32 n_tests = 0, n_bad = 0;

	for (u32 i = 0; i < N_CHURNED; i++)
		if (is_asked(argc, argv, kinds[i].shaped.name))
			n_bad += !run_churn(&kinds[i], ++n_tests);
	printf("1..%u\n", n_tests);
	return n_bad != 0;
}
