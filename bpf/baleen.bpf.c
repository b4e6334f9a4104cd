// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The XDP program that `baleen attach` loads: up to 16 rules, each with its
 * filter in an array map of 64-byte blocks.
 *
 * config is set before the load, so the verifier removes the rules, kinds
 * and key fields that are not used; maps of unused rules are not created.
 */
#include "verdict.h"

/* Constant for the kernel, since libbpf freezes every map called .rodata, but
 * not for clang, which would take the zeros of this file for the value. A
 * section of its own, so that its map holds this struct and nothing else.
 */
struct baleen_config config SEC(".rodata.config");

/* BPF_F_MMAPABLE makes the blocks page-aligned: none straddles a line. */
#define RULE_MAP(n)                                 \
	struct {                                    \
		__uint(type, BPF_MAP_TYPE_ARRAY);   \
		__uint(map_flags, BPF_F_MMAPABLE);  \
		__uint(max_entries, 1);             \
		__type(key, u32);                   \
		__type(value, struct baleen_block); \
	} baleen_rule_##n SEC(".maps")

RULE_MAP(0);
RULE_MAP(1);
RULE_MAP(2);
RULE_MAP(3);
RULE_MAP(4);
RULE_MAP(5);
RULE_MAP(6);
RULE_MAP(7);
RULE_MAP(8);
RULE_MAP(9);
RULE_MAP(10);
RULE_MAP(11);
RULE_MAP(12);
RULE_MAP(13);
RULE_MAP(14);
RULE_MAP(15);

baleen_inline void *rule_map(u32 n)
{
	switch (n) {
	case 0: return &baleen_rule_0;
	case 1: return &baleen_rule_1;
	case 2: return &baleen_rule_2;
	case 3: return &baleen_rule_3;
	case 4: return &baleen_rule_4;
	case 5: return &baleen_rule_5;
	case 6: return &baleen_rule_6;
	case 7: return &baleen_rule_7;
	case 8: return &baleen_rule_8;
	case 9: return &baleen_rule_9;
	case 10: return &baleen_rule_10;
	case 11: return &baleen_rule_11;
	case 12: return &baleen_rule_12;
	case 13: return &baleen_rule_13;
	case 14: return &baleen_rule_14;
	default: return &baleen_rule_15;
	}
}

baleen_inline int judge(struct xdp_md *ctx, struct baleen_stats *stats, const u8 *ip, u32 domain)
{
#pragma clang loop unroll(full)
	for (u32 n = 0; n < BALEEN_MAX_RULES; n++) {
		const struct baleen_rule *rule = &config.rule[n];

		/* The first is always asked: where there are no rules it has no
		 * table, which holds nothing.
		 */
		if (n && n >= config.n_rules)
			break;
		if (rule_matches(rule, rule_map(n), ip, domain))
			return count_rule(ctx, &stats->rule[n], rule->action, config.frags);
	}
	if (config.n_rules)
		stats->passed++;
	else
		stats->pass_no_filter++;
	return XDP_PASS;
}

SEC("xdp")
int baleen_xdp(struct xdp_md *ctx)
{
	struct baleen_stats *stats = stats_get();
	enum baleen_parse parse;
	const u8 *ip;

	if (!stats)
		return XDP_PASS;
	parse = baleen_packet_parse((const u8 *)(long)ctx->data, (const u8 *)(long)ctx->data_end,
				    &ip);
	if (parse == BALEEN_PARSE_IP4)
		return judge(ctx, stats, ip, BALEEN_IP4);
	if (parse == BALEEN_PARSE_IP6)
		return judge(ctx, stats, ip, BALEEN_IP6);
	return count_unparsed(stats, parse);
}

char _license[] SEC("license") = "Dual BSD/GPL";
