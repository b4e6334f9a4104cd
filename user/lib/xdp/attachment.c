// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a device's program sits. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/libbpf_log.h"
#include "xdp/attachment.h"
#include "xdp/config.h"
#include "xdp/dispatcher.h"

const char *baleen_place_text(enum baleen_place place)
{
	static const char *const text[] = { "link", "netlink", "chain" };

	return text[place];
}

static u32 mode_flags(enum baleen_mode mode)
{
	return mode == BALEEN_MODE_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
}

/* --- find ------------------------------------------------------------------ */

void baleen_seat_init(struct baleen_seat *seat)
{
	*seat = (struct baleen_seat){ .link_fd = -1 };
}

void baleen_seat_close(struct baleen_seat *seat)
{
	if (seat->link_fd >= 0)
		close(seat->link_fd);
	seat->link_fd = -1;
}

static int find_link(const struct baleen_pins *pins, struct baleen_seat *seat)
{
	struct bpf_link_info info;
	int fd = baleen_pins_open_link(pins, &info);

	if (fd < 0)
		return fd;
	seat->place = BALEEN_PLACE_LINK;
	seat->link_fd = fd;
	seat->link_id = info.id;
	seat->program_id = info.prog_id;
	seat->is_taken = info.xdp.ifindex;
	return 0;
}

/* Is one of these, the newest first, on the device? */
static int find_there(const struct baleen_pins *pins, const u32 *ids, u32 n,
		      struct baleen_seat *seat)
{
	struct baleen_program there;
	int found;

	if (baleen_device_program(pins->ifindex, &there) || !there.id)
		return 0;
	for (u32 i = 0; i < n; i++) {
		if (ids[i] == there.id) {
			seat->place = BALEEN_PLACE_NETLINK;
			seat->program_id = there.id;
			seat->is_taken = true;
			return 0;
		}
	}
	found = baleen_chain_has(pins->ifindex, ids, n, &seat->program_id);
	if (found == 1) {
		seat->place = BALEEN_PLACE_CHAIN;
		seat->is_taken = true;
	}
	return found < 0 ? found : 0;
}

/* The newest program that has all its pins and needs no link: without one, it
 * was left by an attach that was killed.
 */
static int find_last(const struct baleen_pins *pins, const u32 *ids, u32 n,
		     struct baleen_seat *seat)
{
	struct baleen_config config;

	for (u32 i = 0; i < n; i++) {
		if (baleen_config_read(pins, ids[i], &config) || config.place == BALEEN_PLACE_LINK)
			continue;
		seat->place = config.place;
		seat->program_id = ids[i];
		return 0;
	}
	return -ENOENT;
}

static int find_unlinked(const struct baleen_pins *pins, struct baleen_seat *seat)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);
	bool is_here = baleen_pins_are_here(pins);
	int err = n && is_here ? find_there(pins, ids, n, seat) : 0;

	if (err || seat->is_taken)
		return err;
	err = find_last(pins, ids, n, seat);
	seat->is_taken = !err && !is_here;
	return err;
}

int baleen_seat_find(const struct baleen_pins *pins, struct baleen_seat *seat)
{
	int err;

	baleen_seat_init(seat);
	err = find_link(pins, seat);
	return err == -ENOENT ? find_unlinked(pins, seat) : err;
}

bool baleen_seat_is_same(const struct baleen_seat *a, const struct baleen_seat *b)
{
	return a->place == b->place && a->program_id == b->program_id &&
	       a->is_taken == b->is_taken && a->link_id == b->link_id;
}

void baleen_seat_tidy(const struct baleen_seat *seat, const struct baleen_pins *pins)
{
	baleen_chain_tidy(pins, seat->place == BALEEN_PLACE_CHAIN ? seat->program_id : 0);
	baleen_pins_clean(pins, seat->program_id);
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

int baleen_seat_link(int ifindex, int program_fd, enum baleen_mode mode, int *link_fd,
		     struct baleen_error *error)
{
	int err = make_link(ifindex, program_fd, mode_flags(mode), link_fd);

	return err ? baleen_fail(error, -err, "%s", baleen_log_reason(err)) : 0;
}

/* The link is pinned last: without it nothing outlives this process. */
static int take_by_link(const struct baleen_pins *pins, const struct baleen_loaded *loaded,
			enum baleen_mode mode, struct baleen_error *error)
{
	char path[BALEEN_PIN_BYTES + 8];
	int link_fd = -1;
	int err = baleen_seat_link(pins->ifindex, loaded->program_fd, mode, &link_fd, error);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/link", pins->path);
	err = bpf_obj_pin(link_fd, path);
	if (err)
		baleen_fail(error, -err, "cannot pin %s: %s", path, strerror(-err));
	close(link_fd);
	return err;
}

static int replace_by_link(const struct baleen_seat *seat, int program_fd, int old_fd,
			   struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE, .old_prog_fd = old_fd);
	int err = bpf_link_update(seat->link_fd, program_fd, &options);

	return err ? baleen_fail(error, -err, "%s", strerror(-err)) : 0;
}

/* --- by netlink ------------------------------------------------------------ */

static int take_by_netlink(const struct baleen_pins *pins, int program_fd, enum baleen_mode mode,
			   struct baleen_error *error)
{
	int err;

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

	err = baleen_device_program(pins->ifindex, &there);
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

int baleen_seat_take(enum baleen_place place, const struct baleen_pins *pins,
		     const struct baleen_loaded *loaded, enum baleen_mode mode,
		     struct baleen_error *error)
{
	switch (place) {
	case BALEEN_PLACE_NETLINK: return take_by_netlink(pins, loaded->program_fd, mode, error);
	case BALEEN_PLACE_CHAIN: return baleen_chain_add(pins, loaded->component, mode, error);
	default: return take_by_link(pins, loaded, mode, error);
	}
}

int baleen_seat_replace(struct baleen_seat *seat, const struct baleen_pins *pins,
			const struct baleen_loaded *loaded, enum baleen_mode mode,
			struct baleen_error *error)
{
	int old_fd = baleen_pins_open(pins, seat->program_id, "prog");
	int err;

	if (old_fd < 0)
		return baleen_fail(error, -old_fd, "%s/%u/prog: %s", pins->path, seat->program_id,
				   strerror(-old_fd));
	if (seat->place == BALEEN_PLACE_CHAIN)
		err = baleen_chain_replace(pins, loaded->component, seat->program_id, mode, error);
	else if (seat->place == BALEEN_PLACE_NETLINK)
		err = replace_by_netlink(pins, loaded->program_fd, old_fd, mode, error);
	else
		err = replace_by_link(seat, loaded->program_fd, old_fd, error);
	close(old_fd);
	if (!err)
		seat->program_id = loaded->program_id;
	return err;
}

int baleen_seat_leave(const struct baleen_seat *seat, const struct baleen_pins *pins,
		      struct baleen_error *error)
{
	/* At once, not when the last reference goes. A link that has lost its
	 * device has nothing to detach.
	 */
	if (seat->place == BALEEN_PLACE_LINK)
		bpf_link_detach(seat->link_fd);
	else if (seat->place == BALEEN_PLACE_NETLINK && seat->is_taken)
		return leave_by_netlink(pins, seat->program_id, error);
	else if (seat->place == BALEEN_PLACE_CHAIN && seat->is_taken)
		return baleen_chain_remove(pins, seat->program_id, error);
	else if (seat->place == BALEEN_PLACE_CHAIN)
		baleen_chain_forget(pins);
	return 0;
}
