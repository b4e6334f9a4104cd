/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detach --gone: what is left of devices that no longer exist.
 */
#ifndef BALEEN_CLI_FORGET_STALE_H
#define BALEEN_CLI_FORGET_STALE_H

#include "xdp/stale_pins.h"

/* baleen_stale_pins_forget() or baleen_icp_forget_stale(). */
typedef int gone_forget(void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
			void *data, struct baleen_error *error);

/**
 * forget_gone() - forget them and tell which
 * @forget: how
 * @also: what to do besides for each that is told, or NULL
 * @json: as an array of JSON
 *
 * Return: an exit code, after a message.
 */
int forget_gone(gone_forget *forget, void (*also)(const struct baleen_stale_pins *gone), bool json);

#endif /* BALEEN_CLI_FORGET_STALE_H */
