// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kmod:NAME where a command says IMAGE: a filter of the kernel module. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/open/kmod_filter.h"

/* Filters named when one is not found. */
#define MAX_NAMED 8

int kmod_open(struct kmod_filter *kmod, const char *argument, const char *name, bool for_writing)
{
	const char *reason = baleen_kmod_name_check(name);
	struct baleen_error error;
	int fd;

	if (!reason && baleen_kmod_open(for_writing, &fd, &error))
		reason = error.text;
	if (reason)
		return complain("%s: %s", argument, reason);
	*kmod = (struct kmod_filter){ .argument = argument,
				      .target = baleen_kmod_target(name, 0),
				      .fd = fd };
	return 0;
}

void kmod_close(struct kmod_filter *kmod)
{
	if (kmod->fd)
		close(kmod->fd);
	kmod->fd = 0;
}

/* A name that is not there is mostly a slip. */
static void complain_missing(const struct kmod_filter *kmod)
{
	struct baleen_dev_info *infos = NULL;
	char text[MAX_NAMED * (BALEEN_DEV_NAME_BYTES + 2) + 1] = "";
	size_t n = 0, at = 0;

	if (baleen_kmod_list(kmod->fd, &infos, &n, NULL) || !n) {
		complain("%s: no such filter: the module has none", kmod->argument);
		return;
	}
	for (size_t i = 0; i < n && i < MAX_NAMED; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "", infos[i].name);
	if (n > MAX_NAMED)
		complain("%s: no such filter: the module has %s and %zu more", kmod->argument, text,
			 n - MAX_NAMED);
	else
		complain("%s: no such filter: the module has %s", kmod->argument, text);
	free(infos);
}

void kmod_complain(const struct kmod_filter *kmod, int err, const struct baleen_error *error)
{
	if (err == -ENOENT && !kmod->target.ifindex)
		complain_missing(kmod);
	else
		complain("%s: %s", kmod->argument, error->text);
}

int kmod_head(const struct kmod_filter *kmod, struct baleen_image *image,
	      struct baleen_dev_info *info)
{
	struct baleen_error error;
	int err = baleen_kmod_header(kmod->fd, &kmod->target, image, info, &error);

	if (err)
		kmod_complain(kmod, err, &error);
	return err ? EXIT_FAILED : 0;
}

int kmod_read(struct kmod_filter *kmod, struct baleen_filter *filter)
{
	struct baleen_error error;
	int err = baleen_kmod_read(kmod->fd, &kmod->target, filter, &kmod->version, &error);

	if (err)
		kmod_complain(kmod, err, &error);
	return err ? EXIT_FAILED : 0;
}

int kmod_swap(const struct kmod_filter *kmod, const struct baleen_filter *filter)
{
	struct baleen_error error;
	int err = baleen_kmod_swap(kmod->fd, &kmod->target, filter, kmod->version, &error);

	if (err == -ESTALE)
		return err;
	if (err)
		kmod_complain(kmod, err, &error);
	return err ? EXIT_FAILED : 0;
}
