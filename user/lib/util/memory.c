// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The memory of this machine, and what may be taken of it. */
#include <errno.h>
#include <sys/sysinfo.h>

#include "util/memory.h"

u64 baleen_memory_total(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (u64)info.totalram * info.mem_unit;
}

u64 baleen_memory_bound(u64 asked)
{
	return asked ?: baleen_memory_total() / 4;
}

int baleen_memory_refuse(const char *what, u64 n_bytes, u64 max_bytes, struct baleen_error *error)
{
	return baleen_fail(error, ERANGE,
			   "%s: %.3f MB of kernel memory: more than max-memory %.3f MB allows",
			   what, n_bytes / 1e6, max_bytes / 1e6);
}
