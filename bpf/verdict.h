/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stages of the packet path that all XDP objects share: parse, count,
 * give the verdict. How a rule matches is in rule.h.
 */
#ifndef BALEEN_BPF_VERDICT_H
#define BALEEN_BPF_VERDICT_H

#include <baleen/packet.h>
#include <baleen/stats.h>

#include "context.h"

/* One per-CPU entry: read without atomics, dumped by bpftool with names. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_stats);
} baleen_stats SEC(".maps");

/**
 * struct details - what few rules ask of a frame
 * @transport: protocol and ports
 * @fields: addresses, protocol and ports, for keys of several fields
 * @ip_offset: where the IP header stands in the frame, 255 at most
 * @established: who knows its connection, enum baleen_established; set when a rule asks
 */
struct details {
	struct baleen_transport transport;
	struct baleen_fields fields;
	u32 ip_offset;
	u32 established;
};

/**
 * struct frame - a frame on its way to a verdict
 * @ctx: context of the program
 * @stats: the counters of this CPU
 * @start: first byte
 * @end: one past the last byte that may be read
 * @frags: it may have more than one buffer; a constant of the program
 * @no_ethernet: it begins with its IP header; a constant of the program
 * @which: for the object's own use; a constant of the program
 * @packet: the parsed headers
 * @details: set when a rule needs them. Not in this struct itself: their
 *           address is passed on, and what is in one struct with them would
 *           not be kept in registers
 */
struct frame {
	struct context *ctx;
	struct baleen_stats *stats;
	const u8 *start;
	const u8 *end;
	bool frags;
	bool no_ethernet;
	u32 which;
	struct baleen_packet packet;
	struct details *details;
};

/* Each object has its own rules. @is_ip6 is a constant of each call, so each
 * family has its own straight line of probes.
 */
baleen_inline int judge(struct frame *frame, bool is_ip6);
baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse);

baleen_inline struct baleen_stats *stats_get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&baleen_stats, &zero);
}

baleen_inline u64 frame_bytes(const struct frame *frame)
{
	/* The call costs about a nanosecond: only where a frame can have
	 * more than one buffer.
	 */
	return frame->frags ? context_bytes(frame->ctx) : frame->ctx->data_end - frame->ctx->data;
}

baleen_inline void count_rule(const struct frame *frame, u32 slot)
{
	struct baleen_rule_stats *stats = &frame->stats->rule[slot & (BALEEN_MAX_RULES - 1)];

	stats->packets++;
	stats->bytes += frame_bytes(frame);
}

baleen_inline enum baleen_parse parse_frame(struct frame *frame)
{
	enum baleen_parse parse;

	frame->start = (const u8 *)(long)frame->ctx->data;
	frame->end = (const u8 *)(long)frame->ctx->data_end;
	parse = frame->no_ethernet ?
			baleen_packet_parse_ip(frame->start, frame->end, &frame->packet) :
			baleen_packet_parse(frame->start, frame->end, &frame->packet);
	if (context_vlan(frame->ctx))
		frame->packet.vlan = context_vlan(frame->ctx);
	return parse;
}

baleen_inline int give_verdict(struct context *ctx, bool frags, bool no_ethernet, u32 which)
{
	struct details details;
	struct frame frame = {
		.ctx = ctx,
		.stats = stats_get(),
		.frags = frags,
		.no_ethernet = no_ethernet,
		.which = which,
		.details = &details,
	};
	enum baleen_parse parse;

	if (!frame.stats)
		return VERDICT_PASS;
	parse = parse_frame(&frame);
	if (context_gather(ctx, frame.start, frame.end, parse, &frame.packet))
		parse = parse_frame(&frame);
	if (parse == BALEEN_PARSE_IP4)
		return judge(&frame, false);
	if (parse == BALEEN_PARSE_IP6)
		return judge(&frame, true);
	return judge_unparsed(&frame, parse);
}

#endif /* BALEEN_BPF_VERDICT_H */
