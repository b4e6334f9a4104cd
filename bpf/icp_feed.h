/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A line of store.log from a feeder, applied to the filters of its siblings.
 */
#ifndef BALEEN_BPF_ICP_FEED_H
#define BALEEN_BPF_ICP_FEED_H

#include "icp_parse.h"

/* A datagram to config.feed_port, from anybody. */
baleen_inline int icp_feed(struct xdp_md *ctx, const struct icp_datagram *datagram)
{
	return XDP_PASS;
}

baleen_inline int icp_apply(struct baleen_icp_batch *batch)
{
	return 0;
}

#endif /* BALEEN_BPF_ICP_FEED_H */
