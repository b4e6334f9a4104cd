/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of the kernel module: the one place that touches /dev/baleen.
 */
#ifndef BALEEN_KMOD_H
#define BALEEN_KMOD_H

#include <linux/baleen.h>

#include "filter/filter.h"

/**
 * baleen_kmod_open() - the device
 * @for_writing: to change filters or rules
 * @fd: set on success
 * @error: filled in on failure: what to do when the module is not loaded, or who may
 *
 * Return: 0; -ENODEV without the module; -EACCES; the errno of another failure.
 */
int baleen_kmod_open(bool for_writing, int *fd, struct baleen_error *error);

/**
 * baleen_kmod_command() - an ioctl of <linux/baleen.h>
 * @fd: descriptor of baleen_kmod_open()
 * @command: BALEEN_DEV_...
 * @arg: its argument
 *
 * Return: 0 or a negative errno.
 */
int baleen_kmod_command(int fd, unsigned long command, void *arg);

/**
 * baleen_kmod_target() - a filter by its name, or by a rule that asks it
 * @name: below BALEEN_DEV_NAME_BYTES
 * @ifindex: interface index of the rule's device; 0 for a filter with a name
 *
 * Return: it, padded with zeros.
 */
struct baleen_dev_target baleen_kmod_target(const char *name, unsigned int ifindex);

/**
 * baleen_kmod_name_check() - may a filter of the module be called so?
 * @name: as typed
 *
 * Return: NULL, or why not.
 */
const char *baleen_kmod_name_check(const char *name);

/**
 * baleen_kmod_list() - all filters with a name
 * @fd: descriptor of baleen_kmod_open()
 * @infos: set to an array in the order of the names, which the caller frees
 * @n: set to how many
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_kmod_list(int fd, struct baleen_dev_info **infos, size_t *n, struct baleen_error *error);

/**
 * baleen_kmod_read() - a filter of the module as an image
 * @fd: descriptor of baleen_kmod_open()
 * @target: which
 * @filter: a sealed image, to be freed by the caller; untouched on failure
 * @version: set to the version that it is; untouched on failure
 * @error: filled in on failure, without the name of the filter
 *
 * Counts the keys of a filter that was changed in the kernel. The number of keys in Bloom
 * tables comes from the module; an estimate divides it among two of them.
 *
 * Return: 0; -ENOENT; -ENOMEM; -EINVAL for an image that does not pass the checks;
 * -EAGAIN when it is swapped all the time.
 */
int baleen_kmod_read(int fd, const struct baleen_dev_target *target, struct baleen_filter *filter,
		     u64 *version, struct baleen_error *error);

/**
 * baleen_kmod_header() - the header of a filter, without its body
 * @fd: descriptor of baleen_kmod_open()
 * @target: which
 * @image: filled in
 * @info: filled in, if not NULL
 * @error: filled in on failure, without the name of the filter
 *
 * Return: 0, -ENOENT or another negative errno.
 */
int baleen_kmod_header(int fd, const struct baleen_dev_target *target, struct baleen_image *image,
		       struct baleen_dev_info *info, struct baleen_error *error);

/**
 * baleen_kmod_store() - create a filter with a name, or swap the one that there is
 * @fd: descriptor of baleen_kmod_open(), for writing
 * @name: its name
 * @filter: sealed
 * @error: filled in on failure, without the name of the filter
 *
 * Return: 0 or a negative errno: nothing has changed.
 */
int baleen_kmod_store(int fd, const char *name, const struct baleen_filter *filter,
		      struct baleen_error *error);

/**
 * baleen_kmod_swap() - another image for a filter
 * @fd: descriptor of baleen_kmod_open(), for writing
 * @target: which
 * @filter: sealed
 * @version: the version that was read, or 0 for any
 * @error: filled in on failure, without the name of the filter
 *
 * Return: 0; -ESTALE when another has changed it since; another negative errno:
 * nothing has changed.
 */
int baleen_kmod_swap(int fd, const struct baleen_dev_target *target,
		     const struct baleen_filter *filter, u64 version, struct baleen_error *error);

/**
 * baleen_kmod_destroy() - take a name and its filter away
 * @fd: descriptor of baleen_kmod_open(), for writing
 * @name: its name
 * @error: filled in on failure, without the name of the filter
 *
 * Return: 0; -ENOENT; -EBUSY while rules ask it; another negative errno.
 */
int baleen_kmod_destroy(int fd, const char *name, struct baleen_error *error);

/**
 * baleen_kmod_keys() - ask, add or delete keys in the kernel
 * @fd: descriptor of baleen_kmod_open()
 * @target: which filter
 * @command: BALEEN_DEV_QUERY, _INSERT or _DELETE
 * @keys: the keys
 * @n: how many, any number
 * @answers: @n bytes: see struct baleen_dev_keys
 * @n_done: set to how many were done, also on failure
 *
 * Return: 0 or the negative errno of the first that was not done.
 */
int baleen_kmod_keys(int fd, const struct baleen_dev_target *target, unsigned long command,
		     const struct baleen_key *keys, size_t n, u8 *answers, size_t *n_done);

/**
 * baleen_kmod_explain() - what an errno of the module means, in words
 * @err: a negative errno
 *
 * Return: a text without a name in it.
 */
const char *baleen_kmod_explain(int err);

#endif /* BALEEN_KMOD_H */
