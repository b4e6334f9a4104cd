/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A slow and obvious packet parser, to compare baleen_packet_parse() with.
 *
 * It peels one layer at a time off the front of the frame: what the layer's
 * type is, how long it is, what type follows.
 */
#ifndef BALEEN_TESTS_SLOW_PACKET_H
#define BALEEN_TESTS_SLOW_PACKET_H

#include <baleen/packet.h>

enum slow_layer { SLOW_ETHER, SLOW_TAG, SLOW_PPPOE, SLOW_IP4, SLOW_IP6, SLOW_MPLS, SLOW_OTHER };

static inline enum slow_layer slow_layer_of_ethertype(u32 ethertype)
{
	switch (ethertype) {
	case 0x8100: /* 802.1Q */
	case 0x88a8: /* 802.1ad */
	case 0x9100: /* QinQ before 802.1ad */ return SLOW_TAG;
	case 0x8864: return SLOW_PPPOE;
	case 0x0800: return SLOW_IP4;
	case 0x86dd: return SLOW_IP6;
	case 0x8847:
	case 0x8848: return SLOW_MPLS;
	default: return SLOW_OTHER;
	}
}

static inline enum slow_layer slow_layer_of_ppp(u32 protocol)
{
	return protocol == 0x0021 ? SLOW_IP4 : protocol == 0x0057 ? SLOW_IP6 : SLOW_OTHER;
}

static inline u32 slow_layer_bytes(enum slow_layer layer)
{
	static const u32 bytes[] = {14, 4, 8, 20, 40, 0, 0};

	return bytes[layer];
}

/* *offset is where the IP header starts, set for IPv4 and IPv6 only. */
static inline enum baleen_parse slow_packet_parse(const u8 *frame, size_t n_bytes, size_t *offset)
{
	enum slow_layer layer = SLOW_ETHER;
	size_t at = 0;
	u32 n_tags = 0;

	for (;;) {
		u32 length = slow_layer_bytes(layer), next_type;

		if (layer == SLOW_TAG && ++n_tags > 4)
			return BALEEN_PARSE_TAGS;
		if (length > n_bytes - at)
			return BALEEN_PARSE_SHORT;
		/* The last two bytes of the first three layers. */
		next_type = frame[at + length - 2] * 256 + frame[at + length - 1];
		switch (layer) {
		case SLOW_ETHER:
		case SLOW_TAG: layer = slow_layer_of_ethertype(next_type); break;
		case SLOW_PPPOE: layer = slow_layer_of_ppp(next_type); break;
		case SLOW_IP4:
		case SLOW_IP6:
			if (frame[at] / 16 != (layer == SLOW_IP4 ? 4 : 6))
				return BALEEN_PARSE_VERSION;
			*offset = at;
			return layer == SLOW_IP4 ? BALEEN_PARSE_IP4 : BALEEN_PARSE_IP6;
		case SLOW_MPLS: return BALEEN_PARSE_MPLS;
		default: return BALEEN_PARSE_NOT_IP;
		}
		at += length;
	}
}

#endif /* BALEEN_TESTS_SLOW_PACKET_H */
