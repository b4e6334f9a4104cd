// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as the groups of a set file, the first of them saying whether it is a difference:
 * what is read is ascending and in its bits, and the same after it was written and read again,
 * as a full set and as a difference. The same bytes as a manifest.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "set/set_manifest.h"
#include "target.h"

#define MAX_BYTES 4096

static void check_form(const struct baleen_canon *canon)
{
	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++) {
		const struct baleen_numbers *group = &canon->group[g];
		u32 length = baleen_canon_length(g);

		check(group->is_wide == baleen_canon_is_ip6(g));
		for (size_t i = 0; i < group->n; i++) {
			baleen_u128 number = baleen_numbers_at(group, i);

			check(length == 128 || !(number >> length));
			check(!i || baleen_numbers_at(group, i - 1) < number);
		}
	}
}

static void again(const struct baleen_canon *from, const struct baleen_canon *to, u64 generation)
{
	struct baleen_set_head head = {
		.generation = 2,
		.from = generation,
		.n_entries = baleen_canon_n(to),
	};
	u8 digest[BALEEN_CANON_DIGEST];
	struct baleen_canon got;
	const char *why = "";
	u8 *file;
	size_t n;

	baleen_canon_digest(to, head.digest);
	check(!baleen_set_encode(from, to, &head, &file, &n));
	check(!baleen_set_decode(file, n, from, &got, &why));
	check_form(&got);
	baleen_canon_digest(&got, digest);
	check(!memcmp(digest, head.digest, sizeof(digest)));
	baleen_canon_free(&got);
	free(file);
}

/* Some entries of some groups. */
static void fill(struct baleen_canon *canon)
{
	static const u32 groups[] = { 8, 24, 32, 33 + 32, 33 + 128 };

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (u32 n = 1; n < 100; n += 1 + n / 4) {
			check(!baleen_numbers_reserve(&canon->group[groups[i]],
						      canon->group[groups[i]].n + 1));
			baleen_numbers_put(&canon->group[groups[i]], n);
		}
}

/* There is one way to write each manifest. */
static void fuzz_manifest(const char *text, size_t n)
{
	char again[BALEEN_SET_MANIFEST_BYTES];
	struct baleen_set_manifest manifest;

	if (baleen_set_manifest_parse(text, n, &manifest))
		return;
	check(baleen_set_manifest_format(&manifest, again) == n && !memcmp(again, text, n));
	check(baleen_set_name_is(manifest.name));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct baleen_canon none, from, to;
	const char *why = NULL;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	fuzz_manifest((const char *)bytes, n_bytes);
	baleen_canon_start(&none);
	/* A seed may be a whole file, whose digest is right. */
	if (baleen_set_decode(bytes, n_bytes, &none, &to, &why)) {
		check(why);
	} else {
		check_form(&to);
		baleen_canon_free(&to);
	}
	why = NULL;
	baleen_canon_start(&from);
	baleen_canon_start(&to);
	if (*bytes & 1)
		fill(&from);
	if (baleen_set_groups_read(bytes + 1, n_bytes - 1, &from, &to, &why)) {
		check(why);
	} else {
		check_form(&to);
		again(&none, &to, 0);
		again(&from, &to, 1);
	}
	baleen_canon_free(&from);
	baleen_canon_free(&to);
	return 0;
}
