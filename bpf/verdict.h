/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stages of the packet path that all XDP objects share: match a rule,
 * count, give the verdict.
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

baleen_inline struct baleen_stats *stats_get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&baleen_stats, &zero);
}

baleen_inline int count_unparsed(struct baleen_stats *stats, enum baleen_parse parse)
{
	switch (parse) {
	case BALEEN_PARSE_MPLS: stats->pass_mpls++; break;
	case BALEEN_PARSE_TAGS: stats->pass_tags++; break;
	case BALEEN_PARSE_VERSION: stats->pass_version++; break;
	case BALEEN_PARSE_SHORT: stats->pass_short++; break;
	default: stats->pass_not_ip++; break;
	}
	return XDP_PASS;
}

/* @domain is a constant of each call, so each family has its own straight
 * line of probes.
 */
baleen_inline bool rule_matches(const struct baleen_rule *rule, const void *store, const u8 *ip,
				u32 domain)
{
	struct baleen_key key = baleen_packet_key(ip, rule->key_offset[domain], domain);

	return baleen_image_test(&rule->image, store, &key);
}

baleen_inline u64 frame_bytes(struct xdp_md *ctx, bool frags)
{
	/* The call costs about a nanosecond: only where a frame can have
	 * more than one buffer.
	 */
	return frags ? bpf_xdp_get_buff_len(ctx) : ctx->data_end - ctx->data;
}

baleen_inline int count_rule(struct xdp_md *ctx, struct baleen_rule_stats *stats, u32 action,
			     bool frags)
{
	stats->packets++;
	stats->bytes += frame_bytes(ctx, frags);
	return action == BALEEN_ACTION_ALLOW ? XDP_PASS : XDP_DROP;
}

#endif /* BALEEN_BPF_VERDICT_H */
