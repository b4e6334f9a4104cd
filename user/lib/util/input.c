// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one way in which files are opened for reading. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "util/input.h"
#include "util/place.h"

static int refuse(const char *path, struct baleen_error *error)
{
	return baleen_fail(error, EINVAL, "%s: not a regular file", path);
}

/* Looks first: to open a device may be to use it, as with a watchdog. */
static int open_plain(int dir, const char *name, const char *path, enum baleen_input kind,
		      struct baleen_error *error)
{
	bool is_file = kind == BALEEN_INPUT_TYPED_FILE;
	struct stat there;
	int fd;

	if (is_file && !fstatat(dir, name, &there, 0) && !S_ISREG(there.st_mode))
		return refuse(path, error);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_file ? O_NONBLOCK : 0));
	if (fd < 0)
		return baleen_fail(error, errno, "%s: %m", path);
	if (!is_file || (!fstat(fd, &there) && S_ISREG(there.st_mode)))
		return fd;
	close(fd);
	return refuse(path, error);
}

static int open_named(int dir, const char *name, const char *path, struct baleen_error *error)
{
	struct baleen_place place;
	int fd = baleen_place_find(dir, name, true, &place);

	if (fd)
		return baleen_place_fail(path, fd, error);
	if (!place.is_there)
		fd = baleen_place_fail(path, -ENOENT, error);
	else if (!S_ISREG(place.stat.st_mode))
		fd = refuse(path, error);
	else if ((fd = baleen_place_open(&place, O_RDONLY | O_NONBLOCK)) < 0)
		baleen_place_fail(path, fd, error);
	baleen_place_close(&place);
	return fd;
}

/* In a directory to which nobody else writes: only the last part is looked at. */
static int check_own(int dir, const char *name, const char *path, enum baleen_input kind,
		     struct baleen_error *error)
{
	struct stat there;

	if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW))
		return baleen_fail(error, errno, "%s: %m", path);
	if (S_ISLNK(there.st_mode))
		return baleen_place_fail(path, -ELOOP, error);
	if (!S_ISREG(there.st_mode))
		return refuse(path, error);
	if (kind == BALEEN_INPUT_OWN && !baleen_is_ours(there.st_uid))
		return baleen_fail(error, EPERM, "%s: belongs to user %u, not to root", path,
				   there.st_uid);
	return 0;
}

static int open_own(int dir, const char *name, const char *path, enum baleen_input kind,
		    struct baleen_error *error)
{
	int fd = check_own(dir, name, path, kind, error);

	if (fd)
		return fd;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	return fd < 0 ? baleen_fail(error, errno, "%s: %m", path) : fd;
}

int baleen_input_open_at(int dir, const char *name, const char *path, enum baleen_input kind,
			 struct baleen_error *error)
{
	if (kind == BALEEN_INPUT_NAMED)
		return open_named(dir, name, path, error);
	if (kind == BALEEN_INPUT_PART || kind == BALEEN_INPUT_OWN)
		return open_own(dir, name, path, kind, error);
	return open_plain(dir, name, path, kind, error);
}

int baleen_input_open(const char *path, enum baleen_input kind, struct baleen_error *error)
{
	return baleen_input_open_at(AT_FDCWD, path, path, kind, error);
}

FILE *baleen_input_stream(const char *path, enum baleen_input kind, struct baleen_error *error)
{
	int fd = baleen_input_open(path, kind, error), err;
	FILE *stream;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	stream = fdopen(fd, "r");
	if (stream)
		return stream;
	err = errno;
	baleen_fail(error, err, "%s: %m", path);
	close(fd);
	errno = err;
	return NULL;
}

int baleen_input_check(const char *path, struct baleen_error *error)
{
	return check_own(AT_FDCWD, path, path, BALEEN_INPUT_OWN, error);
}
