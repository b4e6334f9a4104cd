// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a device's program sits. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/bpffs.h"
#include "util/fd.h"
#include "util/libbpf_log.h"
#include "xdp/attachment.h"
#include "xdp/clsact.h"
#include "xdp/config.h"
#include "xdp/dispatcher.h"

const char *baleen_attach_type_text(enum baleen_attach_type attach_type)
{
	static const char *const text[] = { "link", "netlink", "chain" };

	return text[attach_type];
}

/* Newer than the headers of Debian 12: see enum bpf_attach_type, and BPF_F_BEFORE, of
 * Linux 6.6 in include/uapi/linux/bpf.h.
 */
#define TCX_EGRESS 47
#define BEFORE_OTHERS (1u << 3)

static const struct baleen_clsact egress = { .handle = 0xba1d, .pin = "prog" };

static bool has_tcx(int ifindex)
{
	u32 flags = 0, n = 0;

	return !bpf_prog_query(baleen_device_real(ifindex), TCX_EGRESS, 0, &flags, NULL, &n);
}

enum baleen_attach_type baleen_attachment_type(int ifindex, enum baleen_attach_type asked)
{
	bool is_egress_link = ifindex < 0 && asked == BALEEN_ATTACH_TYPE_LINK;

	return is_egress_link && !has_tcx(ifindex) ? BALEEN_ATTACH_TYPE_NETLINK : asked;
}

static u32 mode_flags(enum baleen_mode mode)
{
	return mode == BALEEN_MODE_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
}

/* --- find ------------------------------------------------------------------ */

void baleen_attachment_init(struct baleen_attachment *attachment)
{
	*attachment = (struct baleen_attachment){ .link_fd = -1 };
}

void baleen_attachment_close(struct baleen_attachment *attachment)
{
	baleen_close_fd(&attachment->link_fd);
}

int baleen_attachment_find_link(const struct baleen_pins *pins,
				struct baleen_attachment *attachment)
{
	struct bpf_link_info info;
	int fd = baleen_pins_open_link(pins, &info);

	baleen_attachment_init(attachment);
	if (fd < 0)
		return fd;
	attachment->attach_type = BALEEN_ATTACH_TYPE_LINK;
	attachment->link_fd = fd;
	attachment->link_id = info.id;
	attachment->program_id = info.prog_id;
	attachment->is_taken = info.xdp.ifindex;
	return 0;
}

/* Only our own program is found there. */
static int look_at_egress(const struct baleen_pins *pins,
			  const struct baleen_attachment *attachment, char *device,
			  struct baleen_program *program)
{
	*program = (struct baleen_program){ .mode = BALEEN_MODE_EGRESS };
	if (!baleen_device_name(pins->ifindex, device))
		return -ENODEV;
	if (attachment->is_taken)
		program->id = attachment->program_id;
	return 0;
}

int baleen_attachment_look(const struct baleen_pins *pins,
			   const struct baleen_attachment *attachment, char *device,
			   struct baleen_program *program)
{
	return pins->ifindex > 0 ? baleen_device_look(pins->ifindex, device, program) :
				   look_at_egress(pins, attachment, device, program);
}

static int program_there(const struct baleen_pins *pins, struct baleen_program *there)
{
	if (pins->ifindex > 0)
		return baleen_device_program(pins->ifindex, there);
	*there = (struct baleen_program){ .id = baleen_clsact_id(&egress, pins->ifindex) };
	return 0;
}

/* Is one of these, the newest first, on the device? */
static int find_there(const struct baleen_pins *pins, const u32 *ids, u32 n,
		      struct baleen_attachment *attachment)
{
	struct baleen_program there;
	int found = program_there(pins, &there);

	if (found || !there.id)
		return found == -ENODEV ? 0 : found;
	for (u32 i = 0; i < n; i++) {
		if (ids[i] == there.id) {
			attachment->attach_type = BALEEN_ATTACH_TYPE_NETLINK;
			attachment->program_id = there.id;
			attachment->is_taken = true;
			return 0;
		}
	}
	if (pins->ifindex < 0)
		return 0;
	found = baleen_dispatcher_has(pins->ifindex, ids, n, &attachment->program_id);
	if (found == 1) {
		attachment->attach_type = BALEEN_ATTACH_TYPE_CHAIN;
		attachment->is_taken = true;
	}
	return found < 0 ? found : 0;
}

/* The newest program that has all its pins and needs no link: without one, it
 * was left by an attach that was killed.
 */
static int find_last(const struct baleen_pins *pins, const u32 *ids, u32 n,
		     struct baleen_attachment *attachment)
{
	struct baleen_config config;

	for (u32 i = 0; i < n; i++) {
		if (baleen_config_read(pins, ids[i], &config) ||
		    config.attach_type == BALEEN_ATTACH_TYPE_LINK)
			continue;
		attachment->attach_type = config.attach_type;
		attachment->program_id = ids[i];
		return 0;
	}
	return -ENOENT;
}

static int find_unlinked(const struct baleen_pins *pins, struct baleen_attachment *attachment)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);
	bool is_here = baleen_pins_are_here(pins);
	int err = n && is_here ? find_there(pins, ids, n, attachment) : 0;

	if (err || attachment->is_taken)
		return err;
	err = find_last(pins, ids, n, attachment);
	attachment->is_taken = !err && !is_here;
	return err;
}

int baleen_attachment_find(const struct baleen_pins *pins, struct baleen_attachment *attachment)
{
	int err = baleen_attachment_find_link(pins, attachment);

	return err == -ENOENT ? find_unlinked(pins, attachment) : err;
}

int baleen_attachment_fail(const struct baleen_pins *pins, int err, struct baleen_error *error)
{
	if (err == -EXDEV)
		return baleen_fail(error, EXDEV,
				   "libxdp finds no bpffs on " BALEEN_BPFFS " in this mount "
				   "namespace: for 'ip netns exec NAME' say "
				   "'nsenter --net=/run/netns/NAME'");
	return baleen_fail(error, -err, "%s: %s", pins->path, strerror(-err));
}

bool baleen_attachment_is_same(const struct baleen_attachment *a, const struct baleen_attachment *b)
{
	return a->attach_type == b->attach_type && a->program_id == b->program_id &&
	       a->is_taken == b->is_taken && a->link_id == b->link_id;
}

void baleen_attachment_tidy(const struct baleen_attachment *attachment,
			    const struct baleen_pins *pins)
{
	baleen_dispatcher_tidy(pins, attachment->attach_type == BALEEN_ATTACH_TYPE_CHAIN ?
					     attachment->program_id :
					     0);
	baleen_pins_clean(pins, attachment->program_id);
}

/* --- by a link ------------------------------------------------------------- */

/* A link attach returns a bare error number; the netlink attach of the same
 * program fails the same way and carries the driver's words. Should it
 * succeed, the obstacle has just gone: take it off and link again.
 */
static int make_link(int ifindex, int program_fd, u32 flags, int *link_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
	LIBBPF_OPTS(bpf_xdp_attach_opts, mine, .old_prog_fd = program_fd);
	int fd, err;

	for (int i = 0; i < 2; i++) {
		fd = bpf_link_create(program_fd, ifindex, BPF_XDP, &options);
		if (fd >= 0) {
			*link_fd = fd;
			return 0;
		}
		baleen_log_start();
		err = bpf_xdp_attach(ifindex, program_fd, flags | XDP_FLAGS_UPDATE_IF_NOEXIST,
				     NULL);
		if (err)
			return err;
		bpf_xdp_detach(ifindex, flags, &mine);
	}
	return fd;
}

/* Before those of others, since one that lets pass ends the walk. */
static int make_egress_link(int ifindex, int program_fd, int *link_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = BEFORE_OTHERS);
	int fd = bpf_link_create(program_fd, baleen_device_real(ifindex), TCX_EGRESS, &options);

	if (fd < 0)
		return fd;
	*link_fd = fd;
	return 0;
}

int baleen_attachment_link(int ifindex, int program_fd, enum baleen_mode mode, int *link_fd,
			   struct baleen_error *error)
{
	int err = ifindex < 0 ? make_egress_link(ifindex, program_fd, link_fd) :
				make_link(ifindex, program_fd, mode_flags(mode), link_fd);

	return err ? baleen_fail(error, -err, "%s", baleen_log_reason(err)) : 0;
}

/* The link is pinned last: without it nothing outlives this process. */
static int attach_by_link(const struct baleen_pins *pins, const struct baleen_loaded *loaded,
			  enum baleen_mode mode, struct baleen_error *error)
{
	int link_fd = -1;
	int err = baleen_attachment_link(pins->ifindex, loaded->program_fd, mode, &link_fd, error);

	if (err)
		return err;
	err = baleen_pins_add(pins->path, "link", link_fd, error);
	close(link_fd);
	return err;
}

static int replace_by_link(const struct baleen_attachment *attachment, int program_fd, int old_fd,
			   struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE, .old_prog_fd = old_fd);
	int err = bpf_link_update(attachment->link_fd, program_fd, &options);

	return err ? baleen_fail(error, -err, "%s", strerror(-err)) : 0;
}

/* --- by netlink ------------------------------------------------------------ */

static int attach_by_netlink(const struct baleen_pins *pins, int program_fd, enum baleen_mode mode,
			     struct baleen_error *error)
{
	int err;

	if (pins->ifindex < 0)
		return baleen_clsact_put(&egress, pins, program_fd, error);
	baleen_log_start();
	err = bpf_xdp_attach(pins->ifindex, program_fd,
			     mode_flags(mode) | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
	return err ? baleen_fail(error, -err, "%s", baleen_log_reason(err)) : 0;
}

static int replace_by_netlink(const struct baleen_pins *pins, int program_fd, int old_fd,
			      enum baleen_mode mode, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, old, .old_prog_fd = old_fd);
	int err;

	if (pins->ifindex < 0)
		return baleen_clsact_put(&egress, pins, program_fd, error);
	baleen_log_start();
	err = bpf_xdp_attach(pins->ifindex, program_fd, mode_flags(mode), &old);
	return err ? baleen_fail(error, -err, "%s", baleen_log_reason(err)) : 0;
}

static int leave_by_netlink(const struct baleen_pins *pins, u32 program_id,
			    struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, mine);
	struct baleen_program there;
	int fd, err;

	if (pins->ifindex < 0) {
		baleen_clsact_remove(&egress, pins);
		return 0;
	}
	err = baleen_device_program(pins->ifindex, &there);
	if (err && err != -ENODEV)
		return baleen_fail(error, -err, "cannot detach: %s", strerror(-err));
	if (err || there.id != program_id)
		return 0;
	fd = baleen_pins_open(pins, program_id, "prog");
	if (fd < 0)
		return baleen_fail(error, -fd, "%s/%u/prog: %s", pins->path, program_id,
				   strerror(-fd));
	mine.old_prog_fd = fd;
	baleen_log_start();
	err = bpf_xdp_detach(pins->ifindex, mode_flags(there.mode), &mine);
	close(fd);
	/* Another one has taken its place in between. */
	if (err == -EEXIST || err == -ENOENT)
		return 0;
	return err ? baleen_fail(error, -err, "cannot detach: %s", baleen_log_reason(err)) : 0;
}

/* --- any ------------------------------------------------------------------- */

int baleen_attachment_attach(enum baleen_attach_type attach_type, const struct baleen_pins *pins,
			     const struct baleen_loaded *loaded, enum baleen_mode mode,
			     struct baleen_error *error)
{
	switch (attach_type) {
	case BALEEN_ATTACH_TYPE_NETLINK:
		return attach_by_netlink(pins, loaded->program_fd, mode, error);
	case BALEEN_ATTACH_TYPE_CHAIN:
		return baleen_dispatcher_add(pins, loaded->component, mode, error);
	default: return attach_by_link(pins, loaded, mode, error);
	}
}

int baleen_attachment_replace(struct baleen_attachment *attachment, const struct baleen_pins *pins,
			      const struct baleen_loaded *loaded, enum baleen_mode mode,
			      struct baleen_error *error)
{
	int old_fd = baleen_pins_open(pins, attachment->program_id, "prog");
	int err;

	if (old_fd < 0)
		return baleen_fail(error, -old_fd, "%s/%u/prog: %s", pins->path,
				   attachment->program_id, strerror(-old_fd));
	if (attachment->attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		err = baleen_dispatcher_replace(pins, loaded->component, attachment->program_id,
						mode, error);
	else if (attachment->attach_type == BALEEN_ATTACH_TYPE_NETLINK)
		err = replace_by_netlink(pins, loaded->program_fd, old_fd, mode, error);
	else
		err = replace_by_link(attachment, loaded->program_fd, old_fd, error);
	close(old_fd);
	if (!err)
		attachment->program_id = loaded->program_id;
	return err;
}

int baleen_attachment_leave(const struct baleen_attachment *attachment,
			    const struct baleen_pins *pins, struct baleen_error *error)
{
	/* At once, not when the last reference goes. A link that has lost its
	 * device has nothing to detach.
	 */
	if (attachment->attach_type == BALEEN_ATTACH_TYPE_LINK)
		bpf_link_detach(attachment->link_fd);
	else if (attachment->attach_type == BALEEN_ATTACH_TYPE_NETLINK && attachment->is_taken)
		return leave_by_netlink(pins, attachment->program_id, error);
	else if (attachment->attach_type == BALEEN_ATTACH_TYPE_CHAIN && attachment->is_taken)
		return baleen_dispatcher_remove(pins, attachment->program_id, error);
	else if (attachment->attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		baleen_dispatcher_forget(pins);
	return 0;
}
