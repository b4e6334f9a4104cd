// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Can anybody have such a plan? */
#include <errno.h>
#include <string.h>

#include "icp/icp_plan.h"
#include "xdp/ruleset.h"

static int check_sibling(const struct baleen_icp_config *config, u32 n, struct baleen_error *error)
{
	const struct baleen_icp_sibling *sibling = &config->sibling[n];
	const char *reason = baleen_rule_name_check(sibling->name);

	if (reason)
		return baleen_fail(error, EINVAL, "sibling '%s': %s", sibling->name, reason);
	if ((!sibling->address_hi && !(u32)sibling->address_lo) ||
	    (sibling->other_lo && !sibling->other_hi && !(u32)sibling->other_lo))
		return baleen_fail(error, EINVAL, "sibling '%s': nobody has that address",
				   sibling->name);
	for (u32 i = 0; i < n; i++) {
		const struct baleen_icp_sibling *other = &config->sibling[i];

		if (!strcmp(other->name, sibling->name))
			return baleen_fail(error, EEXIST, "sibling '%s' is there twice",
					   sibling->name);
		if (baleen_icp_siblings_meet(other, sibling))
			return baleen_fail(error, EEXIST, "siblings '%s' and '%s' have one address",
					   other->name, sibling->name);
	}
	return 0;
}

static int check_feeders(const struct baleen_icp_config *config, struct baleen_error *error)
{
	for (u32 i = 0; i < config->n_feeders; i++)
		for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++) {
			bool tells = config->feeder[i].siblings & 1u << n;
			bool is_reported =
				n < config->n_siblings && config->sibling[n].feeders & 1u << i;

			if (tells != is_reported)
				return baleen_fail(error, EINVAL,
						   "feeder %u and sibling %u disagree", i, n);
		}
	if (config->n_feeders && !config->feed_port)
		return baleen_fail(error, EINVAL, "no port for the feed");
	if (!config->n_feeders && config->feed_port)
		return baleen_fail(error, EINVAL, "a port for the feed, and no feeder");
	if (config->n_feeders && config->feed_port == config->port)
		return baleen_fail(error, EINVAL, "queries and the feed cannot have one port");
	return 0;
}

static int check_plan(const struct baleen_icp_plan *plan, struct baleen_error *error)
{
	const struct baleen_icp_config *config = &plan->config;
	int err = 0;

	if (!config->n_siblings || config->n_siblings > BALEEN_ICP_MAX_SIBLINGS ||
	    config->n_feeders > BALEEN_ICP_MAX_FEEDERS)
		return baleen_fail(error, EINVAL, "1 to %d siblings and up to %d feeders",
				   BALEEN_ICP_MAX_SIBLINGS, BALEEN_ICP_MAX_FEEDERS);
	if (!config->port)
		return baleen_fail(error, EINVAL, "no port for queries");
	if (!plan->n_askers)
		return baleen_fail(error, EINVAL, "nobody may ask");
	for (u32 i = 0; i < config->n_siblings && !err; i++)
		err = check_sibling(config, i, error);
	return err ? err : check_feeders(config, error);
}

static int check_filters(const struct baleen_icp_plan *plan, struct baleen_error *error)
{
	for (u32 i = 0; i < plan->config.n_siblings; i++) {
		const struct baleen_icp_sibling *sibling = &plan->config.sibling[i];
		struct baleen_error why;
		int err = baleen_icp_check(&plan->filter[i]->image, sibling->feeders, &why);

		if (err)
			return baleen_fail(error, -err, "sibling '%s': %s", sibling->name,
					   why.text);
	}
	return 0;
}

int baleen_icp_plan_check(const struct baleen_icp_plan *plan, struct baleen_error *error)
{
	int err = check_plan(plan, error);

	return err ? err : check_filters(plan, error);
}
