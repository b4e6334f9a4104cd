// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp: answering for caches, by verbs. */
#include "cli/common/options.h"
#include "cli/icp/icp_verbs.h"

/* A line each, so that two who add one do not collide. */
/* clang-format off */
static const struct command *const verbs[] = {
	&icp_attach_command,
	&icp_status_command,
	&icp_detach_command,
	&icp_seed_command,
	&icp_resync_command,
	&icp_serve_command,
	&icp_ask_command,
	&icp_demo_command,
	NULL,
};
/* clang-format on */

static int run(int argc, char **argv)
{
	return run_verb(&icp_command, argc, argv);
}

const struct command icp_command = {
	.name = "icp",
	.synopsis = "VERB ...",
	.help = "Answers ICP queries for caches, such as Squid's siblings, from filters of what they\n"
		"hold: in XDP, so that the cache itself is not asked. A filter follows its cache by\n"
		"the lines of store.log that the cache sends over UDP, or is replaced by what is read\n"
		"of it.\n",
	.verbs = verbs,
	.run = run,
};
