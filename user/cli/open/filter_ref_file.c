// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An image or list in a file where a command says IMAGE. */
#include <fcntl.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "cli/open/device_edit.h"
#include "cli/open/filter_ref_type.h"
#include "cli/open/list_file.h"
#include "net/device.h"
#include "ops/image_file.h"
#include "util/input.h"
#include "util/output.h"
#include "util/shell.h"
#include "xdp/xdp.h"

static int read_image(struct filter_ref *ref)
{
	struct baleen_error error;

	if (!baleen_image_file_read(ref->fd, ref->argument, &ref->filter, &error))
		return 0;
	return complain("%s", error.text);
}

/* The device of a rule was typed alone: says which rules it has. Returns false when it is
 * no device, or a file, too.
 */
static bool complain_of_device(const char *argument)
{
	char names[BALEEN_MAX_RULES * (BALEEN_POINT_BYTES + BALEEN_NAME_BYTES + 2)] = "";
	struct baleen_ruleset ruleset = { 0 };
	struct baleen_xdp xdp;

	if (!access(argument, F_OK) || strlen(argument) >= BALEEN_POINT_BYTES ||
	    !baleen_device_index(argument))
		return false;
	if (is_kmod_device(argument)) {
		device_ruleset(argument, &ruleset);
	} else if (!baleen_xdp_open(&xdp, argument, false, NULL)) {
		baleen_ruleset_from_config(&xdp.config, &ruleset);
		baleen_xdp_close(&xdp);
	}
	for (u32 i = 0; i < ruleset.n_rules; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s:%s",
			 !i			 ? "" :
			 i + 1 < ruleset.n_rules ? ", " :
						   " or ",
			 argument, ruleset.rule[i].name);
	}
	if (*names)
		complain("%s is a device: say of which rule: %s", argument, names);
	else
		complain(
			"%s is a device, and no rules of it are known here: see 'baleen status %s'",
			argument, baleen_shell_word(argument).text);
	return true;
}

static int read_file(struct filter_ref *ref, struct baleen_list *list, struct list_options *options)
{
	int fd = complain_of_device(ref->argument) ? -1 :
						     list_file_open(ref->argument, options->input);

	if (fd < 0)
		return EXIT_FAILED;
	ref->fd = fd;
	if (baleen_image_file_is(fd))
		return read_image(ref);
	ref->is_list = true;
	list->key_spec = list_key_spec(options);
	return list_file_read_lines(list, fd, ref->argument, options);
}

/* --- to change --------------------------------------------------------------- */

/* A writer replaces the file: who waited may hold what was there before. */
static bool is_still_there(const struct filter_ref *ref)
{
	struct stat opened, named;

	return !fstat(ref->fd, &opened) && !stat(ref->argument, &named) &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static int open_locked(struct filter_ref *ref)
{
	for (;;) {
		struct baleen_error error;
		int fd = baleen_input_open(ref->argument, BALEEN_INPUT_TYPED_FILE, &error);

		if (fd < 0)
			return complain("%s", error.text);
		ref->fd = fd;
		if (filter_ref_lock_fd(ref, fd, "another command has been changing this file"))
			return EXIT_FAILED;
		if (is_still_there(ref))
			return 0;
		close(fd);
		ref->fd = 0;
	}
}

static int lock_file(struct filter_ref *ref)
{
	struct stat stat;

	if (open_locked(ref))
		return EXIT_FAILED;
	if (fstat(ref->fd, &stat) || !baleen_image_file_is(ref->fd))
		return complain("%s: is not an image", ref->argument);
	ref->mode = stat.st_mode & 0777;
	return read_image(ref);
}

static int write_file(struct filter_ref *ref, const struct baleen_filter *filter)
{
	struct baleen_error error;

	if (!baleen_output_write(ref->argument, BALEEN_OUTPUT_TYPED, ref->mode, filter->bytes,
				 filter->n_bytes, &error))
		return 0;
	return complain("%s", error.text);
}

static int change_file(struct filter_ref *ref, const struct baleen_list *list,
		       enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
		       u64 *n_changed)
{
	int err = baleen_change_in_place(&ref->filter, list, op, n_changed);

	if (err)
		return err;
	baleen_change_seal(&ref->filter);
	return write_file(ref, &ref->filter);
}

const struct filter_ref_type filter_ref_file = {
	.read = read_file,
	.lock = lock_file,
	.change = change_file,
	.put = write_file,
	.create = write_file,
};
