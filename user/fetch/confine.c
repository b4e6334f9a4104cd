// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives up rights until this process may do little, before it has read a byte. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fetch/calls.h"
#include "fetch/confine.h"
#include "util/rlimit.h"
#include "util/signals.h"

/* libcurl, GnuTLS and the certificates of Debian take 30 MiB, a resolver a thread more. */
#define MAX_DATA (256ull << 20)
#define MAX_ADDRESSES (2ull << 30)
#define MAX_FILES 64
#define MAX_PROCESSOR_S 120

static int bound_all(void)
{
	static const struct {
		int resource;
		u64 most;
	} limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_DATA, MAX_DATA },
		{ RLIMIT_AS, MAX_ADDRESSES },
		{ RLIMIT_NOFILE, MAX_FILES },
		{ RLIMIT_CPU, MAX_PROCESSOR_S },
		{ RLIMIT_MEMLOCK, 0 },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && !err; i++)
		err = baleen_rlimit_lower(limits[i].resource, limits[i].most);
	return err;
}

/* In a user namespace that has no such user (EINVAL), root is one without rights outside;
 * there the capabilities are all that there is to give up.
 */
static int become_nobody(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	if (!geteuid()) {
		if (setgroups(0, NULL) && errno != EINVAL && errno != EPERM)
			return -errno;
		if (setresgid(BALEEN_FETCH_UID, BALEEN_FETCH_UID, BALEEN_FETCH_UID) &&
		    errno != EINVAL)
			return -errno;
		if (setresuid(BALEEN_FETCH_UID, BALEEN_FETCH_UID, BALEEN_FETCH_UID) &&
		    errno != EINVAL)
			return -errno;
	}
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

int confine_process(const char **reason)
{
	int err = bound_all();

	umask(077);
	baleen_signals_to_errors();
	*reason = "cannot bound what it uses";
	if (!err && chdir("/"))
		err = -errno;
	if (!err) {
		*reason = "cannot become a user without rights (CAP_SETUID and CAP_SETGID do it)";
		err = become_nobody();
	}
	if (!err) {
		*reason = "cannot give up new rights";
		/* After the change of user, which undoes the last two. */
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0) ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL))
			err = -errno;
	}
	return err ? err : calls_restrict();
}

int confine_work(u64 max_bytes, u32 seconds)
{
	alarm(seconds);
	return baleen_rlimit_lower(RLIMIT_FSIZE, max_bytes);
}
