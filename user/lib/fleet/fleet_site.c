// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of this host that fleet.conf names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fleet/fleet_site.h"
#include "util/fd.h"
#include "util/minisign.h"
#include "util/small_file.h"
#include "util/write_file.h"

#define MAX_KEY_BYTES 4096
#define MAX_SIGNATURE_BYTES 8192

/* --- the policy in force -------------------------------------------------------------- */

static int check_fleet(const struct baleen_fleet_conf *conf,
		       const struct baleen_fleet_policy *policy, struct baleen_error *error)
{
	if (!strcmp(policy->fleet, conf->fleet))
		return 0;
	return baleen_fail(error, EINVAL, "%s: is of the fleet '%s', and this host is in '%s'",
			   conf->policy_path, policy->fleet, conf->fleet);
}

int baleen_fleet_site_policy(const struct baleen_fleet_conf *conf,
			     struct baleen_fleet_policy *policy, struct baleen_error *error)
{
	struct baleen_fleet_policy loaded = { 0 };
	char *signer;
	size_t n;
	int err = baleen_small_file_read(conf->policy_key_path, MAX_KEY_BYTES, &signer, &n, NULL,
					 error);

	if (err)
		return err;
	err = baleen_fleet_policy_load(conf->policy_path, signer, &loaded, error);
	free(signer);
	if (!err)
		err = check_fleet(conf, &loaded, error);
	if (err)
		baleen_fleet_policy_free(&loaded);
	else
		*policy = loaded;
	return err;
}

static int name_signature(const struct baleen_fleet_conf *conf, char *path, size_t room,
			  struct baleen_error *error)
{
	int n = snprintf(path, room, "%s" BALEEN_FLEET_SIGNATURE_SUFFIX, conf->policy_path);

	return n < (int)room ? 0 :
			       baleen_fail(error, ENAMETOOLONG, "%s: too long", conf->policy_path);
}

int baleen_fleet_site_policy_texts(const struct baleen_fleet_conf *conf, char **text,
				   char **signature, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH + 16];
	size_t n;
	int err = name_signature(conf, path, sizeof(path), error);

	*text = *signature = NULL;
	if (!err)
		err = baleen_small_file_read(path, MAX_SIGNATURE_BYTES, signature, &n, NULL, error);
	if (!err)
		err = baleen_small_file_read(conf->policy_path, BALEEN_FLEET_POLICY_MAX, text, &n,
					     NULL, error);
	if (!err)
		return 0;
	free(*signature);
	*text = *signature = NULL;
	return err;
}

/* --- another policy ------------------------------------------------------------------- */

int baleen_fleet_site_replace(const char *path, const char *text, struct baleen_error *error)
{
	char other[BALEEN_FLEET_PATH + 32];
	int fd, err = 0;

	snprintf(other, sizeof(other), "%s.new", path);
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return baleen_fail(error, errno, "%s: %m", other);
	err = baleen_write_all(fd, text, strlen(text));
	if (!err && fsync(fd))
		err = -errno;
	close(fd);
	if (!err && rename(other, path))
		err = -errno;
	if (err)
		unlink(other);
	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}

static int check_signature(const struct baleen_fleet_conf *conf, const char *text,
			   const char *signature, struct baleen_error *error)
{
	struct baleen_minisign_public public_key;
	const char *why = "no public key";
	char *signer;
	size_t n;
	int err = baleen_small_file_read(conf->policy_key_path, MAX_KEY_BYTES, &signer, &n, NULL,
					 error);

	if (err)
		return err;
	err = baleen_minisign_public_parse(signer, &public_key);
	free(signer);
	if (!err)
		err = baleen_minisign_verify(text, strlen(text), signature, strlen(signature),
					     &public_key, NULL, &why);
	return err ? baleen_fail(error, -err, "%s: %s", conf->policy_path, why) : 0;
}

/* The smallest serial that is news. Who was killed between the two files has left a signature of
 * another policy: then the same serial is news, too.
 */
static u64 next_serial(const struct baleen_fleet_conf *conf)
{
	struct baleen_fleet_policy policy = { 0 };
	char *text = NULL;
	u64 serial = 0;
	size_t n;

	if (!baleen_fleet_site_policy(conf, &policy, NULL))
		serial = policy.serial + 1;
	else if (!baleen_small_file_read(conf->policy_path, BALEEN_FLEET_POLICY_MAX, &text, &n,
					 NULL, NULL) &&
		 !baleen_fleet_policy_parse(text, n, conf->policy_path, &policy, NULL))
		serial = policy.serial;
	free(text);
	baleen_fleet_policy_free(&policy);
	return serial;
}

/* Two who write at once would leave the text of one and the signature of the other. */
static int hold_lock(const struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH + 16];
	int fd;

	snprintf(path, sizeof(path), "%s.lock", conf->policy_path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && !flock(fd, LOCK_EX))
		return fd;
	baleen_close_fd(&fd);
	return baleen_fail(error, errno, "%s: %m", path);
}

static int write_both(const struct baleen_fleet_conf *conf, u64 serial, const char *text,
		      const char *signature, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH + 16];
	int lock = hold_lock(conf, error), ret;

	if (lock < 0)
		return lock;
	ret = name_signature(conf, path, sizeof(path), error);
	if (!ret && serial >= next_serial(conf)) {
		ret = baleen_fleet_site_replace(path, signature, error);
		if (!ret)
			ret = baleen_fleet_site_replace(conf->policy_path, text, error);
		ret = ret ? ret : 1;
	}
	close(lock);
	return ret;
}

int baleen_fleet_site_policy_take(const struct baleen_fleet_conf *conf, const char *text,
				  const char *signature, struct baleen_error *error)
{
	struct baleen_fleet_policy policy = { 0 };
	int ret = check_signature(conf, text, signature, error);

	if (!ret)
		ret = baleen_fleet_policy_parse(text, strlen(text), conf->policy_path, &policy,
						error);
	if (!ret)
		ret = check_fleet(conf, &policy, error);
	if (!ret)
		ret = write_both(conf, policy.serial, text, signature, error);
	baleen_fleet_policy_free(&policy);
	return ret;
}
