/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration onto its device, in one step.
 */
#ifndef BALEEN_CONF_APPLY_H
#define BALEEN_CONF_APPLY_H

#include "deploy/conf_plan.h"

/**
 * struct baleen_conf_apply - what is to be done, and what was
 * @device: name of the device
 * @goal: the configuration asked for
 * @timeout_ms: how long to wait for other writers
 * @confirm_ms: the previous state comes back unless it is confirmed in so long; 0
 *              for a change that stays
 * @check: asked before anything goes live, with the filter that is on and the
 *         ruleset to come; a nonzero return refuses it and is passed on
 * @data: passed to @check
 * @plan: filled in; free with baleen_conf_plan_free()
 * @attempts: filled in when the device had to be attached
 */
struct baleen_conf_apply {
	const char *device;
	struct baleen_conf_goal goal;
	u64 timeout_ms;
	u64 confirm_ms;
	int (*check)(void *data, const struct baleen_xdp *xdp,
		     const struct baleen_ruleset *ruleset);
	void *data;
	struct baleen_conf_plan plan;
	struct baleen_attempts attempts;
};

/**
 * baleen_conf_apply() - make the device what its configuration says
 * @apply: what to do; filled in
 * @error: filled in on failure, but not when @check refused
 *
 * Takes over a device that was attached by hand: its state is kept from now on, and
 * single entries of rules that go on stay.
 *
 * Return: 0, also when there was nothing to do; a negative errno, or what @check
 * returned: then all is as before.
 */
int baleen_conf_apply(struct baleen_conf_apply *apply, struct baleen_error *error);

/**
 * baleen_conf_put() - the state of a device becomes what its configuration says
 * @goal: the configuration asked for
 * @state: with a transaction
 * @plan: of its rules; those that are to be derived anew because other addresses are protected
 *        now are marked
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_conf_put(const struct baleen_conf_goal *goal, struct baleen_rule_store *state,
		    struct baleen_deploy_plan *plan, struct baleen_error *error);

/**
 * baleen_conf_look() - what would have to be done
 * @apply: device and goal; its plan is filled in
 * @error: filled in on failure
 *
 * Takes no lock and changes nothing.
 *
 * Return: 0; a negative errno.
 */
int baleen_conf_look(struct baleen_conf_apply *apply, struct baleen_error *error);

#endif /* BALEEN_CONF_APPLY_H */
