/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of test traffic: UDP from a given source, or a marker that is
 * not IP.
 *
 *      Ethernet | VLAN tags | IPv4 or IPv6 | UDP | zeros | trailer
 *      Ethernet, type 0x88b5 | zeros                     | trailer
 *
 * The trailer, 16 bytes of text and the sequence number, is the end of the
 * frame, so a frame is recognized whatever the kernel did with its tags.
 */
#ifndef BALEEN_TESTS_FRAMES_H
#define BALEEN_TESTS_FRAMES_H

#include <net/ethernet.h>

#include <baleen/packet.h>

#include "sources.h"

#define ETHERTYPE_MARKER 0x88b5 /* IEEE 802, local experimental */
#define MAX_FRAME 9216
#define MAX_PAD 8960
#define PROTOCOL_UDP 17
#define UDP_BYTES 8

static const char magic[16] = "baleen traffic 1";

struct trailer {
	char magic[16];
	u64 sequence;
};

struct wire {
	u8 from_mac[ETH_ALEN];
	u8 to_mac[ETH_ALEN];
	u32 n_tags;
	u32 n_pad; /* zeros in each datagram, an even number */
};

struct frame {
	u8 bytes[MAX_FRAME];
	size_t n_bytes;
	size_t ip_offset;
	bool arrived;
};

static u8 *put16(u8 *p, u32 value)
{
	p[0] = value >> 8;
	p[1] = value;
	return p + 2;
}

static u8 *put(u8 *p, const void *bytes, size_t n_bytes)
{
	memcpy(p, bytes, n_bytes);
	return p + n_bytes;
}

/* RFC 1071, over an even number of bytes. */
static u32 checksum_add(u32 sum, const u8 *p, size_t n_bytes)
{
	for (; n_bytes; n_bytes -= 2, p += 2)
		sum += (u32)p[0] << 8 | p[1];
	return sum;
}

static u32 checksum_fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return ~sum & 0xffff;
}

static u8 *put_ether(const struct wire *wire, u8 *p, u32 n_tags, u32 ethertype)
{
	p = put(p, wire->to_mac, ETH_ALEN);
	p = put(p, wire->from_mac, ETH_ALEN);
	for (; n_tags; n_tags--) {
		p = put16(p, n_tags > 1 ? BALEEN_ETHERTYPE_8021AD : BALEEN_ETHERTYPE_8021Q);
		p = put16(p, 100 + n_tags);
	}
	return put16(p, ethertype);
}

/* To 198.51.100.1 or 2001:db8::1 (documentation, RFC 5737 and 3849): no host
 * has them, so nobody answers.
 */
static u8 *put_ip(const struct wire *wire, u8 *p, const struct source *source)
{
	static const u8 to4[4] = { 198, 51, 100, 1 };
	static const u8 to6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	size_t n_bytes = UDP_BYTES + wire->n_pad + sizeof(struct trailer);
	u8 *ip = p;

	if (source->is_ip6) {
		p = put16(put16(p, 0x6000), 0);
		p = put16(p, n_bytes);
		p = put16(p, PROTOCOL_UDP << 8 | 64);
		return put(put(p, source->addr, 16), to6, 16);
	}
	p = put16(put16(p, 0x4500), BALEEN_IP4_BYTES + n_bytes);
	p = put16(put16(p, 0), 0x4000);
	p = put16(put16(p, 64 << 8 | PROTOCOL_UDP), 0);
	p = put(put(p, source->addr, 4), to4, 4);
	put16(ip + 10, checksum_fold(checksum_add(0, ip, BALEEN_IP4_BYTES)));
	return p;
}

/* @address_bytes: source and destination, which lie just before the header */
static u8 *put_udp(const struct wire *wire, u8 *p, size_t address_bytes,
		   const struct trailer *trailer)
{
	size_t n_bytes = UDP_BYTES + wire->n_pad + sizeof(*trailer);
	u8 *udp = p;
	u32 sum;

	p = put16(put16(p, 9), 9); /* discard */
	p = put16(put16(p, n_bytes), 0);
	memset(p, 0, wire->n_pad);
	p = put(p + wire->n_pad, trailer, sizeof(*trailer));
	sum = checksum_add(PROTOCOL_UDP + n_bytes, udp - address_bytes, address_bytes + n_bytes);
	sum = checksum_fold(sum);
	put16(udp + 6, sum ? sum : 0xffff);
	return p;
}

static struct trailer trailer_make(u64 sequence)
{
	struct trailer trailer = { .sequence = sequence };

	memcpy(trailer.magic, magic, sizeof(magic));
	return trailer;
}

static void frame_make(const struct wire *wire, struct frame *frame, const struct source *source,
		       u64 sequence)
{
	u32 ethertype = source->is_ip6 ? BALEEN_ETHERTYPE_IP6 : BALEEN_ETHERTYPE_IP4;
	struct trailer trailer = trailer_make(sequence);
	u8 *p = put_ether(wire, frame->bytes, wire->n_tags, ethertype);

	frame->ip_offset = p - frame->bytes;
	p = put_ip(wire, p, source);
	p = put_udp(wire, p, source->is_ip6 ? 32 : 8, &trailer);
	frame->n_bytes = p - frame->bytes;
	frame->arrived = false;
}

static void frame_make_marker(const struct wire *wire, struct frame *frame, u64 sequence)
{
	struct trailer trailer = trailer_make(sequence);
	u8 *p;

	memset(frame, 0, sizeof(*frame));
	p = put_ether(wire, frame->bytes, 0, ETHERTYPE_MARKER);
	frame->ip_offset = p - frame->bytes;
	frame->n_bytes = ETH_ZLEN;
	put(frame->bytes + ETH_ZLEN - sizeof(trailer), &trailer, sizeof(trailer));
}

#endif /* BALEEN_TESTS_FRAMES_H */
