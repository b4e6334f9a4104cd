// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules in another order. */
#include "deploy/rule_order.h"
#include "xdp/ruleset.h"

void baleen_rule_order_stays(const int *place, u32 n, bool *stays)
{
	u32 length[BALEEN_MAX_RULES];
	int before[BALEEN_MAX_RULES], best = -1;

	for (u32 i = 0; i < n; i++) {
		stays[i] = false;
		length[i] = 1;
		before[i] = -1;
		if (place[i] < 0)
			continue;
		for (u32 j = 0; j < i; j++) {
			if (place[j] < 0 || place[j] > place[i] || length[j] < length[i])
				continue;
			length[i] = length[j] + 1;
			before[i] = j;
		}
		if (best < 0 || length[i] > length[best])
			best = i;
	}
	for (; best >= 0; best = before[best])
		stays[best] = true;
}
