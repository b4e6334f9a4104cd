/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what keeps the filter of a device from being fast, complete and there
 * after a reboot, and names the command that mends it.
 *
 * Looks and changes nothing: it loads a program to see that the kernel takes it, and
 * attaches it to nothing, since that resets the queues of many cards.
 */
#ifndef BALEEN_CHECKUP_H
#define BALEEN_CHECKUP_H

#include "report/finding.h"
#include "util/error.h"

/**
 * baleen_level_text() - the level as a word
 * @level: the level
 *
 * Return: "ok", "note" or "problem".
 */
const char *baleen_level_text(enum baleen_level level);

/**
 * baleen_checkup_run() - look at a device and its host
 * @device: name of a device of this network namespace
 * @checkup: filled in
 * @error: filled in on failure
 *
 * A lack of privileges is a finding, too.
 *
 * Return: 0; -ENODEV; a negative errno.
 */
int baleen_checkup_run(const char *device, struct baleen_checkup *checkup,
		       struct baleen_error *error);

#endif /* BALEEN_CHECKUP_H */
