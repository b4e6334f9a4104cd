// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Canonical sets, and their generations as files: full, and as differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lists.h"
#include "random.h"
#include "set/rice.h"
#include "set/set_file.h"

#define SEED 0x7365740bull

static struct baleen_canon set_of(const char *text)
{
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_canon canon;
	int fd = open_bytes(text, strlen(text));

	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	close(fd);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(baleen_canon_of_list(&list, &canon, NULL), 0);
	baleen_list_free(&list);
	return canon;
}

static struct baleen_set_head head_of(const struct baleen_canon *canon, u64 generation, u64 from)
{
	struct baleen_set_head head = {
		.generation = generation,
		.from = from,
		.n_entries = baleen_canon_n(canon),
		.created_s = 0x65432100,
		.expires_s = 0x65439900,
	};

	baleen_canon_digest(canon, head.digest);
	return head;
}

/* --- canonical --- */

static void assert_set(const struct baleen_canon *canon, const char *want)
{
	struct words words = { .used = 0 };
	char text[BALEEN_KEY_TEXT];

	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++)
		for (size_t i = 0; i < canon->group[g].n; i++)
			add_word(&words, "%s", baleen_canon_text(canon, g, i, text));
	words.text[words.used] = '\0';
	assert_string_equal(words.text, want);
}

static void test_canonical(void **state)
{
	static const char *const made[][2] = {
		{ "", "" },
		{ "10.0.0.2\n10.0.0.1\n10.0.0.2", "10.0.0.1 10.0.0.2" },
		{ "0.0.0.0/0\n::/0\n255.255.255.255", "0.0.0.0/0 255.255.255.255 ::/0" },
		/* an entry inside a wider one stays, halves stay halves */
		{ "10.0.0.7\n10.0.0.0/24\n10.0.0.0/25\n10.0.0.128/25",
		  "10.0.0.0/24 10.0.0.0/25 10.0.0.128/25 10.0.0.7" },
		/* ranges are prefixes, and their hosts are hosts */
		{ "10.0.0.1-10.0.0.4\n10.0.0.4", "10.0.0.2/31 10.0.0.1 10.0.0.4" },
		{ "2001:db8::1-2001:db8::2", "2001:db8::1 2001:db8::2" },
		{ "2001:db8::/32\n2001:db8::1\n2001:db7::/32\n::ffff:192.0.2.1",
		  "192.0.2.1 2001:db7::/32 2001:db8::/32 2001:db8::1" },
		/* bits below the length do not count */
		{ "10.0.0.77/24\n10.0.0.78/24", "10.0.0.0/24" },
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		struct baleen_canon canon = set_of(made[i][0]);
		struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
		struct baleen_canon again;
		u8 a[BALEEN_CANON_DIGEST], b[BALEEN_CANON_DIGEST];

		assert_set(&canon, made[i][1]);
		assert_int_equal(baleen_canon_to_list(&canon, &list), 0);
		assert_int_equal(list.n_listed, baleen_canon_n(&canon));
		assert_int_equal(baleen_canon_of_list(&list, &again, NULL), 0);
		baleen_canon_digest(&canon, a);
		baleen_canon_digest(&again, b);
		assert_memory_equal(a, b, sizeof(a));
		baleen_list_free(&list);
		baleen_canon_free(&again);
		baleen_canon_free(&canon);
	}
}

static void assert_no_set(u32 key_spec, const char *text, const char *want)
{
	struct baleen_list list = { .key_spec = key_spec };
	struct baleen_canon canon, poison;
	struct baleen_error error;
	int fd = open_bytes(text, strlen(text));

	memset(&canon, 0xa5, sizeof(canon));
	poison = canon;
	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	close(fd);
	assert_int_equal(baleen_canon_of_list(&list, &canon, &error), -EINVAL);
	assert_string_equal(error.text, want);
	assert_memory_equal(&canon, &poison, sizeof(canon));
	baleen_list_free(&list);
}

static void test_no_set(void **state)
{
	static const char exceptions[] = "a set has no exceptions: write the prefixes that remain";
	static const char keys[] = "a set has addresses and prefixes, no other keys";

	assert_no_set(BALEEN_KEY_SRC, "10.0.0.0/8\n!10.0.0.1", exceptions);
	assert_no_set(BALEEN_KEY_SRC, "!2001:db8::/32", exceptions);
	assert_no_set(BALEEN_KEY_SRC | BALEEN_KEY_DPORT, "10.0.0.1,443", keys);
	assert_no_set(BALEEN_KEY_STRING, "krill", keys);
}

/* --- bytes --- */

static const u8 digest_1[] = {
	0x05, 0xa0, 0x0a, 0x7a, 0xda, 0xd7, 0xd3, 0x2a, 0xf5, 0xc0, 0xb8,
	0x5b, 0xb1, 0xab, 0xc4, 0x98, 0xd1, 0x62, 0x38, 0xfc, 0x3b, 0xa8,
	0x6e, 0x21, 0xc1, 0x3f, 0x56, 0x5d, 0x43, 0xbf, 0x26, 0xdd,
};
static const u8 digest_2[] = {
	0xc4, 0x27, 0x95, 0xbb, 0x6d, 0xad, 0xa0, 0x8a, 0x16, 0x2f, 0xf1,
	0x11, 0x82, 0x67, 0x83, 0x6c, 0xb2, 0x74, 0x96, 0xa0, 0xd5, 0x0b,
	0x4a, 0xc7, 0xd1, 0x46, 0x5a, 0x2d, 0x63, 0xf9, 0x67, 0x45,
};

#define EXAMPLE_GROUP 17

static const u8 full_group[EXAMPLE_GROUP] = {
	4, 8, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0x2e
};
static const u8 delta_group[EXAMPLE_GROUP] = {
	4, 8, 0, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0x15
};

static void assert_file(const u8 *file, size_t n, const u8 *digest, u8 generation, u8 from,
			const u8 *group)
{
	const u8 head[48] = { 'B',  'S',  'E',	'T', 1, 0,    0, 0,    generation, 0,	 0,
			      0,    0,	  0,	0,   0, from, 0, 0,    0,	   0,	 0,
			      0,    0,	  3,	0,   0, 0,    0, 0,    0,	   0,	 0x00,
			      0x21, 0x43, 0x65, 0,   0, 0,    0, 0x00, 0x99,	   0x43, 0x65 };

	assert_int_equal(n, BALEEN_SET_HEAD_BYTES + EXAMPLE_GROUP);
	assert_memory_equal(file, head, sizeof(head));
	assert_memory_equal(file + 48, digest, BALEEN_CANON_DIGEST);
	assert_memory_equal(file + BALEEN_SET_HEAD_BYTES, group, EXAMPLE_GROUP);
}

/* The example of set/set_file.h and of baleen-set(5). */
static void test_example(void **state)
{
	struct baleen_canon none, first = set_of("7.0.0.0/8\n1.0.0.0/8\n8.0.0.0/8\n");
	struct baleen_canon second = set_of("1.0.0.0/8\n8.0.0.0/8\n9.0.0.0/8\n");
	struct baleen_set_head head = head_of(&first, 1, 0);
	u8 *file;
	size_t n;

	baleen_canon_start(&none);
	assert_int_equal(baleen_set_encode(&none, &first, &head, &file, &n), 0);
	assert_file(file, n, digest_1, 1, 0, full_group);
	free(file);
	head = head_of(&second, 2, 1);
	assert_int_equal(baleen_set_encode(&first, &second, &head, &file, &n), 0);
	assert_file(file, n, digest_2, 2, 1, delta_group);
	free(file);
	baleen_canon_free(&first);
	baleen_canon_free(&second);
}

/* rice.h */
static void test_rice_example(void **state)
{
	static const u8 want[] = { 0x2a, 0x00 };
	u32 number[] = { 1, 7, 8 };
	const struct baleen_numbers numbers = { .n = 3, .narrow = number };
	struct baleen_bits_out bits = { .byte = NULL };

	assert_int_equal(baleen_rice_write(&bits, &numbers, 2), 0);
	assert_int_equal(baleen_rice_close(&bits), 0);
	assert_int_equal(bits.n_bytes, sizeof(want));
	assert_memory_equal(bits.byte, want, sizeof(want));
	free(bits.byte);
}

/* The parameter is the best one: none other takes fewer bytes. */
static void test_rice_best(void **state)
{
	struct random random = random_from(SEED);

	for (u32 round = 0; round < 40; round++) {
		struct baleen_numbers numbers = { .is_wide = round % 2 };
		u32 n_bits = numbers.is_wide ? 128 : 32, best;
		u64 least = ~0ull;
		baleen_u128 next = 0;
		size_t chosen = 0;

		for (u32 i = 0; i < 200; i++) {
			next += 1 + random_below(&random, 1 + (1ull << round / 2));
			/* Clusters far from each other. */
			if (round >= 30 && i % 50 == 49)
				next += 1 << 20;
			assert_int_equal(baleen_numbers_reserve(&numbers, numbers.n + 1), 0);
			baleen_numbers_put(&numbers, next);
		}
		best = baleen_rice_choose(&numbers, n_bits);
		for (u32 k = 0; k <= 30; k++) {
			struct baleen_bits_out bits = { .byte = NULL };

			assert_int_equal(baleen_rice_write(&bits, &numbers, k), 0);
			if (bits.n_bytes * 8 + bits.n_pending < least)
				least = bits.n_bytes * 8 + bits.n_pending;
			if (k == best)
				chosen = bits.n_bytes * 8 + bits.n_pending;
			free(bits.byte);
		}
		assert_int_equal(chosen, least);
		baleen_numbers_free(&numbers);
	}
}

/* --- there and back --- */

#define N_MOST 3000

/* Of any group: few entries or many, dense or wide apart. */
static void fill(struct baleen_canon *canon, u32 g, struct random *random)
{
	u32 length = baleen_canon_length(g);
	baleen_u128 all = length < 128 ? ((baleen_u128)1 << length) - 1 : ~(baleen_u128)0, next;
	u64 n = random_below(random, random_below(random, 2) ? 20 : N_MOST);
	u32 shift = random_below(random, length < 64 ? length + 1 : 64);

	next = ((baleen_u128)random_next(random) << 64 | random_next(random)) & all >> 1;
	for (u64 i = 0; i < n; i++) {
		if (next >> 32 != 0xffff) {
			assert_int_equal(baleen_numbers_reserve(&canon->group[g],
								canon->group[g].n + 1),
					 0);
			baleen_numbers_put(&canon->group[g], next);
		}
		if (all - next < 1ull << shift)
			break;
		next += 1 + random_next(random) % (1ull << shift);
	}
}

static void assert_same(const struct baleen_canon *a, const struct baleen_canon *b)
{
	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++) {
		assert_int_equal(a->group[g].n, b->group[g].n);
		for (size_t i = 0; i < a->group[g].n; i++)
			assert_true(baleen_numbers_at(&a->group[g], i) ==
				    baleen_numbers_at(&b->group[g], i));
	}
}

static void there_and_back(const struct baleen_canon *from, const struct baleen_canon *to,
			   u64 generation)
{
	struct baleen_set_head head = head_of(to, 7, generation), read;
	struct baleen_canon got;
	const char *why = "";
	u8 *file;
	size_t n;

	assert_int_equal(baleen_set_encode(from, to, &head, &file, &n), 0);
	assert_int_equal(baleen_set_head_read(file, n, &read, &why), 0);
	assert_memory_equal(&read, &head, sizeof(head));
	if (baleen_set_decode(file, n, from, &got, &why))
		fail_msg("%s", why);
	assert_same(&got, to);
	baleen_canon_free(&got);
	free(file);
}

static void test_random(void **state)
{
	struct random random = random_from(SEED);

	for (u32 round = 0; round < 60; round++) {
		struct baleen_canon none, a, b;

		baleen_canon_start(&none);
		baleen_canon_start(&a);
		baleen_canon_start(&b);
		for (u32 n = 0; n < 6; n++) {
			u32 g = random_below(&random, BALEEN_CANON_GROUPS);

			if (!a.group[g].n)
				fill(&a, g, &random);
			if (random_below(&random, 2) && !b.group[g].n)
				fill(&b, g, &random);
		}
		there_and_back(&none, &a, 0);
		there_and_back(&a, &b, 3);
		there_and_back(&b, &a, 3);
		there_and_back(&a, &a, 3);
		baleen_canon_free(&a);
		baleen_canon_free(&b);
	}
}

/* --- refused --- */

/* A set that was neither cut nor changed, which tests cut and change. */
struct sample {
	struct baleen_canon from;
	u8 *file;
	size_t n;
};

#define SAMPLE "10.2.0.0/16 10.0.0.1 10.0.0.4 10.0.0.9 2001:db8::7"

static struct sample sample_make(bool is_delta)
{
	struct baleen_canon from =
		set_of("10.0.0.1\n10.0.0.3\n10.0.0.9\n10.1.0.0/16\n2001:db8::/32");
	struct baleen_canon to = set_of("10.0.0.1\n10.0.0.4\n10.0.0.9\n10.2.0.0/16\n2001:db8::7");
	struct baleen_set_head head = head_of(&to, 9, is_delta ? 8 : 0);
	struct sample sample = { .from = from };

	if (!is_delta) {
		baleen_canon_free(&sample.from);
		baleen_canon_start(&sample.from);
	}
	assert_int_equal(baleen_set_encode(&sample.from, &to, &head, &sample.file, &sample.n), 0);
	baleen_canon_free(&to);
	return sample;
}

static void assert_refused(const struct sample *sample, const u8 *file, size_t n)
{
	struct baleen_canon got, poison;
	const char *why = NULL;

	memset(&got, 0xa5, sizeof(got));
	poison = got;
	assert_int_equal(baleen_set_decode(file, n, &sample->from, &got, &why), -EINVAL);
	assert_non_null(why);
	assert_memory_equal(&got, &poison, sizeof(got));
}

/* Bytes that say when and which, not what is in it: the manifest vouches for them. */
static bool is_free(size_t byte)
{
	return (byte >= 8 && byte < 24) || (byte >= 32 && byte < 48);
}

/* Some sets have two ways to be written, a bit apart. Return: does the file still make its set? */
static bool flip(struct sample *sample, size_t bit)
{
	struct baleen_canon got;
	const char *why = NULL;
	bool is_alike;

	if (is_free(bit / 8))
		return false;
	sample->file[bit / 8] ^= 1 << bit % 8;
	is_alike = !baleen_set_decode(sample->file, sample->n, &sample->from, &got, &why);
	if (is_alike) {
		assert_set(&got, SAMPLE);
		baleen_canon_free(&got);
	} else {
		assert_refused(sample, sample->file, sample->n);
	}
	sample->file[bit / 8] ^= 1 << bit % 8;
	return is_alike;
}

static void test_damaged(void **state)
{
	for (u32 is_delta = 0; is_delta < 2; is_delta++) {
		struct sample sample = sample_make(is_delta);
		u32 n_alike = 0;
		u8 *copy;

		for (size_t n = 0; n < sample.n; n++) {
			copy = malloc(n + !n);
			memcpy(copy, sample.file, n);
			assert_refused(&sample, copy, n);
			free(copy);
		}
		for (size_t bit = 0; bit < 8 * sample.n; bit++)
			n_alike += flip(&sample, bit);
		copy = malloc(sample.n + 1);
		memcpy(copy, sample.file, sample.n);
		copy[sample.n] = 0;
		assert_refused(&sample, copy, sample.n + 1);
		free(copy);
		assert_true(n_alike < 8);
		free(sample.file);
		baleen_canon_free(&sample.from);
	}
}

static void test_other_base(void **state)
{
	struct sample sample = sample_make(true);

	baleen_canon_free(&sample.from);
	sample.from = set_of("10.0.0.2\n10.0.0.3\n10.0.0.9\n10.1.0.0/16\n2001:db8::/32");
	assert_refused(&sample, sample.file, sample.n);
	baleen_canon_free(&sample.from);
	baleen_canon_start(&sample.from);
	assert_refused(&sample, sample.file, sample.n);
	free(sample.file);
}

static void assert_group(const u8 *group, size_t n, const char *want)
{
	struct baleen_canon from = set_of("1.0.0.0/8\n7.0.0.0/8\n8.0.0.0/8\n"), to;
	const char *why = "";

	baleen_canon_start(&to);
	assert_int_equal(baleen_set_groups_read(group, n, &from, &to, &why), -EINVAL);
	assert_string_equal(why, want);
	baleen_canon_free(&to);
	baleen_canon_free(&from);
}

static void test_malformed(void **state)
{
	static const char gaps[] = "has a group whose gaps are malformed";
	static const char fit[] = "does not fit the generation that it is the difference from";
	u8 group[2 * EXAMPLE_GROUP];

#define WITH(at, value, want)                               \
	do {                                                \
		memcpy(group, delta_group, EXAMPLE_GROUP);  \
		group[at] = (value);                        \
		assert_group(group, EXAMPLE_GROUP, (want)); \
	} while (0)
	WITH(0, 5, "has a group of no family");
	WITH(1, 33, "has a group of no family");
	WITH(2, 33, "has a Rice parameter that is too large");
	WITH(3, 9, "has a Rice parameter that is too large");
	WITH(12, 2, "ends within a group");
	WITH(12, 0, gaps);
	/* Four billion entries of one byte take no memory. */
	WITH(11, 0xff, gaps);
	WITH(7, 0xff, gaps);
	/* A bit behind the last gap; an index that is not there; a number that is. */
	WITH(16, 0x95, gaps);
	WITH(16, 0x27, fit);
	WITH(16, 0x05, fit);
#undef WITH
	memcpy(group, delta_group, EXAMPLE_GROUP);
	memcpy(group + EXAMPLE_GROUP, delta_group, EXAMPLE_GROUP);
	assert_group(group, sizeof(group), "has groups that are out of order");
	memset(group + 4, 0, 8);
	assert_group(group, EXAMPLE_GROUP, "has a group in which nothing differs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_set),	     cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_other_base),   cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_canonical),    cmocka_unit_test(test_example),
		cmocka_unit_test(test_rice_example), cmocka_unit_test(test_rice_best),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
