// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Commands that are demonstrations: a script in network namespaces of its own. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/demo.h"
#include "cli/common/options.h"
#include "util/helper.h"

int become_demo(const struct command *command, const char *helper, int argc, char **argv)
{
	char path[PATH_MAX], self[PATH_MAX];
	char *arguments[] = { path, self, NULL };
	struct {
		bool none;
	} nothing;
	int err = options_parse(command, &nothing, &argc, &argv);
	ssize_t n;

	if (err)
		return err;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return complain("/proc/self/exe: %s", strerror(errno));
	self[n] = '\0';
	baleen_helper_find(helper, path);
	execv(path, arguments);
	return complain("%s: %s", path, strerror(errno));
}
