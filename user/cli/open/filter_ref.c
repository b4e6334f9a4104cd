// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The IMAGE argument of a command, of any type. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/describe.h"
#include "cli/common/progress.h"
#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "cli/open/list_file.h"
#include "filter/live.h"
#include "list/list_sort.h"
#include "list/written.h"
#include "ops/image_file.h"
#include "ops/nobody.h"
#include "util/clock.h"
#include "util/input.h"

static void name(struct filter_ref *ref, const char *argument)
{
	*ref = (struct filter_ref){ .type = &filter_ref_file, .argument = argument };
	if (split_kmod(argument, &ref->rule))
		ref->type = &filter_ref_kmod;
	else if (split_live(argument, ref->device, sizeof(ref->device), &ref->rule))
		ref->type = is_kmod_device(ref->device) ? &filter_ref_kmod : &filter_ref_xdp;
}

/* --- to read ----------------------------------------------------------------- */

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
	options->build.copies = choice->copies;
	options->build.shape.may_err = choice->may_err;
	return 0;
}

/* Takes out what is nobody's, and counts it. */
static int leave_nobody(struct filter_ref *ref, struct baleen_list *list,
			const struct list_options *options)
{
	if (!options->leaves_nobody)
		return 0;
	if (baleen_special_leave_nobody(list, &ref->n_nobody))
		return complain("%s: %s", ref->argument, strerror(ENOMEM));
	if (!is_empty(list) || !ref->n_nobody || options->allow_empty)
		return 0;
	return complain("%s: not a single key that is somebody's: refused (--allow-empty takes it)",
			ref->argument);
}

/* Counts special-purpose ranges, and takes them out where that is asked for. */
static int look_for_special(struct filter_ref *ref, struct baleen_list *list,
			    const struct list_options *options)
{
	struct baleen_special_removed found;

	if (options->special == SPECIAL_IS_IGNORED)
		return 0;
	if (options->special == SPECIAL_IS_REMOVED ? baleen_special_remove(list, &found) :
						     baleen_special_count(list, &found))
		return complain("%s: %s", ref->argument, strerror(ENOMEM));
	if (!found.n_ranges)
		ref->n_special = 0;
	ref->special = baleen_special_whole(&found);
	if (!is_empty(list) || !ref->n_special || options->allow_empty)
		return 0;
	return complain("%s: not a single key outside of special-purpose ranges, which the rule "
			"takes out: refused (--allow-empty takes it, 'special keep' keeps them)",
			ref->argument);
}

/* Sorts the keys of a list and builds a filter of them. */
static int build_filter(struct filter_ref *ref, struct baleen_list *list,
			struct list_options *options)
{
	struct baleen_error error;
	int err;

	progress_begin("sorting the list");
	if (options->special != SPECIAL_IS_IGNORED) {
		baleen_list_sort(list);
		ref->n_special = baleen_written_special(list);
	}
	err = baleen_list_finish(list);
	progress_end();
	if (err)
		return complain("%s: %s", ref->argument, strerror(ENOMEM));
	if (list->n_listed && is_empty(list) && !options->allow_empty)
		return complain(
			"%s: exceptions leave not a single key: list refused (--allow-empty takes "
			"it)",
			ref->argument);
	if (look_for_special(ref, list, options) || leave_nobody(ref, list, options))
		return EXIT_FAILED;
	ref->is_list = true;
	ref->n_lines = list->n_lines;
	ref->n_bad = list->n_bad;
	ref->n_listed = list->n_listed;
	ref->n_covered = list->n_covered;
	progress_begin("building the image");
	err = choose_kind(list, options, &error);
	if (!err)
		err = baleen_build(list, &options->build, &ref->filter, &error);
	progress_end();
	if (err)
		return complain("%s: %s", ref->argument, error.text);
	return 0;
}

static int read_like(struct list_options *options)
{
	struct list_options none;
	struct filter_ref like;

	if (!options->like_path || options->build.like)
		return 0;
	list_options_init(&none);
	if (filter_ref_open(&like, options->like_path, &none))
		return EXIT_FAILED;
	options->like = like.filter.image;
	options->build.like = &options->like;
	filter_ref_close(&like);
	return 0;
}

int filter_ref_build(struct filter_ref *ref, struct baleen_list *list, char **paths, int n_paths,
		     struct list_options *options)
{
	int err = read_like(options);

	list->keeps_copies = !err && options->build.like ?
				     options->build.like->flags & BALEEN_FLAG_COPIES :
				     options->build.copies;
	*ref = (struct filter_ref){ .argument = paths[0], .csv = options->csv };
	list->key_spec = list_key_spec(options);
	for (int i = 0; i < n_paths && !err; i++)
		err = list_file_read(list, paths[i], options);
	return err ? err : build_filter(ref, list, options);
}

/* An image is what it is: an option that says otherwise was not meant. */
static int check_image(const struct filter_ref *ref, const struct list_options *options)
{
	u32 key_spec = ref->filter.image.key_spec;

	if (options->is_key_given && key_spec != options->build.key_spec)
		return complain("%s: is an image keyed by %s: --key %s contradicts it",
				ref->argument, key_spec_text(key_spec),
				key_spec_text(options->build.key_spec));
	if (baleen_csv_is_wanted(&options->csv))
		complain("warning: %s is an image, not a table: --column, --where and --delimiter "
			 "do not change it",
			 ref->argument);
	if (options->shaped_by && !options->is_key_given)
		complain("warning: %s is an image: --%s does not change it", ref->argument,
			 options->shaped_by);
	return 0;
}

bool filter_ref_is_image(const char *argument)
{
	bool is = false;
	int fd;

	if (is_live_name(argument))
		return true;
	fd = baleen_input_open(argument, BALEEN_INPUT_TYPED_FILE, NULL);
	if (fd >= 0) {
		is = baleen_image_file_is(fd);
		close(fd);
	}
	return is;
}

int filter_ref_open_set(struct filter_ref *ref, struct baleen_list *list, const char *argument,
			struct list_options *options)
{
	name(ref, argument);
	ref->csv = options->csv;
	if (ref->type->read(ref, list, options))
		return EXIT_FAILED;
	return ref->is_list || ref->device[0] ? 0 : check_image(ref, options);
}

int filter_ref_open(struct filter_ref *ref, const char *argument, struct list_options *options)
{
	struct baleen_list list = { .keeps_copies = options->build.copies };
	int err = filter_ref_open_set(ref, &list, argument, options);

	if (!err && ref->is_list)
		err = build_filter(ref, &list, options);
	baleen_list_free(&list);
	return err;
}

int filter_ref_test(struct filter_ref *ref, struct baleen_key *keys,
		    const struct baleen_string *string, u32 n, u8 *is_in)
{
	if (ref->type->test)
		return ref->type->test(ref, keys, string, n, is_in);
	baleen_filter_test_many(&ref->filter, keys, n, is_in);
	return 0;
}

int filter_ref_describe(struct filter_ref *ref, json_t *json)
{
	return ref->type->describe ? ref->type->describe(ref, json) : 0;
}

void filter_ref_close(struct filter_ref *ref)
{
	baleen_filter_free(&ref->filter);
	kmod_close(&ref->kmod);
	if (ref->type && ref->type->close)
		ref->type->close(ref);
	if (ref->fd)
		close(ref->fd);
	ref->fd = 0;
}

/* --- to change --------------------------------------------------------------- */

int filter_ref_head(const char *argument, struct baleen_image *head)
{
	struct list_options none;
	struct baleen_list list = { 0 };
	struct filter_ref ref;
	int err;

	list_options_init(&none);
	none.allow_empty = true;
	none.skip_bad = true;
	none.looks_at_live = true;
	err = filter_ref_open_set(&ref, &list, argument, &none);
	if (!err && ref.is_list)
		err = complain("%s: is a list, not an image: edit it, or build an image of it",
			       argument);
	if (!err)
		*head = ref.filter.image;
	filter_ref_close(&ref);
	baleen_list_free(&list);
	return err;
}

int filter_ref_change(const char *argument, u64 wait_ms,
		      int (*change)(struct filter_ref *ref, void *data), void *data)
{
	u64 until_ms = baleen_monotonic_ms() + wait_ms;
	struct filter_ref ref;
	int err;

	do {
		name(&ref, argument);
		ref.wait_ms = wait_ms;
		err = ref.type->lock(&ref);
		if (!err)
			err = change(&ref, data);
		filter_ref_close(&ref);
	} while (err == -ESTALE && baleen_monotonic_ms() < until_ms);
	if (err == -ESTALE)
		complain_changed(&ref, BY_OTHERS);
	return err == -ESTALE ? EXIT_FAILED : err;
}

int filter_ref_load(struct filter_ref *ref)
{
	return ref->type->load ? ref->type->load(ref) : 0;
}

int filter_ref_copy_live(struct filter_ref *ref)
{
	struct baleen_filter image;
	struct baleen_error error;

	if (baleen_filter_snapshot(&ref->filter, &image, &error))
		return complain("%s: %s", ref->argument, error.text);
	baleen_filter_free(&ref->filter);
	ref->filter = image;
	return 0;
}

int filter_ref_copy(struct filter_ref *ref)
{
	int err = filter_ref_load(ref);

	if (!err && ref->filter.is_mapped)
		err = filter_ref_copy_live(ref);
	if (!err)
		baleen_live_repair(&ref->filter);
	return err;
}

bool filter_ref_is_live(const struct filter_ref *ref)
{
	return ref->type->is_live;
}

bool filter_ref_is_derived(struct filter_ref *ref)
{
	return ref->type->is_derived && ref->type->is_derived(ref);
}

int filter_ref_guard_raise(struct filter_ref *ref, const struct baleen_filter *after,
			   double accept_fpp)
{
	struct baleen_error error;

	if (filter_ref_is_derived(ref)) {
		ref->type->accept(ref, accept_fpp);
		return 0;
	}
	if (!ref->type->is_live ||
	    !baleen_gate_raise(ref->argument, &ref->filter, after, accept_fpp, &error))
		return 0;
	return complain("%s", error.text);
}

/* A Bloom filter takes any number of keys and gives none back, and narrow slots err more often
 * the fuller they are: what it would come to is looked at first.
 */
int filter_ref_guard_added(struct filter_ref *ref, const struct baleen_list *keys,
			   double accept_fpp)
{
	struct baleen_filter after;
	struct baleen_error error;
	int err;

	if (!baleen_filter_may_exceed(&ref->filter.image, accept_fpp))
		return 0;
	err = baleen_filter_edit(&ref->filter, keys, BALEEN_SET_UNION, 0, &after, &error);
	/* It is built larger then, and that is asked about. */
	if (err == -ENOSPC)
		return 0;
	if (err)
		return complain("%s: %s", ref->argument, error.text);
	err = filter_ref_guard_raise(ref, &after, accept_fpp);
	baleen_filter_free(&after);
	return err;
}

int filter_ref_guard_keys(const struct filter_ref *ref, const struct baleen_filter *keys,
			  enum baleen_set_op op, bool is_forced)
{
	return ref->type->guard_keys ? ref->type->guard_keys(ref, keys, op, is_forced) : 0;
}

int filter_ref_guard_image(const struct filter_ref *ref, const struct baleen_filter *filter,
			   bool is_forced)
{
	return ref->type->guard_image ? ref->type->guard_image(ref, filter, is_forced) : 0;
}

int filter_ref_change_in_place(struct filter_ref *ref, const struct baleen_list *list,
			       enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
			       u64 *n_changed)
{
	int err = ref->type->change(ref, list, op, exist, noop, n_changed);

	/* Building aside says what there is no memory for. */
	return err == -ENOMEM ? -EOPNOTSUPP : err;
}

int filter_ref_leave_nobody(const struct filter_ref *ref, struct baleen_list *keys)
{
	u64 n = 0;

	if (!ref->type->drops || !ref->type->drops(ref))
		return 0;
	if (baleen_special_leave_nobody(keys, &n))
		return complain("%s: %s", ref->argument, strerror(ENOMEM));
	if (!n || !is_empty(keys))
		return 0;
	return complain("%s: no list drops 0.0.0.0, :: and 255.255.255.255", ref->argument);
}

/* A rule that is derived is without already; others may ask a filter of the module by name. */
int filter_ref_put(struct filter_ref *ref, struct baleen_filter *filter)
{
	struct baleen_error error;
	u64 n = 0;

	if (ref->type->drops && ref->type->drops(ref) && !filter_ref_is_derived(ref) &&
	    baleen_filter_leave_nobody(filter, &n, &error))
		return complain("%s: %s", ref->argument, error.text);
	return ref->type->put(ref, filter);
}

int filter_ref_replace(struct filter_ref *ref, struct baleen_filter *filter,
		       const struct list_options *lists)
{
	return ref->type->replace ? ref->type->replace(ref, filter, lists) :
				    filter_ref_put(ref, filter);
}

int filter_ref_remember(struct filter_ref *ref, const struct filter_ref *source,
			const struct list_options *lists)
{
	return ref->type->remember ? ref->type->remember(ref, source, lists) : 0;
}

void filter_ref_reserve(struct filter_ref *ref, u64 capacity)
{
	if (ref->type->reserve)
		ref->type->reserve(ref, capacity);
}

/* --- to write ---------------------------------------------------------------- */

/* That it cannot be written is known before a list is read. */
static int check_kmod(const struct command *command, const char *path, const char *filter_name,
		      char *name)
{
	const char *reason = baleen_kmod_name_check(filter_name);
	struct kmod_filter kmod;
	int err;

	if (reason)
		return complain_usage(command, "-o '%s': %s", path, reason);
	err = kmod_open(&kmod, path, filter_name, true);
	if (err)
		return err;
	kmod_close(&kmod);
	strcpy(name, filter_name);
	return 0;
}

int output_check(const struct command *command, const char *path, char *name)
{
	const char *reason, *filter_name;

	if (split_kmod(path, &filter_name))
		return check_kmod(command, path, filter_name, name);
	reason = rule_name_from_path(path, name);
	if (!strcmp(path, "-"))
		return complain_usage(command, "-o -: for standard output say /dev/stdout");
	if (*path && path[strlen(path) - 1] == '/')
		reason = "is a directory";
	if (reason)
		return complain_usage(command, "-o '%s': %s", path, reason);
	if (!baleen_file_may_replace(path, BALEEN_MAGIC, sizeof(BALEEN_MAGIC) - 1))
		return complain("%s: exists and is not an image: not overwritten", path);
	return 0;
}

int output_write(const char *path, const struct baleen_filter *filter, unsigned int mode)
{
	struct filter_ref ref = { .type = &filter_ref_file, .argument = path, .mode = mode };
	int err;

	if (split_kmod(path, &ref.rule))
		ref.type = &filter_ref_kmod;
	err = ref.type->create(&ref, filter);
	filter_ref_close(&ref);
	return err;
}
