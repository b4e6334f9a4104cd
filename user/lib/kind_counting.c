// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counting filter: plan, rates and keys. */
#include "kind.h"

const struct baleen_kind_ops baleen_counting_ops = {
	.name = "counting",
};
