// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Another filter for a sibling. */
#include <string.h>

#include "icp/icp_links.h"
#include "icp/icp_next.h"
#include "util/fd.h"
#include "xdp/load.h"

/* --- load ------------------------------------------------------------------ */

static int share_maps(const struct baleen_icp_loaded *now, u32 n, struct baleen_icp_loaded *next)
{
	int err = baleen_copy_fd(now->stats_fd, &next->stats_fd);

	if (!err)
		err = baleen_copy_fd(now->state_fd, &next->state_fd);
	if (!err)
		err = baleen_copy_fd(now->askers_fd, &next->askers_fd);
	if (!err)
		err = baleen_copy_fd(now->log_fd, &next->log_fd);
	if (!err)
		err = baleen_copy_fd(now->times_fd, &next->times_fd);
	for (u32 i = 0; i < now->config.n_siblings && !err; i++)
		if (i != n)
			err = baleen_copy_fd(now->sibling_fd[i], &next->sibling_fd[i]);
	return err;
}

static int make(struct baleen_icp *icp, u32 n, const struct baleen_filter *filter, bool has_times,
		struct baleen_icp_loaded *next, struct baleen_error *error)
{
	struct baleen_icp_sibling *sibling = &next->config.sibling[n];
	int err = share_maps(&icp->now, n, next);

	if (err)
		return baleen_fail(error, -err, "%s: %s", icp->device, strerror(-err));
	next->config.generation++;
	sibling->image = filter->image;
	sibling->has_times = has_times && next->config.n_times;
	err = baleen_load_copy(sibling->name, filter, &next->sibling_fd[n], error);
	if (!err)
		err = baleen_icp_load(next, next->config.frags, error);
	if (!err)
		err = baleen_icp_loaded_pin(next, &icp->pins, error);
	return err;
}

int baleen_icp_next(struct baleen_icp *icp, u32 n, const struct baleen_filter *filter,
		    bool has_times, struct baleen_icp_loaded *next, struct baleen_error *error)
{
	const struct baleen_icp_sibling *sibling = &icp->now.config.sibling[n];
	struct baleen_icp_loaded made;
	struct baleen_error why;
	int err = baleen_icp_check(&filter->image, sibling->feeders, &why);

	if (err)
		return baleen_fail(error, -err, "%s:%s: %s", icp->device, sibling->name, why.text);
	baleen_icp_loaded_init(&made);
	made.config = icp->now.config;
	err = make(icp, n, filter, has_times, &made, error);
	if (err) {
		baleen_icp_loaded_close(&made);
		baleen_pins_clean(&icp->pins, icp->now.program_id);
		return err;
	}
	*next = made;
	return 0;
}

void baleen_icp_abandon(struct baleen_icp *icp, struct baleen_icp_loaded *next)
{
	/* Refused when the link never had the next program. */
	if (icp->feed_link_fd >= 0 && next->feed_fd >= 0)
		baleen_icp_link_switch(icp->feed_link_fd, icp->now.feed_fd, next->feed_fd, NULL);
	baleen_icp_loaded_close(next);
	baleen_pins_clean(&icp->pins, icp->now.program_id);
}
