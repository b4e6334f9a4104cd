/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The devices that a command is for when none is given.
 */
#ifndef BALEEN_CLI_DEVICES_H
#define BALEEN_CLI_DEVICES_H

#include "net/device.h"

/**
 * struct devices - names of devices, in order; all zeros at the start
 * @name: their names, with @egress behind those of what goes out
 * @n: how many
 * @is_partial: there is a filter that cannot be read; a message has told so
 */
struct devices {
	char (*name)[BALEEN_POINT_BYTES];
	size_t n;
	bool is_partial;
};

/* Adds one, unless it is there; 0 or -ENOMEM. */
int devices_add(struct devices *devices, const char *name);

/* Adds those with a filter in this network namespace; 0, or EXIT_FAILED after a message. */
int devices_with_filters(struct devices *devices);

/* Adds those with a kept state, each once; 0, or EXIT_FAILED after a message. */
int devices_with_states(struct devices *devices);

void devices_free(struct devices *devices);

#endif /* BALEEN_CLI_DEVICES_H */
