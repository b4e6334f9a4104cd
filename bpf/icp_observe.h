/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answers of a sibling that is observed, compared with what the filter says.
 */
#ifndef BALEEN_BPF_ICP_OBSERVE_H
#define BALEEN_BPF_ICP_OBSERVE_H

#include "icp_answer.h"

baleen_inline int icp_observe(struct __sk_buff *skb)
{
	return 0;
}

#endif /* BALEEN_BPF_ICP_OBSERVE_H */
