// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nanoseconds and bits per key of the filters in userspace, and of their peers.
 *
 * Usage: bench_lib [--size KEYS]... [--rounds N] [MODULE.so...]
 *
 * Keys are random 64-bit words, or random IPv4 addresses where it says so. In each
 * round every filter is built of all keys, asked for all of them, and asked for as
 * many others, one filter after the other; what is printed is the median of the
 * rounds in time of the thread, one core. A filter of ours is asked in two ways: many
 * keys at once (baleen_filter_test_numbers()), and one after the other (baleen_asker_test()). A
 * MODULE has filters of others, see lib_peer.h.
 */
#include <bloom.h>
#include <dlfcn.h>
#include <getopt.h>
#include <string.h>

#include "../tools/shaped.h"
#include "filter/asker.h"
#include "lib_peer.h"
#include "report.h"
#include "util/clock.h"

#define MAX_SUBJECTS 64
#define MAX_ROUNDS 101
#define MAX_SIZES 4

enum figure { BUILD, HITS, MISSES, ONE_BY_ONE, N_FIGURES };

/**
 * struct subject - a filter that is measured
 * @about: rate of the section it stands in
 * @shaped: ours; NULL: @peer
 * @peer: of somebody else
 * @ns: time per key of each round
 * @bytes: of memory
 * @fpp: share of the others that it says it holds
 * @refused: it did not take all keys
 */
struct subject {
	double about;
	const struct shaped *shaped;
	const struct lib_peer *peer;
	double ns[N_FIGURES][MAX_ROUNDS];
	size_t bytes;
	double fpp;
	bool refused;
};

/* Members come first; as many others follow. */
struct keys {
	size_t n;
	uint64_t *word;
	uint64_t *ip4;
};

/* The section it stands in, and the filter; slots of a width err as they do. */
struct ours {
	double about;
	struct shaped shaped;
};

#define OURS(about, name, kind, fpp, ...)                                           \
	{                                                                           \
		about,                                                              \
		{                                                                   \
			name, BALEEN_WORD, BALEEN_KIND_##kind, { __VA_ARGS__ }, fpp \
		}                                                                   \
	}

static const struct ours ours[] = {
	OURS(0.02, "bloom", BLOOM, 0.02, 0),
	OURS(0.02, "classic", CLASSIC, 0.02, 0),
	OURS(0.02, "counting", COUNTING, 0.02, 0),
	OURS(0.02, "cuckoo 2x8", CUCKOO, 0.5, .slot_bits = 8, .bucket_slots = 2),
	OURS(0.02, "cuckoo 4x8", CUCKOO, 0.5, .slot_bits = 8, .bucket_slots = 4),
	OURS(0.02, "quotient", QUOTIENT, 0.02, 0),
	OURS(0.001, "bloom", BLOOM, 0.001, 0),
	OURS(0.001, "classic", CLASSIC, 0.001, 0),
	OURS(0.001, "counting", COUNTING, 0.001, 0),
	OURS(0.001, "cuckoo 4x12", CUCKOO, 0.5, .slot_bits = 12, .bucket_slots = 4),
	OURS(0.001, "cuckoo 4x13, semi-sorted", CUCKOO, 0.5, .slot_bits = 13,
	     .is_semi_sorted = true),
	OURS(0.001, "quotient", QUOTIENT, 0.001, 0),
	OURS(0.000244, "bloom", BLOOM, 0.000244, 0),
	OURS(0.000244, "classic", CLASSIC, 0.000244, 0),
	OURS(0.000244, "cuckoo 4x16", CUCKOO, 0.5, .slot_bits = 16, .bucket_slots = 4),
	OURS(0.000244, "quotient", QUOTIENT, 0.000244, 0),
	OURS(0, "cuckoo 4x64", CUCKOO, 0, 0),
	OURS(0, "quotient", QUOTIENT, 0, 0),
	{ 0, { "cuckoo of IPv4", BALEEN_IP4, BALEEN_KIND_CUCKOO, { 0 }, 0 } },
	{ 0, { "quotient of IPv4", BALEEN_IP4, BALEEN_KIND_QUOTIENT, { 0 }, 0 } },
};

static const double sections[] = { 0.02, 0.001, 0.000244, 0 };

#define N_OURS (sizeof(ours) / sizeof(*ours))
#define N_SECTIONS (sizeof(sections) / sizeof(*sections))

/* --- libbloom --------------------------------------------------------------- */

static void *libbloom_make(const uint64_t *keys, size_t n, double fpp)
{
	struct bloom *bloom = calloc(1, sizeof(*bloom));

	if (!bloom || bloom_init(bloom, n, fpp))
		errx(1, "libbloom: no filter of %zu keys", n);
	for (size_t i = 0; i < n; i++)
		bloom_add(bloom, &keys[i], sizeof(keys[i]));
	return bloom;
}

static void *libbloom_make_20(const uint64_t *keys, size_t n)
{
	return libbloom_make(keys, n, 0.02);
}

static void *libbloom_make_1(const uint64_t *keys, size_t n)
{
	return libbloom_make(keys, n, 0.001);
}

static void *libbloom_make_12(const uint64_t *keys, size_t n)
{
	return libbloom_make(keys, n, 0.000244);
}

static size_t libbloom_test(const void *filter, const uint64_t *keys, size_t n)
{
	struct bloom *bloom = (struct bloom *)filter;
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++)
		n_found += bloom_check(bloom, &keys[i], sizeof(keys[i])) == 1;
	return n_found;
}

static size_t libbloom_bytes(const void *filter)
{
	return ((const struct bloom *)filter)->bytes;
}

static void libbloom_destroy(void *filter)
{
	bloom_free(filter);
	free(filter);
}

static const struct lib_peer libbloom[] = {
	{ "libbloom", 0.02, libbloom_make_20, libbloom_test, libbloom_bytes, libbloom_destroy },
	{ "libbloom", 0.001, libbloom_make_1, libbloom_test, libbloom_bytes, libbloom_destroy },
	{ "libbloom", 0.000244, libbloom_make_12, libbloom_test, libbloom_bytes, libbloom_destroy },
	{ 0 },
};

/* --- rounds ----------------------------------------------------------------- */

/* In ns; of the thread, so that what else the machine does counts little. */
static double now(void)
{
	return baleen_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static size_t take(u32 domain, const uint64_t *from, size_t n, struct baleen_key *keys)
{
	size_t n_keys = n < SHAPED_CHUNK ? n : SHAPED_CHUNK;

	for (size_t i = 0; i < n_keys; i++) {
		keys[i] = (struct baleen_key){ .domain = domain };
		if (domain == BALEEN_IP4)
			keys[i].ip4 = from[i];
		else
			keys[i].lo = from[i];
	}
	return n_keys;
}

static bool insert_all(struct baleen_filter *filter, u32 domain, const uint64_t *from, size_t n)
{
	struct baleen_key keys[SHAPED_CHUNK];
	size_t n_done;

	for (size_t at = 0; at < n; at += SHAPED_CHUNK)
		if (baleen_filter_insert(filter, keys, take(domain, &from[at], n - at, keys),
					 &n_done))
			return false;
	return true;
}

static size_t test_all(const struct baleen_filter *filter, u32 domain, const uint64_t *from,
		       size_t n)
{
	u8 found[SHAPED_CHUNK];
	size_t n_found = 0;

	for (size_t at = 0; at < n; at += SHAPED_CHUNK) {
		size_t n_keys = n - at < SHAPED_CHUNK ? n - at : SHAPED_CHUNK;

		n_found += baleen_filter_test_numbers(filter, domain, (const u64 *)&from[at],
						      n_keys, found);
	}
	return n_found;
}

static size_t test_one_by_one(const struct baleen_filter *filter, u32 domain, const uint64_t *from,
			      size_t n)
{
	struct baleen_asker asker;
	size_t n_found = 0;

	baleen_asker_init(&asker, filter, domain, baleen_lanes_width());
	for (size_t i = 0; i < n; i++)
		n_found += baleen_asker_test(&asker, from[i]);
	return n_found;
}

static void check_found(const char *name, size_t n_found, size_t n)
{
	if (n_found != n)
		errx(1, "%s: %zu of %zu keys are missing", name, n - n_found, n);
}

static void measure_ours(struct subject *subject, const struct keys *keys, u32 round)
{
	const struct shaped *shaped = subject->shaped;
	const uint64_t *from = shaped->domain == BALEEN_IP4 ? keys->ip4 : keys->word;
	size_t n = keys->n, n_found, n_positive, n_single;
	struct baleen_image image = shaped_image(shaped, n, round);
	struct baleen_filter filter;
	double at[N_FIGURES + 1];

	at[BUILD] = now();
	if (baleen_filter_alloc(&filter, &image, NULL))
		errx(1, "%s: no memory", shaped->name);
	subject->refused = !insert_all(&filter, shaped->domain, from, n);
	at[HITS] = now();
	n_found = test_all(&filter, shaped->domain, from, n);
	at[MISSES] = now();
	n_positive = test_all(&filter, shaped->domain, from + n, n);
	at[ONE_BY_ONE] = now();
	n_single = test_one_by_one(&filter, shaped->domain, from + n, n);
	at[N_FIGURES] = now();
	for (u32 i = 0; i < N_FIGURES; i++)
		subject->ns[i][round] = (at[i + 1] - at[i]) / n;
	subject->bytes = filter.n_bytes;
	subject->fpp = (double)n_positive / n;
	baleen_filter_free(&filter);
	if (n_single != n_positive)
		errx(1, "%s: one by one there are others", shaped->name);
	if (!subject->refused)
		check_found(shaped->name, n_found, n);
}

static void measure_peer(struct subject *subject, const struct keys *keys, u32 round)
{
	const struct lib_peer *peer = subject->peer;
	double at[N_FIGURES];
	size_t n = keys->n, n_found, n_positive;
	void *filter;

	at[BUILD] = now();
	filter = peer->make(keys->word, n);
	subject->refused = !filter;
	if (!filter)
		return;
	at[HITS] = now();
	n_found = peer->test(filter, keys->word, n);
	at[MISSES] = now();
	n_positive = peer->test(filter, keys->word + n, n);
	at[ONE_BY_ONE] = now();
	for (u32 i = 0; i < ONE_BY_ONE; i++)
		subject->ns[i][round] = (at[i + 1] - at[i]) / n;
	subject->bytes = peer->bytes(filter);
	subject->fpp = (double)n_positive / n;
	peer->destroy(filter);
	check_found(peer->name, n_found, n);
}

/* --- what is printed --------------------------------------------------------- */

static void print_subject(struct subject *subject, const struct keys *keys, u32 n_rounds)
{
	const char *name = subject->shaped ? subject->shaped->name : subject->peer->name;

	printf("%-41s", name);
	if (subject->refused) {
		printf(" did not take all keys\n");
		return;
	}
	printf("%9.2f  %-9.3g", subject->bytes * 8. / keys->n, subject->fpp);
	for (u32 i = 0; i < N_FIGURES; i++) {
		if (i == ONE_BY_ONE && !subject->shaped)
			break;
		printf("%8.1f", quartiles(subject->ns[i], n_rounds).median);
	}
	printf("\n");
}

static void measure_section(double fpp, struct subject *subjects, u32 n_subjects,
			    const struct keys *keys, u32 n_rounds)
{
	for (u32 round = 0; round < n_rounds; round++) {
		for (u32 i = 0; i < n_subjects; i++) {
			if (subjects[i].about != fpp)
				continue;
			if (subjects[i].shaped)
				measure_ours(&subjects[i], keys, round);
			else
				measure_peer(&subjects[i], keys, round);
		}
	}
	printf(fpp ? "at about %g\n" : "exact\n", fpp);
	for (u32 i = 0; i < n_subjects; i++)
		if (subjects[i].about == fpp)
			print_subject(&subjects[i], keys, n_rounds);
	fflush(stdout);
}

static struct keys make_keys(size_t n)
{
	struct keys keys = {
		.n = n,
		.word = malloc(2 * n * sizeof(u64)),
		.ip4 = malloc(2 * n * sizeof(u64)),
	};

	if (!keys.word || !keys.ip4)
		errx(1, "no memory for %zu keys", 2 * n);
	for (size_t i = 0; i < 2 * n; i++) {
		keys.word[i] = shaped_key(BALEEN_WORD, i).lo;
		keys.ip4[i] = shaped_key(BALEEN_IP4, i).ip4;
	}
	return keys;
}

static void measure_size(size_t n, struct subject *subjects, u32 n_subjects, u32 n_rounds)
{
	struct keys keys = make_keys(n);

	printf("\n%-41s%9s  %-9s%8s%8s%8s%8s\n", "", "bits per", "", "build", "hit", "miss",
	       "miss,");
	printf("%-41s%9s  %-9s%8s%8s%8s%8s\n", "", "key", "fpp", "ns", "ns", "ns", "single");
	printf("%zu keys\n", n);
	for (u32 i = 0; i < N_SECTIONS; i++)
		measure_section(sections[i], subjects, n_subjects, &keys, n_rounds);
	free(keys.word);
	free(keys.ip4);
}

/* --- what is measured -------------------------------------------------------- */

static u32 add_peers(struct subject *subjects, u32 n, const struct lib_peer *peers)
{
	for (; peers->name && n < MAX_SUBJECTS; peers++, n++) {
		subjects[n].about = peers->fpp;
		subjects[n].peer = peers;
	}
	return n;
}

static const struct lib_peer *load_peers(const char *path)
{
	void *module = dlopen(path, RTLD_NOW);
	const struct lib_peer *peers = module ? dlsym(module, "lib_peers") : NULL;

	if (!peers)
		errx(1, "%s", dlerror());
	return peers;
}

static void usage(void)
{
	fprintf(stderr, "usage: bench_lib [--size KEYS]... [--rounds N] [MODULE.so...]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "size", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ 0 },
	};
	static struct subject subjects[MAX_SUBJECTS];
	size_t sizes[MAX_SIZES] = { 1000000, 10000000 };
	u32 n_sizes = 0, n_rounds = 5, n = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 's' && n_sizes < MAX_SIZES)
			sizes[n_sizes++] = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			n_rounds = strtoul(optarg, NULL, 10);
		else
			usage();
	}
	if (!n_rounds || n_rounds > MAX_ROUNDS)
		usage();
	for (; n < N_OURS; n++) {
		subjects[n].about = ours[n].about;
		subjects[n].shaped = &ours[n].shaped;
	}
	n = add_peers(subjects, n, libbloom);
	for (int i = optind; i < argc; i++)
		n = add_peers(subjects, n, load_peers(argv[i]));
	printf("ns per key, median of %u rounds\n", n_rounds);
	print_machine(pin_to_cpu());
	for (u32 i = 0; i < (n_sizes ? n_sizes : 2); i++)
		measure_size(sizes[i], subjects, n, n_rounds);
	return 0;
}
