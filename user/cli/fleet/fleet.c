// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet: bans that hold on many hosts, by verbs. */
#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"

/* A line each, so that two who add one do not collide. */
/* clang-format off */
static const struct command *const verbs[] = {
	&fleet_init_command,
	&fleet_join_command,
	&fleet_admit_command,
	&fleet_status_command,
	&fleet_who_command,
	&fleet_why_command,
	&fleet_ban_command,
	&fleet_pardon_command,
	&fleet_suspend_command,
	&fleet_resume_command,
	&fleet_rotate_command,
	&fleet_check_command,
	&fleet_log_command,
	&fleet_demo_command,
	NULL,
};
/* clang-format on */

static int run(int argc, char **argv)
{
	return run_verb(&fleet_command, argc, argv);
}

const struct command fleet_command = {
	.name = "fleet",
	.synopsis = "VERB ...",
	.help = "A ban that is made on one host of a fleet holds on all: it goes out as a signed\n"
		"message over Redis, and every host holds it to a policy of its own. baleend carries\n"
		"them; when it, Redis or the network dies, what came stays in force until it ends.\n",
	.verbs = verbs,
	.run = run,
};
