// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a path leads, found step by step without opening anything. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/fd.h"
#include "util/place.h"

/* As many as the kernel follows, path_resolution(7). */
#define MAX_LINKS 40

#define PATH_FLAGS (O_PATH | O_CLOEXEC)

/**
 * struct walk - a path on the way
 * @dir: the directory that was reached
 * @n_links: symbolic links followed
 * @rest: behind the part that is looked at
 * @text: what is left of the path, with the targets of links in front
 * @is_theirs: a link of somebody else's, @uid, is being followed
 * @end: length of what is left once that link is done
 * @is_last_link: the last part of the path was a link
 */
struct walk {
	int dir;
	u32 n_links;
	const char *rest;
	char text[2 * PATH_MAX];
	bool is_theirs;
	uid_t uid;
	size_t end;
	bool is_last_link;
};

bool baleen_is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

static bool is_procfs(int fd)
{
	struct statfs disk;

	return !fstatfs(fd, &disk) && disk.f_type == PROC_SUPER_MAGIC;
}

/* At something that is no link. */
static int arrive(struct walk *walk, const struct stat *stat)
{
	if (!walk->is_theirs || strlen(walk->rest) > walk->end)
		return 0;
	walk->is_theirs = false;
	return stat->st_uid == walk->uid ? 0 : -EPERM;
}

static int enter(struct walk *walk, int fd)
{
	close(walk->dir);
	walk->dir = fd;
	return 0;
}

static int enter_root(struct walk *walk)
{
	int fd = open("/", PATH_FLAGS | O_DIRECTORY), err;
	struct stat stat;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &stat) ? -errno : arrive(walk, &stat);
	if (!err)
		return enter(walk, fd);
	close(fd);
	return err;
}

/* Puts the target of a link in front of the rest. */
static int follow(struct walk *walk, int link, uid_t uid)
{
	char target[PATH_MAX];
	size_t n_rest = strlen(walk->rest);
	ssize_t n = readlinkat(link, "", target, sizeof(target));

	if (n < 0)
		return -errno;
	if (!n)
		return -ENOENT;
	if (++walk->n_links > MAX_LINKS)
		return -ELOOP;
	if (n + 1 + n_rest >= sizeof(walk->text))
		return -ENAMETOOLONG;
	if (!baleen_is_ours(uid)) {
		if (walk->is_theirs && walk->uid != uid)
			return -EPERM;
		if (!walk->is_theirs)
			walk->end = n_rest;
		walk->is_theirs = true;
		walk->uid = uid;
	}
	walk->is_last_link = walk->is_last_link || !n_rest;
	memmove(walk->text + n + 1, walk->rest, n_rest + 1);
	memcpy(walk->text, target, n);
	walk->text[n] = n_rest ? '/' : '\0';
	walk->rest = walk->text;
	return *walk->rest == '/' ? enter_root(walk) : 0;
}

/* Takes one part off the rest. */
static int take_name(struct walk *walk, char *name)
{
	size_t n = strcspn(walk->rest, "/");

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, walk->rest, n);
	name[n] = '\0';
	walk->rest += n;
	/* A path that ends in a slash is one of a directory. */
	if (*walk->rest == '/' && !walk->rest[strspn(walk->rest, "/")])
		walk->rest = "/.";
	walk->rest += strspn(walk->rest, "/");
	return 0;
}

/* Fills in what is at a name. Return: 1 at the end of the path, 0 to go on. */
static int step(struct walk *walk, bool may_link, struct baleen_place *place)
{
	int err = take_name(walk, place->name), fd;
	bool is_last = !*walk->rest;

	if (err)
		return err;
	place->is_magic = false;
	fd = openat(walk->dir, place->name, PATH_FLAGS | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT && is_last && !walk->is_last_link && !walk->is_theirs) {
		place->is_there = false;
		return 1;
	}
	if (fd < 0)
		return -errno;
	err = fstat(fd, &place->stat) ? -errno : 0;
	if (!err && S_ISLNK(place->stat.st_mode)) {
		if (is_last && !may_link) {
			err = -ELOOP;
		} else if (is_procfs(walk->dir)) {
			place->is_magic = true;
			close(fd);
			fd = openat(walk->dir, place->name, PATH_FLAGS);
			err = fd < 0 || fstat(fd, &place->stat) ? -errno : 0;
		} else {
			err = follow(walk, fd, place->stat.st_uid);
			close(fd);
			return err;
		}
	}
	if (!err)
		err = arrive(walk, &place->stat);
	if (!err && !is_last)
		return S_ISDIR(place->stat.st_mode) ? enter(walk, fd) : (close(fd), -ENOTDIR);
	baleen_close_fd(&fd);
	place->is_there = true;
	return err ? err : 1;
}

int baleen_place_find(int dir, const char *path, bool may_link, struct baleen_place *place)
{
	struct baleen_place found = { 0 };
	struct walk walk = { .rest = walk.text };
	int ret;

	if (!*path)
		return -ENOENT;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(walk.text, path);
	walk.dir = *path == '/' ? open("/", PATH_FLAGS | O_DIRECTORY) :
				  openat(dir, ".", PATH_FLAGS | O_DIRECTORY);
	if (walk.dir < 0)
		return -errno;
	do {
		walk.rest += strspn(walk.rest, "/");
		if (!*walk.rest)
			walk.rest = ".";
		ret = step(&walk, may_link, &found);
	} while (!ret);
	if (ret < 0) {
		close(walk.dir);
		return ret;
	}
	found.parent = walk.dir;
	*place = found;
	return 0;
}

int baleen_place_open(const struct baleen_place *place, int flags)
{
	int fd = openat(place->parent, place->name,
			flags | (place->is_magic ? 0 : O_NOFOLLOW) | O_NOCTTY | O_CLOEXEC);
	struct stat stat;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat))
		err = -errno;
	else if (stat.st_ino != place->stat.st_ino || stat.st_dev != place->stat.st_dev)
		err = -ESTALE;
	if (err)
		close(fd);
	return err ? err : fd;
}

int baleen_place_fail(const char *path, int err, struct baleen_error *error)
{
	if (err == -EPERM)
		return baleen_fail(error, EPERM,
				   "%s: a symbolic link of another user's leads to what is not "
				   "theirs: not followed",
				   path);
	return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
}

void baleen_place_close(struct baleen_place *place)
{
	baleen_close_fd(&place->parent);
}
