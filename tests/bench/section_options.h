/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What qualifiers, sampling, a default verdict and other keys add to one rule.
 */
#ifndef BENCH_SECTION_OPTIONS_H
#define BENCH_SECTION_OPTIONS_H

#include "filter/recent.h"
#include "xdp/kernel_conntrack.h"
#include "table.h"

#define OPTION_HOSTS 100000
#define SAMPLE_PER_S 100

static const struct baleen_qualifiers tcp_here = {
	.has_proto = 1,
	.proto = BALEEN_PROTO_TCP,
	.n_dports = 2,
	.dport = { { 22, 22 }, { FRAME_DPORT, FRAME_DPORT } },
};

static const struct baleen_qualifiers tcp_elsewhere = {
	.has_proto = 1,
	.proto = BALEEN_PROTO_TCP,
	.n_dports = 2,
	.dport = { { 22, 22 }, { 80, 80 } },
};

static const struct baleen_qualifiers on_vlan = { .has_vlan = 1, .vlan = FRAME_VLAN };

/* What make_frame() makes, from the hosts of these indices. */
static void filter_of_fields(bool is_ip6, u32 key_spec, struct baleen_filter *filter)
{
	struct baleen_list list = { .key_spec = key_spec, .n_listed = OPTION_HOSTS };
	struct baleen_fields fields = {
		.is_ip6 = is_ip6,
		.dst_hi = is_ip6 ? FRAME_DST6_HI : 0,
		.dst_lo = is_ip6 ? FRAME_DST6_LO : FRAME_DST4,
		.sport = FRAME_SPORT,
		.dport = FRAME_DPORT,
		.proto = BALEEN_PROTO_TCP,
	};

	list.key = malloc(OPTION_HOSTS * sizeof(*list.key));
	if (!list.key)
		err(1, "memory");
	list.n_key = list.room_key = OPTION_HOSTS;
	for (u32 i = 0; i < OPTION_HOSTS; i++) {
		fields.src_hi = is_ip6 ? bench_ip6_hi(i) : 0;
		fields.src_lo = is_ip6 ? bench_ip6_lo(i) : bench_ip4(i);
		list.key[i] = baleen_key_fields(key_spec, &fields);
	}
	if (baleen_list_finish(&list))
		errx(1, "memory");
	filter_build(&list, key_spec, BALEEN_KIND_CUCKOO, filter);
	baleen_list_free(&list);
}

static void add_qualified(struct bench *bench, const struct baleen_filter *filter)
{
	struct bench_rule rule = { BALEEN_ACTION_DROP, NULL, filter };

	bench_add_rules(bench, "drop", NULL, &rule, 1);
	rule.qualifiers = &tcp_here;
	bench_add_rules(bench, "drop proto tcp dport 22,443", NULL, &rule, 1);
	rule.qualifiers = &tcp_elsewhere;
	/* Nothing qualifies, so nothing matches. */
	bench_add_rules(bench, "drop proto tcp dport 22,80: none there", NULL, &rule, 1)->judge =
		JUDGE_NOTHING;
	rule.qualifiers = NULL;
	bench_add_rules(bench, "drop, frames with a tag", NULL, &rule, 1)->is_tagged = true;
	rule.qualifiers = &on_vlan;
	bench_add_rules(bench, "drop vlan 100, frames with a tag", NULL, &rule, 1)->is_tagged =
		true;
}

static void add_policies(struct bench *bench, const struct baleen_filter *filter)
{
	static const struct baleen_config sampled = {
		.sample_interval_ns = 1000000000 / SAMPLE_PER_S,
	};
	static const struct baleen_config default_drop = { .default_drop = 1 };
	struct bench_rule rule = { BALEEN_ACTION_DROP, NULL, filter };
	struct subject *subject;

	bench_add_rules(bench, "drop --sample 100/s", &sampled, &rule, 1);
	rule.action = BALEEN_ACTION_COUNT;
	subject = bench_add_rules(bench, "count", NULL, &rule, 1);
	subject->verdict[1] = XDP_PASS;
	rule.action = BALEEN_ACTION_ALLOW;
	subject = bench_add_rules(bench, "allow --default drop", &default_drop, &rule, 1);
	subject->verdict[0] = XDP_DROP;
	subject->verdict[1] = XDP_PASS;
}

/* Frames have no connection: of one that counts them a socket is looked for, and none found. */
static void add_limits(struct bench *bench, const struct baleen_filter *filter)
{
	struct baleen_rate_limit typed = { .rate = 1000000, .unit_s = 1, .burst = 1000000 };
	const struct bench_rule rule = { BALEEN_ACTION_DROP, NULL, filter };
	struct baleen_config policy = { 0 };

	policy.limit[0] = baleen_limit_set_up(&typed, 1, 0);
	bench_add_rules(bench, "drop limit: no socket", &policy, &rule, 1)->judge = JUDGE_NOTHING;
	typed.unverified = 1;
	policy.limit[0] = baleen_limit_set_up(&typed, 1, 0);
	bench_add_rules(bench, "drop limit unverified: none is over", &policy, &rule, 1)->judge =
		JUDGE_NOTHING;
}

/* A frame is looked up in the sockets of this host, or in its conntrack, and not found. */
static void add_connections(struct bench *bench, const struct baleen_filter *filter)
{
	static const struct baleen_qualifiers socket = { .established = BALEEN_ESTABLISHED_SOCKET };
	static const struct baleen_qualifiers flow = { .established =
							       BALEEN_ESTABLISHED_CONNTRACK };
	struct bench_rule rule = { BALEEN_ACTION_DROP, &socket, filter };

	bench_add_rules(bench, "drop established: no socket", NULL, &rule, 1)->judge =
		JUDGE_NOTHING;
	rule.qualifiers = &flow;
	if (!baleen_kernel_has_conntrack(false, NULL))
		bench_add_rules(bench, "drop conntrack: no flow", NULL, &rule, 1)->judge =
			JUDGE_NOTHING;
}

static bool has_listed(const struct baleen_filter *filter, const struct baleen_recent_net *net)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };

	for (u32 i = 0; i < 256 && !net->is_ip6; i++) {
		key.ip4 = (net->hi >> 32) | i;
		if (baleen_filter_test(filter, &key))
			return true;
	}
	return false;
}

/* Prefixes that nothing listed is in, so that all lengths are asked. */
static void add_recent(struct bench *bench, const struct baleen_filter *filter, const char *name,
		       u32 n_lengths)
{
	const struct bench_rule rule = { BALEEN_ACTION_DROP, NULL, filter };
	struct baleen_config policy = { .recent_buckets = {
						baleen_recent_buckets(&filter->image) } };
	struct subject *subject = bench_add_rules(bench, name, &policy, &rule, 1);
	struct baleen_filter live = *filter;

	live.n_recent = policy.recent_buckets[0];
	live.bytes = mmap(NULL, live.n_bytes + baleen_recent_bytes(live.n_recent),
			  PROT_READ | PROT_WRITE, MAP_SHARED, subject->loaded.rule_fd[0], 0);
	if (live.bytes == MAP_FAILED)
		err(1, "mmap of a map");
	for (u32 i = 0; i < 100 * n_lengths; i++) {
		struct baleen_recent_net net = baleen_recent_net(0xff00ull << 48 | (u64)i << 40, 0,
								 24 + i % n_lengths, bench->is_ip6);

		if (!has_listed(filter, &net) && baleen_recent_put(&live, &net, 0))
			errx(1, "no room for recent changes");
	}
	live.is_mapped = true;
	baleen_filter_free(&live);
}

static void load_options(struct bench *bench, struct column *column)
{
	const struct peers no_lists = {};
	struct baleen_filter filter;

	bench->n_listed = OPTION_HOSTS;
	filter_of_hosts(column->is_ip6, 0, OPTION_HOSTS, BALEEN_KIND_CUCKOO, &filter);
	add_qualified(bench, &filter);
	add_connections(bench, &filter);
	add_limits(bench, &filter);
	add_policies(bench, &filter);
	add_recent(bench, &filter, "drop, no recent change", 0);
	add_recent(bench, &filter, "drop, recent changes of 1 length", 1);
	add_recent(bench, &filter, "drop, recent changes of 8 lengths", 8);
	baleen_filter_free(&filter);
	filter_of_fields(column->is_ip6, BALEEN_KEY_SRC | BALEEN_KEY_DPORT, &filter);
	bench_add_drop(bench, "drop, key src,dport", &filter);
	baleen_filter_free(&filter);
	filter_of_fields(column->is_ip6, BALEEN_KEY_FLOW, &filter);
	bench_add_drop(bench, "drop, key flow", &filter);
	baleen_filter_free(&filter);
	peers_add(bench, &no_lists);
}

static void run_options(const struct effort *effort)
{
	static struct section section;

	section = (struct section){
		.title = "one rule of 100 k",
		.load = load_options,
		.n_mixes = 2,
		.mix = { "none listed", "half listed" },
		.n_columns = 2,
		.column = {
			{ .name = "IPv4", .n = OPTION_HOSTS, .share = { 0, .5 } },
			{ .name = "IPv6", .is_ip6 = true, .n = OPTION_HOSTS, .share = { 0, .5 } },
		},
	};
	section_run(&section, effort);
}

#endif /* BENCH_SECTION_OPTIONS_H */
