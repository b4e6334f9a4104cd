// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The template of `baleen compile`: an XDP object of one rule that carries
 * its filter in its own data section, for `ip link`, bpftool and xdp-loader.
 *
 * user/lib/xdp/object.c replaces .data.filter by an image and sets rule; as it
 * stands here the object has no filter and passes everything.
 */
#define BALEEN_STORE_SECTION
#include "rule.h"

#include <xdp/xdp_helpers.h>

/* Constant for the kernel but not for clang; see config in baleen.bpf.c. */
struct baleen_rule baleen_rule SEC(".rodata.rule");

/* Global, not static: so that libbpf makes the map mmapable, and with it
 * page-aligned, and no block straddles a line.
 */
struct baleen_block baleen_filter[BALEEN_HEADER_BLOCKS] SEC(".data.filter");

/* Where the filter is and how much of it there is. */
#define STORE                                                                  \
	((const struct baleen_section){                                        \
		.start = baleen_filter,                                        \
		.bytes = (u64)baleen_rule.image.n_blocks * BALEEN_BLOCK_BYTES, \
	})

HAS_LOOPS int rule_other_test_0(u64 hi, u64 lo, u32 is_ip6)
{
	const struct baleen_section store = STORE;

	return other_address_test(&baleen_rule.image, &store, hi, lo, is_ip6);
}

HAS_LOOPS int rule_fields_match_0(const struct details *details)
{
	const struct baleen_section store = STORE;

	return details ? fields_match(&baleen_rule.image, &store, baleen_rule.action, details) : 0;
}

HAS_LOOPS int rule_stem_test_0(u64 hi, u64 lo, u32 stem)
{
	const struct baleen_section store = STORE;

	return baleen_stem_test(&baleen_rule.image, &store, hi, lo, stem);
}

/* Objects are for `ip` and bpftool: their rule has no qualifiers. */
baleen_inline int rule_qualifies(u32 n, u32 vlan, const struct details *details)
{
	return 1;
}

baleen_inline int rule_fields_match(u32 n, const struct details *details)
{
	return rule_fields_match_0(details);
}

baleen_inline int rule_other_test(u32 n, u64 hi, u64 lo, u32 is_ip6)
{
	return rule_other_test_0(hi, lo, is_ip6);
}

baleen_inline int rule_stem_test(u32 n, u64 hi, u64 lo, u32 stem)
{
	return rule_stem_test_0(hi, lo, stem);
}

/* Nothing changes in an object. */
baleen_inline u32 rule_recent_buckets(u32 n)
{
	return 0;
}

baleen_inline u32 rule_recent_test(u32 n, u64 hi, u64 lo, u32 is_ip6)
{
	return 0;
}

baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	baleen_count_unparsed(frame->stats, parse);
	return XDP_PASS;
}

baleen_inline int judge(struct frame *frame, bool is_ip6)
{
	const struct baleen_section store = STORE;

	if (!baleen_rule.image.n_blocks) {
		frame->stats->no_filter++;
		return XDP_PASS;
	}
	if (baleen_rule.needs_transport)
		look_closer(frame, is_ip6);
	if (!rule_matches(0, &baleen_rule, &store, frame, is_ip6)) {
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
	return give_verdict(ctx, false, false, 0);
}

/* For devices whose MTU does not fit in one buffer. */
SEC("xdp.frags")
int baleen_xdp_frags(struct xdp_md *ctx)
{
	return give_verdict(ctx, true, false, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
