// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A device as a directory of files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deploy/saved.h"
#include "deploy/saved_entries.h"
#include "util/fd.h"
#include "util/input.h"
#include "util/lock.h"
#include "util/musl.h"
#include "util/output.h"
#include "util/signals.h"
#include "util/write_file.h"

void baleen_saved_free(struct baleen_saved *saved)
{
	for (size_t i = 0; i < saved->n_copies; i++)
		baleen_close_fd(&saved->copy[i].fd);
	free(saved->copy);
	baleen_never_answers_free(&saved->answers);
	free(saved->entries);
	baleen_conf_free(&saved->conf);
	memset(saved, 0, sizeof(*saved));
}

/* --- what is in a directory --- */

/* From its start; the descriptor stays the caller's. NULL with errno. */
static DIR *list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* The next name, or NULL. */
static const char *next(DIR *dir)
{
	struct dirent *entry;

	do {
		entry = readdir(dir);
	} while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return entry ? entry->d_name : NULL;
}

static bool is_file_of(const struct baleen_saved *saved, const char *name)
{
	if (!strcmp(name, BALEEN_SAVED_MANIFEST) || !strcmp(name, BALEEN_SAVED_CONF) ||
	    (saved->n_entries && !strcmp(name, BALEEN_SAVED_ENTRIES)))
		return true;
	for (size_t i = 0; i < saved->n_copies; i++)
		if (!strcmp(name, saved->copy[i].name))
			return true;
	return false;
}

/* A file that nobody saved is either not needed or taken for what is used. */
static int refuse_others(int dir_fd, const char *path, const struct baleen_saved *saved,
			 struct baleen_error *error)
{
	DIR *dir = list(dir_fd);
	const char *name;
	int err = 0;

	if (!dir)
		return baleen_fail(error, errno, "%s: %m", path);
	while (!err && (name = next(dir)))
		if (!is_file_of(saved, name))
			err = baleen_fail(error, EINVAL, "%s/%s: is no part of what was saved",
					  path, name);
	closedir(dir);
	return err;
}

static int read_manifest(int dir_fd, const char *path, struct baleen_saved *saved,
			 struct baleen_error *error)
{
	char name[PATH_MAX + sizeof(BALEEN_SAVED_MANIFEST)];
	int fd, err;

	snprintf(name, sizeof(name), "%s/%s", path, BALEEN_SAVED_MANIFEST);
	fd = baleen_input_open_at(dir_fd, BALEEN_SAVED_MANIFEST, name, BALEEN_INPUT_PART, error);
	if (fd < 0)
		return fd;
	err = baleen_manifest_read(fd, name, saved, error);
	return err ? err : refuse_others(dir_fd, path, saved, error);
}

/* The bytes of @from, so many at most, and their size and checksum. */
static int copy_bytes(int from, int to, u64 max_bytes, struct baleen_saved_file *file)
{
	char bytes[65536];
	ssize_t n = 0;
	int err = 0;

	*file = (struct baleen_saved_file){ .n_bytes = 0 };
	while (!err && file->n_bytes <= max_bytes &&
	       (n = pread(from, bytes, sizeof(bytes), file->n_bytes)) > 0) {
		file->crc = baleen_crc32c(file->crc, bytes, n);
		file->n_bytes += n;
		err = baleen_write_all(to, bytes, n);
	}
	return err ? err : n < 0 ? -errno : 0;
}

/* The file as it is now, in memory: who changes it later changes nothing that was checked. */
static int read_part(int dir_fd, const char *path, const char *file,
		     const struct baleen_saved_file *want, struct baleen_error *error)
{
	char name[PATH_MAX + BALEEN_SAVED_FILE_BYTES];
	struct baleen_saved_file is;
	struct stat stat_;
	int fd, to, err;

	snprintf(name, sizeof(name), "%s/%s", path, file);
	fd = baleen_input_open_at(dir_fd, file, name, BALEEN_INPUT_PART, error);
	if (fd < 0)
		return fd;
	if (fstat(fd, &stat_) || (u64)stat_.st_size != want->n_bytes) {
		close(fd);
		return baleen_fail(error, EINVAL, "%s: is not what was saved", name);
	}
	to = memfd_create("baleen-saved", MFD_CLOEXEC);
	err = to < 0 ? -errno : copy_bytes(fd, to, want->n_bytes, &is);
	close(fd);
	if (err)
		baleen_fail(error, -err, "%s: %s", name, strerror(-err));
	else if (is.n_bytes != want->n_bytes || is.crc != want->crc)
		err = baleen_fail(error, EINVAL, "%s: is not what was saved", name);
	if (err)
		baleen_close_fd(&to);
	return err ? err : to;
}

/* The same as a text. */
static int read_text(int dir_fd, const char *path, const char *file,
		     const struct baleen_saved_file *want, char **text, struct baleen_error *error)
{
	int fd = read_part(dir_fd, path, file, want, error);

	if (fd < 0)
		return fd;
	*text = calloc(1, want->n_bytes + 1);
	if (!*text || pread(fd, *text, want->n_bytes, 0) != (ssize_t)want->n_bytes ||
	    strlen(*text) != want->n_bytes) {
		close(fd);
		return baleen_fail(error, EINVAL, "%s/%s: no memory, or no text", path, file);
	}
	close(fd);
	return 0;
}

static int read_conf(int dir_fd, const char *path, struct baleen_saved *saved,
		     struct baleen_error *error)
{
	char name[PATH_MAX + sizeof(BALEEN_SAVED_CONF)];
	char *text = NULL;
	int err = read_text(dir_fd, path, BALEEN_SAVED_CONF, &saved->conf_file, &text, error);

	snprintf(name, sizeof(name), "%s/%s", path, BALEEN_SAVED_CONF);
	if (!err)
		err = baleen_conf_parse(text, saved->conf_file.n_bytes, name, &saved->conf, error);
	free(text);
	return err;
}

/* Only a path may be a directory, and have a copy for each file. */
static bool may_have_files(const char *source)
{
	return *source == '/';
}

static bool is_same_place(const struct baleen_saved_copy *a, const struct baleen_saved_copy *b)
{
	return a->place == b->place && !strcmp(a->rule, b->rule);
}

/* Each copy is of a feed that the text has, and the only one unless it is of a file of a directory.
 */
static int check_copies(const struct baleen_saved *saved, const char *path,
			struct baleen_error *error)
{
	for (size_t i = 0; i < saved->n_copies; i++) {
		const struct baleen_saved_copy *copy = &saved->copy[i];
		const struct baleen_conf_feed *feed = baleen_saved_feed_of(saved, copy);
		bool is_alone = !*copy->feed.file;

		if (!feed || (!is_alone && !may_have_files(feed->wanted.source)))
			return baleen_fail(error, EINVAL, "%s/%s: is of no feed", path, copy->name);
		for (size_t j = 0; j < i; j++)
			if (is_same_place(&saved->copy[j], copy) &&
			    (is_alone || !strcmp(saved->copy[j].feed.file, copy->feed.file) ||
			     !*saved->copy[j].feed.file))
				return baleen_fail(error, EINVAL,
						   "%s/%s: is another one of its feed", path,
						   copy->name);
	}
	return 0;
}

static int read_copies(int dir_fd, const char *path, struct baleen_saved *saved,
		       struct baleen_error *error)
{
	for (size_t i = 0; i < saved->n_copies; i++) {
		struct baleen_saved_copy *copy = &saved->copy[i];

		copy->fd = read_part(dir_fd, path, copy->name, &copy->file, error);
		if (copy->fd < 0)
			return copy->fd;
	}
	return 0;
}

int baleen_saved_read(const char *path, struct baleen_saved *saved, struct baleen_error *error)
{
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	memset(saved, 0, sizeof(*saved));
	if (dir_fd < 0)
		return baleen_fail(error, errno, "%s: %m", path);
	err = read_manifest(dir_fd, path, saved, error);
	if (!err)
		err = read_conf(dir_fd, path, saved, error);
	if (!err)
		err = check_copies(saved, path, error);
	if (!err)
		err = read_copies(dir_fd, path, saved, error);
	if (!err && saved->n_entries)
		err = read_text(dir_fd, path, BALEEN_SAVED_ENTRIES, &saved->entries_file,
				&saved->entries, error);
	if (!err && saved->n_entries)
		err = baleen_saved_entries_check(saved, path, error);
	close(dir_fd);
	if (err)
		baleen_saved_free(saved);
	return err;
}

/* --- writing --- */

/* The directory to be made or replaced, in one that is locked. */
struct target {
	int parent_fd;
	char parent[PATH_MAX];
	char name[NAME_MAX + 1];
	char beside[NAME_MAX + 1];
	bool is_replaced;
};

/* Links are followed, so that a name like `latest` stays what it is. */
static int find_target(const char *path, struct target *target)
{
	char real[PATH_MAX], copy[PATH_MAX];
	struct stat there;

	if (strlen(path) >= sizeof(real))
		return -ENAMETOOLONG;
	if (!realpath(path, real)) {
		if (errno != ENOENT || !*path || !lstat(path, &there))
			return -errno;
		strcpy(real, path);
	}
	strcpy(copy, real);
	path = basename(copy);
	if (strlen(path) >= sizeof(target->name))
		return -ENAMETOOLONG;
	strcpy(target->name, path);
	snprintf(target->beside, sizeof(target->beside), ".%.200s.baleen-saved", path);
	strcpy(copy, real);
	strcpy(target->parent, dirname(copy));
	return 0;
}

/* Two writers of one name would make one directory beside it. */
static int lock_parent(struct target *target)
{
	target->parent_fd = open(target->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target->parent_fd < 0)
		return -errno;
	return baleen_lock_within(target->parent_fd, BALEEN_LOCK_TIMEOUT_MS);
}

static int open_inside(const struct target *target, const char *name)
{
	int fd = openat(target->parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Nothing, nothing in it, or only what was saved before. */
static int check_there(struct target *target, const char *path, struct baleen_error *error)
{
	int fd = open_inside(target, target->name), err = 0;
	struct baleen_saved saved = { 0 };
	struct baleen_error what;
	DIR *dir;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return baleen_fail(error, -fd, "%s: %s", path, strerror(-fd));
	dir = list(fd);
	target->is_replaced = dir && next(dir);
	if (!dir)
		err = baleen_fail(error, errno, "%s: %m", path);
	else if (target->is_replaced && read_manifest(fd, path, &saved, &what))
		err = baleen_fail(error, EEXIST, "%s: not replaced, since nobody saved it: %.900s",
				  path, what.text);
	baleen_saved_free(&saved);
	if (dir)
		closedir(dir);
	close(fd);
	return err;
}

/* A directory of ours with its files; directories in it are not ours. */
static int remove_inside(const struct target *target, const char *name)
{
	int fd = open_inside(target, name);
	const char *file;
	DIR *dir;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	dir = list(fd);
	while (dir && (file = next(dir)))
		unlinkat(fd, file, 0);
	if (dir)
		closedir(dir);
	close(fd);
	return unlinkat(target->parent_fd, name, AT_REMOVEDIR) ? -errno : 0;
}

/* A signal that the caller blocked is pending. */
static int write_file(const struct target *target, const char *file, const void *bytes,
		      size_t n_bytes, struct baleen_error *error)
{
	char path[PATH_MAX + 2 * NAME_MAX];

	if (baleen_signals_came())
		return baleen_fail(error, EINTR, "interrupted: nothing saved");
	snprintf(path, sizeof(path), "%s/%s/%s", target->parent, target->beside, file);
	return baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0600, bytes, n_bytes, error);
}

/* A text, and its size and checksum. */
static int write_text(const struct target *target, const char *file, const char *text,
		      struct baleen_saved_file *is, struct baleen_error *error)
{
	*is = (struct baleen_saved_file){ .n_bytes = strlen(text),
					  .crc = baleen_crc32c(0, text, strlen(text)) };
	return write_file(target, file, text, is->n_bytes, error);
}

static int write_copy(const struct target *target, struct baleen_saved_copy *copy,
		      struct baleen_error *error)
{
	char path[PATH_MAX + 2 * NAME_MAX];
	struct baleen_output output;
	int err;

	if (baleen_signals_came())
		return baleen_fail(error, EINTR, "interrupted: nothing saved");
	snprintf(path, sizeof(path), "%s/%s/%s", target->parent, target->beside, copy->name);
	err = baleen_output_open(&output, path, BALEEN_OUTPUT_NAMED, 0600, error);
	if (err)
		return err;
	err = copy_bytes(copy->fd, output.fd, UINT64_MAX, &copy->file);
	if (!err)
		err = baleen_output_swap(&output);
	baleen_output_drop(&output);
	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}

static int write_files(struct baleen_saved *saved, const struct target *target,
		       struct baleen_error *error)
{
	int err = write_text(target, BALEEN_SAVED_CONF, saved->conf.text, &saved->conf_file, error);
	struct baleen_saved_file manifest_file;
	char *manifest;

	for (size_t i = 0; i < saved->n_copies && !err; i++)
		err = write_copy(target, &saved->copy[i], error);
	if (!err && saved->n_entries)
		err = write_text(target, BALEEN_SAVED_ENTRIES, saved->entries, &saved->entries_file,
				 error);
	if (err)
		return err;
	manifest = baleen_manifest_format(saved);
	if (!manifest)
		return baleen_fail(error, ENOMEM, "no memory for %s", BALEEN_SAVED_MANIFEST);
	err = write_text(target, BALEEN_SAVED_MANIFEST, manifest, &manifest_file, error);
	free(manifest);
	return err;
}

/* A directory that holds something can only be exchanged; one that holds nothing
 * is replaced, and one that has got something by now is an error.
 */
static int put_in_place(const struct target *target, const char *path, struct baleen_error *error)
{
	int fd = target->parent_fd;
	int err = target->is_replaced ?
			  renameat2(fd, target->beside, fd, target->name, RENAME_EXCHANGE) :
			  renameat(fd, target->beside, fd, target->name);

	if (!err)
		return 0;
	if (target->is_replaced && errno == EINVAL)
		return baleen_fail(error, EINVAL,
				   "%s: this file system cannot exchange directories: save to a "
				   "new name",
				   path);
	return baleen_fail(error, errno, "%s: %m", path);
}

/* The new directory has its name now. */
static int finish(const struct target *target, const char *path, struct baleen_error *error)
{
	int err = target->is_replaced ? remove_inside(target, target->beside) : 0;

	if (err)
		return baleen_fail(error, -err, "%s: saved, but %s/%s cannot be removed: %s", path,
				   target->parent, target->beside, strerror(-err));
	err = baleen_sync_dir(target->parent_fd);
	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}

static int write_beside(struct baleen_saved *saved, struct target *target, const char *path,
			struct baleen_error *error)
{
	int err = remove_inside(target, target->beside);

	if (!err && mkdirat(target->parent_fd, target->beside, 0700))
		err = -errno;
	if (err)
		return baleen_fail(error, -err, "%s/%s: %s", target->parent, target->beside,
				   strerror(-err));
	err = write_files(saved, target, error);
	/* Once more, since writing took its time. */
	if (!err)
		err = check_there(target, path, error);
	if (!err)
		err = put_in_place(target, path, error);
	if (err)
		remove_inside(target, target->beside);
	return err;
}

int baleen_saved_write(struct baleen_saved *saved, const char *path, struct baleen_error *error)
{
	struct target target = { .parent_fd = -1 };
	int err = find_target(path, &target);

	if (!err)
		err = lock_parent(&target);
	if (err)
		err = baleen_fail(error, -err, "%s: %s", path, strerror(-err));
	else
		err = check_there(&target, path, error);
	if (!err)
		err = write_beside(saved, &target, path, error);
	if (!err)
		err = finish(&target, path, error);
	baleen_close_fd(&target.parent_fd);
	return err;
}
