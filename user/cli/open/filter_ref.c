// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What stands where a command says IMAGE: an image, a list, a live rule or a filter of the
 * kernel module.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/open/filter_ref.h"
#include "cli/open/kmod_device.h"
#include "ops/image_file.h"
#include "util/unpack.h"

/* Bad lines shown of one list: the wrong file is not worth a mailbox. */
#define MAX_REPORTED 20

bool split_live(const char *argument, char *device, size_t device_bytes, const char **rule)
{
	const char *colon = strrchr(argument, ':');
	const char *ignored;
	size_t length;

	if (*argument == '/' || *argument == '.' || !colon || split_kmod(argument, &ignored))
		return false;
	length = colon - argument;
	if (!length || length >= device_bytes || !colon[1])
		return false;
	memcpy(device, argument, length);
	device[length] = '\0';
	*rule = colon + 1;
	return true;
}

/* An image of the view of a live map. */
static int copy_live(struct input *input)
{
	const struct baleen_filter *live = &input->filter;
	struct baleen_filter image;
	struct baleen_error error;

	if (baleen_filter_copy(live, &image, &error)) {
		complain("%s: %s", input->path, error.text);
		return EXIT_FAILED;
	}
	input_close(input);
	input->filter = image;
	return 0;
}

static int open_live(struct input *input, const char *device, const char *rule,
		     const struct list_options *options)
{
	bool copies = !options->looks_at_live;
	struct baleen_error error;
	struct baleen_xdp xdp;
	int index, err;

	/* While a writer moves keys, who lists them could miss one. */
	if (baleen_xdp_open(&xdp, device, copies, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	index = baleen_xdp_rule_index(&xdp, rule);
	if (index < 0) {
		complain("%s has no rule '%s': see 'baleen status %s'", device, rule, device);
		err = EXIT_FAILED;
	} else {
		if (xdp.state != BALEEN_XDP_ATTACHED && xdp.state != BALEEN_XDP_MOVED)
			complain("warning: %s:%s is not in force (%s)", device, rule,
				 baleen_xdp_state_text(xdp.state));
		err = baleen_xdp_map_rule(&xdp, index, &input->filter, &error);
		if (err)
			complain("%s", error.text);
	}
	if (!err && copies)
		err = copy_live(input);
	baleen_xdp_close(&xdp);
	return err ? EXIT_FAILED : 0;
}

/* Who looks at what is live asks the kernel. */
static int read_kmod(struct input *input, struct kmod_filter *kmod,
		     const struct list_options *options)
{
	int err;

	if (options->looks_at_live) {
		err = kmod_head(kmod, &input->filter.image, NULL);
		input->kmod = *kmod;
		return err;
	}
	err = kmod_read(kmod, &input->filter);
	kmod_close(kmod);
	return err;
}

static int open_kmod(struct input *input, const char *name, const struct list_options *options)
{
	struct kmod_filter kmod;
	int err = kmod_open(&kmod, input->path, name, false);

	return err ? err : read_kmod(input, &kmod, options);
}

static int open_kmod_rule(struct input *input, const char *device, const char *rule,
			  const struct list_options *options)
{
	struct kmod_filter kmod;
	int err = kmod_rule_open(&kmod, input->path, device, rule, false);

	return err ? err : read_kmod(input, &kmod, options);
}

static void report_bad(void *data, const struct baleen_list_problem *problem)
{
	struct list_options *options = data;

	if (options->skip_bad || options->n_reported > MAX_REPORTED)
		return;
	if (options->n_reported++ == MAX_REPORTED)
		complain("%s: and so on; only the first %d bad lines are shown", problem->file,
			 MAX_REPORTED);
	else
		complain("%s:%llu: '%s': %s", problem->file, (unsigned long long)problem->line,
			 problem->text, problem->reason);
}

/* What cannot be sought, such as a pipe, as a file that can: so an image is
 * told from a list there, too. -1 with errno on failure.
 */
static int make_seekable(int fd, const char *name)
{
	int copy = memfd_create("baleen-input", MFD_CLOEXEC);
	char chunk[65536];
	ssize_t n = 0;

	/* Who types sees that nothing comes. */
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
static int open_packed(const char *path, const char *name)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				     fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	struct stat stat;
	int seekable;

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

/* The same, with its gzip taken off. */
static int open_file(const char *path)
{
	const char *name = strcmp(path, "-") ? path : "stdin";
	int packed = open_packed(path, name), fd = -1, err;
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

/* Lines of @fd, or of the table that it is; -1 after a message. */
static int open_lines(int fd, const char *name, const struct baleen_csv_options *csv)
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

	/* Its first row would be names or a string, who knows. */
	if (list->key_spec == BALEEN_KEY_STRING && baleen_csv_is_wanted(&options->csv)) {
		complain("%s: no table is read for --key string: give it the column alone", name);
		return EXIT_FAILED;
	}
	lines = open_lines(fd, name, &options->csv);
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

/* Appends one list; refuses it when it has no key. */
static int read_list(struct baleen_list *list, int fd, const char *path,
		     struct list_options *options)
{
	u64 n_lines = list->n_lines, n_bad = list->n_bad, n_listed = list->n_listed;
	const char *name = strcmp(path, "-") ? path : "stdin";
	const char *reason = baleen_unpack_refuse(fd);

	if (reason) {
		complain("%s: %s", name, reason);
		return EXIT_FAILED;
	}
	options->n_reported = 0;
	if (read_lines(list, fd, name, options))
		return EXIT_FAILED;
	n_lines = list->n_lines - n_lines;
	n_bad = list->n_bad - n_bad;
	if (n_bad && !options->skip_bad) {
		complain("%s: %llu bad line%s of %llu: list refused (--skip-bad goes on without "
			 "them)",
			 name, (unsigned long long)n_bad, n_bad == 1 ? "" : "s",
			 (unsigned long long)n_lines);
		return EXIT_FAILED;
	}
	if (list->n_listed == n_listed && !options->allow_empty) {
		complain("%s: not a single key in %llu line%s: list refused (--allow-empty takes "
			 "it)",
			 name, (unsigned long long)n_lines, n_lines == 1 ? "" : "s");
		return EXIT_FAILED;
	}
	if (n_bad)
		complain("%s: skipped %llu bad line%s of %llu", name, (unsigned long long)n_bad,
			 n_bad == 1 ? "" : "s", (unsigned long long)n_lines);
	return 0;
}

/* The fields of the keys of a list that is about to be read. */
static u32 list_key_spec(const struct list_options *options)
{
	return options->build.like ? options->build.like->key_spec : options->build.key_spec;
}

static bool is_empty(const struct baleen_list *list)
{
	return !(list->n_ip4 || list->n_net4 || list->n_ip6 || list->n_prefix6 || list->n_key ||
		 list->strings.n);
}

static int choose_kind(const struct baleen_list *list, struct list_options *options,
		       struct baleen_error *error)
{
	struct baleen_choice *choice = &options->choice;
	int err;

	if (!options->chooses || options->build.like || (options->is_kind_given && !options->needs))
		return 0;
	err = baleen_choose(list, &options->build, options->kinds, options->needs, choice, error);
	if (err)
		return err;
	options->build.kind = choice->kind;
	options->build.fpp = choice->fpp;
	return 0;
}

/* A list becomes a set, and that a filter. */
static int build_filter(struct input *input, struct baleen_list *list, struct list_options *options)
{
	struct baleen_error error;
	int err;

	progress_begin("sorting the list");
	err = baleen_list_finish(list);
	progress_end();
	if (err) {
		complain("%s: %s", input->path, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	if (list->n_listed && is_empty(list) && !options->allow_empty) {
		complain("%s: exceptions leave not a single key: list refused (--allow-empty takes "
			 "it)",
			 input->path);
		return EXIT_FAILED;
	}
	input->is_list = true;
	input->n_lines = list->n_lines;
	input->n_bad = list->n_bad;
	input->n_listed = list->n_listed;
	input->n_covered = list->n_covered;
	progress_begin("building the image");
	err = choose_kind(list, options, &error);
	if (!err)
		err = baleen_build(list, &options->build, &input->filter, &error);
	progress_end();
	if (err) {
		complain("%s: %s", input->path, error.text);
		return EXIT_FAILED;
	}
	return 0;
}

static int read_like(struct list_options *options)
{
	struct list_options none;
	struct input like;

	if (!options->like_path || options->build.like)
		return 0;
	list_options_init(&none);
	if (input_open(&like, options->like_path, &none))
		return EXIT_FAILED;
	options->like = like.filter.image;
	options->build.like = &options->like;
	input_close(&like);
	return 0;
}

int input_read_list(struct baleen_list *list, const char *path, struct list_options *options)
{
	int fd = open_file(path), err;

	if (fd < 0)
		return EXIT_FAILED;
	if (baleen_image_file_is(fd)) {
		complain("%s: is an image already, not a list", path);
		err = EXIT_FAILED;
	} else {
		err = read_list(list, fd, path, options);
	}
	close(fd);
	return err;
}

int input_build(struct input *input, char **paths, int n_paths, struct list_options *options)
{
	struct baleen_list list = { .keeps_copies = options->build.copies };
	int err = read_like(options);

	if (!err && options->build.like)
		list.keeps_copies = options->build.like->flags & BALEEN_FLAG_COPIES;
	*input = (struct input){ .path = paths[0], .csv = options->csv };
	list.key_spec = list_key_spec(options);
	for (int i = 0; i < n_paths && !err; i++)
		err = input_read_list(&list, paths[i], options);
	if (!err)
		err = build_filter(input, &list, options);
	baleen_list_free(&list);
	return err;
}

/* An image is what it is: an option that says otherwise was not meant. */
static int check_image(const struct input *input, const struct list_options *options)
{
	u32 key_spec = input->filter.image.key_spec;

	if (options->is_key_given && key_spec != options->build.key_spec) {
		complain("%s: is an image keyed by %s: --key %s contradicts it", input->path,
			 key_spec_text(key_spec), key_spec_text(options->build.key_spec));
		return EXIT_FAILED;
	}
	if (baleen_csv_is_wanted(&options->csv))
		complain("warning: %s is an image, not a table: --column, --where and --delimiter "
			 "do not change it",
			 input->path);
	if (options->shaped_by && !options->is_key_given)
		complain("warning: %s is an image: %s does not change it", input->path,
			 options->shaped_by);
	return 0;
}

int input_open_set(struct input *input, struct baleen_list *list, const char *argument,
		   struct list_options *options)
{
	char device[IF_NAMESIZE];
	struct baleen_error error;
	const char *rule;
	int fd, err;

	*input = (struct input){ .path = argument, .csv = options->csv };
	if (split_kmod(argument, &rule)) {
		err = open_kmod(input, rule, options);
		return err ? err : check_image(input, options);
	}
	if (split_live(argument, device, sizeof(device), &rule))
		return is_kmod_device(device) ? open_kmod_rule(input, device, rule, options) :
						open_live(input, device, rule, options);
	fd = open_file(argument);
	if (fd < 0)
		return EXIT_FAILED;
	if (baleen_image_file_is(fd)) {
		err = baleen_image_file_read(fd, argument, &input->filter, &error);
		if (err)
			complain("%s", error.text);
		else
			err = check_image(input, options);
	} else {
		input->is_list = true;
		list->key_spec = list_key_spec(options);
		err = read_list(list, fd, argument, options);
	}
	input->received_fd = fd;
	return err ? EXIT_FAILED : 0;
}

int input_open(struct input *input, const char *argument, struct list_options *options)
{
	struct baleen_list list = { .keeps_copies = options->build.copies };
	int err = input_open_set(input, &list, argument, options);

	if (!err && input->is_list)
		err = build_filter(input, &list, options);
	baleen_list_free(&list);
	return err;
}

void input_close(struct input *input)
{
	baleen_filter_free(&input->filter);
	kmod_close(&input->kmod);
	if (input->received_fd)
		close(input->received_fd);
	input->received_fd = 0;
}

/* A regular file again; -1 when it is none. A pipe has been read; opening it
 * again would wait for a writer.
 */
static int open_again(const char *path)
{
	int packed = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), fd = -1;
	struct stat stat;

	if (packed < 0)
		return -1;
	if (!fstat(packed, &stat) && S_ISREG(stat.st_mode))
		baleen_unpack(packed, path, BALEEN_UNPACK_MAX_BYTES, &fd, NULL);
	close(packed);
	return fd;
}

bool input_find_line(const struct input *input, const struct baleen_key *key, u64 *line, char *text,
		     size_t text_bytes)
{
	bool is_list = input->is_list && strcmp(input->path, "-");
	int fd = is_list ? open_again(input->path) : -1, lines = fd, err = 0;

	if (fd < 0)
		return false;
	if (baleen_csv_is_wanted(&input->csv))
		err = baleen_csv_read(fd, input->path, &input->csv, NULL, &lines, NULL);
	if (!err)
		err = baleen_list_find(lines, input->filter.image.key_spec, key, line, text,
				       text_bytes);
	if (lines != fd)
		close(lines);
	close(fd);
	return !err;
}
