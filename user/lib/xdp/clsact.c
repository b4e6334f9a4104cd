// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A program of tc on what leaves a device. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/device.h"
#include "net/netlink.h"
#include "util/libbpf_log.h"
#include "xdp/clsact.h"

/* The first, because a filter that accepts a frame ends the walk. */
#define PRIORITY 1

static struct bpf_tc_hook hook_of(int ifindex)
{
	struct bpf_tc_hook hook;

	memset(&hook, 0, sizeof(hook));
	hook.sz = sizeof(hook);
	hook.ifindex = baleen_device_real(ifindex);
	hook.attach_point = BPF_TC_EGRESS;
	return hook;
}

static const char *clsact_path(const struct baleen_pins *pins, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/clsact", pins->path);
	return path;
}

/* That it is ours is known before it is there, or nobody would take it away. */
static int make_clsact(const struct baleen_pins *pins, struct baleen_error *error)
{
	struct bpf_tc_hook hook = hook_of(pins->ifindex);
	char path[BALEEN_PIN_BYTES + 16];
	bool was_ours = false;
	int err;

	if (mkdir(clsact_path(pins, path, sizeof(path)), 0700)) {
		was_ours = errno == EEXIST;
		if (!was_ours)
			return baleen_fail(error, errno, "%s: %m", path);
	}
	baleen_log_start();
	err = bpf_tc_hook_create(&hook);
	if (err && !was_ours)
		rmdir(path);
	if (err && err != -EEXIST)
		return baleen_fail(error, -err, "cannot make a clsact: %s", baleen_log_reason(err));
	return 0;
}

u32 baleen_clsact_id(const struct baleen_clsact *place, int ifindex)
{
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = place->handle, .priority = PRIORITY);
	struct bpf_tc_hook hook = hook_of(ifindex);

	baleen_log_start();
	return bpf_tc_query(&hook, &options) ? 0 : options.prog_id;
}

/* Is it the program of one of the generations that are pinned here? */
static bool is_of(const struct baleen_clsact *place, const struct baleen_pins *pins, u32 there)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);
	bool found = false;

	for (u32 i = 0; i < n && !found; i++) {
		struct bpf_prog_info info = { 0 };
		u32 bytes = sizeof(info);
		int fd = baleen_pins_open(pins, ids[i], place->pin);

		if (fd < 0)
			continue;
		found = !bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.id == there;
		close(fd);
	}
	return found;
}

int baleen_clsact_put(const struct baleen_clsact *place, const struct baleen_pins *pins,
		      int program_fd, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = place->handle, .priority = PRIORITY,
		    .prog_fd = program_fd);
	struct bpf_tc_hook hook = hook_of(pins->ifindex);
	u32 there = baleen_clsact_id(place, pins->ifindex);
	int err;

	if (there && !is_of(place, pins, there))
		return baleen_fail(error, EBUSY, "program %u has our place in tc", there);
	err = make_clsact(pins, error);
	if (err)
		return err;
	options.flags = there ? BPF_TC_F_REPLACE : 0;
	baleen_log_start();
	err = bpf_tc_attach(&hook, &options);
	return err ? baleen_fail(error, -err, "cannot attach to tc: %s", baleen_log_reason(err)) :
		     0;
}

/* @data: u32, filters that have a handle: each kind shows itself without one first */
static int visit_filter(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *header = mnl_nlmsg_get_payload(message);

	if (mnl_nlmsg_get_payload_len(message) >= sizeof(*header) && header->tcm_handle)
		++*(u32 *)data;
	return MNL_CB_OK;
}

static bool is_unused(int ifindex)
{
	static const u32 points[] = { TC_H_MIN_INGRESS, TC_H_MIN_EGRESS };
	u32 n = 0;

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		struct tcmsg request = { .tcm_ifindex = baleen_device_real(ifindex),
					 .tcm_parent = TC_H_MAKE(TC_H_CLSACT, points[i]) };

		if (baleen_netlink_dump(NETLINK_ROUTE, RTM_GETTFILTER, &request, sizeof(request),
					visit_filter, &n))
			return false;
	}
	return !n;
}

void baleen_clsact_remove(const struct baleen_clsact *place, const struct baleen_pins *pins)
{
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = place->handle, .priority = PRIORITY);
	struct bpf_tc_hook hook = hook_of(pins->ifindex);
	u32 there = baleen_clsact_id(place, pins->ifindex);
	char path[BALEEN_PIN_BYTES + 16];

	baleen_log_start();
	if (there && is_of(place, pins, there))
		bpf_tc_detach(&hook, &options);
	if (access(clsact_path(pins, path, sizeof(path)), F_OK))
		return;
	if (is_unused(pins->ifindex)) {
		hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
		bpf_tc_hook_destroy(&hook);
	}
	/* Only now: who is killed before leaves it to the next one. */
	rmdir(path);
}
