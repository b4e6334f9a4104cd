// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Forgetting filters whose device no longer exists, in any namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "xdp/dispatcher.h"
#include "xdp/stale_pins.h"
#include "xdp/xdp.h"

struct walk {
	void (*tell)(const struct baleen_stale_pins *gone, void *data);
	void *data;
	struct baleen_error *error;
};

/* 1: it has a device, 0: it has none, -ENOENT: there is nothing */
static int has_device(const struct baleen_pins *pins, struct baleen_error *error)
{
	struct baleen_attachment attachment;
	int err = baleen_attachment_find(pins, &attachment);

	if (err)
		return baleen_fail(error, -err, "%s: %s", pins->path, strerror(-err));
	baleen_attachment_close(&attachment);
	return attachment.is_taken;
}

static void describe(const struct baleen_pins *pins, struct baleen_stale_pins *gone)
{
	/* The lock stays with the caller. */
	struct baleen_pins unlocked = *pins;
	struct baleen_xdp xdp;

	*gone = (struct baleen_stale_pins){ .ifindex = pins->ifindex,
					    .netns_cookie = pins->netns_cookie };
	unlocked.lock_fd = -1;
	if (baleen_xdp_open_pins(&xdp, &unlocked, NULL))
		return;
	snprintf(gone->device, sizeof(gone->device), "%s", xdp.config.device);
	baleen_xdp_close(&xdp);
}

static int forget(struct baleen_pins *pins, const struct walk *walk)
{
	struct baleen_stale_pins gone;
	int found = has_device(pins, walk->error);

	if (found < 0 && found != -ENOENT)
		return found;
	if (found == 1)
		return 0;
	describe(pins, &gone);
	baleen_dispatcher_forget(pins);
	baleen_pins_remove(pins);
	if (!found)
		walk->tell(&gone, walk->data);
	return 0;
}

static int visit(const struct baleen_pins *pins, void *data)
{
	struct baleen_pins locked = *pins;
	struct walk *walk = data;
	int err;

	/* What lives is not locked: its writers wait for nobody here. */
	if (has_device(pins, NULL) == 1)
		return 0;
	err = baleen_pins_lock(&locked, BALEEN_LOCK_TIMEOUT_MS, walk->error);
	if (!err)
		err = forget(&locked, walk);
	baleen_pins_unlock(&locked);
	return err;
}

int baleen_stale_pins_forget(void (*tell)(const struct baleen_stale_pins *gone, void *data),
			     void *data, struct baleen_error *error)
{
	struct walk walk = { tell, data, error };

	return baleen_pins_every(visit, &walk, error);
}

static void ignore(const struct baleen_stale_pins *gone, void *data)
{
}

static int visit_name(const struct baleen_pins *pins, void *device)
{
	const struct walk walk = { .tell = ignore };
	struct baleen_pins locked = *pins;
	char name[IF_NAMESIZE];
	struct baleen_stale_pins gone;

	if (if_indextoname(pins->ifindex, name) || has_device(pins, NULL) == 1)
		return 0;
	describe(pins, &gone);
	if (strcmp(gone.device, device) || baleen_pins_lock(&locked, 0, NULL))
		return 0;
	forget(&locked, &walk);
	baleen_pins_unlock(&locked);
	return 0;
}

void baleen_stale_pins_forget_name(const char *device)
{
	char name[IF_NAMESIZE];

	snprintf(name, sizeof(name), "%s", device);
	baleen_pins_each(visit_name, name, NULL);
}
