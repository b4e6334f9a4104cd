// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp: answering for caches, by verbs. */
#include <string.h>

#include "cli/common/options.h"
#include "cli/icp/icp_verbs.h"

/* clang-format off: a line each, so that two who add one do not collide. */
static const struct command *const verbs[] = {
	&icp_attach_command,
	&icp_status_command,
	&icp_detach_command,
	&icp_seed_command,
	&icp_resync_command,
	&icp_serve_command,
	NULL,
};
/* clang-format on */

static int run(int argc, char **argv)
{
	const struct command *verb;

	if (argc < 2) {
		print_usage(stderr, &icp_command);
		return EXIT_USAGE;
	}
	verb = find_verb(&icp_command, argv[1]);
	if (!verb)
		return complain_usage(&icp_command, "no '%s'", argv[1]);
	if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		print_usage(stdout, verb);
		return finish_output(EXIT_DONE);
	}
	/* getopt_long() starts its messages with it. */
	argv[1] = argv[0];
	return verb->run(argc - 1, argv + 1);
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
