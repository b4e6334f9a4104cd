// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The instance that answers ICP queries on one device: opened and taken off. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "icp/icp.h"
#include "icp/icp_behind.h"
#include "icp/icp_links.h"
#include "util/fd.h"
#include "xdp/load.h"

static const struct baleen_instance_type icp_instances;

/* --- look ------------------------------------------------------------------ */

static void close_all(void *data)
{
	struct baleen_icp *icp = data;

	if (icp->state)
		munmap(icp->state, sizeof(*icp->state));
	icp->state = NULL;
	baleen_icp_loaded_close(&icp->now);
	baleen_attachment_close(&icp->attachment);
	baleen_close_fd(&icp->feed_link_fd);
	baleen_close_fd(&icp->behind_fd);
}

/* A feed that comes in by the device that answers is there when that is. */
static void find_feed(struct baleen_icp *icp)
{
	const struct baleen_icp_config *config = &icp->now.config;
	bool is_here = icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED ||
		       icp->attach_status == BALEEN_ATTACH_STATUS_MOVED;
	struct bpf_link_info info = { 0 };

	memcpy(icp->feed_device, config->feed_device, sizeof(icp->feed_device));
	icp->is_fed = is_here;
	if (!config->feed_device[0])
		return;
	icp->feed_link_fd = baleen_pins_open_link_as(&icp->pins, "feed", &info);
	icp->is_fed = icp->feed_link_fd >= 0 && info.xdp.ifindex;
	icp->is_switching = icp->is_fed && info.prog_id != icp->now.feed_id;
	if (icp->is_fed && icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED)
		baleen_device_name(info.xdp.ifindex, icp->feed_device);
}

static int map_state(struct baleen_icp *icp)
{
	void *state = mmap(NULL, sizeof(*icp->state), PROT_READ | PROT_WRITE, MAP_SHARED,
			   icp->now.state_fd, 0);

	if (state == MAP_FAILED)
		return -errno;
	icp->state = state;
	return 0;
}

static int open_found(void *data)
{
	struct baleen_icp *icp = data;
	int err = baleen_icp_loaded_open(&icp->now, &icp->pins, icp->attachment.program_id);

	if (!err)
		err = map_state(icp);
	if (!err && icp->attachment.link_fd < 0) {
		icp->behind_fd = baleen_icp_behind_open(&icp->pins);
		err = icp->behind_fd < 0 ? icp->behind_fd : 0;
	}
	if (!err)
		err = baleen_attach_status_find(&icp->attachment, &icp->pins,
						icp->now.config.device, icp->device, &icp->there,
						&icp->attach_status);
	if (err)
		return err;
	find_feed(icp);
	icp->is_observing =
		!icp->now.egress_id ||
		(icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED &&
		 baleen_clsact_id(&baleen_icp_egress, icp->pins.ifindex) == icp->now.egress_id);
	return 0;
}

int baleen_icp_open_pins(struct baleen_icp *icp, const struct baleen_pins *pins,
			 struct baleen_error *error)
{
	memset(icp, 0, sizeof(*icp));
	icp->pins = *pins;
	baleen_attachment_init(&icp->attachment);
	icp->feed_link_fd = icp->behind_fd = -1;
	baleen_icp_loaded_init(&icp->now);
	return baleen_instance_open(&icp_instances, pins, &icp->attachment, icp, error);
}

static int identify(const struct baleen_pins *pins, char *device, enum baleen_attach_status *status)
{
	struct baleen_icp icp;
	int err = baleen_icp_open_pins(&icp, pins, NULL);

	if (err)
		return err;
	snprintf(device, IF_NAMESIZE, "%s", icp.now.config.device);
	*status = icp.attach_status;
	close_all(&icp);
	return 0;
}

static int not_there(const char *device, struct baleen_error *error)
{
	return baleen_fail(error, ENOENT, "nothing answers ICP on %s: 'baleen icp attach' does",
			   device);
}

static const struct baleen_instance_type icp_instances = {
	.purpose = BALEEN_ICP_PINS,
	.find = baleen_icp_find,
	.open = open_found,
	.close = close_all,
	.identify = identify,
	.forget = baleen_icp_empty,
	.fail_absent = not_there,
};

int baleen_icp_each(int (*visit)(const struct baleen_pins *pins, void *data), void *data,
		    struct baleen_error *error)
{
	return baleen_instance_each(&icp_instances, visit, data, error);
}

int baleen_icp_forget_stale(void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
			    void *data, struct baleen_error *error)
{
	return baleen_stale_pins_forget_of(&icp_instances, on_stale, data, error);
}

/* --- switch ---------------------------------------------------------------- */

static int failed(const struct baleen_icp *icp, int err, const struct baleen_error *why,
		  struct baleen_error *error)
{
	return baleen_fail(error, -err, "%s: cannot switch to the new filter: %s", icp->device,
			   why->text);
}

int baleen_icp_enter_feed(struct baleen_icp *icp, const struct baleen_icp_loaded *next,
			  struct baleen_error *error)
{
	struct baleen_error why;
	int err;

	if (icp->feed_link_fd < 0)
		return 0;
	err = baleen_icp_link_switch(icp->feed_link_fd, next->feed_fd, icp->now.feed_fd, &why);
	return err ? failed(icp, err, &why, error) : 0;
}

static int switch_answer(const struct baleen_icp *icp, const struct baleen_icp_loaded *next,
			 struct baleen_error *error)
{
	if (icp->behind_fd >= 0)
		return baleen_icp_behind_put(icp->behind_fd, next->answer_fd, error);
	return baleen_icp_link_switch(icp->attachment.link_fd, next->answer_fd, icp->now.answer_fd,
				      error);
}

/* Replaces the program for outgoing packets first: until the link is switched the old
 * generation is in force, and the next writer puts its program back.
 */
int baleen_icp_enter_answer(struct baleen_icp *icp, struct baleen_icp_loaded *next,
			    struct baleen_error *error)
{
	struct baleen_error why;
	int err = 0;

	if (next->egress_fd >= 0 && icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED)
		err = baleen_clsact_put(&baleen_icp_egress, &icp->pins, next->egress_fd, &why);
	if (!err) {
		err = switch_answer(icp, next, &why);
		if (err && icp->now.egress_fd >= 0 &&
		    icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED)
			baleen_clsact_put(&baleen_icp_egress, &icp->pins, icp->now.egress_fd, NULL);
	}
	if (err)
		return failed(icp, err, &why, error);
	baleen_icp_loaded_close(&icp->now);
	icp->now = *next;
	baleen_icp_loaded_init(next);
	if (icp->behind_fd < 0)
		icp->there.id = icp->now.program_id;
	baleen_pins_clean(&icp->pins, icp->now.program_id);
	return 0;
}

/* --- write ----------------------------------------------------------------- */

/* The generation whose feed program has that number. */
static int find_fed(const struct baleen_icp *icp, u32 feed_id, struct baleen_icp_loaded *next)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(&icp->pins, ids);

	for (u32 i = 0; i < n; i++) {
		if (baleen_icp_loaded_open(next, &icp->pins, ids[i]))
			continue;
		if (next->feed_id == feed_id)
			return 0;
		baleen_icp_loaded_close(next);
	}
	return -ENOENT;
}

/* Forward: the filters of the next generation have all but the few events between the
 * snapshot and the switch, those in force have none of what was fed since.
 */
static int finish_switch(struct baleen_icp *icp, struct baleen_error *error)
{
	struct baleen_icp_loaded next;
	struct bpf_link_info info = { 0 };
	int fd;

	if (icp->feed_link_fd < 0)
		return 0;
	fd = baleen_pins_open_link_as(&icp->pins, "feed", &info);
	baleen_close_fd(&fd);
	if (!info.xdp.ifindex || info.prog_id == icp->now.feed_id)
		return 0;
	if (find_fed(icp, info.prog_id, &next))
		return baleen_fail(error, ESTALE,
				   "%s: the feed has a program of nobody: detach and attach again",
				   icp->device);
	return baleen_icp_enter_answer(icp, &next, error);
}

/* Finishes or removes what killed commands left. */
static int tidy(struct baleen_icp *icp, struct baleen_error *error)
{
	int err = finish_switch(icp, error);

	if (!err && icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED &&
	    icp->now.egress_fd >= 0 &&
	    baleen_clsact_id(&baleen_icp_egress, icp->pins.ifindex) != icp->now.egress_id)
		err = baleen_clsact_put(&baleen_icp_egress, &icp->pins, icp->now.egress_fd, error);
	if (err)
		return err;
	__atomic_store_n(&icp->state->is_recording, 0, __ATOMIC_RELEASE);
	baleen_pins_clean(&icp->pins, icp->now.program_id);
	return 0;
}

int baleen_icp_open(struct baleen_icp *icp, const char *device, bool for_writing,
		    struct baleen_error *error)
{
	struct baleen_pins pins;
	int err = baleen_instance_find(&icp_instances, device, &pins, error);

	if (!err && for_writing)
		err = baleen_pins_lock(&pins, BALEEN_LOCK_TIMEOUT_MS, error);
	if (err)
		return err;
	err = baleen_icp_open_pins(icp, &pins, error);
	if (err == -ENOENT)
		not_there(device, error);
	if (!err && for_writing) {
		err = tidy(icp, error);
		if (err)
			close_all(icp);
	}
	if (err)
		baleen_pins_unlock(&pins);
	return err;
}

void baleen_icp_close(struct baleen_icp *icp)
{
	close_all(icp);
	baleen_pins_unlock(&icp->pins);
}

bool baleen_icp_is_enforced(const struct baleen_icp *icp)
{
	return (icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED ||
		icp->attach_status == BALEEN_ATTACH_STATUS_MOVED) &&
	       (icp->is_fed || !icp->now.config.n_feeders) && icp->is_observing;
}

bool baleen_icp_is_there(const char *device)
{
	struct baleen_icp icp;

	if (baleen_icp_open(&icp, device, false, NULL))
		return false;
	baleen_icp_close(&icp);
	return true;
}

/* --- detach ---------------------------------------------------------------- */

static void drop_link(const struct baleen_pins *pins, const char *name)
{
	char path[BALEEN_PIN_BYTES + 16];
	struct bpf_link_info info;
	int fd = baleen_pins_open_link_as(pins, name, &info);

	/* At once, not when the last reference goes. */
	if (fd >= 0) {
		bpf_link_detach(fd);
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/%s", pins->path, name);
	unlink(path);
}

void baleen_icp_empty(const struct baleen_pins *pins)
{
	if (baleen_pins_are_here(pins))
		baleen_clsact_remove(&baleen_icp_egress, pins);
	drop_link(pins, "link");
	baleen_icp_behind_remove(pins);
	drop_link(pins, "feed");
	baleen_pins_empty(pins);
}

int baleen_icp_detach(const char *device, struct baleen_error *error)
{
	struct baleen_attachment attachment;
	struct baleen_pins pins;
	int err = baleen_instance_find(&icp_instances, device, &pins, error);

	if (!err)
		err = baleen_pins_lock(&pins, BALEEN_LOCK_TIMEOUT_MS, error);
	if (err)
		return err;
	err = baleen_icp_find(&pins, &attachment);
	baleen_attachment_close(&attachment);
	if (err)
		err = not_there(device, error);
	baleen_icp_empty(&pins);
	baleen_pins_unlock(&pins);
	return err;
}
