// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of a fleet: what is refused, what it says, and what it holds back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/fleet_keys.h"
#include "fleet/fleet_policy.h"

#define KEY "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define NOW 1764028800000ull

static struct baleen_error error;

static void refuses(const char *text, const char *want)
{
	struct baleen_fleet_policy policy, before;

	memset(&policy, 0xa5, sizeof(policy));
	before = policy;
	assert_int_equal(baleen_fleet_policy_parse(text, strlen(text), "p", &policy, &error),
			 -EINVAL);
	assert_memory_equal(&policy, &before, sizeof(policy));
	assert_string_equal(error.text, want);
}

#define HEAD "fleet example\nserial 7\n"
#define PUBLISHER HEAD "publisher web*/fail2ban\n"

static void test_refused(void **state)
{
	refuses("", "p: no statement fleet");
	refuses("# nothing\n\n", "p: no statement fleet");
	refuses("serial 7\n", "p:1: the first statement is not fleet");
	refuses("fleet example\n", "p: no statement serial");
	refuses("fleet Example\n",
		"p:1: fleet 'Example': a name has 1 to 31 of a-z, 0-9, '.', '_', '-'");
	refuses("fleet\n", "p:1: fleet: its value is missing");
	refuses("fleet a b\n", "p:1: fleet: too many words, or too few");
	refuses(HEAD "fleet example\n", "p:3: fleet is given twice");
	refuses(HEAD "serial 8\n", "p:3: serial is given twice");
	refuses(HEAD "never 192.0.2.0/33\n", "p:3: never '192.0.2.0/33': no address or prefix");
	refuses(HEAD "never 192.0.2.1-192.0.2.9\n",
		"p:3: never '192.0.2.1-192.0.2.9': no address or prefix");
	refuses(HEAD "publisher web1/operator\nmay pardon\n",
		"p:4: may pardon, suspend: of HOST/control alone, and not of web1/operator");
	refuses(HEAD "expires tomorrow\n", "p:3: expires 'tomorrow': not a day such as 2027-06-30");
	refuses(HEAD "expires 2027-04-31\n",
		"p:3: expires '2027-04-31': not a day such as 2027-06-30");
	refuses(HEAD "expires 2027-04-30x\n",
		"p:3: expires '2027-04-30x': not a day such as 2027-06-30");
	refuses(HEAD "expires 2027-04-30\nexpires 2027-05-01\n", "p:4: expires is given twice");
	refuses("fleet example\nserial -1\n", "p:2: serial '-1': not a count such as 10000 or 10k");
	refuses(HEAD "\n  hosts web1\n", "p:4: 'hosts': not a statement of a policy");
	refuses(HEAD "host web1 short\n",
		"p:3: host web1: 'short' is not a public key: 44 characters of base64");
	refuses(HEAD "host web/1 " KEY "\n", "p:3: host 'web/1': not the name of a host");
	refuses(HEAD "host web* " KEY "\n", "p:3: host 'web*': not the name of a host");
	refuses(HEAD "host a " KEY "\nhost a " KEY "\n", "p:4: host a is given twice");
	refuses(HEAD "rate 1/s\n", "p:3: rate stands before the first publisher");
	refuses(HEAD "publisher web\n",
		"p:3: publisher 'web': not HOST/ORIGIN, which may have stars");
	refuses(HEAD "publisher a/b\npublisher a/b\n", "p:4: publisher a/b is given twice");
	refuses(PUBLISHER "rate 10\n", "p:4: rate '10': not N/s, N/m or N/h");
	refuses(PUBLISHER "rate x/s\n", "p:4: rate 'x': not a count such as 10000 or 10k");
	refuses(PUBLISHER "rate 1/s\nrate 2/s\n", "p:5: rate is given twice");
	refuses(PUBLISHER "entries 1M\n", "p:4: entries: more than 262144");
	refuses(PUBLISHER "shortest-prefix 24\n",
		"p:4: shortest-prefix: too many words, or too few");
	refuses(PUBLISHER "shortest-prefix 33 48\n",
		"p:4: shortest-prefix '33': not a length from 0 to 32");
	refuses(PUBLISHER "shortest-prefix 24 x\n",
		"p:4: shortest-prefix 'x': not a length from 0 to 128");
	refuses(PUBLISHER "max-ttl 31d\n",
		"p:4: max-ttl '31d': not a time from 1s to 30d such as 24h");
	refuses(PUBLISHER "may drop\n", "p:4: may 'drop': only pardon, suspend and signal");
	refuses(PUBLISHER "sets Bans\n", "p:4: sets: 'Bans' is not the name of a set");
	refuses(PUBLISHER "sets a b c d e f g h i\n", "p:4: sets: more than 8");
	assert_int_equal(baleen_fleet_policy_parse("fleet a\0b\n", 10, "p",
						   &(struct baleen_fleet_policy){ 0 }, &error),
			 -EINVAL);
	assert_string_equal(error.text, "p:1: a NUL byte");
}

static struct baleen_fleet_policy parse(const char *text)
{
	struct baleen_fleet_policy policy;

	if (baleen_fleet_policy_parse(text, strlen(text), "p", &policy, &error))
		fail_msg("%s", error.text);
	return policy;
}

static void test_read(void **state)
{
	struct baleen_fleet_policy policy = parse(
		"# of November\r\nfleet example # this one\nserial 12k\nexpires 2027-06-30\n"
		"host web1 " KEY "\nhost web10 " KEY "\n"
		"never 192.0.2.0/24 2001:db8::1\n"
		"publisher web1/control\n sets bans scans\n rate 5/h\n entries 20\n"
		" shortest-prefix 16 32\n coverage 1M\n max-ttl 2h\n may pardon suspend signal\n"
		"publisher web*/*");
	const struct baleen_fleet_grant *grant = baleen_fleet_policy_grant(&policy, "web1/control");
	struct baleen_fleet_key key;

	assert_int_equal(baleen_fleet_key_parse("192.0.2.7", &key), 0);
	assert_true(baleen_fleet_policy_never(&policy, &key));
	assert_int_equal(baleen_fleet_key_parse("192.0.0.0/16", &key), 0);
	assert_false(baleen_fleet_policy_never(&policy, &key));
	assert_int_equal(baleen_fleet_key_parse("2001:db8::2", &key), 0);
	assert_false(baleen_fleet_policy_never(&policy, &key));
	assert_string_equal(policy.fleet, "example");
	assert_int_equal(policy.serial, 12000);
	assert_int_equal(policy.expires_ms, 1814400000000);
	assert_int_equal(policy.n_hosts, 2);
	assert_ptr_equal(grant, &policy.grant[0]);
	assert_int_equal(grant->n_sets, 2);
	assert_string_equal(grant->set[1], "scans");
	assert_int_equal(grant->rate, 5);
	assert_int_equal(grant->rate_ms, 3600000);
	assert_int_equal(grant->entries, 20);
	assert_int_equal(grant->shortest_ip4, 16);
	assert_int_equal(grant->shortest_ip6, 32);
	assert_int_equal(grant->coverage, 1000000);
	assert_int_equal(grant->max_ttl_ms, 7200000);
	assert_true(grant->may_pardon && grant->may_suspend && grant->may_signal);

	grant = baleen_fleet_policy_grant(&policy, "web2/soc");
	assert_ptr_equal(grant, &policy.grant[1]);
	assert_int_equal(grant->n_sets, 1);
	assert_string_equal(grant->set[0], BALEEN_FLEET_SET);
	assert_int_equal(grant->rate, BALEEN_FLEET_RATE);
	assert_int_equal(grant->rate_ms, BALEEN_FLEET_RATE_MS);
	assert_int_equal(grant->entries, BALEEN_FLEET_ENTRIES);
	assert_int_equal(grant->max_ttl_ms, BALEEN_FLEET_TTL_MS);
	assert_false(grant->may_pardon || grant->may_suspend || grant->may_signal);
	assert_null(baleen_fleet_policy_grant(&policy, "db1/soc"));

	/* A key is of a host, and of no other that begins alike. */
	assert_ptr_equal(baleen_fleet_policy_key(&policy, "web10/soc"), policy.host[1].public_key);
	assert_ptr_equal(baleen_fleet_policy_key(&policy, "web1/soc"), policy.host[0].public_key);
	assert_null(baleen_fleet_policy_key(&policy, "web/soc"));
	assert_null(baleen_fleet_policy_key(&policy, "web100/soc"));
	baleen_fleet_policy_free(&policy);
	assert_int_equal(policy.n_hosts, 0);
}

/* --- caps ------------------------------------------------------------------ */

static struct baleen_fleet_entry ban(const char *key)
{
	struct baleen_fleet_entry entry = { .set = "bans", .made_ms = NOW, .end_ms = NOW + 1000 };

	assert_int_equal(baleen_fleet_key_parse(key, &entry.key), 0);
	return entry;
}

static void judges(const struct baleen_fleet_grant *grant, struct baleen_fleet_usage *usage,
		   const char *key, u64 at_ms, u32 want)
{
	struct baleen_fleet_entry entry = ban(key);
	u32 got = baleen_fleet_judge(grant, usage, &entry, at_ms);

	if (got != want)
		fail_msg("%s: %s", key, baleen_fleet_hold_name(got));
}

static void test_caps(void **state)
{
	struct baleen_fleet_policy policy =
		parse(PUBLISHER "entries 3\nrate 100/s\n"
				"shortest-prefix 24 48\ncoverage 300\n");
	const struct baleen_fleet_grant *grant = policy.grant;
	struct baleen_fleet_usage usage = { 0 }, before;
	struct baleen_fleet_entry other = ban("192.0.2.1"), prefix = ban("192.0.2.0/24");

	strcpy(other.set, "scans");
	assert_int_equal(baleen_fleet_judge(grant, &usage, &other, NOW), BALEEN_FLEET_HOLD_SET);
	judges(NULL, &usage, "192.0.2.1", NOW, BALEEN_FLEET_HOLD_SET);
	judges(grant, &usage, "192.0.2.0/23", NOW, BALEEN_FLEET_HOLD_PREFIX);
	judges(grant, &usage, "2001:db8::/47", NOW, BALEEN_FLEET_HOLD_PREFIX);
	judges(grant, &usage, "0.0.0.0/0", NOW, BALEEN_FLEET_HOLD_PREFIX);
	assert_int_equal(usage.n, 0);
	judges(grant, &usage, "192.0.2.0/24", NOW, BALEEN_FLEET_IN_FORCE);
	before = usage;
	judges(grant, &usage, "198.51.100.0/24", NOW, BALEEN_FLEET_HOLD_COVERAGE);
	judges(grant, &usage, "2001:db8::/48", NOW, BALEEN_FLEET_HOLD_COVERAGE);
	assert_int_equal(usage.n, before.n);
	assert_int_equal(usage.n_ip4, before.n_ip4);
	judges(grant, &usage, "198.51.100.0/27", NOW, BALEEN_FLEET_IN_FORCE);
	judges(grant, &usage, "2001:db8::1", NOW, BALEEN_FLEET_IN_FORCE);
	judges(grant, &usage, "203.0.113.1", NOW, BALEEN_FLEET_HOLD_ENTRIES);
	baleen_fleet_usage_take(&usage, &prefix.key);
	judges(grant, &usage, "203.0.113.1", NOW, BALEEN_FLEET_IN_FORCE);
	assert_int_equal(usage.n, 3);
	assert_int_equal(usage.n_ip4, 33);
	assert_int_equal(usage.n_ip6, 1);
	baleen_fleet_policy_free(&policy);
}

/* The whole of IPv6 and of IPv4 together do not overflow. */
static void test_coverage_of_all(void **state)
{
	struct baleen_fleet_policy policy =
		parse(PUBLISHER "shortest-prefix 0 0\ncoverage 1048576M\n");
	struct baleen_fleet_usage usage = { 0 };

	judges(policy.grant, &usage, "0.0.0.0/0", NOW, BALEEN_FLEET_IN_FORCE);
	assert_int_equal(usage.n_ip4, 1ull << 32);
	judges(policy.grant, &usage, "::/0", NOW, BALEEN_FLEET_HOLD_COVERAGE);
	judges(policy.grant, &usage, "::/1", NOW, BALEEN_FLEET_HOLD_COVERAGE);
	judges(policy.grant, &usage, "2001::/32", NOW, BALEEN_FLEET_IN_FORCE);
	baleen_fleet_policy_free(&policy);
}

static void test_rate(void **state)
{
	struct baleen_fleet_policy policy = parse(PUBLISHER "rate 3/m\n");
	struct baleen_fleet_usage usage = { 0 };

	for (u32 i = 0; i < 3; i++)
		judges(policy.grant, &usage, "192.0.2.1", NOW, BALEEN_FLEET_IN_FORCE);
	judges(policy.grant, &usage, "192.0.2.1", NOW, BALEEN_FLEET_HOLD_RATE);
	judges(policy.grant, &usage, "192.0.2.1", NOW + 19999, BALEEN_FLEET_HOLD_RATE);
	judges(policy.grant, &usage, "192.0.2.1", NOW + 20001, BALEEN_FLEET_IN_FORCE);
	/* A clock that goes back brings nothing, and one that comes again not twice. */
	judges(policy.grant, &usage, "192.0.2.1", NOW, BALEEN_FLEET_HOLD_RATE);
	judges(policy.grant, &usage, "192.0.2.1", NOW + 20001, BALEEN_FLEET_HOLD_RATE);
	/* What was in force is not asked. */
	judges(policy.grant, &usage, "192.0.2.1", 0, BALEEN_FLEET_IN_FORCE);
	/* After a day there are three, and not thousands. */
	for (u32 i = 0; i < 3; i++)
		judges(policy.grant, &usage, "192.0.2.1", NOW + 86400000, BALEEN_FLEET_IN_FORCE);
	judges(policy.grant, &usage, "192.0.2.1", NOW + 86400000, BALEEN_FLEET_HOLD_RATE);
	baleen_fleet_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_coverage_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
