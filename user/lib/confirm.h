/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A change that is taken back unless it is confirmed in time.
 *
 * The previous state is copied before the change, with the time until when it may
 * come back: on disk, so that neither the end of a terminal nor of a process nor of
 * a boot loses it. Whoever looks first after that time puts it back: the process
 * that waits for it, baleend, or the boot. A reboot within the window puts it back,
 * too: nobody can have confirmed that the machine comes up well.
 */
#ifndef BALEEN_CONFIRM_H
#define BALEEN_CONFIRM_H

#include "state.h"

/**
 * baleen_confirm_begin() - keep the previous state
 * @state: opened for writing, as it is before the change; NULL when the device had
 *         none, so that taking back means to detach
 * @device: name of the device
 * @window_ms: until when, from now
 * @error: filled in on failure
 *
 * Return: 0; -EEXIST when a window is open already; a negative errno.
 */
int baleen_confirm_begin(const struct baleen_state *state, const char *device, u64 window_ms,
			 struct baleen_error *error);

/**
 * baleen_confirm_end() - the change stays
 * @device: name of the device
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when no window is open; a negative errno.
 */
int baleen_confirm_end(const char *device, struct baleen_error *error);

/**
 * baleen_confirm_check() - take the change back if its time is over
 * @device: name of the device
 * @timeout_ms: how long to wait for another writer
 * @deadline_ms: when the window that is open ends, since the epoch; 0 when none is
 * @error: filled in on failure
 *
 * Return: 1 when it was taken back; 0; -ETIMEDOUT; a negative errno.
 */
int baleen_confirm_check(const char *device, u64 timeout_ms, u64 *deadline_ms,
			 struct baleen_error *error);

#endif /* BALEEN_CONFIRM_H */
