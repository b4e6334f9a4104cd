// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Limits of this process. */
#include <errno.h>
#include <sys/resource.h>

#include "util/rlimit.h"

int baleen_rlimit_lower(int resource, u64 most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? -errno : 0;
}

void baleen_rlimit_raise(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}
