/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a path leads, found step by step without opening anything.
 *
 * Others may be able to write to a directory on the way. A symbolic link of root's or of the
 * caller's is followed, as everywhere. One of somebody else's is followed only to what is
 * theirs, too: so nobody makes root read or replace a file by a link to it. (The idea is that
 * of SymLinksIfOwnerMatch of Apache; fs.protected_symlinks does it for sticky directories.)
 */
#ifndef BALEEN_PLACE_H
#define BALEEN_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <baleen/port.h>

#include "util/error.h"

/**
 * struct baleen_place - a name in a directory
 * @parent: the directory, open with O_PATH
 * @name: the name in it; no symbolic link unless @is_magic
 * @is_there: something has the name
 * @is_magic: a link of procfs, such as /proc/self/fd/1, which only the kernel can follow
 * @stat: what has the name, or what the link of procfs leads to
 */
struct baleen_place {
	int parent;
	char name[NAME_MAX + 1];
	bool is_there;
	bool is_magic;
	struct stat stat;
};

/**
 * baleen_place_find() - follow a path
 * @dir: where a relative path begins: AT_FDCWD or a directory
 * @path: the path
 * @may_link: the last part may be a symbolic link
 * @place: filled in, to be closed by baleen_place_close(); untouched on failure
 *
 * Nothing is opened but directories, with O_PATH: no FIFO waits, no device notices.
 *
 * Return: 0, also when only the last part is missing; -EPERM for a link that is not followed,
 * see above; -ELOOP for one with @may_link false; -ENOENT, also for a link to nothing; a
 * negative errno.
 */
int baleen_place_find(int dir, const char *path, bool may_link, struct baleen_place *place);

/**
 * baleen_place_open() - open what is there
 * @place: found
 * @flags: of open(); what has come to the name since is not followed
 *
 * Return: a descriptor; -ESTALE when it is something else by now; a
 * negative errno.
 */
int baleen_place_open(const struct baleen_place *place, int flags);

/**
 * baleen_is_ours() - does something belong to root, or to the caller?
 * @uid: owner
 *
 * Return: true or false.
 */
bool baleen_is_ours(uid_t uid);

/**
 * baleen_place_fail() - say why there is no way
 * @path: the path
 * @err: of baleen_place_find()
 * @error: filled in; may be NULL
 *
 * Return: @err.
 */
int baleen_place_fail(const char *path, int err, struct baleen_error *error);

/**
 * baleen_place_close() - close the directory
 * @place: found
 */
void baleen_place_close(struct baleen_place *place);

#endif /* BALEEN_PLACE_H */
