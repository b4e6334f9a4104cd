// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The template of `baleen compile`: an XDP object of one rule that carries
 * its filter in its own data section, for `ip link`, bpftool and xdp-loader.
 *
 * user/lib/object.c replaces .data.filter by an image and sets rule; as it
 * stands here the object has no filter and passes everything.
 */
#define BALEEN_STORE_SECTION
#include "verdict.h"

#include <xdp/xdp_helpers.h>

/* Constant for the kernel but not for clang; see config in baleen.bpf.c. */
struct baleen_rule baleen_rule SEC(".rodata.rule");

/* Global, not static: so that libbpf makes the map mmapable, and with it
 * page-aligned, and no block straddles a line.
 */
struct baleen_block baleen_filter[BALEEN_HEADER_BLOCKS] SEC(".data.filter");

baleen_inline int judge(struct xdp_md *ctx, struct baleen_stats *stats, const u8 *ip, u32 domain,
			bool frags)
{
	const struct baleen_section store = {
		.start = baleen_filter,
		.bytes = (u64)baleen_rule.image.n_blocks * BALEEN_BLOCK_BYTES,
	};

	if (!baleen_rule.image.n_blocks)
		stats->pass_no_filter++;
	else if (rule_matches(&baleen_rule, &store, ip, domain))
		return count_rule(ctx, &stats->rule[0], baleen_rule.action, frags);
	else
		stats->passed++;
	return XDP_PASS;
}

baleen_inline int filter(struct xdp_md *ctx, bool frags)
{
	struct baleen_stats *stats = stats_get();
	enum baleen_parse parse;
	const u8 *ip;

	if (!stats)
		return XDP_PASS;
	parse = baleen_packet_parse((const u8 *)(long)ctx->data, (const u8 *)(long)ctx->data_end,
				    &ip);
	if (parse == BALEEN_PARSE_IP4)
		return judge(ctx, stats, ip, BALEEN_IP4, frags);
	if (parse == BALEEN_PARSE_IP6)
		return judge(ctx, stats, ip, BALEEN_IP6, frags);
	return count_unparsed(stats, parse);
}

/* Ahead of programs of the default priority, 50: what is dropped here costs
 * them nothing.
 */
struct {
	__uint(priority, 10);
	__uint(XDP_PASS, 1);
} XDP_RUN_CONFIG(baleen_xdp);

struct {
	__uint(priority, 10);
	__uint(XDP_PASS, 1);
} XDP_RUN_CONFIG(baleen_xdp_frags);

/* First, because bpftool and xdp-loader take the first program. */
SEC("xdp")
int baleen_xdp(struct xdp_md *ctx)
{
	return filter(ctx, false);
}

/* For devices whose MTU does not fit in one buffer. */
SEC("xdp.frags")
int baleen_xdp_frags(struct xdp_md *ctx)
{
	return filter(ctx, true);
}

char _license[] SEC("license") = "Dual BSD/GPL";
