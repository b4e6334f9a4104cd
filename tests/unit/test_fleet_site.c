// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of a host: which of two files counts, and what is taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/fleet_site.h"
#include "util/minisign.h"
#include "util/output.h"
#include "util/small_file.h"

#define SERIAL(n) "fleet lab\nserial " n "\n"

static struct baleen_error error;
static struct baleen_fleet_conf conf = { .fleet = "lab",
					 .policy_path = "etc/policy",
					 .policy_key_path = "etc/pub" };

static int enter(void **state)
{
	struct baleen_minisign_public key;
	char directory[] = "/tmp/baleen-site-XXXXXX";

	assert_non_null(mkdtemp(directory));
	assert_int_equal(chdir(directory), 0);
	*state = strdup(directory);
	setenv("BALEEN_STATE_DIR", directory, 1);
	assert_int_equal(mkdir("etc", 0755), 0);
	assert_int_equal(baleen_minisign_make("other", "other.pub", &key, &error), 0);
	return baleen_minisign_make("key", "etc/pub", &key, &error);
}

static int leave(void **state)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	free(*state);
	return chdir("/") || system(command);
}

static struct baleen_fleet_signed sign(const char *key, const char *text)
{
	struct baleen_fleet_signed texts = { .text = strdup(text) };

	assert_int_equal(baleen_minisign_sign(key, text, strlen(text), "", &texts.signature,
					      &error),
			 0);
	return texts;
}

static int take(const char *key, const char *text)
{
	struct baleen_fleet_signed texts = sign(key, text);
	int ret = baleen_fleet_site_policy_take(&conf, &texts, &error);

	baleen_fleet_signed_free(&texts);
	return ret;
}

static void write_pair(const char *key, const char *text)
{
	struct baleen_fleet_signed texts = sign(key, text);

	assert_int_equal(baleen_fleet_site_write(&conf, &texts, &error), 0);
	baleen_fleet_signed_free(&texts);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0644, text, strlen(text),
					     &error),
			 0);
}

/* The serial in force, or a negative errno. */
static int serial(void)
{
	struct baleen_fleet_policy policy = { 0 };
	struct baleen_fleet_signed texts = { 0 };
	int ret = baleen_fleet_site_policy(&conf, &policy, &texts, &error);
	char line[40];

	if (ret)
		return ret;
	ret = policy.serial;
	snprintf(line, sizeof(line), SERIAL("%d"), ret);
	assert_string_equal(texts.text, line);
	baleen_fleet_policy_free(&policy);
	baleen_fleet_signed_free(&texts);
	return ret;
}

static void test_take(void **state)
{
	assert_int_equal(serial(), -ENOENT);
	assert_int_equal(take("key", SERIAL("3")), 1);
	assert_int_equal(serial(), 3);
	/* Nothing was written where baleend may not write. */
	assert_int_equal(access("etc/policy", F_OK), -1);
	assert_int_equal(take("key", SERIAL("3")), 0);
	assert_int_equal(take("key", SERIAL("2")), 0);
	assert_int_equal(take("other", SERIAL("4")), -EKEYREJECTED);
	assert_string_equal(error.text, "policy: another key signed it");
	assert_int_equal(take("key", "fleet sea\nserial 4\n"), -EINVAL);
	assert_string_equal(error.text, "policy: is of the fleet 'sea', and this host is in 'lab'");
	assert_int_equal(take("key", "fleet lab\nserials 4\n"), -EINVAL);
	assert_int_equal(serial(), 3);
	assert_int_equal(take("key", SERIAL("4")), 1);
	assert_int_equal(serial(), 4);
}

static void test_larger(void **state)
{
	write_pair("key", SERIAL("5"));
	assert_int_equal(serial(), 5);
	assert_int_equal(take("key", SERIAL("5")), 0);
	assert_int_equal(take("key", SERIAL("7")), 1);
	assert_int_equal(serial(), 7);
	write_pair("key", SERIAL("6"));
	assert_int_equal(serial(), 7);
	write_pair("key", SERIAL("8"));
	assert_int_equal(serial(), 8);
}

/* Killed between signature and text, and an edit that is not signed yet. */
static void test_half(void **state)
{
	struct baleen_fleet_signed texts = sign("key", SERIAL("9"));

	assert_int_equal(take("key", SERIAL("8")), 1);
	write_pair("key", SERIAL("8"));
	put("etc/policy.minisig", texts.signature);
	assert_int_equal(baleen_fleet_site_check(&conf, &error), -EKEYREJECTED);
	assert_string_equal(error.text, "etc/policy.minisig: the signature is of another file");
	assert_int_equal(serial(), 8);
	put("etc/policy", texts.text);
	assert_int_equal(baleen_fleet_site_check(&conf, &error), 0);
	assert_int_equal(serial(), 9);
	baleen_fleet_signed_free(&texts);
}

static void test_damaged(void **state)
{
	put("fleet.policy", "untrusted comment: x\n");
	assert_int_equal(serial(), -EINVAL);
	assert_non_null(strstr(error.text, "/fleet.policy: it ends too soon"));
	write_pair("other", SERIAL("1"));
	assert_int_equal(serial(), -EKEYREJECTED);
	assert_string_equal(error.text, "etc/policy.minisig: another key signed it");
	/* Anything that is signed is news. */
	assert_int_equal(take("key", SERIAL("1")), 1);
	assert_int_equal(serial(), 1);
	put("etc/pub", "no key");
	assert_int_equal(serial(), -EINVAL);
	assert_string_equal(error.text, "etc/pub: no public key of minisign");
}

/* Who withholds a newer one is found out by a day; a host that joins takes none of long ago. */
static void test_old(void **state)
{
	assert_int_equal(take("key", SERIAL("3") "expires 2020-01-01\n"), -ESTALE);
	assert_string_equal(error.text, "policy 3 has expired: a newer one is needed");
	conf.least_serial = 5;
	assert_int_equal(take("key", SERIAL("4")), -EINVAL);
	assert_string_equal(error.text,
			    "policy: its serial is 4, and fleet.conf asks for 5 or more");
	assert_int_equal(take("key", SERIAL("5")), 1);
	assert_int_equal(serial(), 5);
	conf.least_serial = 0;
	/* One that is in force is replaced by a newer one, whatever its day. */
	assert_int_equal(take("key", SERIAL("6") "expires 2020-01-01\n"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_take, enter, leave),
		cmocka_unit_test_setup_teardown(test_larger, enter, leave),
		cmocka_unit_test_setup_teardown(test_half, enter, leave),
		cmocka_unit_test_setup_teardown(test_damaged, enter, leave),
		cmocka_unit_test_setup_teardown(test_old, enter, leave),
	};

	return cmocka_run_group_tests_name("fleet_site", tests, NULL, NULL);
}
