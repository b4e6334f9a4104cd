/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statements of a configuration about caches, in force on its device.
 *
 * The programs are behind the filter of the device, and go and come with it. An instance of
 * `icp attach` is left alone where no statement stands against it.
 */
#ifndef BALEEN_ICP_FOLLOW_H
#define BALEEN_ICP_FOLLOW_H

#include "deploy/conf_icp.h"

/**
 * struct baleen_icp_followed - what was done
 * @did_attach: programs were put on
 * @did_detach: programs were taken off
 * @report: how the attach went
 */
struct baleen_icp_followed {
	bool did_attach;
	bool did_detach;
	struct baleen_icp_report report;
};

/**
 * baleen_icp_statements_hash() - by which an instance is known to be of statements
 * @statements: as struct baleen_stored_rules has them
 *
 * Return: a number; 0 for no statement.
 */
u64 baleen_icp_statements_hash(const char *statements);

/**
 * baleen_icp_is_followed() - is in force what the statements say?
 * @device: name of the device, whose filter is in force
 * @statements: as struct baleen_stored_rules has them; empty for none
 *
 * Return: true or false.
 */
bool baleen_icp_is_followed(const char *device, const char *statements);

/**
 * baleen_icp_follow() - put in force what the state of a device says
 * @device: name of the device
 * @followed: filled in, also on failure
 * @error: filled in on failure
 *
 * Filters are empty until their sources are read: baleen_icp_seed(). Where the filter of the
 * device is not in force, nothing is.
 *
 * Return: 0; as baleen_conf_icp_read() and baleen_icp_attach(); a negative errno.
 */
int baleen_icp_follow(const char *device, struct baleen_icp_followed *followed,
		      struct baleen_error *error);

/**
 * baleen_icp_sources() - where it stands what a sibling has
 * @device: name of the device
 * @sibling: its name
 * @icp: set to the statements of the device, to be freed with baleen_conf_icp_free()
 * @n: number of the sibling, whose sources are not empty
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when the configuration has no source of such a sibling; as
 * baleen_conf_icp_read().
 */
int baleen_icp_sources(const char *device, const char *sibling, struct baleen_conf_icp **icp,
		       u32 *n, struct baleen_error *error);

/**
 * baleen_icp_seed() - read the sources of all siblings of a device
 * @device: name of the device, that has what its state says
 * @error: filled in on failure, by the first that failed
 *
 * Return: 0; a negative errno of the first that failed; others were read.
 */
int baleen_icp_seed(const char *device, struct baleen_error *error);

#endif /* BALEEN_ICP_FOLLOW_H */
