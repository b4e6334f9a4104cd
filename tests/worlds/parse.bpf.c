// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The packet path up to the key, in the BPF world: what it makes of a frame is
 * left in a variable for parity.c.
 */
#include "rule.h"

#include "../tests/worlds/parse.h"

/* Which key is asked for, and what came out; shared with userspace. */
u32 spec;
struct answer answer;

baleen_inline int rule_qualifies(u32 n, u32 vlan, const struct details *details)
{
	return 0;
}

baleen_inline int rule_fields_match(u32 n, const struct details *details)
{
	return 0;
}

baleen_inline int rule_other_test(u32 n, u64 hi, u64 lo, u32 is_ip6)
{
	return 0;
}

baleen_inline int rule_stem_test(u32 n, u64 hi, u64 lo, u32 stem)
{
	return 0;
}

baleen_inline u32 rule_recent_buckets(u32 n)
{
	return 0;
}

baleen_inline u32 rule_recent_test(u32 n, u64 hi, u64 lo, u32 is_ip6)
{
	return 0;
}

baleen_inline void answer_frame(const struct frame *frame, enum baleen_parse parse)
{
	answer.parse = parse;
	answer.vlan = frame->packet.vlan;
	answer.is_vital = baleen_packet_is_vital(frame->start, frame->end, parse, &frame->packet,
						 &frame->details->transport);
}

baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	answer_frame(frame, parse);
	return XDP_DROP;
}

baleen_inline int judge(struct frame *frame, bool is_ip6)
{
	look_closer(frame, is_ip6);
	answer_frame(frame, is_ip6 ? BALEEN_PARSE_IP6 : BALEEN_PARSE_IP4);
	answer.ip_offset = frame->packet.ip - frame->start;
	answer_key(&answer, spec, frame->packet.ip, is_ip6, &frame->details->transport,
		   &frame->details->fields);
	return XDP_PASS;
}

SEC("xdp")
int parse(struct xdp_md *ctx)
{
	return give_verdict(ctx, false, false, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
