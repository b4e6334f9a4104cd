// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet demo: three hosts and a Redis in network namespaces. */
#include "cli/common/demo.h"
#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"

static int run(int argc, char **argv)
{
	return become_demo(&fleet_demo_command, "baleen-fleet-demo", argc, argv);
}

static const struct option_spec options[] = { { 0 } };

const struct command fleet_demo_command = {
	.name = "fleet demo",
	.synopsis = "",
	.help = "Makes three hosts and a Redis in network namespaces, bans an address on one of\n"
		"them, shows that none of them answers it any more, and takes it back. Nothing is\n"
		"left of it. Needs root and redis-server.\n",
	.options = options,
	.asks = { 0, 0, "it takes no arguments" },
	.run = run,
};
