/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Putting rules on a device that has no XDP program, or a chain of them.
 */
#ifndef BALEEN_ATTACH_H
#define BALEEN_ATTACH_H

#include "net/device.h"
#include "xdp/ruleset.h"

#define BALEEN_MAX_ATTEMPTS 3

/**
 * struct baleen_attempt - a way of attaching
 * @what: for people
 * @mode: native or generic
 * @frags: multi-buffer frames are let in
 */
struct baleen_attempt {
	const char *what;
	enum baleen_mode mode;
	bool frags;
};

/**
 * struct baleen_attempts - how an attach went
 * @mode: the mode that worked
 * @frags: multi-buffer frames are let in
 * @n_failed: attempts that failed before
 * @failed: each of them: what was tried, and the driver's or kernel's reason
 */
struct baleen_attempts {
	enum baleen_mode mode;
	bool frags;
	u32 n_failed;
	struct {
		const char *what;
		char reason[256];
	} failed[BALEEN_MAX_ATTEMPTS];
};

/* Attaches in one way; 0 or a negative errno with the reason in @error. */
typedef int baleen_attempt_try(const struct baleen_attempt *attempt, void *data,
			       struct baleen_error *error);

/**
 * baleen_attempts_make() - attach in the first way that works
 * @attempts: filled in, all zeros before
 * @device: its name
 * @mode: auto tries native with multi-buffer frames, native, generic; other modes only
 *        their own ways
 * @try: called for each way; -ENOMEM, -EPERM and -EINTR end the attempts
 * @data: passed to @try
 * @error: filled in on failure
 *
 * Return: 0 or the errno of the last attempt.
 */
int baleen_attempts_make(struct baleen_attempts *attempts, const char *device,
			 enum baleen_mode mode, baleen_attempt_try *try, void *data,
			 struct baleen_error *error);

/**
 * baleen_xdp_attach() - put rules on a device that has no XDP program
 * @device: name of the device
 * @ruleset: rules that are all new; their filters are copied to the kernel
 * @mode: auto tries native with multi-buffer frames, native, generic;
 *        native never falls back
 * @attach_type: how; in a chain also beside other programs
 * @attempts: filled in also on failure
 * @error: filled in on failure
 *
 * Return: 0; -EBUSY when a program is attached already, naming it; -ENODEV;
 * -EPERM, also for a chain that the kernel cannot have; -ENOMEM; -EINVAL for a
 * ruleset that cannot be; the errno of the last attempt.
 */
int baleen_xdp_attach(const char *device, const struct baleen_ruleset *ruleset,
		      enum baleen_mode mode, enum baleen_attach_type attach_type,
		      struct baleen_attempts *attempts, struct baleen_error *error);

#endif /* BALEEN_ATTACH_H */
