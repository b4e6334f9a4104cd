// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one way in which files are written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/fd.h"
#include "util/musl.h"
#include "util/output.h"
#include "util/write_file.h"

/* Times a name is given again because another writer came in between. */
#define MAX_TRIES 100

/* A page of any file system, or several. */
#define HOLE_BYTES 65536

/* --- where -------------------------------------------------------------------- */

/* A link of procfs to a file that has a name: the file is replaced there. What has no name, such
 * as a pipe or a deleted file, is written to as it is open.
 */
static void leave_procfs(struct baleen_place *place)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(place->parent, place->name, target, sizeof(target) - 1);
	struct baleen_place named;

	if (n <= 0 || *target != '/')
		return;
	target[n] = '\0';
	if (baleen_place_find(AT_FDCWD, target, false, &named))
		return;
	if (named.is_there && named.stat.st_ino == place->stat.st_ino &&
	    named.stat.st_dev == place->stat.st_dev) {
		baleen_place_close(place);
		*place = named;
	} else {
		baleen_place_close(&named);
	}
}

/* A file that this process holds open was given to it, whoever owns it. */
static int judge_special(const struct baleen_place *place, const char *path,
			 enum baleen_output_kind kind, struct baleen_error *error)
{
	if (S_ISDIR(place->stat.st_mode))
		return baleen_place_fail(path, -EISDIR, error);
	if (kind == BALEEN_OUTPUT_NAMED)
		return baleen_fail(error, EINVAL, "%s: not a regular file: not overwritten", path);
	if (!place->is_magic && !baleen_is_ours(place->stat.st_uid) &&
	    !S_ISCHR(place->stat.st_mode) && !S_ISBLK(place->stat.st_mode))
		return baleen_fail(error, EPERM,
				   "%s: belongs to user %u, and is not a file: not "
				   "opened",
				   path, place->stat.st_uid);
	return 0;
}

static int open_in_place(struct baleen_output *output, const char *path,
			 enum baleen_output_kind kind, struct baleen_error *error)
{
	int err = S_ISREG(output->place.stat.st_mode) ?
			  0 :
			  judge_special(&output->place, path, kind, error);

	if (err)
		return err;
	output->is_in_place = true;
	output->fd = baleen_place_open(&output->place, O_WRONLY);
	return output->fd < 0 ? baleen_place_fail(path, output->fd, error) : 0;
}

/* --- a new file ------------------------------------------------------------------ */

/* A name in the same directory that does not end as that of the file does, so that no
 * pattern for images matches it. Cut, so that the longest legal name has room for what is added.
 */
static void name_beside(const struct baleen_place *place, const char *more, char *beside)
{
	snprintf(beside, NAME_MAX + 1, ".%.200s%s.baleen-new", place->name, more);
}

/* For file systems without O_TMPFILE (NFS, some FUSE). Nobody can tell the name before; a kill
 * leaves the file.
 */
static int open_named(struct baleen_output *output)
{
	char more[2 * sizeof(u64) + 2];
	u64 random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(more, sizeof(more), ".%016llx", (unsigned long long)random);
	name_beside(&output->place, more, output->beside);
	output->fd = baleen_output_make(output->place.parent, output->beside, 0600);
	if (output->fd >= 0)
		return 0;
	output->beside[0] = '\0';
	return output->fd;
}

/* A file without a name vanishes with the process that writes it, so neither Ctrl-C nor a kill
 * leaves half a file behind.
 */
static int open_unnamed(struct baleen_output *output)
{
	output->fd = openat(output->place.parent, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	return output->fd < 0 ? -errno : 0;
}

int baleen_output_open(struct baleen_output *output, const char *path, enum baleen_output_kind kind,
		       unsigned int mode, struct baleen_error *error)
{
	struct baleen_output opened = { .fd = -1, .mode = mode };
	int err = baleen_place_find(AT_FDCWD, path, true, &opened.place);

	if (err)
		return baleen_place_fail(path, err, error);
	if (opened.place.is_there && opened.place.is_magic && S_ISREG(opened.place.stat.st_mode))
		leave_procfs(&opened.place);
	if (opened.place.is_there &&
	    (opened.place.is_magic || !S_ISREG(opened.place.stat.st_mode))) {
		err = open_in_place(&opened, path, kind, error);
	} else {
		err = open_unnamed(&opened);
		if (err == -EOPNOTSUPP || err == -EISDIR || err == -ENOENT)
			err = open_named(&opened);
		if (err)
			baleen_place_fail(path, err, error);
	}
	if (err)
		baleen_place_close(&opened.place);
	else
		*output = opened;
	return err;
}

/* Always the same name, so that the next writer removes what a killed one left. */
static int link_beside(struct baleen_output *output)
{
	const struct baleen_place *place = &output->place;
	char proc[64];

	if (output->beside[0])
		return 0;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", output->fd);
	name_beside(place, "", output->beside);
	unlinkat(place->parent, output->beside, 0);
	if (!linkat(AT_FDCWD, proc, place->parent, output->beside, AT_SYMLINK_FOLLOW))
		return 0;
	output->beside[0] = '\0';
	return -errno;
}

/* -EAGAIN when another writer came in between: a file that has lost its only name cannot be given
 * another.
 */
static int name_unnamed(struct baleen_output *output)
{
	const struct baleen_place *place = &output->place;
	int err = link_beside(output);

	if (err)
		return err == -EEXIST ? -EAGAIN : err;
	if (!renameat(place->parent, output->beside, place->parent, place->name))
		return 0;
	err = -errno;
	if (err != -ENOENT)
		unlinkat(place->parent, output->beside, 0);
	output->beside[0] = '\0';
	return err == -ENOENT ? -EAGAIN : err;
}

static int sync_parent(const struct baleen_place *place)
{
	int fd = openat(place->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = baleen_sync_dir(fd);
	close(fd);
	return err;
}

int baleen_output_name(struct baleen_output *output)
{
	const struct baleen_place *place = &output->place;
	int err = 0;

	if (output->is_in_place)
		return 0;
	if (fchmod(output->fd, output->mode) || fsync(output->fd))
		return -errno;
	if (!output->beside[0])
		err = name_unnamed(output);
	else if (renameat(place->parent, output->beside, place->parent, place->name))
		err = -errno;
	if (err)
		return err;
	output->beside[0] = '\0';
	return sync_parent(place);
}

static int exchange(const struct baleen_output *output)
{
	const struct baleen_place *place = &output->place;

	return renameat2(place->parent, output->beside, place->parent, place->name,
			 RENAME_EXCHANGE) ?
		       -errno :
		       0;
}

int baleen_output_swap(struct baleen_output *output)
{
	const struct baleen_place *place = &output->place;
	int err;

	if (output->is_in_place || !place->is_there)
		return baleen_output_name(output);
	if (fchmod(output->fd, output->mode) || fsync(output->fd))
		return -errno;
	err = link_beside(output);
	if (!err)
		err = exchange(output);
	if (err == -EINVAL || err == -ENOSYS)
		return baleen_output_name(output);
	if (!err) {
		err = sync_parent(place);
		if (err)
			exchange(output);
	}
	if (err)
		return err;
	unlinkat(place->parent, output->beside, 0);
	output->beside[0] = '\0';
	return 0;
}

void baleen_output_drop(struct baleen_output *output)
{
	if (output->beside[0])
		unlinkat(output->place.parent, output->beside, 0);
	baleen_close_fd(&output->fd);
	baleen_place_close(&output->place);
}

/* --- whole files ----------------------------------------------------------------- */

static bool is_zero(const u8 *bytes, size_t n_bytes)
{
	return !*bytes && !memcmp(bytes, bytes + 1, n_bytes - 1);
}

/* Into an empty file. Room for keys to come is left as holes: gigabytes of it
 * need no time and no disk.
 */
static int write_new(int fd, const u8 *bytes, size_t n_bytes)
{
	size_t at = 0, size;
	int err = 0;

	if (ftruncate(fd, n_bytes))
		return -errno;
	for (; at < n_bytes && !err; at += size) {
		size = n_bytes - at < HOLE_BYTES ? n_bytes - at : HOLE_BYTES;
		if (!is_zero(bytes + at, size))
			err = baleen_write_all(fd, bytes + at, size);
		else if (lseek(fd, size, SEEK_CUR) < 0)
			err = -errno;
	}
	return err;
}

static int write_once(const char *path, enum baleen_output_kind kind, unsigned int mode,
		      const void *bytes, size_t n_bytes, struct baleen_error *error)
{
	struct baleen_output output;
	int err = baleen_output_open(&output, path, kind, mode, error);

	if (err)
		return err;
	err = output.is_in_place ? baleen_write_all(output.fd, bytes, n_bytes) :
				   write_new(output.fd, bytes, n_bytes);
	if (!err)
		err = baleen_output_name(&output);
	baleen_output_drop(&output);
	return err ? baleen_place_fail(path, err, error) : 0;
}

int baleen_output_write(const char *path, enum baleen_output_kind kind, unsigned int mode,
			const void *bytes, size_t n_bytes, struct baleen_error *error)
{
	u32 n_tries = 0;
	int err;

	do {
		err = write_once(path, kind, mode, bytes, n_bytes, error);
	} while (err == -EAGAIN && n_tries++ < MAX_TRIES);
	return err;
}

/* --- Baleen's own ----------------------------------------------------------------- */

int baleen_output_make(int dir, const char *path, unsigned int mode)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

int baleen_output_own(const char *path, struct baleen_error *error)
{
	int fd =
		open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat there;

	if (fd < 0)
		return baleen_fail(error, errno, "%s: %m", path);
	if (fstat(fd, &there) || !S_ISREG(there.st_mode)) {
		close(fd);
		return baleen_fail(error, EINVAL, "%s: not a regular file", path);
	}
	if (!baleen_is_ours(there.st_uid)) {
		close(fd);
		return baleen_fail(error, EPERM, "%s: belongs to user %u, not to root", path,
				   there.st_uid);
	}
	return fd;
}
