// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An instance of ICP behind the filter of its device. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "icp/icp_behind.h"
#include "icp/icp_links.h"
#include "util/fd.h"
#include "xdp/xdp.h"

static const u32 slot;

static void pin_path(const struct baleen_pins *pins, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/" BALEEN_ICP_BEHIND, pins->path);
}

int baleen_icp_behind_open(const struct baleen_pins *pins)
{
	char path[BALEEN_PIN_BYTES + 16];

	pin_path(pins, path, sizeof(path));
	return bpf_obj_get(path);
}

int baleen_icp_behind_put(int map_fd, int program_fd, struct baleen_error *error)
{
	int err = bpf_map_update_elem(map_fd, &slot, &program_fd, BPF_ANY);

	if (err)
		return baleen_fail(error, -err, "cannot put it behind the filter: %s",
				   strerror(-err));
	baleen_icp_wait_for_programs();
	return 0;
}

void baleen_icp_behind_remove(const struct baleen_pins *pins)
{
	char path[BALEEN_PIN_BYTES + 16];
	int fd = baleen_icp_behind_open(pins);

	/* At once, not when the last reference goes. */
	if (fd >= 0)
		bpf_map_delete_elem(fd, &slot);
	baleen_close_fd(&fd);
	pin_path(pins, path, sizeof(path));
	unlink(path);
}

static u32 map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &bytes) ? 0 : info.id;
}

/* Does the filter of the device, now, hand on to this map? */
static bool is_reached(int ifindex, int fd)
{
	struct baleen_pins pins;
	struct baleen_xdp xdp;
	bool is_same;

	if (baleen_pins_name(&pins, ifindex, NULL) || baleen_xdp_open_pins(&xdp, &pins, NULL))
		return false;
	is_same = xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED && xdp.next_fd >= 0 &&
		  map_id(xdp.next_fd) == map_id(fd);
	baleen_xdp_close(&xdp);
	return is_same;
}

static int find_behind(const struct baleen_pins *pins, struct baleen_attachment *attachment)
{
	int fd = baleen_icp_behind_open(pins), err;
	u32 id = 0;

	if (fd < 0)
		return fd;
	/* The kernel gives the number of the program that it has. */
	err = bpf_map_lookup_elem(fd, &slot, &id);
	if (!err) {
		attachment->attach_type = BALEEN_ATTACH_TYPE_NETLINK;
		attachment->program_id = id;
		attachment->is_taken = is_reached(pins->ifindex, fd);
	}
	close(fd);
	return err;
}

int baleen_icp_find(const struct baleen_pins *pins, struct baleen_attachment *attachment)
{
	int err = baleen_attachment_find_link(pins, attachment);

	return err == -ENOENT ? find_behind(pins, attachment) : err;
}
