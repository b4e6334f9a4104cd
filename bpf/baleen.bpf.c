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

/* Shared by the programs of a device, so that a swap loses no event. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} baleen_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_sampler);
} baleen_sampler SEC(".maps");

/* How far the events may fall behind their rate and catch up: longer than a
 * tick of the coarse clock, which is 10 ms at most.
 */
#define SAMPLE_SLACK_NS 50000000ull

/* One event per interval for all CPUs together: who moves next_ns on has won.
 * The coarse clock is a load; the exact one takes 20 ns.
 */
baleen_inline bool may_sample(u64 *now)
{
	u64 interval = config.sample_interval_ns, next, start;
	struct baleen_sampler *sampler;
	u32 zero = 0;

	sampler = bpf_map_lookup_elem(&baleen_sampler, &zero);
	if (!sampler)
		return false;
	*now = bpf_ktime_get_coarse_ns();
	next = *(volatile u64 *)&sampler->next_ns;
	if (*now < next)
		return false;
	start = next + SAMPLE_SLACK_NS < *now ? *now : next;
	return __sync_val_compare_and_swap(&sampler->next_ns, next, start + interval) == next;
}

/* One copy for all rules: the arguments are what distinguishes them. */
static __noinline void sample(struct xdp_md *ctx, struct baleen_stats *stats, u32 slot, u32 action)
{
	struct baleen_event *event;
	u64 now, n_bytes;

	if (!stats)
		return;
	if (!may_sample(&now)) {
		stats->not_sampled++;
		return;
	}
	event = bpf_ringbuf_reserve(&baleen_events, sizeof(*event), 0);
	if (!event) {
		stats->sample_lost++;
		return;
	}
	n_bytes = bpf_xdp_get_buff_len(ctx);
	event->time_ns = now;
	event->slot = slot;
	event->action = action;
	event->frame_bytes = n_bytes;
	if (n_bytes > BALEEN_EVENT_BYTES)
		n_bytes = BALEEN_EVENT_BYTES;
	event->n_captured = n_bytes;
	/* The verifier wants to see the bound where it is used. */
	if (n_bytes < 1 || bpf_xdp_load_bytes(ctx, 0, event->frame, n_bytes))
		event->n_captured = 0;
	bpf_ringbuf_submit(event, 0);
	stats->sampled++;
}

baleen_inline void sample_if_asked(const struct frame *frame, u32 slot, u32 action)
{
	if (config.sample_interval_ns)
		sample(frame->ctx, frame->stats, slot, action);
}

baleen_inline int drop(void)
{
	return config.dry_run ? XDP_PASS : XDP_DROP;
}

/* What no rule decided. */
baleen_inline int judge_unmatched(struct frame *frame, bool is_ip6)
{
	if (!config.default_drop) {
		frame->stats->unmatched++;
		return XDP_PASS;
	}
	if (is_ip6 && !config.needs_transport)
		baleen_packet_transport(frame->packet.ip, frame->end, true, frame->transport);
	if (is_ip6 && baleen_packet_is_vital(frame->start, frame->end, BALEEN_PARSE_IP6,
					     &frame->packet, frame->transport)) {
		frame->stats->vital++;
		return XDP_PASS;
	}
	frame->stats->unmatched++;
	sample_if_asked(frame, BALEEN_EVENT_DEFAULT, BALEEN_ACTION_DROP);
	return drop();
}

baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	if (config.default_drop && baleen_packet_is_vital(frame->start, frame->end, parse,
							  &frame->packet, frame->transport)) {
		frame->stats->vital++;
		return XDP_PASS;
	}
	count_unparsed(frame->stats, parse);
	if (!config.default_drop)
		return XDP_PASS;
	sample_if_asked(frame, BALEEN_EVENT_UNPARSED, BALEEN_ACTION_DROP);
	return drop();
}

baleen_inline int judge(struct frame *frame, bool is_ip6)
{
	if (config.needs_transport)
		baleen_packet_transport(frame->packet.ip, frame->end, is_ip6, frame->transport);
#pragma clang loop unroll(full)
	for (u32 n = 0; n < BALEEN_MAX_RULES; n++) {
		const struct baleen_rule *rule = &config.rule[n];

		/* The first is always asked: where there are no rules it has no
		 * table, which holds nothing.
		 */
		if (n && n >= config.n_rules)
			break;
		if (!rule_matches(rule, rule_map(n), frame, is_ip6))
			continue;
		count_rule(frame, rule->slot);
		if (rule->action != BALEEN_ACTION_ALLOW)
			sample_if_asked(frame, rule->slot, rule->action);
		if (rule->action == BALEEN_ACTION_COUNT)
			continue;
		return rule->action == BALEEN_ACTION_ALLOW ? XDP_PASS : drop();
	}
	if (config.n_rules)
		return judge_unmatched(frame, is_ip6);
	frame->stats->no_filter++;
	return XDP_PASS;
}

SEC("xdp")
int baleen_xdp(struct xdp_md *ctx)
{
	return give_verdict(ctx, config.frags, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
