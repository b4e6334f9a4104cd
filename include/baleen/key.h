/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The canonical key: what a list entry and a packet are both turned into.
 *
 * A list parser and a packet parser that build keys with these functions
 * cannot disagree about which address is meant.
 */
#ifndef BALEEN_KEY_H
#define BALEEN_KEY_H

#include <baleen/port.h>

/**
 * enum baleen_domain - which set of keys a key belongs to
 * @BALEEN_IP4: an IPv4 address, 32 bits
 * @BALEEN_IP6: an IPv6 address, 128 bits
 * @BALEEN_N_DOMAINS: room in the image for the tables of later domains
 *
 * An image holds one table per domain, so one image can hold both families.
 */
enum baleen_domain {
	BALEEN_IP4 = 0,
	BALEEN_IP6 = 1,
	BALEEN_N_DOMAINS = 8,
};

/**
 * enum baleen_key_spec - which field of a packet is looked up
 * @BALEEN_KEY_SRC: source address
 * @BALEEN_KEY_DST: destination address
 */
enum baleen_key_spec {
	BALEEN_KEY_SRC = 1,
	BALEEN_KEY_DST = 2,
};

/**
 * struct baleen_key - one key in canonical form
 * @domain: enum baleen_domain; says which of the other fields hold the key
 * @ip4: the IPv4 address as a number: 192.0.2.1 is 0xc0000201
 * @hi: IPv6: bits 127..64 of the address as a number
 * @lo: IPv6: bits 63..0
 */
struct baleen_key {
	u32 domain;
	u32 ip4;
	u64 hi;
	u64 lo;
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

#endif /* BALEEN_KEY_H */
