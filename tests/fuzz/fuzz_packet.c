// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a frame: nothing behind its end is read, the IP header found is
 * inside, and a slow parser finds the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../unit/slow_packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void check(bool right)
{
	if (!right)
		abort();
}

/* Source and destination, to the last byte of the fixed header. */
static void check_addresses(enum baleen_parse parse, const u8 *ip)
{
	struct baleen_key src, dst;

	if (parse == BALEEN_PARSE_IP4) {
		src = baleen_key_ip4(ip + 12);
		dst = baleen_key_ip4(ip + 16);
		check(src.ip4 >> 24 == ip[12] && (u8)dst.ip4 == ip[19]);
		check(ip[0] >> 4 == 4);
	} else {
		src = baleen_key_ip6(ip + 8);
		dst = baleen_key_ip6(ip + 24);
		check(src.hi >> 56 == ip[8] && (u8)dst.lo == ip[39]);
		check(ip[0] >> 4 == 6);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	u8 *frame = malloc(n_bytes ? n_bytes : 1);
	struct baleen_packet packet;
	enum baleen_parse parse, slow;
	size_t offset = 0;

	if (n_bytes)
		memcpy(frame, bytes, n_bytes);
	parse = baleen_packet_parse(frame, frame + n_bytes, &packet);
	slow = slow_packet_parse(frame, n_bytes, &offset);
	check(parse == slow);
	if (parse == BALEEN_PARSE_IP4 || parse == BALEEN_PARSE_IP6) {
		check(packet.ip == frame + offset);
		check_addresses(parse, packet.ip);
	} else {
		check(!packet.ip);
	}
	free(frame);
	return 0;
}
