/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that answers ICP queries as a value, before anything is made of it.
 */
#ifndef BALEEN_ICP_PLAN_H
#define BALEEN_ICP_PLAN_H

#include "icp/icp.h"

/**
 * struct baleen_icp_grant - who may ask which siblings
 * @prefix: prefix of addresses
 * @siblings: bit n: sibling n
 */
struct baleen_icp_grant {
	struct baleen_icp_asker prefix;
	u32 siblings;
};

/**
 * struct baleen_icp_plan - what is to be put on a device
 * @config: constants: names, addresses, modes, feeders of siblings and siblings of
 *          feeders, ports, stale_ns; device, feed_device, images and the rest are
 *          filled in
 * @device: where queries come in
 * @feed_device: where the feed comes in; NULL: there, too
 * @filter: of each sibling, owned by the caller, and copied to the kernel
 * @n_objects: that they have room for, in modes answer and observe, to keep their times
 * @has_content: bit n: the filter of sibling n says what it has
 * @asker: prefixes that may ask; a prefix that is there twice may ask the siblings of both
 * @n_askers: how many
 * @mode: native, generic, or auto: native where it works
 */
struct baleen_icp_plan {
	struct baleen_icp_config config;
	const char *device;
	const char *feed_device;
	const struct baleen_filter *filter[BALEEN_ICP_MAX_SIBLINGS];
	u64 n_objects;
	u32 has_content;
	const struct baleen_icp_grant *asker;
	u32 n_askers;
	enum baleen_mode mode;
};

/**
 * baleen_icp_plan_check() - can anybody have such a plan?
 * @plan: from wherever; its filters are there
 * @error: filled in when nobody can
 *
 * Return: 0; -EINVAL; -EEXIST; -EOPNOTSUPP of baleen_icp_check().
 */
int baleen_icp_plan_check(const struct baleen_icp_plan *plan, struct baleen_error *error);

#endif /* BALEEN_ICP_PLAN_H */
