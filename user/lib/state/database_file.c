// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of databases; of one that is read as a whole, and written as a whole. */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/database_file.h"
#include "util/input.h"
#include "util/write_file.h"

int baleen_database_check(const char *path, struct baleen_error *error)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char file[PATH_MAX];
	struct baleen_error why;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		int err;

		snprintf(file, sizeof(file), "%s%s", path, suffixes[i]);
		err = baleen_input_check(file, &why);
		if (err && err != -ENOENT)
			return baleen_fail(error, -err, "%s", why.text);
	}
	return 0;
}

/* No state is larger: one that is was not written by us. */
#define BYTES_MAX (1 << 30)

static int read_bytes(int fd, u8 **bytes, size_t *n_bytes)
{
	struct stat file;
	size_t at = 0;

	if (fstat(fd, &file))
		return -errno;
	if (file.st_size > BYTES_MAX)
		return -EFBIG;
	*bytes = sqlite3_malloc64(file.st_size + 1);
	if (!*bytes)
		return -ENOMEM;
	while (at < (size_t)file.st_size) {
		ssize_t n = read(fd, *bytes + at, file.st_size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			sqlite3_free(*bytes);
			return n ? -errno : -EIO;
		}
		at += n;
	}
	*n_bytes = at;
	return 0;
}

#define VERSION_AT 18

/* One of an older Baleen says that it has a log, which is not read. */
static void forget_log(u8 *bytes, size_t n_bytes)
{
	if (n_bytes > VERSION_AT + 1)
		bytes[VERSION_AT] = bytes[VERSION_AT + 1] = 1;
}

int baleen_database_load(struct sqlite3 *db, const char *path, struct baleen_error *error)
{
	int fd = baleen_input_open(path, BALEEN_INPUT_OWN, error), err;
	size_t n_bytes = 0;
	u8 *bytes = NULL;

	if (fd < 0)
		return fd;
	err = read_bytes(fd, &bytes, &n_bytes);
	close(fd);
	if (err)
		return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
	forget_log(bytes, n_bytes);
	return sqlite3_deserialize(db, "main", bytes, n_bytes, n_bytes,
				   SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ?
		       1 :
		       0;
}

int baleen_database_write(struct sqlite3 *db, const char *path, struct baleen_output *output,
			  struct baleen_error *error)
{
	sqlite3_int64 n_bytes = 0;
	u8 *bytes = sqlite3_serialize(db, "main", &n_bytes, 0);
	int err;

	if (!bytes)
		return baleen_fail(error, ENOMEM, "no memory for %s", path);
	err = baleen_output_open(output, path, BALEEN_OUTPUT_NAMED, 0600, error);
	if (!err) {
		err = baleen_write_all(output->fd, bytes, n_bytes);
		if (!err && fsync(output->fd))
			err = -errno;
		if (err) {
			baleen_output_drop(output);
			baleen_fail(error, -err, "%s: %s", path, strerror(-err));
		}
	}
	sqlite3_free(bytes);
	return err;
}

int baleen_database_save(struct sqlite3 *db, const char *path, struct baleen_error *error)
{
	struct baleen_output output;
	int err = baleen_database_write(db, path, &output, error);

	if (err)
		return err;
	err = baleen_output_swap(&output);
	baleen_output_drop(&output);
	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}
