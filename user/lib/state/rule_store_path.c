// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where states are, and whose they are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/device.h"
#include "net/netns.h"
#include "state/rule_store_path.h"
#include "util/announce.h"
#include "util/input.h"
#include "util/output.h"
#include "util/write_file.h"
#include "xdp/pins.h"

#define PIECE_BYTES (1 << 20)
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* No device can be called so: it is too long. */
#define NAMESPACES "network-namespaces"

static const char *base_root(bool is_kept)
{
	const char *root = getenv("BALEEN_STATE_DIR");

	if (!is_kept)
		return baleen_run_root();
	return root && *root ? root : BALEEN_RULE_STORE_ROOT;
}

/* Below the root, what is kept for this network namespace is in the directory @name; empty
 * for none. What nobody can find again after a reboot ends with the boot: what is applied
 * in an anonymous namespace is in /run, by its cookie.
 */
static void find_place(bool *is_kept, char *name)
{
	enum baleen_netns_kind kind = *is_kept ? baleen_netns_find(name) : BALEEN_NETNS_HOME;
	u64 cookie;

	if (kind == BALEEN_NETNS_NAMED)
		return;
	*name = '\0';
	if (kind != BALEEN_NETNS_ANONYMOUS || baleen_netns_cookie(&cookie, NULL))
		return;
	sprintf(name, "ns%llu", (unsigned long long)cookie);
	*is_kept = false;
}

const char *baleen_rule_store_root(bool is_kept)
{
	static _Thread_local char path[PATH_MAX + NAME_MAX];
	char name[NAME_MAX + 1];
	const char *root;

	find_place(&is_kept, name);
	root = base_root(is_kept);
	if (!*name)
		return root;
	snprintf(path, sizeof(path), "%.*s/" NAMESPACES "/%s", PATH_MAX - 64, root, name);
	return path;
}

static int too_long(const char *root, struct baleen_error *error)
{
	return baleen_fail(error, ENAMETOOLONG, "%.200s...: name too long", root);
}

/* Behind the root of the volatile states: one per device and namespace. */
static int volatile_name(u64 netns_cookie, int ifindex, const char *suffix, char *path,
			 size_t n_bytes, struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(false);

	if ((size_t)snprintf(path, n_bytes, "%s/ns%llu-if%d%s", root,
			     (unsigned long long)netns_cookie, ifindex, suffix) >= n_bytes)
		return too_long(root, error);
	return 0;
}

static int find_device(const char *device, u64 *netns_cookie, int *ifindex,
		       struct baleen_error *error)
{
	int err = baleen_device_ifindex(device, ifindex, error);

	return err ? err : baleen_netns_cookie(netns_cookie, error);
}

void baleen_rule_store_forget(u64 netns_cookie, int ifindex)
{
	static const char *const mark[] = { BALEEN_MARK_CHANGING, BALEEN_MARK_BEHIND };
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	if (!volatile_name(netns_cookie, ifindex, "", path, BALEEN_RULE_STORE_PATH_BYTES, NULL))
		baleen_rule_store_remove_tree(path);
	for (size_t i = 0; i < sizeof(mark) / sizeof(mark[0]); i++)
		if (!volatile_name(netns_cookie, ifindex, mark[i], path, sizeof(path), NULL))
			unlink(path);
}

int baleen_rule_store_name(const char *device, bool is_kept, char *path, struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(is_kept);
	u64 netns_cookie;
	int ifindex, err;

	if (!baleen_device_is_name(device))
		return baleen_fail(error, EINVAL, "'%.64s' is no name of a device", device);
	if (!is_kept) {
		err = find_device(device, &netns_cookie, &ifindex, error);
		return err ? err :
			     volatile_name(netns_cookie, ifindex, "", path,
					   BALEEN_RULE_STORE_PATH_BYTES, error);
	}
	if (snprintf(path, BALEEN_RULE_STORE_PATH_BYTES, "%s/%s", root, device) >=
	    BALEEN_RULE_STORE_PATH_BYTES)
		return too_long(root, error);
	return 0;
}

struct baleen_file_stamp baleen_rule_store_stamp(const char *directory)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	struct stat file;

	snprintf(path, sizeof(path), "%s/" BALEEN_RULE_STORE_DB, directory);
	if (stat(path, &file))
		return (struct baleen_file_stamp){ 0 };
	return (struct baleen_file_stamp){ file.st_ino, file.st_ctim.tv_sec * 1000000000ull +
								file.st_ctim.tv_nsec };
}

int baleen_rule_store_mark_name(const struct baleen_rule_store *state, const char *suffix,
				char *path, struct baleen_error *error)
{
	u64 netns_cookie = state->is.netns_cookie;
	int ifindex = state->is.ifindex;
	int err = ifindex ? 0 : find_device(state->now, &netns_cookie, &ifindex, error);

	return err ? err :
		     volatile_name(netns_cookie, ifindex, suffix, path,
				   BALEEN_RULE_STORE_NAME_BYTES, error);
}

int baleen_rule_store_unkept_name(const char *device, u64 inode, char *path)
{
	return snprintf(path, BALEEN_RULE_STORE_PATH_BYTES - sizeof(BALEEN_RULE_STORE_ASIDE),
			"%s/unkept/%s.%llu", base_root(false), device,
			(unsigned long long)inode) >= (int)(BALEEN_RULE_STORE_PATH_BYTES -
							    sizeof(BALEEN_RULE_STORE_ASIDE)) ?
		       -ENAMETOOLONG :
		       0;
}

/* No process is there in two boots. */
int baleen_boot_id(char *boot, struct baleen_error *error)
{
	static _Thread_local char known[BALEEN_BOOT_ID];
	FILE *file = *known ? NULL : baleen_input_stream(BOOT_ID, BALEEN_INPUT_SYSTEM, NULL);
	int err = 0;

	if (file && fgets(known, sizeof(known), file))
		known[strcspn(known, "\n")] = '\0';
	if (*known)
		strcpy(boot, known);
	else
		err = baleen_fail(error, file ? EIO : errno, BOOT_ID ": cannot be read");
	if (file)
		fclose(file);
	return err;
}

int baleen_rule_store_owner(const char *device, struct baleen_rule_store_owner *owner,
			    struct baleen_error *error)
{
	struct baleen_rule_store_owner found = { .ifindex = baleen_device_index(device) };
	int err = baleen_boot_id(found.boot, error);

	if (!err)
		err = baleen_netns_cookie(&found.netns_cookie, error);
	if (!err)
		*owner = found;
	return err;
}

/* A namespace can end and come again, with another cookie: a named one has its name, and
 * that of process 1 comes again with its container, unless containers share this file
 * system. Of others nothing is known, so they get nothing.
 */
bool baleen_rule_store_is_foreign(const struct baleen_rule_store_owner *was,
				  const struct baleen_rule_store_owner *is)
{
	char name[NAME_MAX + 1];

	if (strcmp(was->boot, is->boot) || was->netns_cookie == is->netns_cookie)
		return false;
	switch (baleen_netns_find(name)) {
	case BALEEN_NETNS_NAMED: return false;
	case BALEEN_NETNS_HOME: return baleen_pins_are_there(was->netns_cookie, was->ifindex);
	default: return true;
	}
}

/* Synced also when it is there: who made it may have been killed before. */
static int make_directory(const char *path, bool is_kept, struct baleen_error *error)
{
	int err = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;

	if (!err && is_kept)
		err = baleen_rule_store_sync_parent(path);
	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}

int baleen_rule_store_make_root(bool is_kept, struct baleen_error *error)
{
	char name[NAME_MAX + 1], path[BALEEN_RULE_STORE_NAME_BYTES];
	const char *root = baleen_rule_store_root(is_kept);
	int err;

	find_place(&is_kept, name);
	err = make_directory(base_root(is_kept), is_kept, error);
	if (err || !*name)
		return err;
	if (snprintf(path, sizeof(path), "%s/" NAMESPACES, base_root(is_kept)) >= (int)sizeof(path))
		return too_long(root, error);
	err = make_directory(path, is_kept, error);
	return err ? err : make_directory(root, is_kept, error);
}

/* All in a directory that is open. */
static void remove_inside(int fd, bool goes_deeper)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!directory && copy >= 0)
		close(copy);
	while (directory && (entry = readdir(directory))) {
		int below;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !unlinkat(fd, entry->d_name, 0) || !goes_deeper)
			continue;
		below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		remove_inside(below, false);
		close(below);
		unlinkat(fd, entry->d_name, AT_REMOVEDIR);
	}
	if (directory)
		closedir(directory);
}

int baleen_rule_store_remove_tree(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	remove_inside(fd, true);
	close(fd);
	return rmdir(path) ? -errno : 0;
}

void baleen_rule_store_remove_gone(const char *path)
{
	char gone[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(gone, sizeof(gone), "%s" BALEEN_RULE_STORE_GONE, path);
	baleen_rule_store_remove_tree(gone);
}

int baleen_rule_store_remove_whole(const char *path)
{
	char gone[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(gone, sizeof(gone), "%s" BALEEN_RULE_STORE_GONE, path);
	baleen_rule_store_remove_tree(gone);
	if (rename(path, gone))
		return -errno;
	baleen_rule_store_remove_tree(gone);
	return 0;
}

int baleen_rule_store_sync_parent(const char *path)
{
	char copy[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(copy, sizeof(copy), "%s", path);
	return baleen_sync_dir_at(dirname(copy));
}

bool baleen_rule_store_is_feed_name(const char *name, u64 *id, u64 *generation)
{
	unsigned long long feed, copy;
	int end = 0;

	if (sscanf(name, "%llu.%llu%n", &feed, &copy, &end) != 2 || name[end])
		return false;
	*id = feed;
	*generation = copy;
	return true;
}

int baleen_rule_store_copy_bytes(int from, int to, u64 *n_bytes)
{
	off_t at = 0;
	ssize_t n;

	do
		n = sendfile(to, from, &at, PIECE_BYTES);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	*n_bytes = at;
	return 0;
}

int baleen_rule_store_make_file(const struct baleen_rule_store *state, const char *name,
				struct baleen_error *error)
{
	int fd = baleen_output_make(state->lock_fd, name, 0600);

	if (fd < 0)
		return baleen_fail(error, -fd, "%s/%s: %s", state->path, name, strerror(-fd));
	close(fd);
	return 0;
}
