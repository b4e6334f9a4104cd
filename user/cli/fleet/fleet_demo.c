// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet demo: three hosts and a Redis in network namespaces. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "util/helper.h"

static int run(int argc, char **argv)
{
	char path[PATH_MAX], self[PATH_MAX];
	char *arguments[] = { path, self, NULL };
	struct {
		bool none;
	} nothing;
	int err = options_parse(&fleet_demo_command, &nothing, &argc, &argv);
	ssize_t n;

	if (err)
		return err;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return complain("/proc/self/exe: %s", strerror(errno));
	self[n] = '\0';
	baleen_helper_find("baleen-fleet-demo", path);
	execv(path, arguments);
	return complain("%s: %s", path, strerror(errno));
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
