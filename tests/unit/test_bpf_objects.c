// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The BPF objects that a build carries: which one is taken, and what a damaged one does. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "xdp/bpf_objects.h"

#define MAX_RULES 16

static void test_smallest(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		const bool is_egress = kind & 1, has_conntrack = kind & 2;

		for (u32 n_rules = 0; n_rules <= MAX_RULES; n_rules++) {
			const struct baleen_bpf_object *carried =
				baleen_bpf_object_find(is_egress, has_conntrack, n_rules);

			assert_int_equal(carried->is_egress, is_egress);
			assert_int_equal(carried->has_conntrack, has_conntrack);
			assert_in_range(carried->n_rules, n_rules, n_rules <= 1 ? 4 : MAX_RULES);
		}
	}
}

static void test_elf(void **state)
{
	void *bytes;
	size_t n_bytes;

	for (int kind = 0; kind < 4; kind++) {
		assert_int_equal(baleen_bpf_object_inflate(baleen_bpf_object_find(kind & 1,
										  kind & 2, 1),
							   &bytes, &n_bytes),
				 0);
		assert_true(n_bytes > 1000);
		assert_memory_equal(bytes, "\177ELF", 4);
		free(bytes);
	}
	assert_int_equal(baleen_bpf_object_inflate(&baleen_bpf_object_icp, &bytes, &n_bytes), 0);
	assert_memory_equal(bytes, "\177ELF", 4);
	free(bytes);
	assert_true(baleen_bpf_objects_code() != 0);
}

/* Outputs stay as they were. */
static void test_damaged(void **state)
{
	const struct baleen_bpf_object *whole = baleen_bpf_object_find(false, false, 1);
	size_t n_gz = whole->gz_end - whole->gz, n_bytes = 77;
	u8 *copy = malloc(n_gz);
	struct baleen_bpf_object damaged = { .gz = copy, .gz_end = copy + n_gz };
	void *bytes = &damaged;
	/* A bit of the header, of what is compressed, of the checksum, and of a smaller size. */
	const size_t at[] = { 0, n_gz / 2, n_gz - 8, n_gz - 6 };

	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		memcpy(copy, whole->gz, n_gz);
		copy[at[i]] ^= 1;
		assert_int_equal(baleen_bpf_object_inflate(&damaged, &bytes, &n_bytes), -EILSEQ);
		assert_ptr_equal(bytes, &damaged);
		assert_int_equal(n_bytes, 77);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_elf),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
