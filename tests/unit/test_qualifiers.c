// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a rule asks of a packet besides its key, and what counts a packet without one: the
 * same code in the XDP program and in the kernel module's hook.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <baleen/stats.h>

#include "random.h"

/* What is not known of a packet does not qualify it. */
static void test_refused(void **state)
{
	struct baleen_transport unknown = { .tcp_flags = BALEEN_TCP_SYN, .proto = 6, .dport = 80 };
	struct baleen_qualifiers proto = { .has_proto = 1, .proto = 6 };
	struct baleen_qualifiers syn = { .tcp_syn = 1 };
	struct baleen_qualifiers ports = { .n_dports = 1, .dport = { { 0, 65535 } } };
	struct baleen_qualifiers vlan = { .has_vlan = 1, .vlan = 7 };

	assert_int_equal(baleen_qualifies(&proto, BALEEN_VLAN_NONE, &unknown), 0);
	assert_int_equal(baleen_qualifies(&syn, BALEEN_VLAN_NONE, &unknown), 0);
	assert_int_equal(baleen_qualifies(&ports, BALEEN_VLAN_NONE, &unknown), 0);
	assert_int_equal(baleen_qualifies(&vlan, BALEEN_VLAN_NONE, &unknown), 0);
	unknown.has_proto = true;
	assert_int_equal(baleen_qualifies(&ports, BALEEN_VLAN_NONE, &unknown), 0);
	unknown.has_ports = true;
	assert_int_equal(baleen_qualifies(&proto, BALEEN_VLAN_NONE, &unknown), 1);
	assert_int_equal(baleen_qualifies(&syn, BALEEN_VLAN_NONE, &unknown), 1);
	assert_int_equal(baleen_qualifies(&ports, BALEEN_VLAN_NONE, &unknown), 1);
	assert_int_equal(baleen_qualifies(&vlan, 7, &unknown), 1);
}

/* One condition after the other. */
static int slow_qualifies(const struct baleen_qualifiers *asked, u32 vlan,
			  const struct baleen_transport *transport)
{
	bool vlan_fits = !asked->has_vlan || vlan == asked->vlan;
	bool proto_fits =
		!asked->has_proto || (transport->has_proto && transport->proto == asked->proto);
	bool opens = transport->has_proto && transport->proto == 6 && transport->tcp_flags & 2 &&
		     !(transport->tcp_flags & 16);
	bool port_fits = !asked->n_dports;

	for (u32 i = 0; i < asked->n_dports; i++)
		for (u32 port = asked->dport[i].first; port <= asked->dport[i].last; port++)
			port_fits |= transport->has_ports && port == transport->dport;
	return vlan_fits && proto_fits && (!asked->tcp_syn || opens) && port_fits;
}

static struct baleen_qualifiers random_asked(struct random *random)
{
	struct baleen_qualifiers asked = { .n_dports = random_below(random, 9) };

	asked.has_proto = random_below(random, 2);
	asked.proto = asked.has_proto ? random_below(random, 2) * 11 + 6 : 0;
	asked.tcp_syn = !random_below(random, 4);
	asked.has_vlan = !random_below(random, 4);
	asked.vlan = asked.has_vlan ? 1 + random_below(random, 2) : 0;
	/* Behind the last range are others that do not count. */
	for (u32 i = 0; i < BALEEN_MAX_PORTS; i++) {
		asked.dport[i].first = random_below(random, 40);
		asked.dport[i].last = asked.dport[i].first + random_below(random, 3);
	}
	return asked;
}

static void test_random(void **state)
{
	struct random random = random_from(1);
	u32 n_fit = 0, n = 200000;

	for (u32 i = 0; i < n; i++) {
		struct baleen_qualifiers asked = random_asked(&random);
		struct baleen_transport transport = {
			.has_proto = random_below(&random, 8),
			.has_ports = random_below(&random, 8),
			.proto = random_below(&random, 3) * 11 + 6,
			.tcp_flags = random_next(&random),
			.dport = random_below(&random, 44),
		};
		u32 vlan = random_below(&random, 2) ? BALEEN_VLAN_NONE : random_below(&random, 3);
		int want = slow_qualifies(&asked, vlan, &transport);

		assert_int_equal(baleen_qualifies(&asked, vlan, &transport), want);
		n_fit += want;
	}
	assert_in_range(n_fit, n / 100, n / 2);
}

/* Each has a counter of its own, and moves no other. */
static void test_unparsed(void **state)
{
	struct baleen_stats stats, want;

	memset(&stats, 0, sizeof(stats));
	want = stats;
	want.not_ip = 1;
	baleen_count_unparsed(&stats, BALEEN_PARSE_NOT_IP);
	assert_memory_equal(&stats, &want, sizeof(stats));
	want.mpls = 1;
	baleen_count_unparsed(&stats, BALEEN_PARSE_MPLS);
	assert_memory_equal(&stats, &want, sizeof(stats));
	want.tags = 1;
	baleen_count_unparsed(&stats, BALEEN_PARSE_TAGS);
	assert_memory_equal(&stats, &want, sizeof(stats));
	want.version = 1;
	baleen_count_unparsed(&stats, BALEEN_PARSE_VERSION);
	assert_memory_equal(&stats, &want, sizeof(stats));
	want.too_short = 1;
	baleen_count_unparsed(&stats, BALEEN_PARSE_SHORT);
	assert_memory_equal(&stats, &want, sizeof(stats));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_unparsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
