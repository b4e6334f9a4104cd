/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers by which the kernel looks for the connection of a packet.
 */
#ifndef BALEEN_BPF_TUPLE_H
#define BALEEN_BPF_TUPLE_H

#include "rule.h"

/* As they stand in a packet that comes in; of one that goes out, or that an error quotes on
 * its way in, both ends are swapped.
 */
baleen_inline u32 make_tuple(const struct baleen_fields *fields, bool is_swapped,
			     struct bpf_sock_tuple *tuple)
{
	u64 source[2] = { fields->src_hi, fields->src_lo },
	    dest[2] = { fields->dst_hi, fields->dst_lo };
	const u64 *from = is_swapped ? dest : source, *to = is_swapped ? source : dest;
	u16 sport = is_swapped ? fields->dport : fields->sport;
	u16 dport = is_swapped ? fields->sport : fields->dport;

	if (!fields->is_ip6) {
		tuple->ipv4.saddr = baleen_be32((u32)from[1]);
		tuple->ipv4.daddr = baleen_be32((u32)to[1]);
		tuple->ipv4.sport = baleen_be16(sport);
		tuple->ipv4.dport = baleen_be16(dport);
		return sizeof(tuple->ipv4);
	}
	for (u32 i = 0; i < 2; i++) {
		tuple->ipv6.saddr[2 * i] = baleen_be32((u32)(from[i] >> 32));
		tuple->ipv6.saddr[2 * i + 1] = baleen_be32((u32)from[i]);
		tuple->ipv6.daddr[2 * i] = baleen_be32((u32)(to[i] >> 32));
		tuple->ipv6.daddr[2 * i + 1] = baleen_be32((u32)to[i]);
	}
	tuple->ipv6.sport = baleen_be16(sport);
	tuple->ipv6.dport = baleen_be16(dport);
	return sizeof(tuple->ipv6);
}

#endif /* BALEEN_BPF_TUPLE_H */
