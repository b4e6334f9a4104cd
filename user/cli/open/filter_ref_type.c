// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waiting for others that change the same filter. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/open/filter_ref_type.h"
#include "util/lock.h"

void complain_changed(const struct filter_ref *ref, const char *by)
{
	complain("%s: %s for %llu s", ref->argument, by, (unsigned long long)ref->wait_ms / 1000);
}

int filter_ref_lock_fd(const struct filter_ref *ref, int fd, const char *by)
{
	int err = baleen_lock_within(fd, 0);

	if (err == -ETIMEDOUT && ref->wait_ms) {
		/* A user at a terminal learns why nothing happens. */
		if (isatty(STDERR_FILENO))
			complain("%s: waiting for another command that changes it", ref->argument);
		err = baleen_lock_within(fd, ref->wait_ms);
	}
	if (err == -ETIMEDOUT)
		complain_changed(ref, by);
	else if (err)
		complain("%s: %s", ref->argument, strerror(-err));
	return err ? EXIT_FAILED : 0;
}
