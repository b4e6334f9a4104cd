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

baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	count_unparsed(frame->stats, parse);
	return XDP_PASS;
}

baleen_inline int judge(struct frame *frame, bool is_ip6)
{
	const struct baleen_section store = {
		.start = baleen_filter,
		.bytes = (u64)baleen_rule.image.n_blocks * BALEEN_BLOCK_BYTES,
	};

	if (!baleen_rule.image.n_blocks) {
		frame->stats->no_filter++;
		return XDP_PASS;
	}
	if (baleen_rule.needs_transport)
		baleen_packet_transport(frame->packet.ip, frame->end, is_ip6, frame->transport);
	if (!rule_matches(&baleen_rule, &store, frame, is_ip6)) {
		frame->stats->unmatched++;
		return XDP_PASS;
	}
	count_rule(frame, 0);
	return baleen_rule.action == BALEEN_ACTION_DROP ? XDP_DROP : XDP_PASS;
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
	return give_verdict(ctx, false, 0);
}

/* For devices whose MTU does not fit in one buffer. */
SEC("xdp.frags")
int baleen_xdp_frags(struct xdp_md *ctx)
{
	return give_verdict(ctx, true, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
