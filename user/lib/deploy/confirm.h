/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A change that is taken back unless it is confirmed in time.
 *
 *      /var/lib/baleen/DEV.baleen-previous/    the state as it was before the change
 *      /var/lib/baleen/DEV.baleen-confirm      until when it may come back
 *      /run/baleen/on-trial.nsCOOKIE.DEV       that this boot made the change
 *
 * The previous state is copied before the change, then the time is written: on
 * disk, so that neither the end of a terminal nor of a process nor of a boot loses
 * it. Whoever looks first after that time puts it back: the process that waits for
 * it, baleend, or the boot. A reboot within the window puts it back, too, that of
 * a container, whose boot id is its host's: nobody can have confirmed that the machine
 * comes up well. Time is counted by a clock that nobody sets.
 *
 * The record goes last. Whoever is killed on the way leaves it, and the next one
 * begins again; to put back what is back already does no harm. Single entries that
 * came or went within the window stay so: a ban is no part of the change.
 */
#ifndef BALEEN_CONFIRM_H
#define BALEEN_CONFIRM_H

#include "state/rule_store.h"

/**
 * baleen_confirm_begin() - keep the previous state
 * @state: opened for writing, as it is before the change; NULL when the device had
 *         none, so that taking back means to detach
 * @device: name of the device
 * @was_kept: it was to be put on again at boot; false of one attached by hand, that
 *            was taken over for the change
 * @window_ms: until when, from now
 * @error: filled in on failure
 *
 * A window that is open gets another end, and keeps the state it has: changes that
 * are tried one after the other are taken back as one.
 *
 * Return: 0; -EAGAIN when one is open whose time is over; a negative errno.
 */
int baleen_confirm_begin(const struct baleen_rule_store *state, const char *device, bool was_kept,
			 u64 window_ms, struct baleen_error *error);

/**
 * baleen_confirm_cancel() - there was no change
 * @device: name of the device, whose state is opened for writing
 *
 * Undoes baleen_confirm_begin() of a window that was not open before.
 */
void baleen_confirm_cancel(const char *device);

/**
 * baleen_confirm_end() - the change stays
 * @device: name of the device
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when no window is open; -ETIME when its time is over;
 * -ETIMEDOUT when another writer held on; a negative errno.
 */
int baleen_confirm_end(const char *device, struct baleen_error *error);

/**
 * baleen_confirm_hasten() - the time of the window that is open is over now
 * @device: name of the device
 * @error: filled in on failure
 *
 * baleen_confirm_check() takes the change back then.
 *
 * Return: 0, also when no window is open; -ETIMEDOUT when another writer held on; a negative errno.
 */
int baleen_confirm_hasten(const char *device, struct baleen_error *error);

/**
 * baleen_confirm_deadline() - when the window that is open ends
 * @device: name of the device
 *
 * Return: milliseconds since the epoch; 0 when none is open.
 */
u64 baleen_confirm_deadline(const char *device);

/**
 * baleen_confirm_check() - take the change back if its time is over
 * @device: name of the device
 * @timeout_ms: how long to wait for another writer
 * @deadline_ms: when the window that is open ends, since the epoch; 0 when none is
 * @error: filled in on failure
 *
 * A device that is not attached, as at boot, gets its state back and stays so.
 *
 * Return: 1 when it was taken back; 0; -ETIMEDOUT; a negative errno.
 */
int baleen_confirm_check(const char *device, u64 timeout_ms, u64 *deadline_ms,
			 struct baleen_error *error);

#endif /* BALEEN_CONFIRM_H */
