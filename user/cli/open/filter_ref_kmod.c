// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kmod:NAME, or DEV:RULE of the kernel module, where a command says IMAGE. */
#include <errno.h>
#include <string.h>

#include "cli/open/filter_ref_type.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_describe.h"
#include "cli/open/kmod_device.h"
#include "filter/filter_strings.h"
#include "kmod/kmod_change.h"

/* A rule of the module has a filter of its own, or asks one with a name. */
static int open_filter(struct filter_ref *ref, bool for_writing)
{
	if (ref->device[0])
		return kmod_rule_open(&ref->kmod, ref->argument, ref->device, ref->rule,
				      for_writing);
	return kmod_open(&ref->kmod, ref->argument, ref->rule, for_writing);
}

static int read_head(struct filter_ref *ref)
{
	return kmod_head(&ref->kmod, &ref->filter.image, NULL);
}

static int read_filter(struct filter_ref *ref, struct baleen_list *list,
		       struct list_options *options)
{
	if (open_filter(ref, false))
		return EXIT_FAILED;
	return options->looks_at_live ? read_head(ref) : kmod_read(&ref->kmod, &ref->filter);
}

/* --- asked ------------------------------------------------------------------- */

/* Strings are hashed by the seed of the filter, which a swap may have changed. */
static int hash_again(struct filter_ref *ref, struct baleen_key *keys,
		      const struct baleen_string *string, u32 n, bool *is_reseeded)
{
	struct baleen_seed before = ref->filter.image.seed;

	*is_reseeded = false;
	if (ref->filter.image.key_spec != BALEEN_KEY_STRING)
		return 0;
	if (read_head(ref))
		return EXIT_FAILED;
	*is_reseeded = memcmp(&before, &ref->filter.image.seed, sizeof(before));
	for (u32 i = 0; i < n && *is_reseeded; i++)
		keys[i] = baleen_string_key(&ref->filter, string[i]);
	return 0;
}

static int test_keys(struct filter_ref *ref, struct baleen_key *keys,
		     const struct baleen_string *string, u32 n, u8 *is_in)
{
	const struct kmod_filter *kmod = &ref->kmod;
	struct baleen_error error;
	bool is_reseeded;
	size_t n_done;
	int err;

	do {
		err = baleen_kmod_keys(kmod->fd, &kmod->target, BALEEN_DEV_QUERY, keys, n, is_in,
				       &n_done);
		if (err) {
			baleen_fail(&error, -err, "%s", baleen_kmod_explain(err));
			kmod_complain(kmod, err, &error);
			return EXIT_FAILED;
		}
		if (hash_again(ref, keys, string, n, &is_reseeded))
			return EXIT_FAILED;
	} while (is_reseeded);
	return 0;
}

static int describe(struct filter_ref *ref, json_t *json)
{
	struct baleen_dev_info info;
	struct baleen_image ignored;

	if (ref->device[0])
		return 0;
	if (kmod_head(&ref->kmod, &ignored, &info))
		return EXIT_FAILED;
	if (json)
		kmod_describe_info(json, &info);
	else
		kmod_print_info(&info);
	return 0;
}

/* --- to change --------------------------------------------------------------- */

static int open_to_change(struct filter_ref *ref)
{
	return open_filter(ref, true) ? EXIT_FAILED : read_head(ref);
}

/* Commands that build an image aside take turns: at once, all but one would have built
 * theirs for nothing. Commands that change the filter in place or write an image do not
 * wait, and are noticed by the version.
 */
static int load(struct filter_ref *ref)
{
	if (ref->filter.bytes)
		return 0;
	if (filter_ref_lock_fd(ref, ref->kmod.fd, BY_OTHERS))
		return EXIT_FAILED;
	return kmod_read(&ref->kmod, &ref->filter);
}

static int guard_keys(const struct filter_ref *ref, const struct baleen_filter *keys,
		      enum baleen_set_op op, bool is_forced)
{
	return is_forced ? 0 : kmod_guard_change(&ref->kmod, keys, op);
}

static int guard_image(const struct filter_ref *ref, const struct baleen_filter *filter,
		       bool is_forced)
{
	return is_forced ? 0 : kmod_guard_image(&ref->kmod, filter);
}

static int change_filter(struct filter_ref *ref, const struct baleen_list *list,
			 enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
			 u64 *n_changed)
{
	struct baleen_error error;
	int err = baleen_kmod_change(ref->kmod.fd, &ref->kmod.target, &ref->filter, list, op, exist,
				     noop, n_changed, &error);

	if (!err || err == -EALREADY || err == -ENOSPC || err == -EOPNOTSUPP)
		return err;
	kmod_complain(&ref->kmod, err, &error);
	return EXIT_FAILED;
}

static int put_filter(struct filter_ref *ref, const struct baleen_filter *filter)
{
	return kmod_swap(&ref->kmod, filter);
}

static bool drops(const struct filter_ref *ref)
{
	return ref->kmod.is_dropping;
}

/* --- to write ---------------------------------------------------------------- */

/* Refuses an image that errs more than the one there, and more than a rule may. */
static int guard_error_rate(const struct kmod_filter *kmod, const struct baleen_filter *filter)
{
	double fpp = baleen_filter_worst_fpp(filter), fpp_before;
	struct baleen_filter before = { 0 };
	struct baleen_dev_info info;
	struct baleen_image head;
	struct baleen_error error;
	u64 version;

	if (fpp <= BALEEN_ACCEPT_FPP ||
	    baleen_kmod_header(kmod->fd, &kmod->target, &head, &info, &error) || !info.n_rules ||
	    baleen_kmod_read(kmod->fd, &kmod->target, &before, &version, &error))
		return 0;
	fpp_before = baleen_filter_worst_fpp(&before);
	baleen_filter_free(&before);
	if (fpp <= fpp_before)
		return 0;
	return complain(
		"%s: rules ask it, and would take %.*f unlisted packets in a million for listed: "
		"false positive rate %.3g, accepted %.3g: 'baleen swap --accept-fpp' takes it",
		kmod->argument, fpp < 1e-4 ? 3 : 0, fpp * 1e6, fpp, BALEEN_ACCEPT_FPP);
}

static int create_filter(struct filter_ref *ref, const struct baleen_filter *filter)
{
	struct baleen_error error;

	if (open_filter(ref, true))
		return EXIT_FAILED;
	if (guard_image(ref, filter, false))
		return complain("%s: 'baleen swap --force' takes an image for all that",
				ref->argument);
	if (guard_error_rate(&ref->kmod, filter))
		return EXIT_FAILED;
	if (!baleen_kmod_store(ref->kmod.fd, ref->rule, filter, &error))
		return 0;
	return complain("%s: %s", ref->argument, error.text);
}

const struct filter_ref_type filter_ref_kmod = {
	.is_live = true,
	.read = read_filter,
	.lock = open_to_change,
	.load = load,
	.test = test_keys,
	.describe = describe,
	.guard_keys = guard_keys,
	.guard_image = guard_image,
	.change = change_filter,
	.put = put_filter,
	.drops = drops,
	.create = create_filter,
};
