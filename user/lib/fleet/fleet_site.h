/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy of this host. There are two places:
 *
 *      the file that fleet.conf names, FILE and FILE.minisig   what people write and sign
 *      fleet.policy, beside the states of devices              what `fleet admit` made or Redis had
 *
 * baleend may not write to /etc. Of those that are signed by the key of fleet.conf and are of its
 * fleet, the one with the larger serial counts, so a file that is half written, or not signed
 * yet, leaves the other one in force.
 */
#ifndef BALEEN_FLEET_SITE_H
#define BALEEN_FLEET_SITE_H

#include "fleet/fleet_conf.h"
#include "fleet/fleet_keys.h"
#include "fleet/fleet_policy.h"

#define BALEEN_FLEET_SIGNATURE_SUFFIX ".minisig"

/**
 * struct baleen_fleet_signed - a policy as it travels
 * @text: the policy
 * @signature: four lines of minisign
 */
struct baleen_fleet_signed {
	char *text;
	char *signature;
};

/**
 * baleen_fleet_signed_free() - free both
 * @texts: its members are NULL afterwards
 */
void baleen_fleet_signed_free(struct baleen_fleet_signed *texts);

/**
 * baleen_fleet_site_policy() - read the policy in force
 * @conf: names its files
 * @policy: filled in; to be freed with baleen_fleet_policy_free(); untouched on failure
 * @texts: filled in, unless NULL; to be freed with baleen_fleet_signed_free(); untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is none; -EKEYREJECTED when somebody else signed it, or something
 * else was signed; -EINVAL; a negative errno.
 */
int baleen_fleet_site_policy(const struct baleen_fleet_conf *conf,
			     struct baleen_fleet_policy *policy, struct baleen_fleet_signed *texts,
			     struct baleen_error *error);

/* Behind the name of the file of the key: the one that the policy does not know yet. */
#define BALEEN_FLEET_NEXT_SUFFIX ".next"

/**
 * baleen_fleet_site_keys() - the key that this host signs with
 * @conf: fleet.conf
 * @policy: the policy
 * @keys: filled in; wipe with baleen_fleet_keys_wipe()
 * @is_next: filled in: it is the one of the file with BALEEN_FLEET_NEXT_SUFFIX, since the policy
 * has it
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_site_keys(const struct baleen_fleet_conf *conf,
			   const struct baleen_fleet_policy *policy, struct baleen_fleet_keys *keys,
			   bool *is_next, struct baleen_error *error);

/**
 * baleen_fleet_site_check() - is the file that fleet.conf names right?
 * @conf: names it
 * @error: filled in on failure
 *
 * Return: 0; as baleen_fleet_site_policy().
 */
int baleen_fleet_site_check(const struct baleen_fleet_conf *conf, struct baleen_error *error);

/**
 * baleen_fleet_site_kept_path() - the file that baleen_fleet_site_policy_take() writes
 * @path: BALEEN_FLEET_PATH bytes, filled in
 *
 * Return: @path.
 */
const char *baleen_fleet_site_kept_path(char *path);

/**
 * baleen_fleet_site_policy_take() - take another policy
 * @conf: says which key and which fleet
 * @texts: the policy
 * @error: filled in on failure
 *
 * It must be signed with the key of fleet.conf, be of its fleet, and have a larger serial than
 * the one in force. Text and signature are in one file, which is replaced as one.
 *
 * Return: 1; 0 when its serial is not larger; -EKEYREJECTED; -EINVAL; a negative errno.
 */
int baleen_fleet_site_policy_take(const struct baleen_fleet_conf *conf,
				  const struct baleen_fleet_signed *texts,
				  struct baleen_error *error);

/**
 * baleen_fleet_site_write() - write the file that fleet.conf names, and its signature
 * @conf: names it
 * @texts: the policy
 * @error: filled in on failure
 *
 * The one in force does not need it; whoever edits the policy does.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_site_write(const struct baleen_fleet_conf *conf,
			    const struct baleen_fleet_signed *texts, struct baleen_error *error);

#endif /* BALEEN_FLEET_SITE_H */
