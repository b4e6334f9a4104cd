/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A query for a sibling, answered or passed on.
 */
#ifndef BALEEN_BPF_ICP_ANSWER_H
#define BALEEN_BPF_ICP_ANSWER_H

#include "icp_parse.h"

/* A datagram to config.port, for anybody. */
baleen_inline int icp_answer(struct xdp_md *ctx, const struct icp_datagram *datagram)
{
	return XDP_PASS;
}

baleen_inline int icp_observe(struct __sk_buff *skb)
{
	return 0;
}

#endif /* BALEEN_BPF_ICP_ANSWER_H */
