// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The classic filter: plan, rates and keys. */
#include "kind.h"

const struct baleen_kind_ops baleen_classic_ops = {
	.name = "classic",
};
