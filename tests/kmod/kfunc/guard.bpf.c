// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sample for bpf_baleen_test(): programs with a policy of their own that ask a
 * filter of the kernel module by its name.
 *
 * guard_xdp drops UDP to one port from sources that the filter lists; guard_tc, for
 * either side of a device, drops all from them, and the sender is not told. Where there is no such
 * filter all passes.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <uapi/linux/baleen.h>

extern int bpf_baleen_test(const void *name, __u32 name__sz, const void *key, __u32 key__sz,
			   int *error) __ksym;

/* The policy; a process may change it at any time. Not constant, because the verifier
 * wants memory that could be written for what a kfunc is given.
 */
__u8 filter[BALEEN_DEV_NAME_BYTES] = "guard";
__u16 port = 53;

/* What was answered; no_filter counts the errors. */
__u64 listed, unlisted, no_filter;

static bool is_listed(const struct baleen_dev_key *key)
{
	int error = 0, answer = bpf_baleen_test(filter, sizeof(filter), key, sizeof(*key), &error);

	if (error)
		__sync_fetch_and_add(&no_filter, 1);
	else if (answer)
		__sync_fetch_and_add(&listed, 1);
	else
		__sync_fetch_and_add(&unlisted, 1);
	return answer;
}

static bool ip4_is_listed(__u32 address_be)
{
	struct baleen_dev_key key = { .domain = 0, .ip4 = bpf_ntohl(address_be) };

	return is_listed(&key);
}

static bool ip6_is_listed(const struct in6_addr *address)
{
	const __u32 *word = address->in6_u.u6_addr32;
	struct baleen_dev_key key = {
		.domain = 1,
		.hi = (__u64)bpf_ntohl(word[0]) << 32 | bpf_ntohl(word[1]),
		.lo = (__u64)bpf_ntohl(word[2]) << 32 | bpf_ntohl(word[3]),
	};

	return is_listed(&key);
}

static bool is_to_port(const struct udphdr *udp, const void *end)
{
	return (const void *)(udp + 1) <= end && udp->dest == bpf_htons(port);
}

SEC("xdp")
int guard_xdp(struct xdp_md *ctx)
{
	const void *end = (const void *)(long)ctx->data_end;
	const struct ethhdr *ether = (const void *)(long)ctx->data;
	const struct iphdr *ip4 = (const void *)(ether + 1);
	const struct ipv6hdr *ip6 = (const void *)(ether + 1);

	if ((const void *)(ip4 + 1) > end)
		return XDP_PASS;
	if (ether->h_proto == bpf_htons(ETH_P_IP) && ip4->ihl == 5 &&
	    ip4->protocol == IPPROTO_UDP && is_to_port((const void *)(ip4 + 1), end))
		return ip4_is_listed(ip4->saddr) ? XDP_DROP : XDP_PASS;
	if ((const void *)(ip6 + 1) > end)
		return XDP_PASS;
	if (ether->h_proto == bpf_htons(ETH_P_IPV6) && ip6->nexthdr == IPPROTO_UDP &&
	    is_to_port((const void *)(ip6 + 1), end))
		return ip6_is_listed(&ip6->saddr) ? XDP_DROP : XDP_PASS;
	return XDP_PASS;
}

SEC("tc")
int guard_tc(struct __sk_buff *ctx)
{
	const void *end = (const void *)(long)ctx->data_end;
	const struct ethhdr *ether = (const void *)(long)ctx->data;
	const struct iphdr *ip4 = (const void *)(ether + 1);
	const struct ipv6hdr *ip6 = (const void *)(ether + 1);

	if (ctx->protocol == bpf_htons(ETH_P_IP) && (const void *)(ip4 + 1) <= end)
		return ip4_is_listed(ip4->saddr) ? TC_ACT_STOLEN : TC_ACT_OK;
	if (ctx->protocol == bpf_htons(ETH_P_IPV6) && (const void *)(ip6 + 1) <= end)
		return ip6_is_listed(&ip6->saddr) ? TC_ACT_STOLEN : TC_ACT_OK;
	return TC_ACT_OK;
}

char _license[] SEC("license") = "Dual BSD/GPL";
