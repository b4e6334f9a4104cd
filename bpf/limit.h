/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the source of a packet over the limit of a rule?
 *
 * The buckets are those of include/baleen/rate_limit.h. A source counts when it has shown
 * that it is there: by TCP, with a socket of this host behind its handshake; nobody answers
 * for a source that is made up. Of other packets, and of those that a router passes on,
 * nobody knows, so they count only where the limit says `unverified`.
 */
#ifndef BALEEN_BPF_LIMIT_H
#define BALEEN_BPF_LIMIT_H

#include "established.h"

/* The limits of a device, one after the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_limit_set);
} baleen_limits SEC(".maps");

/* Not the ring of the events, which 'baleen watch' takes away from baleend. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} baleen_overruns SEC(".maps");

/* By the slot of the rule. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BALEEN_MAX_RULES);
	__type(key, u32);
	__type(value, struct baleen_limit_counts);
} baleen_limited SEC(".maps");

#define AFTER_HANDSHAKE                                                                  \
	(1u << BPF_TCP_ESTABLISHED | 1u << BPF_TCP_FIN_WAIT1 | 1u << BPF_TCP_FIN_WAIT2 | \
	 1u << BPF_TCP_TIME_WAIT | 1u << BPF_TCP_CLOSE_WAIT | 1u << BPF_TCP_LAST_ACK |   \
	 1u << BPF_TCP_CLOSING)

/* A socket that waits for the third packet of the handshake (SYN-RECV) is none. */
baleen_inline bool has_shaken_hands(struct xdp_md *ctx, const struct details *details)
{
	const struct baleen_transport *transport = &details->transport;
	struct bpf_sock_tuple tuple = {};
	u32 n_bytes;

	if (!transport->has_proto || !transport->has_ports || transport->proto != BALEEN_PROTO_TCP)
		return false;
	n_bytes = make_tuple(&details->fields, false, &tuple);
	return AFTER_HANDSHAKE >> (tcp_state(ctx, &tuple, n_bytes) & 31) & 1;
}

baleen_inline void report_overrun(const struct baleen_overrun *overrun,
				  struct baleen_limit_counts *counts)
{
	counts->overruns++;
	if (bpf_ringbuf_output(&baleen_overruns, (void *)overrun, sizeof(*overrun), 0))
		counts->lost++;
}

baleen_inline bool is_over_limit(struct xdp_md *ctx, const struct details *details, u32 n, u32 slot)
{
	const struct baleen_limit *limit = &config.limit[n & (BALEEN_MAX_RULES - 1)];
	struct baleen_overrun overrun = { .slot = slot };
	struct baleen_limit_counts *counts;
	enum baleen_limit_answer answer;
	struct baleen_limit_set *set;
	u32 index;

	overrun.source = baleen_limit_source(limit, details->fields.is_ip6, details->fields.src_hi,
					     details->fields.src_lo);
	index = baleen_limit_set_of(limit, overrun.source);
	set = bpf_map_lookup_elem(&baleen_limits, &index);
	if (!set || !overrun.source)
		return false;
	overrun.time_ns = bpf_ktime_get_ns();
	if (config.limits == BALEEN_LIMITS_PEEK)
		return baleen_limit_is_over(set, overrun.source, limit->interval_ns,
					    limit->window_ns, overrun.time_ns);
	if (!limit->typed.unverified && !has_shaken_hands(ctx, details))
		return false;
	answer = baleen_limit_charge(set, overrun.source, limit->interval_ns, limit->window_ns,
				     overrun.time_ns);
	if (answer == BALEEN_LIMIT_WITHIN || answer == BALEEN_LIMIT_OVER)
		return answer == BALEEN_LIMIT_OVER;
	counts = bpf_map_lookup_elem(&baleen_limited, &overrun.slot);
	if (!counts)
		return false;
	if (answer == BALEEN_LIMIT_OVERRUN)
		report_overrun(&overrun, counts);
	else
		counts->forgotten++;
	return answer == BALEEN_LIMIT_OVERRUN;
}

#endif /* BALEEN_BPF_LIMIT_H */
