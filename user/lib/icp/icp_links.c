// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the programs of an instance of ICP sit. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "icp/icp_links.h"
#include "net/netlink.h"
#include "util/libbpf_log.h"
#include "xdp/load.h"

/* Our filter has the first priority, because a filter that accepts a frame ends the walk.
 * Another program with that priority has another handle.
 */
#define EGRESS_HANDLE 0xba1e
#define EGRESS_PRIORITY 1

void baleen_icp_wait_for_programs(void)
{
	struct timespec second = { .tv_sec = 1 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&second, NULL);
}

int baleen_icp_link_switch(int link_fd, int program_fd, int old_fd, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE, .old_prog_fd = old_fd);
	int err = bpf_link_update(link_fd, program_fd, &options);

	if (err)
		return baleen_fail(error, -err, "%s", strerror(-err));
	baleen_icp_wait_for_programs();
	return 0;
}

/* --- what leaves a device ---------------------------------------------------- */

static struct bpf_tc_hook hook_of(int ifindex)
{
	struct bpf_tc_hook hook;

	memset(&hook, 0, sizeof(hook));
	hook.sz = sizeof(hook);
	hook.ifindex = ifindex;
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

u32 baleen_icp_egress_id(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = EGRESS_HANDLE, .priority = EGRESS_PRIORITY);
	struct bpf_tc_hook hook = hook_of(ifindex);

	baleen_log_start();
	return bpf_tc_query(&hook, &options) ? 0 : options.prog_id;
}

/* Is it the program of one of the generations that are pinned here? */
static bool is_of(const struct baleen_pins *pins, u32 egress_id)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);
	bool found = false;

	for (u32 i = 0; i < n && !found; i++) {
		struct bpf_prog_info info = { 0 };
		u32 bytes = sizeof(info);
		int fd = baleen_pins_open(pins, ids[i], "egress");

		if (fd < 0)
			continue;
		found = !bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.id == egress_id;
		close(fd);
	}
	return found;
}

int baleen_icp_egress_put(const struct baleen_pins *pins, int egress_fd, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = EGRESS_HANDLE, .priority = EGRESS_PRIORITY,
		    .prog_fd = egress_fd);
	struct bpf_tc_hook hook = hook_of(pins->ifindex);
	u32 there = baleen_icp_egress_id(pins->ifindex);
	int err;

	if (there && !is_of(pins, there))
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
		struct tcmsg request = { .tcm_ifindex = ifindex,
					 .tcm_parent = TC_H_MAKE(TC_H_CLSACT, points[i]) };

		if (baleen_netlink_dump(NETLINK_ROUTE, RTM_GETTFILTER, &request, sizeof(request),
					visit_filter, &n))
			return false;
	}
	return !n;
}

void baleen_icp_egress_remove(const struct baleen_pins *pins)
{
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = EGRESS_HANDLE, .priority = EGRESS_PRIORITY);
	struct bpf_tc_hook hook = hook_of(pins->ifindex);
	u32 there = baleen_icp_egress_id(pins->ifindex);
	char path[BALEEN_PIN_BYTES + 16];

	baleen_log_start();
	if (there && is_of(pins, there))
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
