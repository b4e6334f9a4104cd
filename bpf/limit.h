/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the source of a packet over the limit of a rule?
 *
 * The buckets are those of include/baleen/rate_limit.h. A source counts when it has shown that
 * it hears what this host says: by a TCP segment behind its handshake whose numbers go on with
 * the connection. Who makes up a source does not know them, and hits them by chance once in
 * 2^64 / (receive window x largest send window): with two windows of 64 KiB once in 2^32.
 *
 *      sequence         of a byte of it, from rcv_nxt to rcv_wup + rcv_wnd: the receive window. A
 *                       segment that is repeated lies before it, and does not count; nor does it
 *                       reach the application
 *      acknowledgement  snd_una - max_window <= ACK <= snd_nxt; without an ACK there is none
 *      no socket,       SYNs, SYN cookies, the third packet of a handshake (SYN-RECV), TIME-WAIT,
 *      or no numbers    listeners: do not count
 *
 * Checksums are not looked at: numbers that fit are proof enough. UDP, other protocols and what a
 * router passes on prove nothing. All packets count where the limit says `unverified`; without the
 * kernel's BTF, which tells where the numbers are, no packet does elsewhere.
 *
 * Sources: RFC 9293 section 3.10.7.4 (sequence), RFC 5961 section 5.2 (acknowledgement);
 * bpf_skc_to_tcp_sock() in bpf-helpers(7).
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
	 1u << BPF_TCP_CLOSE_WAIT | 1u << BPF_TCP_LAST_ACK | 1u << BPF_TCP_CLOSING)

/* No first buffer of a frame has as many bytes. */
#define MAX_TCP_AT 0x3fff

/* @offset: of config.tcp, which the verifier knows to be constant */
baleen_inline u32 tcp_number(const struct tcp_sock *tcp, u32 offset)
{
	return *(const volatile u32 *)((const u8 *)tcp + offset);
}

/**
 * struct segment - the numbers of a TCP segment
 * @seq: of its first byte
 * @ack: the next that its sender expects
 * @n_bytes: of data, at most: a header cannot say more
 */
struct segment {
	u32 seq;
	u32 ack;
	u32 n_bytes;
};

/* Not of what is not in the first buffer of the frame, though its flags are. */
baleen_inline bool read_segment(struct xdp_md *ctx, const struct details *details,
				struct segment *segment)
{
	const u8 *end = (const u8 *)(long)ctx->data_end;
	const u8 *ip = (const u8 *)(long)ctx->data + (details->ip_offset & 0xff), *tcp;
	bool is_ip6 = details->fields.is_ip6;
	int n_bytes;

	if (ip + (is_ip6 ? BALEEN_IP6_BYTES : BALEEN_IP4_BYTES) > end)
		return false;
	tcp = ip + (baleen_packet_tcp_at(ip, is_ip6, &details->transport) & MAX_TCP_AT);
	if (tcp + BALEEN_TCP_BYTES > end)
		return false;
	n_bytes = details->transport.n_bytes - (tcp[BALEEN_TCP_LENGTH_AT] >> 4) * 4;
	segment->seq = baleen_load_be32(tcp + BALEEN_TCP_SEQ_AT);
	segment->ack = baleen_load_be32(tcp + BALEEN_TCP_ACK_AT);
	segment->n_bytes = n_bytes < 0 ? 0 : n_bytes > 0xffff ? 0xffff : n_bytes;
	return true;
}

/* Differences, since the numbers of TCP wrap around. What is repeated may have new bytes at its
 * end: else nobody would count who begins each segment with a byte that is there.
 */
baleen_inline bool goes_on_with(const struct tcp_sock *tcp, const struct segment *segment)
{
	u32 rcv_nxt = tcp_number(tcp, config.tcp.rcv_nxt);
	u32 window =
		tcp_number(tcp, config.tcp.rcv_wup) + tcp_number(tcp, config.tcp.rcv_wnd) - rcv_nxt;
	u32 oldest = tcp_number(tcp, config.tcp.snd_una) - tcp_number(tcp, config.tcp.max_window);
	u32 n_acceptable = tcp_number(tcp, config.tcp.snd_nxt) - oldest;

	/* All that was granted is used up, and more. */
	if (window >> 31)
		window = 0;
	return (segment->seq - rcv_nxt <= window || rcv_nxt - segment->seq < segment->n_bytes) &&
	       segment->ack - oldest <= n_acceptable;
}

/* SYNs have no number of this host's. */
baleen_inline bool can_prove_source(const struct baleen_transport *transport)
{
	return transport->has_proto && transport->has_ports &&
	       transport->proto == BALEEN_PROTO_TCP && transport->tcp_flags & BALEEN_TCP_ACK;
}

baleen_inline bool has_proven_source(struct xdp_md *ctx, const struct details *details)
{
	struct bpf_sock_tuple tuple = {};
	struct tcp_sock *tcp = NULL;
	struct segment segment;
	bool is_proven = false;
	struct bpf_sock *sk;
	u32 n_bytes;

	if (!config.tcp.rcv_nxt || !read_segment(ctx, details, &segment))
		return false;
	n_bytes = make_tuple(&details->fields, false, &tuple);
	sk = bpf_skc_lookup_tcp(ctx, &tuple, n_bytes, BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return false;
	/* Nothing but a state is in what SYN-RECV and TIME-WAIT have for a socket. */
	if (AFTER_HANDSHAKE >> (sk->state & 31) & 1)
		tcp = bpf_skc_to_tcp_sock(sk);
	if (tcp)
		is_proven = goes_on_with(tcp, &segment);
	bpf_sk_release(sk);
	return is_proven;
}

/* A program that only peeks asks about a segment that would have the numbers of its connection. */
baleen_inline bool is_counted(struct xdp_md *ctx, const struct details *details,
			      const struct baleen_limit *limit)
{
	if (limit->typed.unverified)
		return true;
	return can_prove_source(&details->transport) &&
	       (config.limits == BALEEN_LIMITS_PEEK || has_proven_source(ctx, details));
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

	if (!is_counted(ctx, details, limit))
		return false;
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
