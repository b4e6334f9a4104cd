// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The network namespace that this thread is in, and what it is called. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/netns.h"
#include "util/fd.h"

#define NAMES "/run/netns"

int baleen_netns_cookie(u64 *cookie, struct baleen_error *error)
{
	socklen_t bytes = sizeof(*cookie);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &bytes))
		err = baleen_fail(error, errno, "cannot identify the network namespace: %m");
	baleen_close_fd(&fd);
	return err;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ip(8) binds a namespace to a file of this directory. */
static bool find_name(const struct stat *here, char *name)
{
	DIR *directory = opendir(NAMES);
	struct dirent *entry;
	struct stat stat;

	*name = '\0';
	while (directory && (entry = readdir(directory)))
		if (!fstatat(dirfd(directory), entry->d_name, &stat, 0) && is_same(&stat, here) &&
		    (!*name || strcmp(entry->d_name, name) < 0))
			strcpy(name, entry->d_name);
	if (directory)
		closedir(directory);
	return *name;
}

enum baleen_netns_kind baleen_netns_find(char *name)
{
	struct stat here, own, home;
	/* Each namespace has such a file of its own. /proc/1/ns/net is closed to who has fewer
	 * rights than process 1, as baleend in its unit.
	 */
	bool has_home = !stat("/proc/1/net/dev", &home) && !stat("/proc/thread-self/net/dev", &own);

	/* Before any name: `ip netns attach` names that of process 1, too, and a boot
	 * restores before anybody has done so.
	 */
	if (has_home && is_same(&own, &home))
		return BALEEN_NETNS_HOME;
	if (stat("/proc/thread-self/ns/net", &here))
		return BALEEN_NETNS_UNKNOWN;
	if (find_name(&here, name))
		return BALEEN_NETNS_NAMED;
	return has_home ? BALEEN_NETNS_ANONYMOUS : BALEEN_NETNS_UNKNOWN;
}
