/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of this host that fleet.conf names: policy and signature.
 */
#ifndef BALEEN_FLEET_SITE_H
#define BALEEN_FLEET_SITE_H

#include "fleet/fleet_conf.h"
#include "fleet/fleet_policy.h"

#define BALEEN_FLEET_SIGNATURE_SUFFIX ".minisig"

/**
 * baleen_fleet_site_policy() - read the policy in force
 * @conf: names its files
 * @policy: filled in; to be freed with baleen_fleet_policy_free(); untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when it is of another fleet; else as baleen_fleet_policy_load().
 */
int baleen_fleet_site_policy(const struct baleen_fleet_conf *conf,
			     struct baleen_fleet_policy *policy, struct baleen_error *error);

/**
 * baleen_fleet_site_policy_texts() - the policy and its signature as they are
 * @conf: names its files
 * @text: to be freed by the caller; NULL on failure
 * @signature: the same
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_site_policy_texts(const struct baleen_fleet_conf *conf, char **text,
				   char **signature, struct baleen_error *error);

/**
 * baleen_fleet_site_policy_take() - take a policy that came from elsewhere
 * @conf: names its files
 * @text: the policy
 * @signature: its signature
 * @error: filled in on failure
 *
 * It must be signed with the key of fleet.conf, be of its fleet, and have a larger serial than
 * the one in force. Of two files that are written the signature comes first: killed in between,
 * it is not of the policy that is there, and the next attempt mends that.
 *
 * Return: 1; 0 when its serial is not larger; -EKEYREJECTED; -EINVAL; a negative errno.
 */
int baleen_fleet_site_policy_take(const struct baleen_fleet_conf *conf, const char *text,
				  const char *signature, struct baleen_error *error);

/**
 * baleen_fleet_site_replace() - write a file, in place of one that is there
 * @path: of the file
 * @text: its text
 * @error: filled in on failure
 *
 * The old one stays until the new one is whole, and on disk.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_site_replace(const char *path, const char *text, struct baleen_error *error);

#endif /* BALEEN_FLEET_SITE_H */
