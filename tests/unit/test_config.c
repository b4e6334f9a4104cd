// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The constants of a program, as they are read back: what is refused, what is filled in. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "xdp/config.h"

static struct baleen_config sample(void)
{
	struct baleen_config config = {
		.version = BALEEN_CONFIG_VERSION,
		.n_rules = 2,
		.attach_type = BALEEN_ATTACH_TYPE_NETLINK,
		.device = "eth0",
		.rule = { { .slot = 5, .image.name = "first" },
			  { .slot = 1, .action = BALEEN_ACTION_COUNT, .image.name = "second" } },
	};

	return config;
}

static void assert_refused(const struct baleen_config *config, size_t n_bytes)
{
	struct baleen_config out, poison;

	memset(&poison, 0xa5, sizeof(poison));
	out = poison;
	assert_int_equal(baleen_config_decode(config, n_bytes, &out), -EPROTO);
	assert_memory_equal(&out, &poison, sizeof(out));
}

static void test_refuses_other_versions(void **state)
{
	struct baleen_config config = sample();

	config.version = BALEEN_CONFIG_VERSION + 1;
	assert_refused(&config, sizeof(config));
	config.version = BALEEN_CONFIG_OLDEST - 1;
	assert_refused(&config, sizeof(config));
	config.version = 0;
	assert_refused(&config, sizeof(config));
	config.version = ~0u;
	assert_refused(&config, sizeof(config));
}

static void test_refuses_other_sizes(void **state)
{
	struct baleen_config larger[2] = { sample() };

	assert_refused(larger, 0);
	assert_refused(larger, sizeof(u32) - 1);
	assert_refused(larger, sizeof(u32));
	assert_refused(larger, sizeof(larger[0]) - 8);
	assert_refused(larger, sizeof(larger[0]) + 8);
}

static void test_refuses_nonsense(void **state)
{
	struct baleen_config config = sample();

	config.n_rules = BALEEN_MAX_RULES + 1;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.attach_type = BALEEN_ATTACH_TYPE_CHAIN + 1;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.rule[1].slot = BALEEN_MAX_RULES;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.rule[0].action = BALEEN_ACTION_COUNT + 1;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.rule[1].qualifiers.n_dports = BALEEN_MAX_PORTS + 1;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.recent_buckets[1] = 1000;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.limits = BALEEN_LIMITS_PEEK + 1;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.limit[1].typed.rate = 50;
	assert_refused(&config, sizeof(config));
	config = sample();
	config.prefilter_rules = 1u << config.n_rules;
	assert_refused(&config, sizeof(config));
	config.prefilter_rules = 0;
	config.version = 6;
	config.rule[1].slot |= BALEEN_SLOT_LIMITED;
	assert_refused(&config, offsetof(struct baleen_config, limits));
}

/* Each version is as long as it was, and what it had not is zero. */
static void test_reads_version_2(void **state)
{
	size_t n_bytes = offsetof(struct baleen_config, code);
	struct baleen_config config = sample(), out;

	config.version = 2;
	config.code = 7;
	assert_refused(&config, sizeof(config));
	assert_int_equal(baleen_config_decode(&config, n_bytes, &out), 0);
	assert_int_equal(out.version, BALEEN_CONFIG_VERSION);
	assert_int_equal(out.code, 0);
	assert_string_equal(out.rule[1].image.name, "second");
	config.version = 3;
	assert_refused(&config, n_bytes);
}

/* 3 and 4 differ in what the tables of images may be; neither has recent changes. */
static void test_reads_versions_3_and_4(void **state)
{
	struct baleen_config config = sample(), out;

	config.code = 7;
	config.recent_buckets[0] = 1024;
	for (config.version = 3; config.version <= 4; config.version++) {
		size_t n_bytes = offsetof(struct baleen_config, recent_buckets);

		assert_refused(&config, sizeof(config));
		assert_int_equal(baleen_config_decode(&config, n_bytes, &out), 0);
		assert_int_equal(out.version, BALEEN_CONFIG_VERSION);
		assert_int_equal(out.code, 7);
		assert_int_equal(out.recent_buckets[0], 0);
	}
}

/* Version 7 has no limits; of version 8 the mark of the packet path is taken off. */
static void test_reads_limits(void **state)
{
	const struct baleen_rate_limit typed = { .rate = 50, .unit_s = 1, .ban_ms = 60000 };
	struct baleen_config config = sample(), out;

	config.limits = BALEEN_LIMITS_COUNT;
	config.limit[0] = baleen_limit_set_up(&typed, 7, 0);
	config.version = 7;
	assert_int_equal(baleen_config_decode(&config, offsetof(struct baleen_config, limits),
					      &out),
			 0);
	assert_int_equal(out.limit[0].interval_ns, 0);
	config.version = 8;
	config.rule[0].slot |= BALEEN_SLOT_LIMITED;
	assert_int_equal(baleen_config_decode(&config,
					      offsetof(struct baleen_config, prefilter_rules),
					      &out),
			 0);
	assert_int_equal(out.rule[0].slot, 5);
	assert_memory_equal(&out.limit[0], &config.limit[0], sizeof(out.limit[0]));
	assert_int_equal(out.limits, BALEEN_LIMITS_NONE);
}

/* Version 10 does not know the numbers of a connection. */
static void test_reads_version_10(void **state)
{
	struct baleen_config config = sample(), out;

	config.tcp.rcv_nxt = 100;
	config.version = 10;
	assert_refused(&config, sizeof(config));
	assert_int_equal(baleen_config_decode(&config, offsetof(struct baleen_config, tcp), &out),
			 0);
	assert_int_equal(out.version, BALEEN_CONFIG_VERSION);
	assert_int_equal(out.tcp.rcv_nxt, 0);
	config.version = 11;
	assert_refused(&config, offsetof(struct baleen_config, tcp));
	assert_int_equal(baleen_config_decode(&config, offsetof(struct baleen_config, hands_on),
					      &out),
			 0);
	assert_int_equal(out.tcp.rcv_nxt, 100);
}

/* Version 11 hands nothing on, and does not know its machine. */
static void test_reads_version_11(void **state)
{
	struct baleen_config config = sample(), out;

	config.hands_on = config.loads_stay = 1;
	config.version = 11;
	assert_refused(&config, sizeof(config));
	assert_int_equal(baleen_config_decode(&config, offsetof(struct baleen_config, hands_on),
					      &out),
			 0);
	assert_int_equal(out.version, BALEEN_CONFIG_VERSION);
	assert_true(!out.hands_on && !out.loads_stay);
	config.version = 12;
	assert_refused(&config, offsetof(struct baleen_config, hands_on));
	assert_int_equal(baleen_config_decode(&config, sizeof(config), &out), 0);
	assert_true(out.hands_on && out.loads_stay);
}

/* What is behind the last rule is not looked at. */
static void test_reads(void **state)
{
	struct baleen_config config = sample(), out;

	config.rule[2].slot = ~0u;
	assert_int_equal(baleen_config_decode(&config, sizeof(config), &out), 0);
	assert_memory_equal(&out, &config, sizeof(out));
}

static void test_ends_names(void **state)
{
	struct baleen_config config = sample(), out;

	memset(config.device, 'x', sizeof(config.device));
	memset(config.rule[1].image.name, 'y', BALEEN_NAME_BYTES);
	assert_int_equal(baleen_config_decode(&config, sizeof(config), &out), 0);
	assert_int_equal(strlen(out.device), sizeof(out.device) - 1);
	assert_int_equal(strlen(out.rule[1].image.name), BALEEN_NAME_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_other_versions),
		cmocka_unit_test(test_refuses_other_sizes),
		cmocka_unit_test(test_refuses_nonsense),
		cmocka_unit_test(test_reads_version_2),
		cmocka_unit_test(test_reads_versions_3_and_4),
		cmocka_unit_test(test_reads_limits),
		cmocka_unit_test(test_reads_version_10),
		cmocka_unit_test(test_reads_version_11),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_ends_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
