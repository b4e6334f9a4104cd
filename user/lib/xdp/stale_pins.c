// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Forgetting instances whose device no longer exists, in any namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/device.h"
#include "xdp/stale_pins.h"
#include "xdp/xdp.h"

struct walk {
	const struct baleen_instance_type *type;
	void (*on_stale)(const struct baleen_stale_pins *gone, void *data);
	void *data;
	struct baleen_error *error;
};

/* 1: it has a device, 0: it has none, -ENOENT: there is nothing */
static int has_device(const struct walk *walk, const struct baleen_pins *pins)
{
	struct baleen_attachment attachment;
	int err = walk->type->find(pins, &attachment);

	if (err)
		return baleen_fail(walk->error, -err, "%s: %s", pins->path, strerror(-err));
	baleen_attachment_close(&attachment);
	return attachment.is_taken;
}

static bool is_link(const struct walk *walk, const struct baleen_pins *pins)
{
	struct baleen_attachment attachment;

	if (walk->type->find(pins, &attachment))
		return false;
	baleen_attachment_close(&attachment);
	return attachment.attach_type == BALEEN_ATTACH_TYPE_LINK;
}

static void describe(const struct walk *walk, const struct baleen_pins *pins,
		     struct baleen_stale_pins *gone)
{
	enum baleen_attach_status status;

	*gone = (struct baleen_stale_pins){ .ifindex = pins->ifindex,
					    .netns_cookie = pins->netns_cookie,
					    .is_link = is_link(walk, pins) };
	if (walk->type->identify(pins, gone->device, &status))
		gone->device[0] = '\0';
}

static int forget(const struct baleen_pins *pins, const struct walk *walk)
{
	struct baleen_stale_pins gone;
	int found = has_device(walk, pins);

	if (found < 0 && found != -ENOENT)
		return found;
	if (found == 1)
		return 0;
	describe(walk, pins, &gone);
	walk->type->forget(pins);
	if (!found)
		walk->on_stale(&gone, walk->data);
	return 0;
}

static int visit(const struct baleen_pins *pins, void *data)
{
	struct baleen_pins locked = *pins;
	struct walk *walk = data;
	int err;

	/* A living instance is not locked: its writers do not wait for this walk. */
	if (has_device(walk, pins) == 1)
		return 0;
	err = baleen_pins_lock(&locked, BALEEN_LOCK_TIMEOUT_MS, walk->error);
	if (!err)
		err = forget(&locked, walk);
	baleen_pins_unlock(&locked);
	return err;
}

int baleen_stale_pins_forget_of(const struct baleen_instance_type *type,
				void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
				void *data, struct baleen_error *error)
{
	struct walk walk = { type, on_stale, data, error };

	return baleen_pins_every_in(type->purpose, visit, &walk, error);
}

int baleen_stale_pins_forget(void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
			     void *data, struct baleen_error *error)
{
	return baleen_stale_pins_forget_of(&baleen_xdp_instances, on_stale, data, error);
}

/* --- deleted ------------------------------------------------------------------- */

static void ignore(const struct baleen_stale_pins *gone, void *data)
{
}

/**
 * struct deleted - on the way to devices of this namespace that were deleted
 * @goes: whether its pins go
 * @on_gone: called when they are gone; may be NULL
 * @data: passed to both
 */
struct deleted {
	bool (*goes)(const struct baleen_stale_pins *gone, void *data);
	void (*on_gone)(const struct baleen_stale_pins *gone, void *data);
	void *data;
};

/* The number of a living device says at once that there is nothing to look at. */
static int visit_deleted(const struct baleen_pins *pins, void *data)
{
	const struct deleted *deleted = data;
	const struct walk walk = { .type = &baleen_xdp_instances,
				   .on_stale = deleted->on_gone ? deleted->on_gone : ignore,
				   .data = deleted->data };
	struct baleen_pins locked = *pins;
	struct baleen_stale_pins gone;
	char name[BALEEN_POINT_BYTES];

	if (baleen_device_name(pins->ifindex, name) || has_device(&walk, pins) == 1)
		return 0;
	describe(&walk, pins, &gone);
	if (!deleted->goes(&gone, deleted->data) || baleen_pins_lock(&locked, 0, NULL))
		return 0;
	forget(&locked, &walk);
	baleen_pins_unlock(&locked);
	return 0;
}

void baleen_stale_pins_forget_deleted(
	bool (*goes)(const struct baleen_stale_pins *gone, void *data),
	void (*on_gone)(const struct baleen_stale_pins *gone, void *data), void *data)
{
	struct deleted deleted = { goes, on_gone, data };

	baleen_pins_each(visit_deleted, &deleted, NULL);
}

static bool has_name(const struct baleen_stale_pins *gone, void *device)
{
	return !strcmp(gone->device, device);
}

void baleen_stale_pins_forget_name(const char *device)
{
	char name[BALEEN_POINT_BYTES];

	snprintf(name, sizeof(name), "%s", device);
	baleen_stale_pins_forget_deleted(has_name, NULL, name);
}
