/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frame of a query becomes that of its answer, as Squid 5.7 on Linux sends it.
 *
 * An answer has no requester's address, so it is four bytes shorter. The headers are
 * written anew where they are, and the URL four bytes nearer:
 *
 *      query   | Ethernet, tags | IP | UDP | ICP | requester | URL | 0 |
 *      answer  | Ethernet, tags | IP | UDP | ICP | URL | 0 |
 *
 * It would be less work to leave the URL and to write the headers four bytes further. But
 * generic XDP on a veth gets queries whose checksum their sender left to its device, and
 * the kernel goes on to know by its place where that is to be. With the header moved, and
 * depending on addresses and length, it takes the right checksum of an answer for wrong: it
 * dropped 10 of 1,426, URLs of 192 and 193 bytes among them.
 *
 * The answer keeps the query's tags, request number and IPv6 flow label, which Linux has
 * the same in both directions, and swaps addresses and ports. The checksum is computed
 * anew: a query from a socket of this host has none yet, and the program cannot see that.
 */
#ifndef BALEEN_BPF_ICP_REPLY_H
#define BALEEN_BPF_ICP_REPLY_H

#include "icp_url.h"

#define ICP_REQUESTER_BYTES (BALEEN_ICP_QUERY_BYTES - BALEEN_ICP_HEADER_BYTES)
#define ICP_IP4_DF 0x4000
#define ICP_TTL 64

/* Swaps the MAC addresses. One of a group is nobody's to answer from. */
baleen_inline int icp_reply_link(u8 *link)
{
	u32 dest = *(u32 *)link, source = *(u32 *)(link + 6);
	u16 dest_end = *(u16 *)(link + 4), source_end = *(u16 *)(link + 10);

	if (link[0] & 1)
		return -EINVAL;
	*(u32 *)link = source;
	*(u16 *)(link + 4) = source_end;
	*(u32 *)(link + 6) = dest;
	*(u16 *)(link + 10) = dest_end;
	return 0;
}

baleen_inline u64 icp_sum(const void *start, u32 n_bytes)
{
	const u32 *word = start;
	u64 sum = 0;

	BALEEN_UNROLL
	for (u32 i = 0; i < n_bytes / 4; i++)
		sum += word[i];
	return sum;
}

/* @sum: of both addresses. RFC 768: a checksum of 0 would say that there is none. */
baleen_inline void icp_reply_above(const struct icp_datagram *datagram,
				   const struct icp_scratch *scratch, u32 opcode, u32 n_url,
				   u64 sum, struct icp_above_ip *above)
{
	u32 icp_bytes = BALEEN_ICP_HEADER_BYTES + n_url + 1, checksum;

	*above = (struct icp_above_ip){
		.sport_be = baleen_be16(datagram->dport),
		.dport_be = baleen_be16(datagram->sport),
		.bytes_be = baleen_be16(icp_bytes + ICP_UDP_BYTES),
		.icp = {
			.opcode = opcode,
			.version = BALEEN_ICP_VERSION,
			.bytes_be = baleen_be16(icp_bytes),
			.request = scratch->query.request,
		},
	};
	sum += baleen_be16(BALEEN_PROTO_UDP) + (u64)above->bytes_be + scratch->url_sum;
	checksum = icp_fold(sum + icp_sum(above, sizeof(*above))) ^ 0xffff;
	above->checksum = checksum ? checksum : 0xffff;
}

baleen_inline u64 icp_reply_ip4(const struct icp_datagram *datagram, u32 ip_bytes,
				struct icp_ip4 *ip)
{
	*ip = (struct icp_ip4){
		.version_ihl = 0x45,
		.bytes_be = baleen_be16(ip_bytes),
		.fragment_be = baleen_be16(ICP_IP4_DF),
		.ttl = ICP_TTL,
		.proto = BALEEN_PROTO_UDP,
		.source_be = baleen_be32((u32)datagram->dest_lo),
		.dest_be = baleen_be32((u32)datagram->source_lo),
	};
	ip->checksum = ~icp_fold(icp_sum(ip, sizeof(*ip)));
	return (u64)ip->source_be + ip->dest_be;
}

/* An address as it stands in the header. */
#define ICP_WORDS(hi, lo)                                                       \
	{                                                                       \
		baleen_be32((u32)((hi) >> 32)), baleen_be32((u32)(hi)),         \
			baleen_be32((u32)((lo) >> 32)), baleen_be32((u32)(lo)), \
	}

baleen_inline u64 icp_reply_ip6(const struct icp_datagram *datagram, u32 ip_bytes,
				struct icp_ip6 *ip)
{
	u32 label_be = ip->version_be & baleen_be32(0xfffff);

	*ip = (struct icp_ip6){
		.version_be = baleen_be32(6u << 28) | label_be,
		.bytes_be = baleen_be16(ip_bytes - BALEEN_IP6_BYTES),
		.proto = BALEEN_PROTO_UDP,
		.hop_limit = ICP_TTL,
		.source_be = ICP_WORDS(datagram->dest_hi, datagram->dest_lo),
		.dest_be = ICP_WORDS(datagram->source_hi, datagram->source_lo),
	};
	return icp_sum(ip->source_be, sizeof(ip->source_be) + sizeof(ip->dest_be));
}

/* Writes the head of the reply; returns its bytes behind the link's. */
baleen_inline u32 icp_reply_head(const struct icp_datagram *datagram, struct icp_scratch *scratch,
				 u32 opcode, u32 n_url)
{
	u32 above_bytes = sizeof(struct icp_above_ip) + n_url + 1;
	struct icp_head *head = &scratch->head;
	u64 sum;

	if (datagram->is_ip6) {
		sum = icp_reply_ip6(datagram, BALEEN_IP6_BYTES + above_bytes, &head->ip6.ip);
		icp_reply_above(datagram, scratch, opcode, n_url, sum, &head->ip6.above);
		return sizeof(head->ip6.ip) + sizeof(head->ip6.above);
	}
	sum = icp_reply_ip4(datagram, BALEEN_IP4_BYTES + above_bytes, &head->ip4.ip);
	icp_reply_above(datagram, scratch, opcode, n_url, sum, &head->ip4.above);
	return sizeof(head->ip4.ip) + sizeof(head->ip4.above);
}

/* Writes the URL that was hashed last, and the zero byte that MD5's padding has replaced. */
baleen_inline int icp_reply_url(struct xdp_md *ctx, u32 at, u32 n_url, struct icp_scratch *scratch)
{
	/* As in icp_url_load(). */
	asm volatile("" : "+r"(n_url));
	if (n_url > BALEEN_ICP_MAX_URL)
		return -EINVAL;
	scratch->message.byte[ICP_URL_AT + n_url] = 0;
	return bpf_xdp_store_bytes(ctx, at, scratch->message.byte + ICP_URL_AT, n_url + 1);
}

/* Turns a query for the URL hashed last into its reply. Returns 0, or -errno with the
 * frame unchanged: bytes that could be read can also be written.
 */
__noinline int icp_reply(struct xdp_md *ctx, const struct icp_datagram *datagram, u32 opcode,
			 u32 n_url)
{
	struct icp_scratch *scratch = icp_scratch();
	u32 link_bytes, head_bytes, from;
	u8 *link;
	int err;

	if (!scratch || !datagram || datagram->is_pppoe)
		return -EINVAL;
	link_bytes = datagram->ip_at;
	if (link_bytes < ICP_MIN_LINK || link_bytes > ICP_MAX_LINK)
		return -EINVAL;
	from = ICP_LINK_ROOM - link_bytes;
	/* clang would subtract from the pointer, and the verifier see no bound. */
	asm volatile("" : "+r"(from));
	link = scratch->head.link + from;
	/* And the first word of IP, which has the flow label. */
	err = bpf_xdp_load_bytes(ctx, 0, link, link_bytes + 4);
	if (err)
		return err;
	err = icp_reply_link(link);
	if (err)
		return err;
	head_bytes = icp_reply_head(datagram, scratch, opcode, n_url);
	err = bpf_xdp_adjust_tail(ctx, -ICP_REQUESTER_BYTES);
	if (err)
		return err;
	err = bpf_xdp_store_bytes(ctx, 0, link, link_bytes + head_bytes);
	if (err)
		return err;
	return icp_reply_url(ctx, link_bytes + head_bytes, n_url, scratch);
}

#endif /* BALEEN_BPF_ICP_REPLY_H */
