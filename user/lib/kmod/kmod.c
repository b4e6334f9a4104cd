// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filters of the kernel module: the one place that touches /dev/baleen. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/estimate.h"
#include "kmod/kmod.h"
#include "net/kmod_hook.h"
#include "ops/change.h"
#include "util/input.h"
#include "xdp/load.h"

#define MAX_BYTES "/sys/module/baleen/parameters/max_bytes"

/* Times that what changes meanwhile is looked at again. */
#define MAX_TRIES 16

/* Keys of one command: few enough that a signal is soon heard. */
#define BATCH 65536

/* A key goes to the kernel as it is. */
_Static_assert(sizeof(struct baleen_key) == sizeof(struct baleen_dev_key), "size of a key");
_Static_assert(offsetof(struct baleen_key, ip4) == offsetof(struct baleen_dev_key, ip4), "ip4");
_Static_assert(offsetof(struct baleen_key, hi) == offsetof(struct baleen_dev_key, hi), "hi");
_Static_assert(offsetof(struct baleen_key, rest) == offsetof(struct baleen_dev_key, rest), "rest");
_Static_assert(BALEEN_NAME_BYTES == BALEEN_DEV_NAME_BYTES, "size of a name");
_Static_assert(BALEEN_HEADER_BYTES == sizeof(((struct baleen_dev_get *)0)->header), "header");

/* --- the device ------------------------------------------------------------- */

static int refuse_open(int code, struct baleen_error *error)
{
	switch (code) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return baleen_fail(error, ENODEV,
				   "the kernel module is not loaded: 'modprobe baleen'");
	case EACCES:
	case EPERM:
		return baleen_fail(error, EACCES,
				   BALEEN_KMOD_NODE ": %s: the filters of the module are for root",
				   strerror(code));
	default: return baleen_fail(error, code, BALEEN_KMOD_NODE ": %s", strerror(code));
	}
}

int baleen_kmod_open(bool for_writing, int *fd, struct baleen_error *error)
{
	int opened =
		open(BALEEN_KMOD_NODE, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY);
	struct stat stat;

	if (opened < 0)
		return refuse_open(errno, error);
	/* An image copied there while the module was not loaded. */
	if (fstat(opened, &stat) || !S_ISCHR(stat.st_mode)) {
		close(opened);
		return baleen_fail(error, ENODEV,
				   BALEEN_KMOD_NODE
				   " is a file, not the device of the module: remove it, "
				   "then 'modprobe -r baleen; modprobe baleen'");
	}
	*fd = opened;
	return 0;
}

int baleen_kmod_command(int fd, unsigned long command, void *arg)
{
	return ioctl(fd, command, arg) ? -errno : 0;
}

const char *baleen_kmod_explain(int err)
{
	switch (-err) {
	case EBADF: return "the device is not open for this";
	case EBADMSG: return "the module refuses the image as damaged";
	case EBUSY: return "rules ask it";
	case EEXIST: return "is there already";
	case EINTR: return "interrupted";
	case EMSGSIZE: return "is larger by now";
	case ENODEV: return "no such network device";
	case ENOENT: return "the module has no such filter";
	case ENOMEM: return "no memory for it in the kernel, or in this control group";
	case ENOSPC: return "no room: the module's parameter max_bytes allows no more";
	case ENOTTY: return "the module does not know this command: it is of another release";
	case EOPNOTSUPP: return "the module cannot do this with a filter of this kind";
	case EPERM: return "this needs CAP_NET_ADMIN";
	case ESTALE: return "another command has changed it meanwhile";
	default: return strerror(-err);
	}
}

const char *baleen_kmod_name_check(const char *name)
{
	size_t length = strlen(name);

	if (!length)
		return "a filter's name cannot be empty";
	if (length >= BALEEN_DEV_NAME_BYTES)
		return "a filter's name has at most 31 characters";
	for (size_t i = 0; i < length; i++)
		if (name[i] < ' ' || name[i] > '~')
			return "a filter's name is printable ASCII";
	return NULL;
}

struct baleen_dev_target baleen_kmod_target(const char *name, unsigned int ifindex)
{
	struct baleen_dev_target target = { .ifindex = ifindex };

	memcpy(target.name, name, strnlen(name, sizeof(target.name) - 1));
	return target;
}

/* --- asking ----------------------------------------------------------------- */

int baleen_kmod_list(int fd, struct baleen_dev_info **infos, size_t *n, struct baleen_error *error)
{
	struct baleen_dev_info *found = NULL, *more;
	struct baleen_dev_list list = { .info_bytes = sizeof(*found) };
	int err;

	for (;;) {
		list.infos = (uintptr_t)found;
		err = baleen_kmod_command(fd, BALEEN_DEV_LIST, &list);
		if (err || list.n <= list.room)
			break;
		list.room = list.n;
		more = reallocarray(found, list.room, sizeof(*found));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		found = more;
	}
	if (err) {
		free(found);
		return baleen_fail(error, -err, "%s", baleen_kmod_explain(err));
	}
	*infos = found;
	*n = list.n;
	return 0;
}

static int get(int fd, const struct baleen_dev_target *target, struct baleen_image *image,
	       struct baleen_dev_info *info, struct baleen_error *error)
{
	struct baleen_dev_get get = { .target = *target };
	const char *reason;
	int err = baleen_kmod_command(fd, BALEEN_DEV_GET, &get);

	if (err)
		return baleen_fail(error, -err, "%s", baleen_kmod_explain(err));
	if (baleen_header_check(get.header, get.info.n_bytes, image, &reason))
		return baleen_fail(error, EINVAL, "%s", reason);
	*info = get.info;
	return 0;
}

int baleen_kmod_header(int fd, const struct baleen_dev_target *target, struct baleen_image *image,
		       struct baleen_dev_info *info, struct baleen_error *error)
{
	struct baleen_dev_info ignored;

	return get(fd, target, image, info ? info : &ignored, error);
}

/* A bit array does not show how many keys it holds. The bit arrays get the keys that the
 * module counted and no other table has; two of them share these by estimate.
 */
static void count_planes(struct baleen_filter *filter, const struct baleen_dev_info *info)
{
	double estimate[BALEEN_N_DOMAINS] = { 0 }, sum = 0;
	u64 others = 0, rest;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		if (baleen_table_is_bit_array(&filter->image.table[domain]))
			sum += estimate[domain] = baleen_estimate_keys(filter, domain);
		else
			others += baleen_filter_count(filter, domain);
	}
	rest = info->n_entries > others ? info->n_entries - others : 0;
	if (!(info->flags & BALEEN_DEV_COUNT_KNOWN))
		rest = llround(sum);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && sum > 0; domain++) {
		u64 n = llround(rest * (estimate[domain] / sum));

		filter->image.table[domain].n_entries = n;
		rest -= n;
		sum -= estimate[domain];
	}
}

/* Fills in the counts and the checksum, which a changed filter arrives without. */
static void seal(struct baleen_filter *filter, const struct baleen_dev_info *info)
{
	if (!(filter->image.flags & BALEEN_FLAG_LIVE))
		return;
	count_planes(filter, info);
	baleen_change_seal(filter);
}

/* Gives an unnamed image the name of its filter: written to /dev/baleen it goes there. */
static void name_it(struct baleen_filter *filter, const struct baleen_dev_target *target)
{
	if (*filter->image.name)
		return;
	memcpy(filter->image.name, target->name, sizeof(filter->image.name));
	baleen_filter_seal(filter);
}

/* -EAGAIN when another image took its place meanwhile. */
static int export(int fd, const struct baleen_dev_target *target, struct baleen_filter *read,
		  struct baleen_dev_info *info, struct baleen_error *error)
{
	struct baleen_dev_image arg = { .target = *target };
	const char *reason;
	int err = get(fd, target, &read->image, info, error);

	if (err)
		return err;
	err = baleen_filter_alloc(read, &read->image, error);
	if (err)
		return err;
	arg.image = (uintptr_t)read->bytes;
	arg.n_bytes = read->n_bytes;
	err = baleen_kmod_command(fd, BALEEN_DEV_EXPORT, &arg);
	if (err == -EMSGSIZE)
		return -EAGAIN;
	if (err)
		return baleen_fail(error, -err, "%s", baleen_kmod_explain(err));
	if (!baleen_image_check(read->bytes, read->n_bytes, &read->image, &reason))
		err = 0;
	else if (arg.version != info->version)
		err = -EAGAIN;
	else
		err = baleen_fail(error, EINVAL, "%s", reason);
	info->version = arg.version;
	return err;
}

int baleen_kmod_read(int fd, const struct baleen_dev_target *target, struct baleen_filter *filter,
		     u64 *version, struct baleen_error *error)
{
	struct baleen_filter read = { 0 };
	struct baleen_dev_info info;
	int err, n_tries = 0;

	do {
		baleen_filter_free(&read);
		err = export(fd, target, &read, &info, error);
	} while (err == -EAGAIN && ++n_tries < MAX_TRIES);
	if (err == -EAGAIN)
		err = baleen_fail(error, EAGAIN, "is swapped faster than it can be read");
	if (err) {
		baleen_filter_free(&read);
		return err;
	}
	seal(&read, &info);
	name_it(&read, target);
	*filter = read;
	*version = info.version;
	return 0;
}

/* --- changing --------------------------------------------------------------- */

/* Why an image is not for the kernel; see struct baleen_dev_image. */
static int explain_image(const struct baleen_filter *filter, int err, struct baleen_error *error)
{
	const struct baleen_image *image = &filter->image;
	char allowed[32] = "what it allows";
	FILE *file;

	for (u32 domain = BALEEN_IP4; err == -EOPNOTSUPP && domain <= BALEEN_TUPLE; domain++)
		if (baleen_needs_string(&image->table[domain], domain))
			return baleen_fail(
				error, EOPNOTSUPP,
				"its hash is not keyed, and such strings and fingerprints cannot "
				"be asked in the kernel: build it with a keyed one");
	if (err == -EOPNOTSUPP && baleen_spec_has_fields(image->key_spec) &&
	    baleen_load_check(image, error))
		return err;
	if (err == -EINVAL)
		return baleen_fail(error, EINVAL,
				   "rules ask it, and the keys of the image are of other fields");
	if (err != -ENOSPC)
		return baleen_fail(error, -err, "%s", baleen_kmod_explain(err));
	file = baleen_input_stream(MAX_BYTES, BALEEN_INPUT_SYSTEM, NULL);
	if (file && fscanf(file, "%31[0-9]", allowed) != 1)
		strcpy(allowed, "what it allows");
	if (file)
		fclose(file);
	return baleen_fail(error, ENOSPC,
			   "with its %zu bytes the filters of the module would be more than %s "
			   "(" MAX_BYTES ")",
			   filter->n_bytes, allowed);
}

static int put(int fd, unsigned long command, const struct baleen_dev_target *target,
	       const struct baleen_filter *filter, u64 version)
{
	struct baleen_dev_image arg = { .target = *target,
					.image = (uintptr_t)filter->bytes,
					.n_bytes = filter->n_bytes,
					.version = version };

	return baleen_kmod_command(fd, command, &arg);
}

static bool is_there(int fd, const struct baleen_dev_target *target)
{
	struct baleen_dev_get get = { .target = *target };

	return !baleen_kmod_command(fd, BALEEN_DEV_GET, &get);
}

int baleen_kmod_store(int fd, const char *name, const struct baleen_filter *filter,
		      struct baleen_error *error)
{
	struct baleen_dev_target target = baleen_kmod_target(name, 0);
	int err, n_tries = 0;

	/* Others may create and destroy it meanwhile. */
	do {
		if (is_there(fd, &target))
			err = put(fd, BALEEN_DEV_SWAP, &target, filter, 0);
		else
			err = put(fd, BALEEN_DEV_CREATE, &target, filter, 0);
	} while ((err == -EEXIST || err == -ENOENT) && ++n_tries < MAX_TRIES);
	return err ? explain_image(filter, err, error) : 0;
}

int baleen_kmod_swap(int fd, const struct baleen_dev_target *target,
		     const struct baleen_filter *filter, u64 version, struct baleen_error *error)
{
	int err = put(fd, BALEEN_DEV_SWAP, target, filter, version);

	return err ? explain_image(filter, err, error) : 0;
}

int baleen_kmod_destroy(int fd, const char *name, struct baleen_error *error)
{
	struct baleen_dev_target target = baleen_kmod_target(name, 0);
	int err = baleen_kmod_command(fd, BALEEN_DEV_DESTROY, &target);

	return err ? baleen_fail(error, -err, "%s", baleen_kmod_explain(err)) : 0;
}

int baleen_kmod_keys(int fd, const struct baleen_dev_target *target, unsigned long command,
		     const struct baleen_key *keys, size_t n, u8 *answers, size_t *n_done)
{
	struct baleen_dev_keys arg = { .target = *target,
				       .key_bytes = sizeof(struct baleen_dev_key) };
	size_t done = 0;
	int err = 0;

	while (done < n && !err) {
		arg.keys = (uintptr_t)(keys + done);
		arg.answers = (uintptr_t)(answers + done);
		arg.n = n - done < BATCH ? n - done : BATCH;
		err = baleen_kmod_command(fd, command, &arg);
		if (!err)
			done += arg.n_done;
		/* A signal that does not end this process interrupts a batch; go on. */
		else if (err == -EINTR)
			err = 0;
	}
	*n_done = done;
	return err;
}
