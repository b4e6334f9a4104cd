/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answers of a sibling itself, compared with what the filter says. Of one that is
 * observed: how often would mode answer have been wrong? Of one that is answered for: its
 * hit shows that it is alive, and that the filter is right.
 *
 * Only while the sibling is fresh, since nothing would be answered otherwise. Whatever is
 * no such answer, and it as well, goes its way. What an XDP program of this device answers
 * does not come by here.
 */
#ifndef BALEEN_BPF_ICP_OBSERVE_H
#define BALEEN_BPF_ICP_OBSERVE_H

#include "icp_answer.h"

/* TC_ACT_UNSPEC: filters behind this one are asked. */
#define ICP_GO_ON (-1)

/**
 * struct icp_seen - a datagram from config.port of a sibling
 * @n: the sibling
 * @payload_at: bytes of the frame in front of what UDP carries
 * @payload_bytes: how many there are
 */
struct icp_seen {
	u32 n;
	u32 payload_at;
	u32 payload_bytes;
};

baleen_inline bool icp_see_udp(const u8 *start, const u8 *udp, const u8 *end, u64 hi, u64 lo,
			       struct icp_seen *seen)
{
	u32 udp_bytes;

	if (udp + ICP_UDP_BYTES > end || baleen_be16(BALEEN_LOAD(u16, udp)) != config.port)
		return false;
	udp_bytes = baleen_be16(BALEEN_LOAD(u16, udp + 4));
	seen->n = icp_find_sibling(hi, lo);
	seen->payload_at = udp + ICP_UDP_BYTES - start;
	seen->payload_bytes = udp_bytes - ICP_UDP_BYTES;
	return seen->n != ICP_NOBODY && udp_bytes > ICP_UDP_BYTES;
}

/* Squid's answers have neither options nor fragments: its sockets on Linux set DF. */
baleen_inline bool icp_see(struct __sk_buff *skb, struct icp_seen *seen)
{
	const u8 *start = (const u8 *)(long)skb->data, *end = (const u8 *)(long)skb->data_end;
	struct baleen_packet packet;
	const u8 *ip;

	switch (baleen_packet_parse(start, end, &packet)) {
	case BALEEN_PARSE_IP4:
		ip = packet.ip;
		if (ip[0] != 0x45 || ip[9] != BALEEN_PROTO_UDP ||
		    BALEEN_LOAD(u16, ip + 6) & baleen_be16(0x3fff))
			return false;
		return icp_see_udp(start, ip + BALEEN_IP4_BYTES, end, 0,
				   ICP_MAPPED | baleen_load_be32(ip + 12), seen);
	case BALEEN_PARSE_IP6:
		ip = packet.ip;
		if (ip[6] != BALEEN_PROTO_UDP)
			return false;
		return icp_see_udp(start, ip + BALEEN_IP6_BYTES, end, baleen_load_be64(ip + 8),
				   baleen_load_be64(ip + 16), seen);
	default: return false;
	}
}

baleen_inline bool icp_is_answer(u32 opcode)
{
	return opcode == BALEEN_ICP_HIT || opcode == BALEEN_ICP_MISS ||
	       opcode == BALEEN_ICP_MISS_NOFETCH;
}

/* Hashes the URL of an answer; returns its opcode, or 0 when it is none. */
__noinline u32 icp_see_url(struct __sk_buff *skb, u32 at, u32 n_bytes)
{
	struct icp_scratch *scratch = icp_scratch();
	u32 n_url = n_bytes - BALEEN_ICP_HEADER_BYTES - 1;
	struct icp_header *answer;

	if (!scratch || n_bytes <= BALEEN_ICP_HEADER_BYTES)
		return 0;
	answer = &scratch->query;
	if (bpf_skb_load_bytes(skb, at, answer, sizeof(*answer)) ||
	    answer->version != BALEEN_ICP_VERSION || baleen_be16(answer->bytes_be) != n_bytes ||
	    !icp_is_answer(answer->opcode))
		return 0;
	/* As in icp_url_load(). */
	asm volatile("" : "+r"(n_url));
	if (n_url > BALEEN_ICP_MAX_URL ||
	    bpf_skb_load_bytes(skb, at + BALEEN_ICP_HEADER_BYTES,
			       scratch->message.byte + ICP_URL_AT, n_url + 1) ||
	    icp_byte(scratch, ICP_URL_AT + n_url) || icp_url_hash(n_url))
		return 0;
	return answer->opcode;
}

baleen_inline u32 icp_compare(bool is_hit, u32 filter)
{
	if (filter == ICP_COUNTER(hits))
		return is_hit ? ICP_COUNTER(agreed_hits) : ICP_COUNTER(false_hits);
	return is_hit ? ICP_COUNTER(false_misses) : ICP_COUNTER(agreed_misses);
}

baleen_inline bool icp_is_watched(u32 n)
{
	u32 mode = config.sibling[n & (BALEEN_ICP_MAX_SIBLINGS - 1)].mode;

	return mode == BALEEN_ICP_OBSERVE || (mode == BALEEN_ICP_ANSWER && config.confirm_ns);
}

/* A false hit ends the time in which hits are answered. */
baleen_inline void icp_confirm(u32 n, u32 counter)
{
	struct baleen_icp_state *state = icp_state();

	if (!state || n >= BALEEN_ICP_MAX_SIBLINGS)
		return;
	if (counter == ICP_COUNTER(agreed_hits))
		*(volatile u64 *)&state->confirmed_ns[n] = bpf_ktime_get_coarse_ns();
	else if (counter == ICP_COUNTER(false_hits))
		*(volatile u64 *)&state->confirmed_ns[n] = 0;
}

baleen_inline int icp_observe(struct __sk_buff *skb)
{
	struct baleen_icp_stats *stats = icp_stats();
	struct icp_seen seen;
	u32 opcode, counter;

	if (!stats || !icp_see(skb, &seen) || !icp_is_watched(seen.n) || !icp_is_fresh(seen.n))
		return ICP_GO_ON;
	opcode = icp_see_url(skb, seen.payload_at, seen.payload_bytes);
	if (!opcode)
		return ICP_GO_ON;
	counter = icp_ask(seen.n);
	if (counter == ICP_COUNTER(expired))
		return ICP_GO_ON;
	counter = icp_compare(opcode == BALEEN_ICP_HIT, counter);
	icp_count(stats, seen.n, counter);
	icp_confirm(seen.n, counter);
	return ICP_GO_ON;
}

#endif /* BALEEN_BPF_ICP_OBSERVE_H */
