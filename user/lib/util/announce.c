// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How baleend learns that there is something new. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/announce.h"
#include "util/output.h"

const char *baleen_run_root(void)
{
	const char *root = getenv("BALEEN_RUN_DIR");

	return root && *root ? root : "/run/baleen";
}

int baleen_announce_path(char *path, size_t n_bytes)
{
	int n = snprintf(path, n_bytes, "%s/changed", baleen_run_root());

	return (size_t)n < n_bytes ? 0 : -ENAMETOOLONG;
}

void baleen_announce(void)
{
	char path[PATH_MAX];
	int fd;

	if (baleen_announce_path(path, sizeof(path)))
		return;
	fd = baleen_output_own(path, NULL);
	if (fd == -ENOENT && !mkdir(baleen_run_root(), 0700))
		fd = baleen_output_own(path, NULL);
	if (fd < 0)
		return;
	futimens(fd, NULL);
	close(fd);
}
