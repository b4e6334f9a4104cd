/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The canonical key: what a list entry and a packet are both turned into.
 *
 * A list parser and a packet parser that build keys with these functions
 * cannot disagree about which addresses or ports are meant.
 *
 *      key                     IPv4                    IPv6
 *      src, dst                BALEEN_IP4              BALEEN_IP6
 *      no address in it        BALEEN_WORD             BALEEN_WORD, the same key
 *      up to 64 bits           BALEEN_WORD             BALEEN_TUPLE
 *      more (as flow)          BALEEN_TUPLE            BALEEN_TUPLE
 */
#ifndef BALEEN_KEY_H
#define BALEEN_KEY_H

#include <baleen/port.h>

/**
 * enum baleen_domain - which set of keys a table of an image belongs to
 * @BALEEN_IP4: IPv4 addresses, 32 bits, permuted
 * @BALEEN_IP6: IPv6 addresses, 128 bits, hashed
 * @BALEEN_WORD: keys that fit in 64 bits, permuted
 * @BALEEN_TUPLE: longer keys, hashed
 * @BALEEN_IP4_GROUPS: IPv4 prefixes; see directory.h
 * @BALEEN_IP6_STEMS: IPv6 prefixes; see tree.h; in images of before there were trees
 *                    up to /32; see directory.h
 * @BALEEN_IP6_PREFIXES: longer ones, and in images of the first trees those past /64;
 *                       see prefixes.h
 * @BALEEN_IP6_ENTRIES: IPv6 entries as they were listed, for those who list,
 *                      change or merge the image; no probe reads them
 * @BALEEN_N_DOMAINS: how many
 *
 * A key is of one of the first four; the other tables serve IPv4 and IPv6
 * keys when a list has prefixes. One image can hold both families.
 */
enum baleen_domain {
	BALEEN_IP4 = 0,
	BALEEN_IP6 = 1,
	BALEEN_WORD = 2,
	BALEEN_TUPLE = 3,
	BALEEN_IP4_GROUPS = 4,
	BALEEN_IP6_STEMS = 5,
	BALEEN_IP6_PREFIXES = 6,
	BALEEN_IP6_ENTRIES = 7,
	BALEEN_N_DOMAINS = 8,
};

/**
 * enum baleen_key_spec - which fields of a packet make the key; combined by |
 * @BALEEN_KEY_SRC: source address
 * @BALEEN_KEY_DST: destination address
 * @BALEEN_KEY_SPORT: source port
 * @BALEEN_KEY_DPORT: destination port
 * @BALEEN_KEY_PROTO: protocol above IP
 * @BALEEN_KEY_PORTS: either port
 * @BALEEN_KEY_FLOW: all five
 * @BALEEN_KEY_STRING: no field of a packet but a string of bytes; alone
 * @BALEEN_KEY_SQUID: what Squid calls an object, the MD5 of method and URL; alone.
 *                    See squid.h
 * @BALEEN_KEY_FINGERPRINT: no field of a packet but the fingerprint itself, as up to 32
 *                          bits; alone
 */
enum baleen_key_spec {
	BALEEN_KEY_SRC = 1,
	BALEEN_KEY_DST = 2,
	BALEEN_KEY_SPORT = 4,
	BALEEN_KEY_DPORT = 8,
	BALEEN_KEY_PROTO = 16,
	BALEEN_KEY_PORTS = BALEEN_KEY_SPORT | BALEEN_KEY_DPORT,
	BALEEN_KEY_FLOW = 31,
	BALEEN_KEY_STRING = 32,
	BALEEN_KEY_SQUID = 64,
	BALEEN_KEY_FINGERPRINT = 128,
};

/**
 * struct baleen_key - one key in canonical form
 * @domain: BALEEN_IP4, IP6, WORD or TUPLE; says which of the others hold the
 *          key; those that do not are zero
 * @ip4: IPv4: the address as a number: 192.0.2.1 is 0xc0000201
 * @hi: IPv6: bits 127..64 of the address as a number; TUPLE: of the source
 * @lo: IPv6, TUPLE: bits 63..0; WORD: the whole key
 * @dst_hi: TUPLE: bits 127..64 of the destination
 * @dst_lo: TUPLE: bits 63..0
 * @rest: TUPLE: is IPv6 << 40 | protocol << 32 | source port << 16 |
 *        destination port
 */
struct baleen_key {
	u32 domain;
	u32 ip4;
	u64 hi;
	u64 lo;
	u64 dst_hi;
	u64 dst_lo;
	u64 rest;
};

/**
 * baleen_key_is_bad() - is this no canonical key?
 * @key: from elsewhere
 *
 * Context: any.
 * Return: true when its domain has no keys, or a field is set that is not of it.
 */
baleen_inline bool baleen_key_is_bad(const struct baleen_key *key)
{
	switch (key->domain) {
	case BALEEN_IP4: return key->hi | key->lo | key->dst_hi | key->dst_lo | key->rest;
	case BALEEN_IP6: return key->ip4 || key->dst_hi | key->dst_lo | key->rest;
	case BALEEN_WORD: return key->ip4 || key->hi | key->dst_hi | key->dst_lo | key->rest;
	case BALEEN_TUPLE: return key->ip4;
	default: return true;
	}
}

/**
 * struct baleen_fields - what a key of several fields is made of
 * @is_ip6: the addresses are IPv6
 * @src_hi: source address, bits 127..64; 0 for IPv4
 * @src_lo: bits 63..0; the address for IPv4
 * @dst_hi: destination address, as the source
 * @dst_lo: bits 63..0
 * @sport: source port; 0 where the protocol has none
 * @dport: destination port
 * @proto: protocol
 */
struct baleen_fields {
	bool is_ip6;
	u64 src_hi;
	u64 src_lo;
	u64 dst_hi;
	u64 dst_lo;
	u16 sport;
	u16 dport;
	u8 proto;
};

/**
 * baleen_key_ip4() - key of an IPv4 address
 * @addr: four bytes in network order, at any alignment
 *
 * Context: any, BPF-safe when the caller has bounds-checked @addr.
 * Return: the key.
 */
baleen_inline struct baleen_key baleen_key_ip4(const void *addr)
{
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = baleen_load_be32(addr) };
}

/**
 * baleen_key_ip6() - key of an IPv6 address
 * @addr: sixteen bytes in network order, at any alignment
 *
 * Context: any, BPF-safe when the caller has bounds-checked @addr.
 * Return: the key.
 */
baleen_inline struct baleen_key baleen_key_ip6(const void *addr)
{
	return (struct baleen_key){
		.domain = BALEEN_IP6,
		.hi = baleen_load_be64(addr),
		.lo = baleen_load_be64((const u8 *)addr + 8),
	};
}

/**
 * baleen_spec_is_address() - is the key one address and nothing else?
 * @spec: enum baleen_key_spec
 *
 * Only such keys can be prefixes.
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_spec_is_address(u32 spec)
{
	return spec == BALEEN_KEY_SRC || spec == BALEEN_KEY_DST;
}

/**
 * baleen_spec_has_fields() - is the key made of fields of a packet?
 * @spec: enum baleen_key_spec
 *
 * Others are asked for by programs, and no rule can have them.
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_spec_has_fields(u32 spec)
{
	return spec && spec <= BALEEN_KEY_FLOW;
}

/**
 * baleen_spec_is_bad() - is this no specification of keys?
 * @spec: any number
 *
 * Context: any.
 * Return: true or false.
 */
baleen_inline bool baleen_spec_is_bad(u32 spec)
{
	return !baleen_spec_has_fields(spec) && spec != BALEEN_KEY_STRING &&
	       spec != BALEEN_KEY_SQUID && spec != BALEEN_KEY_FINGERPRINT;
}

/**
 * baleen_spec_bits() - bits of a key
 * @spec: enum baleen_key_spec
 * @is_ip6: of an IPv6 packet
 *
 * Context: any, BPF-safe.
 * Return: 8 to 296.
 */
baleen_inline u32 baleen_spec_bits(u32 spec, bool is_ip6)
{
	u32 address = is_ip6 ? 128 : 32;

	return (spec & BALEEN_KEY_SRC ? address : 0) + (spec & BALEEN_KEY_DST ? address : 0) +
	       (spec & BALEEN_KEY_SPORT ? 16 : 0) + (spec & BALEEN_KEY_DPORT ? 16 : 0) +
	       (spec & BALEEN_KEY_PROTO ? 8 : 0);
}

/**
 * baleen_spec_domain() - the domain of the keys of a family
 * @spec: enum baleen_key_spec
 * @is_ip6: of an IPv6 packet
 *
 * Context: any, BPF-safe.
 * Return: BALEEN_IP4, BALEEN_IP6, BALEEN_WORD or BALEEN_TUPLE.
 */
baleen_inline u32 baleen_spec_domain(u32 spec, bool is_ip6)
{
	if (baleen_spec_is_address(spec))
		return is_ip6 ? BALEEN_IP6 : BALEEN_IP4;
	if (spec == BALEEN_KEY_STRING || spec == BALEEN_KEY_SQUID)
		return BALEEN_TUPLE;
	/* A fingerprint has no field of a packet, and so no bits here. */
	return baleen_spec_bits(spec, is_ip6) <= 64 ? BALEEN_WORD : BALEEN_TUPLE;
}

/* The fields asked for, one behind the other, the last in the lowest bits. */
baleen_inline u64 baleen_key_pack(u32 spec, const struct baleen_fields *fields)
{
	u64 word = 0;

	if (spec & BALEEN_KEY_PROTO)
		word = fields->proto;
	if (spec & BALEEN_KEY_SRC)
		word = word << 32 | (u32)fields->src_lo;
	if (spec & BALEEN_KEY_DST)
		word = word << 32 | (u32)fields->dst_lo;
	if (spec & BALEEN_KEY_SPORT)
		word = word << 16 | fields->sport;
	if (spec & BALEEN_KEY_DPORT)
		word = word << 16 | fields->dport;
	return word;
}

/**
 * baleen_key_fields() - key of any fields
 * @spec: enum baleen_key_spec; fields that it does not name are not looked at
 * @fields: the fields
 *
 * In a BALEEN_TUPLE an IPv4 address stands as an IPv4-mapped IPv6 address
 * (RFC 4291 section 2.5.5.2). An IPv6 packet may well have such an address, so
 * a bit of its own tells the families apart.
 *
 * Context: any, BPF-safe.
 * Return: the key.
 */
baleen_inline struct baleen_key baleen_key_fields(u32 spec, const struct baleen_fields *fields)
{
	u64 mapped = fields->is_ip6 ? 0 : 0xffff00000000ull;
	struct baleen_key key = { .domain = baleen_spec_domain(spec, fields->is_ip6) };

	if (key.domain == BALEEN_IP4) {
		key.ip4 = spec & BALEEN_KEY_SRC ? fields->src_lo : fields->dst_lo;
		return key;
	}
	if (key.domain == BALEEN_IP6) {
		key.hi = spec & BALEEN_KEY_SRC ? fields->src_hi : fields->dst_hi;
		key.lo = spec & BALEEN_KEY_SRC ? fields->src_lo : fields->dst_lo;
		return key;
	}
	if (key.domain == BALEEN_WORD) {
		key.lo = baleen_key_pack(spec, fields);
		return key;
	}
	if (spec & BALEEN_KEY_SRC) {
		key.hi = fields->src_hi;
		key.lo = fields->src_lo | mapped;
	}
	if (spec & BALEEN_KEY_DST) {
		key.dst_hi = fields->dst_hi;
		key.dst_lo = fields->dst_lo | mapped;
	}
	key.rest = (u64)fields->is_ip6 << 40;
	if (spec & BALEEN_KEY_PROTO)
		key.rest |= (u64)fields->proto << 32;
	if (spec & BALEEN_KEY_SPORT)
		key.rest |= (u32)fields->sport << 16;
	if (spec & BALEEN_KEY_DPORT)
		key.rest |= fields->dport;
	return key;
}

#endif /* BALEEN_KEY_H */
