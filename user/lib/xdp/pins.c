// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a device's filter is kept between commands. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/bpffs.h"
#include "net/netns.h"
#include "util/lock.h"
#include "xdp/pins.h"

/* Where bpffs is 1777, as mount(8) makes it, anybody can have been here first,
 * and whoever owns the directory can take the pins or put links in their place.
 */
static int check_owner(const char *root, struct baleen_error *error)
{
	struct stat stat;

	if (lstat(root, &stat))
		return baleen_fail(error, errno, "%s: %m", root);
	if (!S_ISDIR(stat.st_mode) || stat.st_uid != 0 || stat.st_mode & 077)
		return baleen_fail(error, EPERM, "%s is not root's alone: remove it first", root);
	return 0;
}

static int make_root(const char *root, struct baleen_error *error)
{
	int err = baleen_bpffs_mount(error);

	if (err)
		return err;
	if (mkdir(root, 0700) && errno != EEXIST)
		return baleen_fail(error, errno, "%s: %m", root);
	return check_owner(root, error);
}

int baleen_pins_root(const char *purpose, char *root, struct baleen_error *error)
{
	char bpffs[BALEEN_BPFFS_BYTES];
	int err = baleen_bpffs_find(bpffs, error);

	if (!err)
		snprintf(root, BALEEN_PIN_ROOT_BYTES, "%s/%.15s", bpffs, purpose);
	return err;
}

/* @root: from baleen_pins_root() */
static struct baleen_pins pins_in(const char *root, u64 cookie, int ifindex)
{
	struct baleen_pins pins = { .netns_cookie = cookie, .ifindex = ifindex, .lock_fd = -1 };

	strcpy(pins.root, root);
	snprintf(pins.path, sizeof(pins.path), "%s/ns%llu-if%d", root, (unsigned long long)cookie,
		 ifindex);
	return pins;
}

int baleen_pins_name_in(const char *purpose, struct baleen_pins *pins, int ifindex,
			struct baleen_error *error)
{
	char root[BALEEN_PIN_ROOT_BYTES];
	u64 cookie;
	int err = baleen_pins_root(purpose, root, error);

	if (!err)
		err = baleen_netns_cookie(&cookie, error);
	if (!err)
		*pins = pins_in(root, cookie, ifindex);
	return err;
}

int baleen_pins_name(struct baleen_pins *pins, int ifindex, struct baleen_error *error)
{
	return baleen_pins_name_in(BALEEN_PINS, pins, ifindex, error);
}

bool baleen_pins_are_there(u64 netns_cookie, int ifindex)
{
	char root[BALEEN_PIN_ROOT_BYTES];

	return !baleen_pins_root(BALEEN_PINS, root, NULL) &&
	       !access(pins_in(root, netns_cookie, ifindex).path, F_OK);
}

static int make_directory(const struct baleen_pins *pins, struct baleen_error *error)
{
	int err = make_root(pins->root, error);

	if (!err && mkdir(pins->path, 0700) && errno != EEXIST)
		err = baleen_fail(error, errno, "%s: %m", pins->path);
	return err;
}

/* @fd: filled in */
static int open_directory(const struct baleen_pins *pins, int *fd, struct baleen_error *error)
{
	for (;;) {
		int err = check_owner(pins->root, error);

		if (!err) {
			*fd = open(pins->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			if (*fd >= 0)
				return 0;
			err = baleen_fail(error, errno, "%s: %m", pins->path);
		}
		if (err == -ENOENT)
			err = make_directory(pins, error);
		if (err)
			return err;
	}
}

int baleen_pins_lock(struct baleen_pins *pins, u64 timeout_ms, struct baleen_error *error)
{
	for (;;) {
		int fd, err = open_directory(pins, &fd, error);

		if (err)
			return err;
		err = baleen_lock_within(fd, timeout_ms);
		if (!err && baleen_lock_is_of(fd, pins->path)) {
			pins->lock_fd = fd;
			return 0;
		}
		close(fd);
		if (err == -ETIMEDOUT)
			return baleen_fail(error, ETIMEDOUT,
					   "another command has been changing this device for "
					   "%llu s",
					   (unsigned long long)timeout_ms / 1000);
		if (err)
			return baleen_fail(error, -err, "%s: %s", pins->path, strerror(-err));
	}
}

void baleen_pins_unlock(struct baleen_pins *pins)
{
	if (pins->lock_fd < 0)
		return;
	/* Succeeds when nothing is pinned: then the lock was all it was for. */
	rmdir(pins->path);
	close(pins->lock_fd);
	pins->lock_fd = -1;
}

/* A writer that waits for the lock of the old name finds that it is gone, and makes another. */
int baleen_pins_move(const struct baleen_pins *from, const struct baleen_pins *to,
		     struct baleen_error *error)
{
	struct baleen_pins locked = *from;
	int err = baleen_pins_lock(&locked, BALEEN_LOCK_TIMEOUT_MS, error);

	if (err)
		return err;
	if (rename(from->path, to->path) && access(to->path, F_OK))
		err = baleen_fail(error, errno, "%s: %m", from->path);
	baleen_pins_unlock(&locked);
	return err;
}

/* Directories on bpffs hold pins and, one level down, nothing else. */
static void remove_directory(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	unlinkat(parent_fd, name, AT_REMOVEDIR);
}

void baleen_pins_clean(const struct baleen_pins *pins, u32 program_id)
{
	DIR *directory = opendir(pins->path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		u32 id = strtoul(entry->d_name, NULL, 10);

		if (id && id != program_id)
			remove_directory(dirfd(directory), entry->d_name);
	}
	if (directory)
		closedir(directory);
}

void baleen_pins_empty(const struct baleen_pins *pins)
{
	char path[BALEEN_PIN_BYTES + 8];

	snprintf(path, sizeof(path), "%s/link", pins->path);
	unlink(path);
	snprintf(path, sizeof(path), "%s/clsact", pins->path);
	rmdir(path);
	baleen_pins_clean(pins, 0);
}

bool baleen_pins_are_here(const struct baleen_pins *pins)
{
	u64 here;

	return !baleen_netns_cookie(&here, NULL) && here == pins->netns_cookie;
}

/* Falling; the lowest goes when there is no room. */
static u32 insert_id(u32 *ids, u32 n, u32 id)
{
	u32 i = n < BALEEN_MAX_PINNED ? n : n - 1;

	if (i < n && ids[i] > id)
		return n;
	for (; i && ids[i - 1] < id; i--)
		ids[i] = ids[i - 1];
	ids[i] = id;
	return n < BALEEN_MAX_PINNED ? n + 1 : n;
}

u32 baleen_pins_programs(const struct baleen_pins *pins, u32 *ids)
{
	DIR *directory = opendir(pins->path);
	struct dirent *entry;
	u32 id, n = 0;

	while (directory && (entry = readdir(directory))) {
		id = strtoul(entry->d_name, NULL, 10);
		if (id)
			n = insert_id(ids, n, id);
	}
	if (directory)
		closedir(directory);
	return n;
}

/* @where: cookie of the only namespace to visit, or NULL */
static int visit_pins(const char *purpose, const u64 *where,
		      int (*visit)(const struct baleen_pins *pins, void *data), void *data,
		      struct baleen_error *error)
{
	char root[BALEEN_PIN_ROOT_BYTES];
	int err = baleen_pins_root(purpose, root, error);
	struct dirent *entry;
	DIR *directory;

	if (err)
		return err;
	err = check_owner(root, error);
	if (err)
		return err == -ENOENT ? 0 : err;
	directory = opendir(root);
	if (!directory)
		return baleen_fail(error, errno, "%s: %m", root);
	while (!err && (entry = readdir(directory))) {
		unsigned long long cookie;
		struct baleen_pins pins;
		int ifindex;

		if (sscanf(entry->d_name, "ns%llu-if%d", &cookie, &ifindex) != 2 ||
		    (where && cookie != *where))
			continue;
		pins = pins_in(root, cookie, ifindex);
		err = visit(&pins, data);
	}
	closedir(directory);
	return err;
}

int baleen_pins_each_in(const char *purpose,
			int (*visit)(const struct baleen_pins *pins, void *data), void *data,
			struct baleen_error *error)
{
	u64 here;
	int err = baleen_netns_cookie(&here, error);

	return err ? err : visit_pins(purpose, &here, visit, data, error);
}

int baleen_pins_each(int (*visit)(const struct baleen_pins *pins, void *data), void *data,
		     struct baleen_error *error)
{
	return baleen_pins_each_in(BALEEN_PINS, visit, data, error);
}

int baleen_pins_every_in(const char *purpose,
			 int (*visit)(const struct baleen_pins *pins, void *data), void *data,
			 struct baleen_error *error)
{
	return visit_pins(purpose, NULL, visit, data, error);
}

int baleen_pins_open_link(const struct baleen_pins *pins, struct bpf_link_info *info)
{
	return baleen_pins_open_link_as(pins, "link", info);
}

int baleen_pins_open_link_as(const struct baleen_pins *pins, const char *name,
			     struct bpf_link_info *info)
{
	char path[BALEEN_PIN_BYTES + 16];
	u32 bytes = sizeof(*info);
	int fd, err;

	/* Whoever holds them has asked. */
	err = pins->lock_fd < 0 ? check_owner(pins->root, NULL) : 0;
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s", pins->path, name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	memset(info, 0, sizeof(*info));
	err = bpf_obj_get_info_by_fd(fd, info, &bytes);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int baleen_pins_add(const char *directory, const char *name, int fd, struct baleen_error *error)
{
	char path[BALEEN_PIN_BYTES + 48];
	int err;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	err = bpf_obj_pin(fd, path);
	return err ? baleen_fail(error, -err, "cannot pin %s: %s", path, strerror(-err)) : 0;
}

int baleen_pins_open(const struct baleen_pins *pins, u32 program_id, const char *name)
{
	char path[BALEEN_PIN_BYTES + 48];

	snprintf(path, sizeof(path), "%s/%u/%s", pins->path, program_id, name);
	return bpf_obj_get(path);
}

u64 baleen_pins_loaded_ns(const struct baleen_pins *pins, u32 program_id)
{
	struct bpf_prog_info info = { 0 };
	u32 bytes = sizeof(info);
	int fd = baleen_pins_open(pins, program_id, "prog");

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &bytes))
		info.load_time = 0;
	close(fd);
	return info.load_time;
}
