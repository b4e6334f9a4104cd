// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Instances of ICP that are left of devices which no longer exist. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "icp/icp_stale.h"

struct walk {
	void (*tell)(const struct baleen_stale_pins *gone, void *data);
	void *data;
	struct baleen_error *error;
};

/* 1: it has a device, 0: it has none, -ENOENT: there is nothing */
static int has_device(const struct baleen_pins *pins)
{
	struct bpf_link_info link;
	int fd = baleen_pins_open_link(pins, &link);

	if (fd < 0)
		return fd;
	close(fd);
	return link.xdp.ifindex != 0;
}

static void describe(const struct baleen_pins *pins, struct baleen_stale_pins *gone)
{
	/* The lock stays with the caller. */
	struct baleen_pins unlocked = *pins;
	struct baleen_icp icp;

	*gone = (struct baleen_stale_pins){ .ifindex = pins->ifindex,
					    .netns_cookie = pins->netns_cookie };
	unlocked.lock_fd = -1;
	if (baleen_icp_open_pins(&icp, &unlocked, NULL))
		return;
	memcpy(gone->device, icp.now.config.device, sizeof(gone->device));
	baleen_icp_close(&icp);
}

static void forget(const struct baleen_pins *pins, const struct walk *walk)
{
	struct baleen_stale_pins gone;
	int found = has_device(pins);

	if (found == 1)
		return;
	describe(pins, &gone);
	baleen_icp_empty(pins);
	if (!found)
		walk->tell(&gone, walk->data);
}

static int visit(const struct baleen_pins *pins, void *data)
{
	struct baleen_pins locked = *pins;
	struct walk *walk = data;
	int err;

	/* What lives is not locked: its writers wait for nobody here. */
	if (has_device(pins) == 1)
		return 0;
	err = baleen_pins_lock(&locked, BALEEN_LOCK_TIMEOUT_MS, walk->error);
	if (!err)
		forget(&locked, walk);
	baleen_pins_unlock(&locked);
	return err;
}

int baleen_icp_forget_stale(void (*tell)(const struct baleen_stale_pins *gone, void *data),
			    void *data, struct baleen_error *error)
{
	struct walk walk = { tell, data, error };

	return baleen_pins_every_in(BALEEN_ICP_PIN_ROOT, visit, &walk, error);
}
