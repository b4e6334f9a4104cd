/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stages of the packet path that all XDP objects share: parse, match a
 * rule, count, give the verdict.
 */
#ifndef BALEEN_BPF_VERDICT_H
#define BALEEN_BPF_VERDICT_H

#include <baleen/packet.h>
#include <baleen/probe.h>
#include <baleen/stats.h>

/* One per-CPU entry: read without atomics, dumped by bpftool with names. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_stats);
} baleen_stats SEC(".maps");

/**
 * struct frame - a frame on its way to a verdict
 * @ctx: of the program
 * @stats: the counters of this CPU
 * @start: first byte
 * @end: one past the last byte that may be read
 * @frags: it may have more than one buffer; a constant of the program
 * @which: for the object's own use; a constant of the program
 * @packet: what it was parsed to
 * @transport: filled in when a rule needs it. Not in this struct itself: its
 *             address is passed on, and what is in one struct with it would
 *             not be kept in registers
 */
struct frame {
	struct xdp_md *ctx;
	struct baleen_stats *stats;
	const u8 *start;
	const u8 *end;
	bool frags;
	u32 which;
	struct baleen_packet packet;
	struct baleen_transport *transport;
};

/* Each object has its own rules. @is_ip6 is a constant of each call, so each
 * family has its own straight line of probes.
 */
baleen_inline int judge(struct frame *frame, bool is_ip6);
baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse);

baleen_inline u64 frame_bytes(const struct frame *frame)
{
	/* The call costs about a nanosecond: only where a frame can have
	 * more than one buffer.
	 */
	return frame->frags ? bpf_xdp_get_buff_len(frame->ctx) :
			      frame->ctx->data_end - frame->ctx->data;
}

baleen_inline void count_unparsed(struct baleen_stats *stats, enum baleen_parse parse)
{
	switch (parse) {
	case BALEEN_PARSE_MPLS: stats->mpls++; break;
	case BALEEN_PARSE_TAGS: stats->tags++; break;
	case BALEEN_PARSE_VERSION: stats->version++; break;
	case BALEEN_PARSE_SHORT: stats->too_short++; break;
	default: stats->not_ip++; break;
	}
}

/* Out of line, as all that few rules need: clang keeps 16 copies of what is
 * inlined, and registers for all of it.
 */
baleen_outlined bool qualifies(const struct baleen_qualifiers *asked, u32 vlan,
			       const struct baleen_transport *transport)
{
	bool port_is_asked = false;

	if (asked->has_vlan && vlan != asked->vlan)
		return false;
	if (asked->has_proto && (!transport->has_proto || transport->proto != asked->proto))
		return false;
	/* SYN is 0x02, ACK 0x10: RFC 9293 section 3.1. */
	if (asked->tcp_syn && (!transport->has_proto || transport->proto != BALEEN_PROTO_TCP ||
			       (transport->tcp_flags & 0x12) != 0x02))
		return false;
	if (!asked->n_dports)
		return true;
	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_MAX_PORTS; i++) {
		if (i < asked->n_dports && transport->dport >= asked->dport[i].first &&
		    transport->dport <= asked->dport[i].last)
			port_is_asked = true;
	}
	return transport->has_ports && port_is_asked;
}

/* A key of several fields; a WORD and a TUPLE have their own tables. */
baleen_outlined bool fields_match(const struct baleen_image *image, const void *store, const u8 *ip,
				  bool is_ip6, const struct baleen_transport *transport)
{
	struct baleen_key key;

	if (!baleen_packet_has_key(transport, image->key_spec))
		return false;
	key = baleen_packet_key_fields(ip, is_ip6, transport, image->key_spec);
	if (key.domain == BALEEN_WORD)
		return baleen_table_test(&image->table[BALEEN_WORD], &image->seed, store, &key);
	return baleen_table_test(&image->table[BALEEN_TUPLE], &image->seed, store, &key);
}

baleen_inline bool rule_matches(const struct baleen_rule *rule, const void *store,
				const struct frame *frame, bool is_ip6)
{
	u32 domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4;
	const u8 *ip = frame->packet.ip;
	struct baleen_key key;

	if (rule->is_qualified &&
	    !qualifies(&rule->qualifiers, frame->packet.vlan, frame->transport))
		return false;
	if (!baleen_spec_is_address(rule->image.key_spec))
		return fields_match(&rule->image, store, ip, is_ip6, frame->transport);
	key = baleen_packet_key(ip, rule->key_offset[domain], domain);
	return baleen_image_test(&rule->image, store, &key);
}

baleen_inline void count_rule(const struct frame *frame, u32 slot)
{
	struct baleen_rule_stats *stats = &frame->stats->rule[slot & (BALEEN_MAX_RULES - 1)];

	stats->packets++;
	stats->bytes += frame_bytes(frame);
}

baleen_inline int give_verdict(struct xdp_md *ctx, bool frags, u32 which)
{
	u32 zero = 0;
	struct baleen_transport transport;
	struct frame frame = {
		.ctx = ctx,
		.stats = bpf_map_lookup_elem(&baleen_stats, &zero),
		.start = (const u8 *)(long)ctx->data,
		.end = (const u8 *)(long)ctx->data_end,
		.frags = frags,
		.which = which,
		.transport = &transport,
	};
	enum baleen_parse parse;

	if (!frame.stats)
		return XDP_PASS;
	parse = baleen_packet_parse(frame.start, frame.end, &frame.packet);
	if (parse == BALEEN_PARSE_IP4)
		return judge(&frame, false);
	if (parse == BALEEN_PARSE_IP6)
		return judge(&frame, true);
	return judge_unparsed(&frame, parse);
}

#endif /* BALEEN_BPF_VERDICT_H */
