/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbered keys, the same on the host that builds images of them and in the machine
 * that asks: those with an even number are listed.
 */
#ifndef BALEEN_TESTS_KMOD_KEYS_H
#define BALEEN_TESTS_KMOD_KEYS_H

#include <arpa/inet.h>

#include <baleen/packet.h>

#include "dev.h"

/* Different i, different source. IPv6 sources come eight to a /64. */
static inline struct baleen_fields fields_at(bool is_ip6, u32 i)
{
	u64 hi = i / 8, other = i;
	struct baleen_fields fields = { .is_ip6 = is_ip6 };

	if (is_ip6) {
		fields.src_hi = next_random(&hi) >> 3 | 1ull << 61;
		fields.src_lo = next_random(&hi) + i % 8;
		fields.dst_hi = next_random(&other);
		fields.dst_lo = next_random(&other);
	} else {
		fields.src_lo = i * 0x9e3779b1u;
		fields.dst_lo = next_random(&other) >> 32;
	}
	fields.sport = next_random(&other);
	fields.dport = i % 3 ? 443 : 53;
	fields.proto = i % 3 ? BALEEN_PROTO_TCP : BALEEN_PROTO_UDP;
	return fields;
}

static inline struct baleen_key numbered_key(u32 spec, bool is_ip6, u32 i)
{
	struct baleen_fields fields = fields_at(is_ip6, i);

	return baleen_key_fields(spec, &fields);
}

/* Has the image a table of the keys of this family? Flows of both are in one, where
 * the listed ones are of IPv6.
 */
static inline bool has_family(const struct baleen_image *image, bool is_ip6)
{
	u32 domain = baleen_spec_domain(image->key_spec, is_ip6);

	if (domain == BALEEN_TUPLE && !is_ip6)
		return false;
	if (image->table[domain].kind)
		return true;
	return domain == BALEEN_IP4 ? image->table[BALEEN_IP4_GROUPS].kind :
	       domain == BALEEN_IP6 ? image->table[BALEEN_IP6_STEMS].kind :
				      false;
}

static inline const char *print_address(bool is_ip6, u64 hi, u64 lo, char *text)
{
	u64 be[2] = { baleen_be64(hi), baleen_be64(lo) };
	u32 be4 = baleen_be32((u32)lo);

	return inet_ntop(is_ip6 ? AF_INET6 : AF_INET, is_ip6 ? (void *)be : (void *)&be4, text,
			 INET6_ADDRSTRLEN);
}

#endif /* BALEEN_TESTS_KMOD_KEYS_H */
