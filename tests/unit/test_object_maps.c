// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Maps of objects that are switched off: nothing of them is kept or pinned. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <cmocka.h>

#include "util/fd.h"
#include "util/libbpf_log.h"
#include "xdp/bpf_objects.h"
#include "xdp/object_maps.h"
#include "xdp/pins.h"

/* Each object of this build, with the programs off. */
static struct bpf_object *open_object(u32 i)
{
	static const u32 n_rules[] = { 1, 4, 16 };
	const struct baleen_bpf_object *carried = &baleen_bpf_object_icp;
	struct bpf_object *object;
	struct bpf_program *program;
	size_t n_bytes;
	void *bytes;

	if (i > 0)
		carried = baleen_bpf_object_find(i & 1, i & 2, n_rules[(i - 1) / 4]);
	assert_int_equal(baleen_bpf_object_inflate(carried, &bytes, &n_bytes), 0);
	object = bpf_object__open_mem(bytes, n_bytes, NULL);
	assert_non_null(object);
	free(bytes);
	bpf_object__for_each_program(program, object) bpf_program__set_autoload(program, false);
	return object;
}

static void test_no_such_map(void **state)
{
	struct bpf_object *object = open_object(1);
	int kept = -1;

	assert_int_equal(baleen_object_keep_map(object, "baleen_nothing", &kept), 0);
	assert_int_equal(kept, -1);
	assert_int_equal(baleen_object_use_map(object, "baleen_nothing", -1, true), -ENOENT);
	bpf_object__close(object);
}

/* libbpf 1.1 has no descriptor for such a map, and from 1.4 on one of something else. */
static void test_switched_off(void **state)
{
	struct baleen_error error = { 0 };

	if (geteuid())
		skip();
	for (u32 i = 0; i <= 12; i++) {
		struct bpf_object *object = open_object(i);
		struct bpf_map *map;
		u32 n_maps = 0;

		bpf_object__for_each_map(map, object) assert_int_equal(
			baleen_object_use_map(object, bpf_map__name(map), -1, false), 0);
		assert_int_equal(bpf_object__load(object), 0);
		bpf_object__for_each_map(map, object)
		{
			int kept = -1;

			assert_int_equal(baleen_object_keep_map(object, bpf_map__name(map), &kept),
					 0);
			assert_int_equal(kept, -1);
			/* There is no such directory, so a descriptor would be refused. */
			assert_int_equal(baleen_pins_add("/no", bpf_map__name(map), kept, &error),
					 0);
			n_maps++;
		}
		assert_true(n_maps > 4);
		bpf_object__close(object);
	}
}

static void test_switched_on(void **state)
{
	struct bpf_object *object = open_object(1);
	int kept = -1, other = 77;
	struct bpf_map *map;

	if (geteuid())
		skip();
	bpf_object__for_each_map(map, object)
		assert_int_equal(bpf_map__set_autocreate(map, false), 0);
	assert_int_equal(baleen_object_use_map(object, "baleen_stats", -1, true), 0);
	assert_int_equal(bpf_object__load(object), 0);
	assert_int_equal(baleen_object_keep_map(object, "baleen_stats", &kept), 0);
	assert_true(kept >= 0);
	assert_int_equal(baleen_object_keep_map(object, "baleen_stats", &other), 0);
	assert_int_equal(other, 77);
	baleen_close_fd(&kept);
	bpf_object__close(object);
}

/* A program that needs the map: it is not loaded, and the reason says more than a number. */
static void test_needed(void **state)
{
	struct bpf_object *object = open_object(1);
	struct bpf_program *program = bpf_object__next_program(object, NULL);
	int err;

	if (geteuid())
		skip();
	assert_non_null(program);
	bpf_program__set_autoload(program, true);
	assert_int_equal(baleen_object_use_map(object, "baleen_stats", -1, false), 0);
	baleen_log_start();
	err = bpf_object__load(object);
	assert_true(err < 0);
	assert_non_null(strstr(baleen_log_reason(err), "load failed: Invalid argument: "));
	assert_non_null(strstr(baleen_log_reason(err), "baleen_stats"));
	bpf_object__close(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_such_map),
		cmocka_unit_test(test_switched_off),
		cmocka_unit_test(test_switched_on),
		cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
