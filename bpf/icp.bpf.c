// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The programs that `baleen icp attach` loads: they answer ICP queries for up to 16
 * siblings, each with its filter in an array map of 64-byte blocks, and change these
 * by what the siblings tell of their stores.
 *
 * config is set before the load, as in baleen.bpf.c.
 */
#include <baleen/program.h>

#include "icp.h"

#include "icp_answer.h"
#include "icp_change.h"
#include "icp_feed.h"
#include "icp_observe.h"
#include "icp_times.h"

struct baleen_icp_config config SEC(".rodata.config");

/* A sibling's map and global functions, as the rules have them in baleen.bpf.c. One object
 * for any number of them: with room for one alone it loads in 55 ms instead of 65.
 */
#define SIBLING(n)                                                                              \
	BALEEN_BLOCKS(baleen_sibling_##n);                                                      \
                                                                                                \
	__attribute__((minsize)) __noinline int sibling_test_##n(u64 hi, u64 lo)                \
	{                                                                                       \
		const struct baleen_image *image = &config.sibling[n].image;                    \
		struct baleen_key key = baleen_squid_key(hi, lo);                               \
                                                                                                \
		return n < config.n_siblings ?                                                  \
			       baleen_table_test(&image->table[BALEEN_TUPLE], &image->seed,     \
						 &baleen_sibling_##n, &key) :                   \
			       0;                                                               \
	}                                                                                       \
                                                                                                \
	__attribute__((minsize)) __noinline int sibling_change_##n(u64 hi, u64 lo, u32 event)   \
	{                                                                                       \
		return n < config.n_siblings ? icp_change(&config.sibling[n].image,             \
							  &baleen_sibling_##n, hi, lo, event) : \
					       0;                                               \
	}

SIBLING(0)
SIBLING(1)
SIBLING(2)
SIBLING(3)
SIBLING(4)
SIBLING(5)
SIBLING(6)
SIBLING(7)
SIBLING(8)
SIBLING(9)
SIBLING(10)
SIBLING(11)
SIBLING(12)
SIBLING(13)
SIBLING(14)
SIBLING(15)

#define OF_SIBLING(n, call)       \
	switch (n) {              \
	case 0: return call(0);   \
	case 1: return call(1);   \
	case 2: return call(2);   \
	case 3: return call(3);   \
	case 4: return call(4);   \
	case 5: return call(5);   \
	case 6: return call(6);   \
	case 7: return call(7);   \
	case 8: return call(8);   \
	case 9: return call(9);   \
	case 10: return call(10); \
	case 11: return call(11); \
	case 12: return call(12); \
	case 13: return call(13); \
	case 14: return call(14); \
	case 15: return call(15); \
	default: return 0;        \
	}

static __noinline int sibling_test(u32 n, u64 hi, u64 lo)
{
#define TEST(i) sibling_test_##i(hi, lo)
	OF_SIBLING(n, TEST)
}

/* In line, since a frame of its own would be 32 bytes of the stack to kernel 6.1. */
static __always_inline int sibling_change(u32 n, u64 hi, u64 lo, u32 event){
#define CHANGE(i) sibling_change_##i(hi, lo, event)
	OF_SIBLING(n, CHANGE)
}

baleen_inline int icp_is_for_nobody(void)
{
	struct baleen_icp_stats *stats = icp_stats();

	if (stats)
		stats->others++;
	return XDP_PASS;
}

/* On the device where queries come in, and the feed, unless that has another one: then what
 * claims to be a feeder here is not, such as 127.0.0.1 where it comes in by lo.
 */
SEC("xdp")
int baleen_icp(struct xdp_md *ctx)
{
	struct icp_datagram datagram;

	if (!icp_parse(ctx, &datagram))
		return icp_is_for_nobody();
	if (datagram.dport == config.port)
		return icp_answer(ctx, &datagram);
	if (config.feed_device[0])
		return icp_is_for_nobody();
	return icp_feed(ctx, &datagram);
}

/* On another device where the feed comes in. */
SEC("xdp")
int baleen_icp_feed(struct xdp_md *ctx)
{
	struct icp_datagram datagram;

	if (!icp_parse(ctx, &datagram) || datagram.dport != config.feed_port)
		return icp_is_for_nobody();
	return icp_feed(ctx, &datagram);
}

/* The answers of siblings themselves, on their way out by that device. */
SEC("tc")
int baleen_icp_egress(struct __sk_buff *skb)
{
	return icp_observe(skb);
}

SEC("syscall")
int baleen_icp_apply(struct baleen_icp_batch *batch)
{
	return icp_apply(batch);
}

char _license[] SEC("license") = "Dual BSD/GPL";
