// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waiting for another writer, for so long and no longer. */
#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "util/clock.h"
#include "util/lock.h"

/* flock() has no time limit of its own, so ask every 20 ms. */
int baleen_lock_within(int fd, u64 timeout_ms)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	u64 deadline = baleen_monotonic_ms() + timeout_ms;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (baleen_monotonic_ms() >= deadline)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}

bool baleen_lock_is_of(int fd, const char *path)
{
	struct stat opened, named;

	return !fstat(fd, &opened) && !stat(path, &named) && opened.st_ino == named.st_ino &&
	       opened.st_dev == named.st_dev;
}
