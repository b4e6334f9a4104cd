// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where states are, and whose they are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/device.h"
#include "state/rule_store_path.h"
#include "util/write_file.h"
#include "xdp/pins.h"

#define PIECE_BYTES (1 << 20)
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

const char *baleen_rule_store_root(bool is_kept)
{
	const char *root = getenv(is_kept ? "BALEEN_STATE_DIR" : "BALEEN_RUN_DIR");

	if (root && *root)
		return root;
	return is_kept ? BALEEN_RULE_STORE_ROOT : BALEEN_RUN_ROOT;
}

static bool is_device_name(const char *device)
{
	return *device && strlen(device) < BALEEN_DEVICE_BYTES && strcmp(device, ".") &&
	       strcmp(device, "..") && !strpbrk(device, "/: \t\n");
}

static int too_long(const char *root, struct baleen_error *error)
{
	return baleen_fail(error, ENAMETOOLONG, "%.200s...: name too long", root);
}

/* Behind the root of the volatile states: one per device and namespace. */
static int volatile_name(const char *device, const char *suffix, char *path, size_t n_bytes,
			 struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(false);
	struct baleen_pins pins;
	int ifindex, err;

	err = baleen_device_ifindex(device, &ifindex, error);
	if (!err)
		err = baleen_pins_name(&pins, ifindex, error);
	if (err)
		return err;
	if ((size_t)snprintf(path, n_bytes, "%s/ns%llu-if%d%s", root,
			     (unsigned long long)pins.netns_cookie, ifindex, suffix) >= n_bytes)
		return too_long(root, error);
	return 0;
}

void baleen_rule_store_forget(u64 netns_cookie, int ifindex)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];

	if ((size_t)snprintf(path, sizeof(path), "%s/ns%llu-if%d", baleen_rule_store_root(false),
			     (unsigned long long)netns_cookie, ifindex) < sizeof(path))
		baleen_rule_store_remove_tree(path);
}

int baleen_rule_store_name(const char *device, bool is_kept, char *path, struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(is_kept);

	if (!is_device_name(device))
		return baleen_fail(error, EINVAL, "'%.64s' is no name of a device", device);
	if (!is_kept)
		return volatile_name(device, "", path, BALEEN_RULE_STORE_PATH_BYTES, error);
	if (snprintf(path, BALEEN_RULE_STORE_PATH_BYTES, "%s/%s", root, device) >=
	    BALEEN_RULE_STORE_PATH_BYTES)
		return too_long(root, error);
	return 0;
}

int baleen_rule_store_mark_name(const char *device, char *path, struct baleen_error *error)
{
	return volatile_name(device, ".changing", path, BALEEN_RULE_STORE_NAME_BYTES, error);
}

static int read_boot_id(char *boot, size_t n_bytes, struct baleen_error *error)
{
	FILE *file = fopen(BOOT_ID, "re");
	int err = 0;

	if (!file || !fgets(boot, n_bytes, file))
		err = baleen_fail(error, file ? EIO : errno, BOOT_ID ": cannot be read");
	else
		boot[strcspn(boot, "\n")] = '\0';
	if (file)
		fclose(file);
	return err;
}

int baleen_rule_store_owner(const char *device, struct baleen_rule_store_owner *owner,
			    struct baleen_error *error)
{
	struct baleen_rule_store_owner found = { .ifindex = baleen_device_index(device) };
	struct baleen_pins pins;
	int err = read_boot_id(found.boot, sizeof(found.boot), error);

	if (!err)
		err = baleen_pins_name(&pins, found.ifindex, error);
	if (err)
		return err;
	found.netns_cookie = pins.netns_cookie;
	*owner = found;
	return 0;
}

bool baleen_rule_store_is_foreign(const struct baleen_rule_store_owner *was,
				  const struct baleen_rule_store_owner *is)
{
	char pins[BALEEN_PIN_BYTES];

	if (strcmp(was->boot, is->boot) || was->netns_cookie == is->netns_cookie)
		return false;
	snprintf(pins, sizeof(pins), BALEEN_PIN_ROOT "/ns%llu-if%d",
		 (unsigned long long)was->netns_cookie, was->ifindex);
	return !access(pins, F_OK);
}

int baleen_rule_store_make_root(bool is_kept, struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(is_kept);

	if (!mkdir(root, 0700))
		return is_kept ? baleen_rule_store_sync_parent(root) : 0;
	return errno == EEXIST ? 0 : baleen_fail(error, errno, "%s: %m", root);
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
