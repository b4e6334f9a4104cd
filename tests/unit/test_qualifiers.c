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

/* Of a rule that drops. */
static int drops(const struct baleen_qualifiers *asked, u32 vlan,
		 const struct baleen_transport *transport)
{
	return baleen_qualifies(asked, BALEEN_ACTION_DROP, vlan, transport, 0);
}

/* What a packet does not have does not qualify it. */
static void test_refused(void **state)
{
	struct baleen_transport unknown = {
		.tcp_flags = BALEEN_TCP_SYN, .proto = 6, .dport = 80, .offset = 9
	};
	struct baleen_qualifiers proto = { .has_proto = 1, .proto = 6 };
	struct baleen_qualifiers syn = { .tcp_syn = 1 };
	struct baleen_qualifiers ports = { .n_dports = 1, .dport = { { 0, 65535 } } };
	struct baleen_qualifiers vlan = { .has_vlan = 1, .vlan = 7 };

	assert_int_equal(drops(&proto, BALEEN_VLAN_NONE, &unknown), 0);
	assert_int_equal(drops(&syn, BALEEN_VLAN_NONE, &unknown), 0);
	assert_int_equal(drops(&ports, BALEEN_VLAN_NONE, &unknown), 0);
	assert_int_equal(drops(&vlan, BALEEN_VLAN_NONE, &unknown), 0);
	unknown.has_proto = true;
	assert_int_equal(drops(&ports, BALEEN_VLAN_NONE, &unknown), 0);
	unknown.has_ports = true;
	assert_int_equal(drops(&proto, BALEEN_VLAN_NONE, &unknown), 1);
	assert_int_equal(drops(&syn, BALEEN_VLAN_NONE, &unknown), 1);
	assert_int_equal(drops(&ports, BALEEN_VLAN_NONE, &unknown), 1);
	assert_int_equal(drops(&vlan, 7, &unknown), 1);
}

/* Without an answer of the kernel nothing is established, but where ports are hidden. */
static void test_established(void **state)
{
	struct baleen_qualifiers asked = { .established = BALEEN_ESTABLISHED_SOCKET };
	struct baleen_transport transport = { .has_proto = true, .proto = 6, .has_ports = true };

	assert_int_equal(drops(&asked, BALEEN_VLAN_NONE, &transport), 0);
	assert_int_equal(baleen_qualifies(&asked, BALEEN_ACTION_ALLOW, BALEEN_VLAN_NONE, &transport,
					  BALEEN_ESTABLISHED_CONNTRACK),
			 0);
	assert_int_equal(baleen_qualifies(&asked, BALEEN_ACTION_ALLOW, BALEEN_VLAN_NONE, &transport,
					  BALEEN_ESTABLISHED_ALL),
			 1);
	transport.has_ports = false;
	assert_int_equal(drops(&asked, BALEEN_VLAN_NONE, &transport), 1);
	assert_int_equal(baleen_qualifies(&asked, BALEEN_ACTION_ALLOW, BALEEN_VLAN_NONE, &transport,
					  0),
			 0);
}

/* May a packet be one that has @has, when that is @hidden? */
static bool may(bool hidden, bool has, u32 action)
{
	return hidden ? action != BALEEN_ACTION_ALLOW : has;
}

/* One condition after the other. */
static int slow_qualifies(const struct baleen_qualifiers *asked, u32 action, u32 vlan,
			  const struct baleen_transport *transport)
{
	u32 hidden = baleen_packet_hidden(transport);
	bool is_tcp = transport->has_proto && transport->proto == 6;
	bool is_syn = transport->tcp_flags & 2 && !(transport->tcp_flags & 16);
	bool vlan_fits = !asked->has_vlan || vlan == asked->vlan;
	bool proto_fits =
		may(hidden & 1, transport->has_proto && transport->proto == asked->proto, action);
	bool opens = may(hidden & 4, is_tcp && is_syn, action);
	bool port_fits = false;

	for (u32 i = 0; i < asked->n_dports; i++)
		for (u32 port = asked->dport[i].first; port <= asked->dport[i].last; port++)
			port_fits |= transport->has_ports && port == transport->dport;
	/* The fragment that may bring flags has no ports to compare. */
	port_fits = may(hidden & 2 || (asked->tcp_syn && hidden & 4 && !transport->has_ports),
			port_fits, action);
	return vlan_fits && (!asked->has_proto || proto_fits) && (!asked->tcp_syn || opens) &&
	       (!asked->n_dports || port_fits);
}

/* As packets can be: whole, cut off somewhere, or later fragments. */
static struct baleen_transport random_transport(struct random *random)
{
	struct baleen_transport transport = {
		.has_proto = random_below(random, 8),
		.proto = random_below(random, 3) * 11 + 6,
		.offset = random_below(random, 6) ? 0 : random_below(random, 3),
	};

	if (!transport.has_proto)
		return (struct baleen_transport){ .offset = transport.offset };
	transport.has_ports = !transport.offset && random_below(random, 6);
	if (transport.has_ports)
		transport.dport = random_below(random, 44);
	if (transport.proto != 6)
		return transport;
	/* The flags stand behind the ports, or in the second fragment. */
	if (transport.has_ports && random_below(random, 6))
		transport.tcp_flags = random_next(random) & 0xff;
	else if (transport.offset < 2)
		transport.tcp_flags = BALEEN_TCP_HIDDEN;
	return transport;
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
		struct baleen_transport transport = random_transport(&random);
		u32 vlan = random_below(&random, 2) ? BALEEN_VLAN_NONE : random_below(&random, 3);
		u32 action = random_below(&random, BALEEN_ACTION_COUNT + 1);
		int want = slow_qualifies(&asked, action, vlan, &transport);

		assert_int_equal(baleen_qualifies(&asked, action, vlan, &transport, 0), want);
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
		cmocka_unit_test(test_established),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_unparsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
