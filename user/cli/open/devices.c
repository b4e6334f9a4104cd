// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The devices that a command is for when none is given. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/open/devices.h"
#include "state/rule_store_each.h"
#include "util/array.h"
#include "xdp/xdp.h"

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int devices_add(struct devices *devices, const char *name)
{
	for (size_t i = 0; i < devices->n; i++)
		if (!strcmp(devices->name[i], name))
			return 0;
	if (baleen_array_add(&devices->name, devices->n))
		return -ENOMEM;
	snprintf(devices->name[devices->n++], BALEEN_POINT_BYTES, "%s", name);
	return 0;
}

/* An attach that was killed has left no link. */
static int add_of_pins(const struct baleen_pins *pins, void *data)
{
	struct devices *devices = data;
	struct baleen_error error;
	struct baleen_xdp xdp;
	int err = baleen_xdp_open_pins(&xdp, pins, &error);

	if (err && err != -ENOENT) {
		complain("%s", error.text);
		devices->is_partial = true;
	}
	if (err)
		return 0;
	err = devices_add(devices, xdp.device);
	baleen_xdp_close(&xdp);
	return err;
}

static int add_of_state(struct baleen_rule_store_found *found, void *data)
{
	return found->is_kept ? devices_add(data, found->device) : 0;
}

static int finish(struct devices *devices, int err, const struct baleen_error *error)
{
	if (err)
		return complain("%s", err == -ENOMEM ? strerror(ENOMEM) : error->text);
	if (devices->n)
		qsort(devices->name, devices->n, sizeof(*devices->name), compare);
	return 0;
}

int devices_with_filters(struct devices *devices)
{
	struct baleen_error error;
	int err = baleen_device_privileges(&error);

	if (!err)
		err = baleen_pins_each(add_of_pins, devices, &error);
	return finish(devices, err, &error);
}

int devices_with_states(struct devices *devices)
{
	struct baleen_error error;

	return finish(devices, baleen_rule_store_each(add_of_state, devices, &error), &error);
}

void devices_free(struct devices *devices)
{
	free(devices->name);
	*devices = (struct devices){ 0 };
}
