// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Does baleend run in this network namespace? */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "net/daemon_lock.h"
#include "net/netns.h"
#include "util/announce.h"
#include "util/input.h"
#include "util/output.h"

static int open_file(bool makes)
{
	char path[PATH_MAX];
	u64 cookie;
	int fd, err = baleen_netns_cookie(&cookie, NULL);

	if (err)
		return err;
	if (snprintf(path, sizeof(path), "%s/baleend-ns%llu", baleen_run_root(),
		     (unsigned long long)cookie) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = makes ? baleen_output_own(path, NULL) :
		     baleen_input_open(path, BALEEN_INPUT_OWN, NULL);
	return fd;
}

int baleen_daemon_lock(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open_file(true), err;

	if (fd < 0 || !fcntl(fd, F_OFD_SETLK, &lock))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Asks, and takes no lock: a baleend that starts at this moment is not refused. */
bool baleen_daemon_is_running(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open_file(false);
	bool is_held;

	if (fd < 0)
		return false;
	is_held = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
	close(fd);
	return is_held;
}
