// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The manifest of a set: one way to write it, and anything else refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "set/set_manifest.h"

#define HEX "3c4665df53ea53f50803510a8262698ed35625c3563c52a4bc1f9d087c9aceb9"

static const char good[] = "baleen-set 1\nname bans\ngeneration 7\nprevious 6\n"
			   "created 2026-11-25T03:00:00Z\nexpires 2026-12-02T03:00:00Z\n"
			   "entries 1000000\ndigest " HEX "\ncanaries 2\nring 1 3600\n"
			   "ring 10 14400\nring 100 0\nfull 1672615 " HEX "\nsource 13711343 " HEX "\ndelta 6 35208 " HEX
			   "\ndelta 2 70130 " HEX "\n";

/* @bad: instead of @part of a good one */
static void refuses(const char *part, const char *bad)
{
	const char *at = strstr(good, part);
	struct baleen_set_manifest manifest, poison;
	char text[2048];
	size_t n;

	assert_non_null(at);
	memset(&manifest, 0xa5, sizeof(manifest));
	poison = manifest;
	n = snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, bad,
		     at + strlen(part));
	if (baleen_set_manifest_parse(text, n, &manifest) != -EINVAL)
		fail_msg("'%s' instead of '%s' is taken", bad, part);
	assert_memory_equal(&manifest, &poison, sizeof(manifest));
}

static void test_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "baleen-set 1", "baleen-set 2" },
		{ "name bans", "name ../bans" },
		{ "name bans", "name .bans" },
		{ "name bans", "name bans list" },
		{ "name bans\n", "" },
		{ "generation 7", "generation 0" },
		{ "generation 7", "generation 07" },
		{ "generation 7", "generation +7" },
		{ "generation 7", "generation 6" },
		{ "generation 7", "generation 18446744073709551616" },
		{ "2026-11-25", "2026-11-32" },
		{ "2026-11-25", "2026-13-01" },
		{ "created 2026-11-25T03:00:00Z", "created never" },
		{ "expires 2026-12-02T03:00:00Z", "expires soon" },
		{ "entries 1000000", "entries 67108865" },
		{ "entries 1000000", "entries 1e6" },
		{ "digest " HEX, "digest 3c46" },
		{ "digest " HEX, "digest " HEX "00" },
		{ "digest 3c", "digest 3C" },
		{ "full 1672615 " HEX "\n", "" },
		{ "full 1672615", "full -1" },
		{ "source 13711343", "source 0" },
		{ "source 13711343 " HEX, "source 13711343" },
		{ "source 13711343 " HEX "\n", "source 1 " HEX "\nsource 1 " HEX "\n" },
		{ "delta 6", "delta 7" },
		{ "delta 6", "delta 0" },
		{ "delta 2", "delta 6" },
		{ "delta 2", "delta  2" },
		{ "entries", "rings 4\nentries" },
		{ "canaries 2\n", "" },
		{ "canaries 2", "canaries 1001" },
		{ "canaries 2", "canaries -1" },
		{ "ring 1 ", "ring 0 " },
		{ "ring 10 ", "ring 1 " },
		{ "ring 100 ", "ring 101 " },
		{ "ring 100 0\n", "" },
		{ "ring 1 3600", "ring 1 2592001" },
		{ "ring 1 3600", "ring 1 +3600" },
		{ "ring 1 3600\nring 10 14400\nring 100 0\n", "" },
		{ "ring 10 14400\n", "ring 2 1\nring 3 1\nring 4 1\nring 5 1\nring 6 1\nring 7 1\n"
				     "ring 8 1\n" },
		{ "previous 6\n", "previous 6\nprevious 6\n" },
		{ "previous 6\n", "previous 6\n\n" },
		{ "previous 6\n", "previous 6\r\n" },
	};
	struct baleen_set_manifest manifest;
	char *cut;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(bad[i][0], bad[i][1]);
	/* Cut at the end of a line of differences it is another one, which the signature is not of.
	 */
	for (size_t n = 0; n < strlen(good); n++) {
		if (n > 250 && good[n - 1] == '\n')
			continue;
		cut = malloc(n + !n);
		memcpy(cut, good, n);
		assert_int_equal(baleen_set_manifest_parse(cut, n, &manifest), -EINVAL);
		free(cut);
	}
	cut = calloc(1, BALEEN_SET_MANIFEST_BYTES);
	assert_int_equal(baleen_set_manifest_parse(cut, BALEEN_SET_MANIFEST_BYTES, &manifest),
			 -EINVAL);
	free(cut);
}

static void test_read(void **state)
{
	struct baleen_set_manifest manifest;
	char again[BALEEN_SET_MANIFEST_BYTES], name[BALEEN_SET_FILE_NAME];

	assert_int_equal(baleen_set_manifest_parse(good, strlen(good), &manifest), 0);
	assert_string_equal(manifest.name, "bans");
	assert_int_equal(manifest.head.generation, 7);
	assert_int_equal(manifest.previous, 6);
	assert_int_equal(manifest.head.created_s, 1795575600);
	assert_int_equal(manifest.head.expires_s, 1795575600 + 7 * 86400);
	assert_int_equal(manifest.head.n_entries, 1000000);
	assert_int_equal(manifest.head.digest[0], 0x3c);
	assert_int_equal(manifest.full.n_bytes, 1672615);
	assert_int_equal(manifest.n_deltas, 2);
	assert_int_equal(manifest.rollout.n_canaries, 2);
	assert_int_equal(manifest.rollout.n_rings, 3);
	assert_int_equal(manifest.rollout.ring[1].percent, 10);
	assert_int_equal(manifest.rollout.ring[1].soak_s, 14400);
	assert_int_equal(baleen_set_manifest_delta(&manifest, 2)->n_bytes, 70130);
	assert_null(baleen_set_manifest_delta(&manifest, 5));
	assert_string_equal(baleen_set_part_name("bans", 7, 2, name), "bans-2-7.delta");
	assert_string_equal(baleen_set_part_name("bans", 7, 0, name), "bans-7.set");
	assert_int_equal(baleen_set_manifest_format(&manifest, again), strlen(good));
	assert_string_equal(again, good);
}

/* The longest manifest has room. */
static void test_longest(void **state)
{
	struct baleen_set_manifest manifest, again;
	char text[BALEEN_SET_MANIFEST_BYTES];
	size_t n;

	memset(&manifest, 0, sizeof(manifest));
	memset(manifest.name, 'n', sizeof(manifest.name) - 1);
	manifest.head.generation = ~0ull;
	manifest.previous = ~0ull - 1;
	manifest.head.created_s = 1795575600;
	manifest.head.n_entries = BALEEN_CANON_MAX;
	manifest.full.n_bytes = ~0ull;
	for (u32 i = 0; i < BALEEN_SET_DELTAS; i++)
		manifest.delta[manifest.n_deltas++] =
			(struct baleen_set_part){ .from = ~0ull - 1 - i, .n_bytes = ~0ull };
	for (u32 i = 0; i < BALEEN_SET_RINGS; i++)
		manifest.rollout.ring[i] =
			(struct baleen_set_ring){ 93 + i, BALEEN_SET_SOAK_MAX_S };
	manifest.rollout.n_rings = BALEEN_SET_RINGS;
	manifest.rollout.n_canaries = BALEEN_SET_CANARIES_MAX;
	n = baleen_set_manifest_format(&manifest, text);
	assert_true(n < sizeof(text));
	assert_int_equal(baleen_set_manifest_parse(text, n, &again), 0);
	assert_memory_equal(&again, &manifest, sizeof(manifest));
	n += sprintf(text + n, "delta 1 1 " HEX "\n");
	assert_int_equal(baleen_set_manifest_parse(text, n, &again), -EINVAL);
}

static void test_part(void **state)
{
	struct baleen_set_part part = { .from = 3 };
	const char *why = NULL;

	baleen_set_part_describe(&part, "krill", 5);
	assert_int_equal(part.n_bytes, 5);
	assert_int_equal(part.from, 3);
	assert_int_equal(baleen_set_part_check(&part, "krill", 5, &why), 0);
	assert_null(why);
	assert_int_equal(baleen_set_part_check(&part, "kril", 4, &why), -EINVAL);
	assert_string_equal(why, "is cut short");
	assert_int_equal(baleen_set_part_check(&part, "krills", 6, &why), -EINVAL);
	assert_string_equal(why, "has more bytes than its manifest says");
	assert_int_equal(baleen_set_part_check(&part, "drill", 5, &why), -EINVAL);
	assert_string_equal(why, "is not the file that its manifest tells of");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
