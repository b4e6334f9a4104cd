// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files compressed by gzip. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/helper.h"
#include "util/unpack.h"

/* A gigabyte takes ten seconds. */
#define TIME_LIMIT_MS 120000

static bool is_gzip(int fd)
{
	char magic[2];

	return pread(fd, magic, 2, 0) == 2 && !memcmp(magic, "\x1f\x8b", 2);
}

static int unpack_to(int out, int fd, const char *name, u64 max_bytes, struct baleen_error *error)
{
	const struct baleen_fetch_order order = { .verb = BALEEN_FETCH_UNPACK,
						  .max_bytes = max_bytes };
	const struct baleen_helper_use use = { .order = &order,
					       .name = name,
					       .body = out,
					       .packed = fd,
					       .time_limit_ms = TIME_LIMIT_MS };
	struct baleen_fetch_report report;
	int err = baleen_helper_run(&use, &report, error);

	if (!err && report.err)
		err = baleen_fail(error, report.err < 0 ? -report.err : EIO, "%s: %s", name,
				  report.text);
	return err;
}

int baleen_unpack(int fd, const char *name, u64 max_bytes, int *out, struct baleen_error *error)
{
	bool packed = is_gzip(fd);
	int copy = packed ? memfd_create("baleen-unpacked", MFD_CLOEXEC) :
			    fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int err = 0;

	if (copy < 0)
		return baleen_fail(error, errno, "%s: %m", name);
	if (packed)
		err = unpack_to(copy, fd, name, max_bytes, error);
	if (!err && lseek(copy, 0, SEEK_SET) < 0)
		err = baleen_fail(error, errno, "%s: %m", name);
	if (err)
		close(copy);
	else
		*out = copy;
	return err;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Not [2001:db8::1] */
static bool is_json(const char *start)
{
	const char *inside = *start == '[' ? skip_blanks(start + 1) : "";

	return *start == '{' || (*inside && strchr("{[\"]", *inside));
}

size_t baleen_unpack_mark(const char *text, size_t n_bytes)
{
	static const char mark[] = "\xef\xbb\xbf";

	return n_bytes >= strlen(mark) && !memcmp(text, mark, strlen(mark)) ? strlen(mark) : 0;
}

const char *baleen_unpack_refuse(int fd, bool takes_json)
{
	static const struct {
		const char *magic;
		size_t n_bytes;
		const char *text;
	} kinds[] = {
		{ "\x1f\x8b", 2, "is compressed by gzip: unpack it first" },
		{ "BZh", 3, "is compressed by bzip2: unpack it first" },
		{ "\3757zXZ", 5, "is compressed by xz: unpack it first" },
		{ "\x28\xb5\x2f\xfd", 4, "is compressed by zstd: unpack it first" },
		{ "PK\x03\x04", 4, "is a zip archive: unpack it first" },
		{ "\xff\xfe", 2, "is UTF-16: convert it to UTF-8" },
		{ "\xfe\xff", 2, "is UTF-16: convert it to UTF-8" },
	};
	char start[256] = "";
	const char *text;

	if (pread(fd, start, sizeof(start) - 1, 0) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!memcmp(start, kinds[i].magic, kinds[i].n_bytes))
			return kinds[i].text;
	text = skip_blanks(start + baleen_unpack_mark(start, sizeof(start)));
	if (is_json(text) && !takes_json)
		return "is JSON, not a list: --column reads it by a path such as .[].ip, see "
		       "baleen-lists(5)";
	return *text == '<' ? "is an HTML or XML page, not a list" : NULL;
}
