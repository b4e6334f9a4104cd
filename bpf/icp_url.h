/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A URL in the scratch memory of this CPU: is it one that Squid takes, and what is its key?
 *
 * The loops are in global functions, which the verifier looks at once: inlined, each
 * length of a host times each length of a port would be a path of its own.
 */
#ifndef BALEEN_BPF_ICP_URL_H
#define BALEEN_BPF_ICP_URL_H

#include "icp_parse.h"

/* A power of two, so that a mask keeps any index inside: 23 blocks and some room. */
#define ICP_MESSAGE_BYTES 2048
#define ICP_MESSAGE_WORDS (ICP_MESSAGE_BYTES / 4)
#define ICP_MAX_BLOCKS                                                                  \
	((BALEEN_ICP_MAX_URL + 1 + BALEEN_MD5_PAD_BYTES + BALEEN_MD5_BLOCK_BYTES - 1) / \
	 BALEEN_MD5_BLOCK_BYTES)

/* The URL stands behind the method byte. */
#define ICP_URL_AT 1

/* Beginnings of URLs, as numbers in network order. */
#define ICP_HTTP 0x687474703a2f2full
#define ICP_HTTPS 0x68747470733a2f2full
#define ICP_FTP 0x6674703a2f2full

/* Squid cuts a host there. */
#define ICP_MAX_HOST 255

/* A loop that ends with a jump back, see rule.h. */
#define ICP_HAS_LOOPS __attribute__((minsize)) __noinline

#define ICP_EACH_BYTE 0x0101010101010101ull
#define ICP_HIGH_BITS 0x8080808080808080ull

/* RFC 2186 section 3. */
struct icp_header {
	u8 opcode;
	u8 version;
	u16 bytes_be;
	u32 request;
	u32 options;
	u32 option_data;
	u32 sender;
};

struct icp_ip4 {
	u8 version_ihl;
	u8 tos;
	u16 bytes_be;
	u16 id_be;
	u16 fragment_be;
	u8 ttl;
	u8 proto;
	u16 checksum;
	u32 source_be;
	u32 dest_be;
};

struct icp_ip6 {
	u32 version_be;
	u16 bytes_be;
	u8 proto;
	u8 hop_limit;
	u32 source_be[4];
	u32 dest_be[4];
};

/* UDP and ICP. */
struct icp_above_ip {
	u16 sport_be;
	u16 dport_be;
	u16 bytes_be;
	u16 checksum;
	struct icp_header icp;
};

/* Ethernet and four tags end where the IP header begins. */
#define ICP_LINK_ROOM 32
#define ICP_MIN_LINK BALEEN_ETHER_BYTES
#define ICP_MAX_LINK (BALEEN_ETHER_BYTES + BALEEN_MAX_TAGS * BALEEN_TAG_BYTES)

struct icp_head {
	u8 link[ICP_LINK_ROOM];
	union {
		struct {
			struct icp_ip4 ip;
			struct icp_above_ip above;
		} ip4;
		struct {
			struct icp_ip6 ip;
			struct icp_above_ip above;
		} ip6;
	};
};

_Static_assert(sizeof(struct icp_ip4) == BALEEN_IP4_BYTES, "layout of IPv4");
_Static_assert(sizeof(struct icp_ip6) == BALEEN_IP6_BYTES, "layout of IPv6");
_Static_assert(sizeof(struct icp_header) == BALEEN_ICP_HEADER_BYTES, "layout of ICP");
_Static_assert(sizeof(struct icp_above_ip) == ICP_UDP_BYTES + BALEEN_ICP_HEADER_BYTES,
	       "layout of UDP and ICP");

/**
 * struct icp_scratch - what does not fit on the stack
 * @head: head of a reply, up to the URL
 * @query: the ICP header of the query
 * @message: input of MD5: method byte, URL, padding
 * @hi: the key, once hashed
 * @lo: the key, once hashed
 * @url_sum: sum of the URL's 16-bit words, its first byte the first of a word, for the
 *           checksum of a reply
 */
struct icp_scratch {
	struct icp_head head;
	struct icp_header query;
	u32 reserved;
	union {
		u8 byte[ICP_MESSAGE_BYTES];
		u32 word_le[ICP_MESSAGE_WORDS];
		u64 pair[ICP_MESSAGE_BYTES / 8];
	} message;
	u64 hi;
	u64 lo;
	u32 url_sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct icp_scratch);
} icp_scratches SEC(".maps");

/* Nothing that runs with it is interrupted by another program that does. */
baleen_inline struct icp_scratch *icp_scratch(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&icp_scratches, &zero);
}

baleen_inline u32 icp_byte(const struct icp_scratch *scratch, u32 at)
{
	/* clang would drop the mask where it knows a bound that the verifier does not see. */
	return scratch->message.byte[baleen_opaque64(at) & (ICP_MESSAGE_BYTES - 1)];
}

/* Eight bytes at any place; what runs BPF here loads and stores them so. */
baleen_inline void icp_put8(struct icp_scratch *scratch, u32 at, u64 value)
{
	at &= ICP_MESSAGE_BYTES - 1;
	if (at <= ICP_MESSAGE_BYTES - sizeof(value))
		*(u64 *)(scratch->message.byte + at) = value;
}

enum icp_bytes {
	ICP_BYTES_FINE,
	ICP_BYTES_ZERO,
	ICP_BYTES_ODD,
};

/* Is there a zero byte in the URL, or else white space or a control byte? Eight at a
 * time, after Mycroft's test for a zero byte: a borrow comes out of a byte that is less.
 */
ICP_HAS_LOOPS u32 icp_url_bytes(u32 n_url)
{
	struct icp_scratch *scratch = icp_scratch();
	u64 zeros = 0, odd = 0;

	if (!scratch || n_url > BALEEN_ICP_MAX_URL)
		return ICP_BYTES_ODD;
	scratch->message.byte[0] = 'x';
	icp_put8(scratch, ICP_URL_AT + n_url, 'x' * ICP_EACH_BYTE);
	BALEEN_LOOP
	for (u32 i = 0; i < ICP_MESSAGE_BYTES / 8; i++) {
		u64 bytes;

		if (i * 8 >= ICP_URL_AT + n_url)
			break;
		bytes = scratch->message.pair[i];
		zeros |= (bytes - ICP_EACH_BYTE) & ~bytes;
		odd |= (bytes - 0x21 * ICP_EACH_BYTE) & ~bytes;
	}
	if (zeros & ICP_HIGH_BITS)
		return ICP_BYTES_ZERO;
	return odd & ICP_HIGH_BITS ? ICP_BYTES_ODD : ICP_BYTES_FINE;
}

baleen_inline bool icp_is_letter(u32 c)
{
	return (c | 0x20) - 'a' < 26;
}

baleen_inline bool icp_is_digit(u32 c)
{
	return c - '0' < 10;
}

baleen_inline bool icp_ends_host(u32 c)
{
	return c == '/' || c == '?' || c == '#';
}

/* Where the host begins; 0: there is no scheme that Squid knows. It asks in small letters. */
baleen_inline u32 icp_url_scheme(const struct icp_scratch *scratch)
{
	u64 start = baleen_load_be64(scratch->message.byte + ICP_URL_AT);

	if (start >> 8 == ICP_HTTP)
		return ICP_URL_AT + 7;
	if (start >> 16 == ICP_FTP)
		return ICP_URL_AT + 6;
	return start == ICP_HTTPS ? ICP_URL_AT + 8 : 0;
}

/* How long the host at @at is that Squid is sure to take: a name without empty labels, or
 * an IPv4 address; 0: none.
 */
ICP_HAS_LOOPS u32 icp_url_name(u32 at, u32 end)
{
	struct icp_scratch *scratch = icp_scratch();
	u32 i;

	if (!scratch)
		return 0;
	BALEEN_LOOP
	for (i = 0; i <= ICP_MAX_HOST; i++) {
		u32 c = icp_byte(scratch, at + i);

		if (at + i >= end || icp_ends_host(c) || c == ':')
			return i;
		if (icp_is_letter(c) || icp_is_digit(c) || c == '-' || c == '_')
			continue;
		if (c != '.' || !i || icp_byte(scratch, at + i - 1) == '.')
			return 0;
	}
	return 0;
}

/* The same of an IPv6 address in brackets. */
ICP_HAS_LOOPS u32 icp_url_ip6(u32 at, u32 end)
{
	struct icp_scratch *scratch = icp_scratch();

	if (!scratch)
		return 0;
	BALEEN_LOOP
	for (u32 i = 1; i < 48; i++) {
		u32 c = icp_byte(scratch, at + i);

		if (at + i >= end)
			return 0;
		if (c == ']')
			return i > 1 ? i + 1 : 0;
		if (!icp_is_digit(c) && (c | 0x20) - 'a' >= 6 && c != ':' && c != '.')
			return 0;
	}
	return 0;
}

/* Does a port from 1 to 65535 stand there, and the host end behind it? */
ICP_HAS_LOOPS u32 icp_url_port(u32 at, u32 end)
{
	struct icp_scratch *scratch = icp_scratch();
	u32 port = 0;

	if (!scratch)
		return 0;
	BALEEN_LOOP
	for (u32 i = 0; i < 6; i++) {
		u32 c = icp_byte(scratch, at + i);

		if (at + i >= end || icp_ends_host(c))
			return port >= 1 && port <= 65535;
		if (!icp_is_digit(c))
			return 0;
		port = port * 10 + (c - '0');
	}
	return 0;
}

/* Is it a URL of which Squid knows hit or miss? To others it may answer an error, so what
 * is unusual is left to it.
 *
 * Source: Squid 5.7, src/anyp/Uri.cc, Uri::parse().
 */
__noinline int icp_url_is_plain(u32 n_url)
{
	struct icp_scratch *scratch = icp_scratch();
	u32 at, end, n;

	if (!scratch || n_url > BALEEN_ICP_MAX_URL)
		return 0;
	at = icp_url_scheme(scratch);
	end = ICP_URL_AT + n_url;
	if (!at || at >= end)
		return 0;
	n = icp_byte(scratch, at) == '[' ? icp_url_ip6(at, end) : icp_url_name(at, end);
	if (!n)
		return 0;
	at += n;
	if (at >= end || icp_ends_host(icp_byte(scratch, at)))
		return 1;
	return icp_byte(scratch, at) == ':' && icp_url_port(at + 1, end);
}

baleen_inline u32 icp_pad(struct icp_scratch *scratch, u32 n_url)
{
	u32 n_message = ICP_URL_AT + n_url;
	u32 n_blocks = (n_message + BALEEN_MD5_PAD_BYTES + BALEEN_MD5_BLOCK_BYTES - 1) /
		       BALEEN_MD5_BLOCK_BYTES;
	u32 last = n_blocks * (BALEEN_MD5_BLOCK_BYTES / 8) - 1;

	scratch->message.byte[0] = BALEEN_SQUID_GET;
	icp_put8(scratch, n_message, baleen_le64(0x80));
	BALEEN_LOOP
	for (u32 i = 1; i <= BALEEN_MD5_BLOCK_BYTES / 8; i++) {
		u32 word = n_message / 8 + i;

		if (word >= last)
			break;
		scratch->message.pair[word & (ICP_MESSAGE_BYTES / 8 - 1)] = 0;
	}
	scratch->message.pair[last & (ICP_MESSAGE_BYTES / 8 - 1)] = baleen_le64((u64)n_message * 8);
	return n_blocks;
}

/* From a sum of 32-bit words to one of 16 bits (RFC 1071). */
baleen_inline u32 icp_fold(u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The sum of the URL: that of the message less everything else. The URL begins with the
 * second byte of a word there: its sum is swapped (RFC 1071 section 2 B).
 */
baleen_inline u32 icp_url_sum(u64 sum, u32 n_url)
{
	u32 n_message = ICP_URL_AT + n_url, url_sum;

	sum -= baleen_le32(BALEEN_SQUID_GET) + (u64)baleen_le32(n_message * 8) +
	       baleen_le32(0x80u << n_message % 4 * 8);
	url_sum = icp_fold(sum);
	return (url_sum >> 8 | url_sum << 8) & 0xffff;
}

/* Hashes the URL: hi, lo and url_sum of the scratch memory. Returns 0, or -EINVAL. */
ICP_HAS_LOOPS int icp_url_hash(u32 n_url)
{
	struct icp_scratch *scratch = icp_scratch();
	struct baleen_md5 state = baleen_md5_init();
	u32 n_blocks;
	u64 sum = 0;

	if (!scratch || n_url > BALEEN_ICP_MAX_URL)
		return -EINVAL;
	n_blocks = icp_pad(scratch, n_url);
	BALEEN_LOOP
	for (u32 i = 0; i < ICP_MAX_BLOCKS; i++) {
		const u32 *word_le = scratch->message.word_le + i * BALEEN_MD5_BLOCK_WORDS;

		if (i >= n_blocks)
			break;
		baleen_md5_block(&state, word_le);
		BALEEN_UNROLL
		for (u32 j = 0; j < BALEEN_MD5_BLOCK_WORDS; j++)
			sum += word_le[j];
	}
	scratch->hi = baleen_md5_hi(&state);
	scratch->lo = baleen_md5_lo(&state);
	scratch->url_sum = icp_url_sum(sum, n_url);
	return 0;
}

#endif /* BALEEN_BPF_ICP_URL_H */
