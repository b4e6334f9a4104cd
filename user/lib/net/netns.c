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
#include "util/musl.h"

#define NAMES "/run/netns"

/**
 * struct known - the namespace that this thread asked about last: a ban asks for its cookie eight
 *                times, and four times for its name
 * @here: the namespace
 * @is_home: it is that of process 1
 * @cookie: of it; 0 when it is not known
 * @names: the directory of names as it was
 * @name: of it; empty when it is not known
 */
static _Thread_local struct known {
	struct stat here;
	bool is_home;
	u64 cookie;
	struct stat names;
	char name[NAME_MAX + 1];
} known;

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Return: whether the namespace can be told from others; then @known speaks of it. */
static bool look_here(void)
{
	struct stat here;

	if (stat("/proc/thread-self/ns/net", &here))
		return false;
	if (!is_same(&here, &known.here))
		known = (struct known){ .here = here };
	return true;
}

int baleen_netns_cookie(u64 *cookie, struct baleen_error *error)
{
	socklen_t bytes = sizeof(*cookie);
	bool is_here = look_here();
	int fd, err = 0;

	if (is_here && known.cookie) {
		*cookie = known.cookie;
		return 0;
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &bytes))
		err = baleen_fail(error, errno, "cannot identify the network namespace: %m");
	else if (is_here)
		known.cookie = *cookie;
	baleen_close_fd(&fd);
	return err;
}

static bool is_as_it_was(const struct stat *names)
{
	return is_same(names, &known.names) &&
	       names->st_mtim.tv_sec == known.names.st_mtim.tv_sec &&
	       names->st_mtim.tv_nsec == known.names.st_mtim.tv_nsec;
}

static bool has_its_name(void)
{
	struct stat names;

	return *known.name && !stat(NAMES, &names) && is_as_it_was(&names);
}

/* ip(8) binds a namespace to a file of this directory. */
static bool find_name(void)
{
	struct dirent *entry;
	DIR *directory;
	struct stat found;

	known.name[0] = '\0';
	directory = stat(NAMES, &known.names) ? NULL : opendir(NAMES);
	while (directory && (entry = readdir(directory)))
		if (!fstatat(dirfd(directory), entry->d_name, &found, 0) &&
		    is_same(&found, &known.here) &&
		    (!*known.name || strcmp(entry->d_name, known.name) < 0))
			strcpy(known.name, entry->d_name);
	if (directory)
		closedir(directory);
	return *known.name;
}

static enum baleen_netns_kind find(bool is_here)
{
	struct stat own, home;
	/* Each namespace has such a file of its own. /proc/1/ns/net is closed to who has fewer
	 * rights than process 1, as baleend in its unit.
	 */
	bool has_home = !stat("/proc/1/net/dev", &home) && !stat("/proc/thread-self/net/dev", &own);

	/* Before any name: `ip netns attach` names that of process 1, too, and a boot
	 * restores before anybody has done so.
	 */
	known.is_home = has_home && is_same(&own, &home);
	if (known.is_home)
		return BALEEN_NETNS_HOME;
	if (!is_here)
		return BALEEN_NETNS_UNKNOWN;
	if (find_name())
		return BALEEN_NETNS_NAMED;
	return has_home ? BALEEN_NETNS_ANONYMOUS : BALEEN_NETNS_UNKNOWN;
}

enum baleen_netns_kind baleen_netns_find(char *name)
{
	bool is_here = look_here();
	enum baleen_netns_kind kind;

	if (is_here && known.is_home)
		kind = BALEEN_NETNS_HOME;
	else if (is_here && has_its_name())
		kind = BALEEN_NETNS_NAMED;
	else
		kind = find(is_here);
	if (kind == BALEEN_NETNS_NAMED)
		strcpy(name, known.name);
	return kind;
}
