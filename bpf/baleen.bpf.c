// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program that `baleen attach` loads, of XDP or, built with BALEEN_PROGRAM_EGRESS, of
 * tc: up to 16 rules, each with its filter in an array map of 64-byte blocks.
 *
 * config is set before the load, so the verifier removes the rules, kinds
 * and key fields that are not used; maps of unused rules are not created.
 */
#define BALEEN_KNOWS_MACHINE
#include <baleen/program.h>

#include "rule.h"

/* Rules that the program has room for. The kernel reads every instruction of an
 * object before it removes what is not used, so there is a smaller one for fewer
 * rules: see user/lib/xdp/load.c.
 */
#ifndef BALEEN_PROGRAM_RULES
#define BALEEN_PROGRAM_RULES BALEEN_MAX_RULES
#endif

/* Constant for the kernel, since libbpf freezes every map called .rodata, but
 * not for clang, which would take the zeros of this file for the value. A
 * section of its own, so that its map holds this struct and nothing else.
 */
struct baleen_config config SEC(".rodata.config");

baleen_inline bool baleen_loads_stay(void)
{
	return config.loads_stay;
}

#include "connection.h"
#ifndef BALEEN_PROGRAM_EGRESS
#include "limit.h"
#endif

/* A rule's map and global functions; those of a rule that is not there are
 * empty, because its map is not there either.
 */
#define RULE(n)                                                                                \
	BALEEN_BLOCKS(baleen_rule_##n);                                                        \
                                                                                               \
	__noinline int rule_qualifies_##n(u32 vlan, const struct details *details)             \
	{                                                                                      \
		const struct baleen_rule *rule = &config.rule[n];                              \
                                                                                               \
		if (!details || !rule->is_qualified)                                           \
			return 0;                                                              \
		return baleen_qualifies(&rule->qualifiers, rule->action, vlan,                 \
					&details->transport, details->established);            \
	}                                                                                      \
                                                                                               \
	HAS_LOOPS int rule_other_test_##n(u64 hi, u64 lo, u32 is_ip6)                          \
	{                                                                                      \
		const struct baleen_image *image = &config.rule[n].image;                      \
                                                                                               \
		return n < config.n_rules ?                                                    \
			       other_address_test(image, &baleen_rule_##n, hi, lo, is_ip6) :   \
			       0;                                                              \
	}                                                                                      \
                                                                                               \
	HAS_LOOPS int rule_fields_match_##n(const struct details *details)                     \
	{                                                                                      \
		const struct baleen_image *image = &config.rule[n].image;                      \
                                                                                               \
		return details && n < config.n_rules ?                                         \
			       fields_match(image, &baleen_rule_##n, config.rule[n].action,    \
					    details) :                                         \
			       0;                                                              \
	}                                                                                      \
                                                                                               \
	HAS_LOOPS int rule_stem_test_##n(u64 hi, u64 lo, u32 stem)                             \
	{                                                                                      \
		const struct baleen_image *image = &config.rule[n].image;                      \
                                                                                               \
		return image->table[BALEEN_IP6_STEMS].kind ?                                   \
			       baleen_stem_test(image, &baleen_rule_##n, hi, lo, stem) :       \
			       0;                                                              \
	}                                                                                      \
                                                                                               \
	HAS_LOOPS int rule_recent_test_##n(u64 hi, u64 lo, u32 is_ip6)                         \
	{                                                                                      \
		u32 n_buckets = config.recent_buckets[n];                                      \
                                                                                               \
		return n_buckets ? baleen_recent_test(&config.rule[n].image, &baleen_rule_##n, \
						      n_buckets, hi, lo, is_ip6) :             \
				   0;                                                          \
	}

RULE(0)
#if BALEEN_PROGRAM_RULES > 1
RULE(1)
RULE(2)
RULE(3)
#endif
#if BALEEN_PROGRAM_RULES > 4
RULE(4)
RULE(5)
RULE(6)
RULE(7)
RULE(8)
RULE(9)
RULE(10)
RULE(11)
RULE(12)
RULE(13)
RULE(14)
RULE(15)
#endif

/* @name##_N of rule @n, which is a constant. */
#if BALEEN_PROGRAM_RULES == 1
#define OF_RULE(n, name) (name##0)
#elif BALEEN_PROGRAM_RULES == 4
#define OF_RULE(n, name) ((n) == 0 ? name##0 : (n) == 1 ? name##1 : (n) == 2 ? name##2 : name##3)
#else
#define OF_RULE(n, name)        \
	((n) == 0  ? name##0 :  \
	 (n) == 1  ? name##1 :  \
	 (n) == 2  ? name##2 :  \
	 (n) == 3  ? name##3 :  \
	 (n) == 4  ? name##4 :  \
	 (n) == 5  ? name##5 :  \
	 (n) == 6  ? name##6 :  \
	 (n) == 7  ? name##7 :  \
	 (n) == 8  ? name##8 :  \
	 (n) == 9  ? name##9 :  \
	 (n) == 10 ? name##10 : \
	 (n) == 11 ? name##11 : \
	 (n) == 12 ? name##12 : \
	 (n) == 13 ? name##13 : \
	 (n) == 14 ? name##14 : \
		     name##15)
#endif

baleen_inline void *rule_map(u32 n)
{
	return OF_RULE(n, (void *)&baleen_rule_);
}

baleen_inline int rule_qualifies(u32 n, u32 vlan, const struct details *details)
{
	return OF_RULE(n, rule_qualifies_)(vlan, details);
}

baleen_inline int rule_fields_match(u32 n, const struct details *details)
{
	return OF_RULE(n, rule_fields_match_)(details);
}

baleen_inline int rule_other_test(u32 n, u64 hi, u64 lo, u32 is_ip6)
{
	return OF_RULE(n, rule_other_test_)(hi, lo, is_ip6);
}

baleen_inline int rule_stem_test(u32 n, u64 hi, u64 lo, u32 stem)
{
	return OF_RULE(n, rule_stem_test_)(hi, lo, stem);
}

baleen_inline u32 rule_recent_buckets(u32 n)
{
	return config.recent_buckets[n];
}

baleen_inline u32 rule_recent_test(u32 n, u64 hi, u64 lo, u32 is_ip6)
{
	return OF_RULE(n, rule_recent_test_)(hi, lo, is_ip6);
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
 * tick of the coarse clock, which is 10 ms at most, and what a burst has after
 * a silence: 5 events of 100/s, so no second has more than 105.
 */
#define SAMPLE_SLACK_NS 50000000ull

/* One event per interval for all CPUs together: who moves next_ns on has won.
 * The coarse clock, which took 13 ns, stands still between two ticks, so it is
 * asked again only in another tick than the one in which it was too early; the
 * tick is a load.
 */
baleen_inline bool may_sample(u64 *now)
{
	u64 interval = config.sample_interval_ns, next, start, tick;
	struct baleen_sampler *sampler;
	u32 zero = 0;

	sampler = bpf_map_lookup_elem(&baleen_sampler, &zero);
	if (!sampler)
		return false;
	tick = bpf_jiffies64();
	if (tick == *(volatile u64 *)&sampler->closed_tick)
		return false;
	*now = bpf_ktime_get_coarse_ns();
	next = *(volatile u64 *)&sampler->next_ns;
	if (*now < next) {
		*(volatile u64 *)&sampler->closed_tick = tick;
		return false;
	}
	start = next + SAMPLE_SLACK_NS < *now ? *now - SAMPLE_SLACK_NS : next;
	return __sync_val_compare_and_swap(&sampler->next_ns, next, start + interval) == next;
}

/* No frame is as short as that. Kernel 6.1 learns from < that the length is not 0; clang
 * makes < 1 a comparison with 0, from which it does not.
 */
baleen_inline void capture(struct context *ctx, struct baleen_event *event, u64 n_bytes)
{
	if (n_bytes > BALEEN_EVENT_BYTES)
		n_bytes = BALEEN_EVENT_BYTES;
	event->n_captured = n_bytes;
	if (n_bytes < BALEEN_ETHER_BYTES || context_load(ctx, 0, event->frame, n_bytes))
		event->n_captured = 0;
}

/* The same behind @lead bytes, a constant, that are there already. */
baleen_inline void capture_behind(struct context *ctx, struct baleen_event *event, u32 lead,
				  u32 offset, u64 n_bytes)
{
	n_bytes -= offset;
	if (n_bytes > BALEEN_EVENT_BYTES - lead)
		n_bytes = BALEEN_EVENT_BYTES - lead;
	event->n_captured = lead + n_bytes;
	if (n_bytes < 2 || context_load(ctx, offset, event->frame + lead, n_bytes))
		event->n_captured = 0;
}

/* Whoever reads events expects Ethernet: without addresses. */
baleen_inline void capture_ip(struct context *ctx, struct baleen_event *event, u64 n_bytes)
{
	u8 first = 0;

	context_load(ctx, 0, &first, sizeof(first));
	__builtin_memset(event->frame, 0, BALEEN_ETHER_BYTES);
	*(u16 *)(event->frame + BALEEN_ETHER_BYTES - 2) =
		baleen_be16((u16)(first >> 4 == 6 ? BALEEN_ETHERTYPE_IP6 : BALEEN_ETHERTYPE_IP4));
	capture_behind(ctx, event, BALEEN_ETHER_BYTES, 0, n_bytes);
}

/* A global function, as those of the rules are. */
__noinline int sample(struct context *ctx, u32 slot, u32 action)
{
	struct baleen_stats *stats = stats_get();
	struct baleen_event *event;
	u64 now, n_bytes;

	if (!stats || !config.sample_interval_ns)
		return 0;
	if (!may_sample(&now)) {
		stats->not_sampled++;
		return 0;
	}
	event = bpf_ringbuf_reserve(&baleen_events, sizeof(*event), 0);
	if (!event) {
		stats->sample_lost++;
		return 0;
	}
	n_bytes = context_bytes(ctx);
	event->time_ns = now;
	event->slot = slot;
	event->action = action;
	event->frame_bytes = n_bytes;
	event->dry_run = config.dry_run;
	event->reserved = 0;
	if (config.no_ethernet)
		capture_ip(ctx, event, n_bytes);
	else if (context_capture_tag(ctx, event->frame))
		capture_behind(ctx, event, CONTEXT_TAGGED_BYTES, CONTEXT_TAG_AT, n_bytes);
	else
		capture(ctx, event, n_bytes);
	bpf_ringbuf_submit(event, 0);
	stats->sampled++;
	return 1;
}

baleen_inline void sample_if_asked(const struct frame *frame, u32 slot, u32 action)
{
	if (config.sample_interval_ns)
		sample(frame->ctx, slot, action);
}

#ifdef BALEEN_PROGRAM_EGRESS
/* A limit is of sources that come in: user/lib/xdp/load.c refuses others. */
baleen_inline int limited_rule_drops(struct context *ctx, const struct details *details, u32 n)
{
	return 0;
}
#else
/* All that is done for a packet which a rule with a limit holds: a path of its own, so that
 * of other rules no instruction is another.
 */
__noinline int limited_rule_drops(struct xdp_md *ctx, const struct details *details, u32 n)
{
	const struct baleen_rule *rule = &config.rule[n & (BALEEN_MAX_RULES - 1)];
	u32 slot = rule->slot & (BALEEN_MAX_RULES - 1);
	struct baleen_stats *stats = stats_get();

	if (!config.limits || !details || !stats || !is_over_limit(ctx, details, n, slot))
		return 0;
	stats->rule[slot].packets++;
	stats->rule[slot].bytes += bpf_xdp_get_buff_len(ctx);
	if (config.sample_interval_ns)
		sample(ctx, slot, rule->action);
	return rule->action == BALEEN_ACTION_DROP;
}
#endif

baleen_inline int drop(void)
{
	return config.dry_run ? VERDICT_PASS : VERDICT_DROP;
}

/* Addresses of several rules in one table, asked before them. */
BALEEN_BLOCKS(baleen_prefilter);

/* The rules that cannot match an IPv4 packet, a bit each: none, or those that the prefilter
 * stands for. The verifier follows both.
 */
baleen_inline u32 rules_without(const struct frame *frame)
{
	const struct baleen_image *image = &config.prefilter;
	struct baleen_key key;

	if (!config.prefilter_rules || baleen_recent_has(&baleen_prefilter, image->n_blocks, false))
		return 0;
	key = baleen_packet_key(frame->packet.ip, config.prefilter_key_offset, BALEEN_IP4);
	return baleen_table_test_fast_path(&image->table[BALEEN_IP4], &image->seed,
					   &baleen_prefilter, &key) ?
		       0 :
		       config.prefilter_rules;
}

/* The default verdict. */
baleen_inline int judge_unmatched(struct frame *frame, bool is_ip6)
{
	if (!config.default_drop) {
		frame->stats->unmatched++;
		return VERDICT_PASS;
	}
	if (is_ip6 && !config.needs_transport)
		look_closer(frame, true);
	if (is_ip6 && baleen_packet_is_vital(frame->start, frame->end, BALEEN_PARSE_IP6,
					     &frame->packet, &frame->details->transport)) {
		frame->stats->vital++;
		return VERDICT_PASS;
	}
	frame->stats->unmatched++;
	sample_if_asked(frame, BALEEN_EVENT_DEFAULT, BALEEN_ACTION_DROP);
	return drop();
}

baleen_inline int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	if (config.default_drop &&
	    baleen_packet_is_vital(frame->start, frame->end, parse, &frame->packet,
				   &frame->details->transport)) {
		frame->stats->vital++;
		return VERDICT_PASS;
	}
	baleen_count_unparsed(frame->stats, parse);
	if (!config.default_drop)
		return VERDICT_PASS;
	sample_if_asked(frame, BALEEN_EVENT_UNPARSED, BALEEN_ACTION_DROP);
	return drop();
}

baleen_inline int judge(struct frame *frame, bool is_ip6)
{
	u32 skipped = is_ip6 ? 0 : rules_without(frame);

	if (config.needs_transport) {
		look_closer(frame, is_ip6);
		if (config.established)
			look_for_connection(frame, is_ip6);
	}
	/* Their code is long: one jump instead of one for each. */
	if (skipped && skipped == (1u << config.n_rules) - 1)
		goto unmatched;
#pragma clang loop unroll(full)
	for (u32 n = 0; n < BALEEN_PROGRAM_RULES; n++) {
		const struct baleen_rule *rule = &config.rule[n];

		/* The first is always asked: where there are no rules it has no
		 * table, which holds nothing.
		 */
		if (n && n >= config.n_rules)
			break;
		if (skipped >> n & 1)
			continue;
		if (!rule_matches(n, rule, rule_map(n), frame, is_ip6))
			continue;
		if (rule->slot >= BALEEN_SLOT_LIMITED) {
			if (limited_rule_drops(frame->ctx, frame->details, n))
				return drop();
			continue;
		}
		count_rule(frame, rule->slot);
		if (rule->action != BALEEN_ACTION_ALLOW)
			sample_if_asked(frame, rule->slot, rule->action);
		if (rule->action == BALEEN_ACTION_COUNT)
			continue;
		return rule->action == BALEEN_ACTION_ALLOW ? VERDICT_PASS : drop();
	}
	if (!config.n_rules) {
		frame->stats->no_filter++;
		return VERDICT_PASS;
	}
unmatched:
	return judge_unmatched(frame, is_ip6);
}

#ifdef BALEEN_PROGRAM_EGRESS
SEC("tc")
int baleen_egress(struct __sk_buff *ctx)
{
	return give_verdict(ctx, true, config.no_ethernet, 0);
}
#else
SEC("xdp")
int baleen_xdp(struct xdp_md *ctx)
{
	return give_verdict(ctx, config.frags, config.no_ethernet, 0);
}

/* Another program of the device, for what the filter lets pass: there is room for one. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} baleen_next SEC(".maps");

/* The filter that hands on: a program of its own, since one that may make a tail call keeps
 * their count on its stack, which costs each packet ten instructions.
 */
SEC("xdp")
int baleen_xdp_next(struct xdp_md *ctx)
{
	int verdict = give_verdict(ctx, config.frags, config.no_ethernet, 0);

	if (verdict == VERDICT_PASS)
		bpf_tail_call(ctx, &baleen_next, 0);
	return verdict;
}
#endif

char _license[] SEC("license") = "Dual BSD/GPL";
