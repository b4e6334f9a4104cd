// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists in files and pipes: opened, unpacked, read, and searched for a key. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/open/list_file.h"
#include "ops/image_file.h"
#include "util/input.h"
#include "util/number.h"
#include "util/unpack.h"

/* Bad lines shown of one list: the wrong file is not worth a mailbox. */
#define MAX_REPORTED 20

/* The fields of the keys of a list that is about to be read. */
u32 list_key_spec(const struct list_options *options)
{
	return options->build.like ? options->build.like->key_spec : options->build.key_spec;
}

static void report_bad(void *data, const struct baleen_list_problem *problem)
{
	struct list_options *options = data;
	struct baleen_error error;

	if (options->skip_bad || options->n_reported > MAX_REPORTED)
		return;
	if (options->n_reported++ == MAX_REPORTED) {
		complain("%s: and so on; only the first %d bad lines are shown", problem->file,
			 MAX_REPORTED);
		return;
	}
	baleen_list_problem_fail(problem, &error);
	complain("%s", error.text);
}

/* Copies a pipe into a file that can be read twice: an image is told from a list by its
 * first bytes. -1 with errno on failure.
 */
static int make_seekable(int fd, const char *name)
{
	int copy = memfd_create("baleen-input", MFD_CLOEXEC);
	char chunk[65536];
	ssize_t n = 0;

	/* A user who types sees that nothing comes. */
	if (copy >= 0 && !isatty(fd))
		progress_begin_reading(name, copy);
	while (copy >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0) {
		n = write(copy, chunk, n) == n ? n : -1;
		if (n < 0)
			break;
	}
	progress_end();
	if (copy >= 0 && n < 0) {
		close(copy);
		return -1;
	}
	if (copy >= 0)
		lseek(copy, 0, SEEK_SET);
	return copy;
}

/* A file or pipe at its start, or -1 after a message. */
static int open_packed(const char *path, const char *name, enum baleen_input input)
{
	struct baleen_error error;
	struct stat stat;
	int fd, seekable;

	if (!strcmp(path, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else if ((fd = baleen_input_open(path, input, &error)) < 0)
		return complain("%s", error.text), -1;
	if (fd < 0 || fstat(fd, &stat)) {
		complain("%s: %m", name);
		return -1;
	}
	if (S_ISREG(stat.st_mode))
		return fd;
	seekable = make_seekable(fd, name);
	if (seekable < 0)
		complain("%s: %m", name);
	close(fd);
	return seekable;
}

int list_file_open(const char *path, enum baleen_input input)
{
	const char *name = strcmp(path, "-") ? path : "stdin";
	int packed = open_packed(path, name, input), fd = -1, err;
	struct baleen_error error;

	if (packed < 0)
		return -1;
	progress_begin("unpacking");
	err = baleen_unpack(packed, name, BALEEN_UNPACK_MAX_BYTES, &fd, &error);
	progress_end();
	if (err)
		complain("%s", error.text);
	close(packed);
	return fd;
}

int list_file_lines(int fd, const char *name, const struct baleen_csv_options *csv)
{
	struct baleen_error error;
	int lines = -1;

	if (!baleen_csv_is_wanted(csv))
		return fd;
	if (baleen_csv_read(fd, name, csv, NULL, &lines, &error))
		complain("%s", error.text);
	return lines;
}

static int read_lines(struct baleen_list *list, int fd, const char *name,
		      struct list_options *options)
{
	const struct baleen_list_reader reader = { .on_bad = report_bad,
						   .data = options,
						   .ends_with_nul = options->ends_with_nul };
	struct baleen_error error;
	int lines, err;

	/* Nothing tells whether the first row is names or a string. */
	if (list->key_spec == BALEEN_KEY_STRING && baleen_csv_is_wanted(&options->csv))
		return complain("%s: no table is read for --key string: give it the column alone",
				name);
	lines = list_file_lines(fd, name, &options->csv);
	if (lines < 0)
		return EXIT_FAILED;
	progress_begin_reading(name, lines);
	err = baleen_list_read(list, lines, name, &reader, &error);
	progress_end();
	if (err)
		complain("%s", error.text);
	if (lines != fd)
		close(lines);
	return err ? EXIT_FAILED : 0;
}

int list_file_read_lines(struct baleen_list *list, int fd, const char *path,
			 struct list_options *options)
{
	u64 n_lines = list->n_lines, n_bad = list->n_bad, n_listed = list->n_listed;
	u64 n_ends = list->n_ends;
	const char *name = strcmp(path, "-") ? path : "stdin";
	bool takes_json = baleen_csv_is_json(&options->csv) || list->key_spec == BALEEN_KEY_STRING;
	const char *reason = baleen_unpack_refuse(fd, takes_json);

	if (reason)
		return complain("%s: %s", name, reason);
	options->n_reported = 0;
	if (read_lines(list, fd, name, options))
		return EXIT_FAILED;
	n_lines = list->n_lines - n_lines;
	n_bad = list->n_bad - n_bad;
	if (n_bad && !options->skip_bad)
		return complain(
			"%s: %llu bad line%s of %llu: list refused (--skip-bad goes on without "
			"them)",
			name, (unsigned long long)n_bad, n_bad == 1 ? "" : "s",
			(unsigned long long)n_lines);
	if (list->n_listed == n_listed && !options->allow_empty)
		return complain(
			"%s: not a single key in %llu line%s: list refused (--allow-empty takes "
			"it)",
			name, (unsigned long long)n_lines, n_lines == 1 ? "" : "s");
	if (n_bad)
		complain("%s: skipped %llu bad line%s of %llu", name, (unsigned long long)n_bad,
			 n_bad == 1 ? "" : "s", (unsigned long long)n_lines);
	n_ends = list->n_ends - n_ends;
	if (n_ends)
		complain("warning: %s: a list does not keep the timeouts of %llu %s: 'baleen "
			 "import' does",
			 name, (unsigned long long)n_ends,
			 baleen_plural(n_ends, "entry", "entries"));
	return 0;
}

int list_file_read(struct baleen_list *list, const char *path, struct list_options *options)
{
	int fd = list_file_open(path, options->input), err;

	if (fd < 0)
		return EXIT_FAILED;
	if (baleen_image_file_is(fd)) {
		err = complain("%s: is an image already, not a list", path);
	} else {
		err = list_file_read_lines(list, fd, path, options);
	}
	close(fd);
	return err;
}

/* A regular file again; -1 when it is none. A pipe has been read; opening it
 * again would wait for a writer.
 */
static int open_again(const char *path)
{
	int packed = baleen_input_open(path, BALEEN_INPUT_TYPED_FILE, NULL), fd = -1;

	if (packed < 0)
		return -1;
	baleen_unpack(packed, path, BALEEN_UNPACK_MAX_BYTES, &fd, NULL);
	close(packed);
	return fd;
}

bool list_file_find(const char *path, const struct baleen_csv_options *csv, u32 key_spec,
		    const struct baleen_key *key, u64 *line, char *text, size_t text_bytes)
{
	int fd = strcmp(path, "-") ? open_again(path) : -1, lines = fd, err = 0;

	if (fd < 0)
		return false;
	if (baleen_csv_is_wanted(csv))
		err = baleen_csv_read(fd, path, csv, NULL, &lines, NULL);
	if (!err)
		err = baleen_list_find(lines, key_spec, key, line, text, text_bytes);
	if (lines != fd)
		close(lines);
	close(fd);
	return !err;
}
