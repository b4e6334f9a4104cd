/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Putting an instance that answers ICP queries on a device.
 */
#ifndef BALEEN_ICP_ATTACH_H
#define BALEEN_ICP_ATTACH_H

#include "icp/icp_plan.h"
#include "xdp/attach.h"

/* Behind a native filter of a veth. */
#define BALEEN_ICP_LOST_ON_VETH                                                     \
	"its filter is native, and answers of a native program are lost on a veth " \
	"unless its other end has an XDP program"

/**
 * struct baleen_icp_report - how an attach went
 * @attempts: on the device where queries come in
 * @is_behind: behind the filter of the device, as that is attached
 * @is_veth: native was not tried there, or the filter is native: see baleen_icp_attach()
 */
struct baleen_icp_report {
	struct baleen_attempts attempts;
	bool is_behind;
	bool is_veth;
};

/**
 * baleen_icp_attach() - put an instance on a device, alone or behind its filter
 * @plan: the plan
 * @report: filled in also on failure
 * @error: filled in on failure
 *
 * The filter of a device hands on to it what it lets pass, and goes on doing so in each later
 * ruleset; other programs leave no room.
 *
 * Frames that a native program sends back by a veth are lost, unless the other end has
 * an XDP program, too, which nobody here can see (GRO is not enough: 80 sent back, none
 * seen). So auto is generic there.
 *
 * With signals held back (signals.h), one that comes before the instance is in force ends
 * it, and nothing is left.
 *
 * Return: 0; -EINTR then; -EBUSY when a program is there already, naming it; -ENODEV; -EPERM;
 * -ENOMEM; -EINVAL and -EEXIST of a plan that nobody can have; -EOPNOTSUPP of
 * baleen_icp_check(); the errno of the last attempt. On failure nothing is left.
 */
int baleen_icp_attach(const struct baleen_icp_plan *plan, struct baleen_icp_report *report,
		      struct baleen_error *error);

#endif /* BALEEN_ICP_ATTACH_H */
