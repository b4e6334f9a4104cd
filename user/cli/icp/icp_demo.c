// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp demo: a cache that is answered for, in a network namespace. */
#include "cli/common/demo.h"
#include "cli/common/options.h"
#include "cli/icp/icp_verbs.h"

static int run(int argc, char **argv)
{
	return become_demo(&icp_demo_command, "baleen-icp-demo", argc, argv);
}

static const struct option_spec options[] = { { 0 } };

const struct command icp_demo_command = {
	.name = "icp demo",
	.synopsis = "",
	.help = "Makes two hosts in network namespaces, answers on one of them for a cache that is\n"
		"not there, asks it from the other, and shows what was counted. Needs no Squid.\n"
		"Nothing is left of it. Needs root.\n",
	.options = options,
	.asks = { 0, 0, "it takes no arguments" },
	.run = run,
};
