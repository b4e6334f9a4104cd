/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter of the kernel module, opened by its name or by a rule.
 */
#ifndef BALEEN_CLI_KMOD_FILTER_H
#define BALEEN_CLI_KMOD_FILTER_H

#include "cli/common/cli.h"
#include "kmod/kmod.h"

/**
 * struct kmod_filter - a filter of the module, opened
 * @argument: as typed
 * @target: which
 * @fd: the device; 0 when it is not open
 * @is_dropping: it is of a rule that drops
 * @version: version of the image that was read last; 0 before
 */
struct kmod_filter {
	const char *argument;
	struct baleen_dev_target target;
	int fd;
	bool is_dropping;
	u64 version;
};

/* Opens the device for a filter with a name, which need not be there;
 * 0, or EXIT_FAILED after a message.
 */
int kmod_open(struct kmod_filter *kmod, const char *argument, const char *name, bool for_writing);

/* Reads the header of a filter's image, without the body; @info may be NULL. 0, or
 * EXIT_FAILED after a message.
 */
int kmod_head(const struct kmod_filter *kmod, struct baleen_image *image,
	      struct baleen_dev_info *info);

/* The filter as a sealed image, and its version; 0, or EXIT_FAILED after a message. */
int kmod_read(struct kmod_filter *kmod, struct baleen_filter *filter);

/* Another image for it, as long as it is what was read, if it was; 0, EXIT_FAILED
 * after a message, or -ESTALE when another has changed it.
 */
int kmod_swap(const struct kmod_filter *kmod, const struct baleen_filter *filter);

/* A message about a failure with it. */
void kmod_complain(const struct kmod_filter *kmod, int err, const struct baleen_error *error);

void kmod_close(struct kmod_filter *kmod);

#endif /* BALEEN_CLI_KMOD_FILTER_H */
