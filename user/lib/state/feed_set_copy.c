// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The last good copy of a signed set: as a set, as a list, as lines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/feed_set_copy.h"
#include "util/fd.h"

static int decode(int fd, struct baleen_set_copy *copy, const char **why)
{
	struct baleen_canon none;
	struct stat stat;
	void *bytes;
	int err;

	*why = "is no set";
	if (fstat(fd, &stat) || !stat.st_size)
		return -EINVAL;
	bytes = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	baleen_canon_start(&none);
	err = baleen_set_head_read(bytes, stat.st_size, &copy->head, why);
	if (!err)
		err = baleen_set_decode(bytes, stat.st_size, &none, &copy->canon, why);
	munmap(bytes, stat.st_size);
	copy->is_there = !err;
	return err;
}

void baleen_set_copy_open(const struct baleen_rule_store *state, const struct baleen_feed *feed,
			  struct baleen_set_copy *copy)
{
	int fd = baleen_feed_open(state, feed, NULL);
	const char *why;

	*copy = (struct baleen_set_copy){ .is_there = false };
	if (fd >= 0)
		decode(fd, copy, &why);
	baleen_close_fd(&fd);
}

void baleen_set_copy_close(struct baleen_set_copy *copy)
{
	if (copy->is_there)
		baleen_canon_free(&copy->canon);
	copy->is_there = false;
}

bool baleen_set_copy_head(int fd, struct baleen_set_head *head)
{
	u8 bytes[BALEEN_SET_HEAD_BYTES];
	const char *why;
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

	return n >= 0 && !baleen_set_head_read(bytes, n, head, &why);
}

u64 baleen_set_copy_generation(int fd)
{
	struct baleen_set_head head;

	return baleen_set_copy_head(fd, &head) ? head.generation : 0;
}

static int open_copy(int fd, const char *name, struct baleen_set_copy *copy,
		     struct baleen_error *error)
{
	const char *why;
	int err;

	*copy = (struct baleen_set_copy){ .is_there = false };
	err = decode(fd, copy, &why);
	if (!err)
		return 0;
	return baleen_fail(error, -err, "%.600s: %s", name, err == -EINVAL ? why : strerror(-err));
}

int baleen_set_copy_list(int fd, const char *name, struct baleen_list *list,
			 struct baleen_error *error)
{
	struct baleen_set_copy copy;
	int err = open_copy(fd, name, &copy, error);

	if (!err && baleen_canon_to_list(&copy.canon, list))
		err = baleen_no_memory(error);
	baleen_set_copy_close(&copy);
	return err;
}

static int write_lines(const struct baleen_canon *canon, FILE *out)
{
	char text[BALEEN_KEY_TEXT];

	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++)
		for (size_t i = 0; i < canon->group[g].n; i++) {
			fputs(baleen_canon_text(canon, g, i, text), out);
			putc('\n', out);
		}
	return fflush(out) ? -errno : 0;
}

int baleen_set_copy_lines(int fd, const char *name, int *out, struct baleen_error *error)
{
	struct baleen_set_copy copy;
	int err = open_copy(fd, name, &copy, error), lines = -1;
	FILE *file = NULL;

	if (err)
		return err;
	lines = memfd_create("baleen-set", MFD_CLOEXEC);
	if (lines >= 0)
		file = fdopen(dup(lines), "w");
	err = file ? write_lines(&copy.canon, file) : -errno;
	if (file)
		fclose(file);
	baleen_set_copy_close(&copy);
	if (!err && lseek(lines, 0, SEEK_SET) < 0)
		err = -errno;
	if (err) {
		baleen_close_fd(&lines);
		return baleen_fail(error, -err, "%.600s: %s", name, strerror(-err));
	}
	*out = lines;
	return 0;
}
