/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of ICP, made the slow and obvious way: one byte after the other.
 */
#ifndef BALEEN_TESTS_ICP_FRAMES_H
#define BALEEN_TESTS_ICP_FRAMES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <baleen/icp.h>

#define FRAME_ROOM 2048

struct frame {
	u8 byte[FRAME_ROOM];
	u32 n;
};

/* A message of ICP and all that is around it. */
struct message {
	bool is_ip6;
	u32 n_tags;
	u8 source[16], dest[16]; /* the last four of IPv4 */
	u16 sport, dport;
	u8 tos, ttl;
	u32 flow_label;
	bool df;
	u8 opcode;
	u32 request, options, option_data, sender, requester;
	const char *url;
	u32 n_url;
};

static inline void put(struct frame *frame, u64 value, u32 n_bytes)
{
	while (n_bytes--)
		frame->byte[frame->n++] = value >> 8 * n_bytes;
}

static inline void put_bytes(struct frame *frame, const void *bytes, u32 n_bytes)
{
	memcpy(frame->byte + frame->n, bytes, n_bytes);
	frame->n += n_bytes;
}

static inline void poke(struct frame *frame, u32 at, u32 value)
{
	frame->byte[at] = value >> 8;
	frame->byte[at + 1] = value;
}

/* RFC 1071, a word at a time. */
static inline u32 sum_words(const u8 *byte, u32 n_bytes, u32 sum)
{
	for (u32 i = 0; i < n_bytes; i++) {
		sum += i % 2 ? byte[i] : byte[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

static inline u32 ip_bytes(const struct message *message)
{
	return message->is_ip6 ? 40 : 20;
}

static inline u32 link_bytes(const struct message *message)
{
	return 14 + 4 * message->n_tags;
}

/* Over the pseudo header, UDP and all that it carries; 0 when the frame's is right. */
static inline u32 udp_sum(const struct message *message, const struct frame *frame)
{
	u32 ip = link_bytes(message), udp = ip + ip_bytes(message), sum;

	sum = message->is_ip6 ? sum_words(frame->byte + ip + 8, 32, 0) :
				sum_words(frame->byte + ip + 12, 8, 0);
	sum = sum_words((u8[2]){ 0, 17 }, 2, sum);
	sum = sum_words((u8[2]){ (frame->n - udp) >> 8, frame->n - udp }, 2, sum);
	return 0xffff - sum_words(frame->byte + udp, frame->n - udp, sum);
}

static inline void put_ip4(const struct message *message, u32 udp_bytes, struct frame *frame)
{
	u32 ip = frame->n;

	put(frame, 0x45, 1);
	put(frame, message->tos, 1);
	put(frame, 20 + udp_bytes, 2);
	put(frame, 0, 2);
	put(frame, message->df ? 0x4000 : 0, 2);
	put(frame, message->ttl, 1);
	put(frame, 17, 1);
	put(frame, 0, 2);
	put_bytes(frame, message->source + 12, 4);
	put_bytes(frame, message->dest + 12, 4);
	poke(frame, ip + 10, 0xffff - sum_words(frame->byte + ip, 20, 0));
}

static inline void put_ip6(const struct message *message, u32 udp_bytes, struct frame *frame)
{
	put(frame, 6u << 28 | (u32)message->tos << 20 | message->flow_label, 4);
	put(frame, udp_bytes, 2);
	put(frame, 17, 1);
	put(frame, message->ttl, 1);
	put_bytes(frame, message->source, 16);
	put_bytes(frame, message->dest, 16);
}

static inline void put_link(const struct message *message, bool is_answer, struct frame *frame)
{
	put(frame, is_answer ? 0x020000000002ull : 0x020000000001ull, 6);
	put(frame, is_answer ? 0x020000000001ull : 0x020000000002ull, 6);
	for (u32 i = 0; i < message->n_tags; i++) {
		put(frame, 0x8100, 2);
		put(frame, 100 + i, 2);
	}
	put(frame, message->is_ip6 ? 0x86dd : 0x0800, 2);
}

static inline void make_frame(const struct message *message, struct frame *frame)
{
	bool is_query = message->opcode == BALEEN_ICP_QUERY;
	u32 icp_bytes = (is_query ? 24 : 20) + message->n_url + 1, sum;

	memset(frame, 0, sizeof(*frame));
	put_link(message, !is_query, frame);
	if (message->is_ip6)
		put_ip6(message, 8 + icp_bytes, frame);
	else
		put_ip4(message, 8 + icp_bytes, frame);
	put(frame, message->sport, 2);
	put(frame, message->dport, 2);
	put(frame, 8 + icp_bytes, 2);
	put(frame, 0, 2);
	put(frame, message->opcode, 1);
	put(frame, 2, 1);
	put(frame, icp_bytes, 2);
	put(frame, message->request, 4);
	put(frame, message->options, 4);
	put(frame, message->option_data, 4);
	put(frame, message->sender, 4);
	if (is_query)
		put(frame, message->requester, 4);
	put_bytes(frame, message->url, message->n_url);
	put(frame, 0, 1);
	sum = udp_sum(message, frame);
	poke(frame, link_bytes(message) + ip_bytes(message) + 6, sum ? sum : 0xffff);
}

/* What Squid 5.7 on Linux sends: see the frames that tests/squid compares with. */
static inline void make_answer(const struct message *query, u8 opcode, struct frame *frame)
{
	struct message answer = {
		.is_ip6 = query->is_ip6,
		.n_tags = query->n_tags,
		.sport = query->dport,
		.dport = query->sport,
		.ttl = 64,
		.flow_label = query->flow_label,
		.df = true,
		.opcode = opcode,
		.request = query->request,
		.url = query->url,
		.n_url = query->n_url,
	};

	memcpy(answer.source, query->dest, 16);
	memcpy(answer.dest, query->source, 16);
	make_frame(&answer, frame);
}

#endif /* BALEEN_TESTS_ICP_FRAMES_H */
