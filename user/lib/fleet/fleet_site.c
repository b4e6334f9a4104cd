// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of this host: the one in force, and another one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fleet/fleet_site.h"
#include "state/rule_store_path.h"
#include "state/entries.h"
#include "util/fd.h"
#include "util/minisign.h"
#include "util/output.h"
#include "util/small_file.h"

#define KEPT "fleet.policy"
#define MAX_KEY_BYTES 4096
#define MAX_SIGNATURE_BYTES 8192
#define SIGNATURE_LINES 4

void baleen_fleet_signed_free(struct baleen_fleet_signed *texts)
{
	free(texts->text);
	free(texts->signature);
	*texts = (struct baleen_fleet_signed){ 0 };
}

/* --- is it right? ----------------------------------------------------------------------- */

static int check_signature(const struct baleen_fleet_conf *conf, const char *name,
			   const struct baleen_fleet_signed *texts, struct baleen_error *error)
{
	struct baleen_minisign_public public_key;
	const char *why = "no public key of minisign";
	char *signer;
	size_t n;
	int err = baleen_small_file_read(conf->policy_key_path, BALEEN_INPUT_NAMED, MAX_KEY_BYTES,
					 &signer, &n, NULL, error);

	if (err)
		return err;
	err = baleen_minisign_public_parse(signer, &public_key);
	free(signer);
	if (err)
		return baleen_fail(error, -err, "%s: %s", conf->policy_key_path, why);
	err = baleen_minisign_verify(texts->text, strlen(texts->text), texts->signature,
				     strlen(texts->signature), &public_key, NULL, &why);
	return err ? baleen_fail(error, -err, "%s: %s", name, why) : 0;
}

static int check_fleet(const struct baleen_fleet_conf *conf, const char *name,
		       const struct baleen_fleet_policy *policy, struct baleen_error *error)
{
	if (!strcmp(policy->fleet, conf->fleet))
		return 0;
	return baleen_fail(error, EINVAL, "%s: is of the fleet '%s', and this host is in '%s'",
			   name, policy->fleet, conf->fleet);
}

/* A text is parsed once its signature is right. */
static int judge(const struct baleen_fleet_conf *conf, const char *name,
		 const struct baleen_fleet_signed *texts, struct baleen_fleet_policy *policy,
		 struct baleen_error *error)
{
	struct baleen_fleet_policy parsed = { 0 };
	int err = check_signature(conf, name, texts, error);

	if (!err)
		err = baleen_fleet_policy_parse(texts->text, strlen(texts->text), name, &parsed,
						error);
	if (!err)
		err = check_fleet(conf, name, &parsed, error);
	if (!err && parsed.serial < conf->least_serial)
		err = baleen_fail(error, EINVAL,
				  "%s: its serial is %llu, and fleet.conf asks for %llu or more",
				  name, (unsigned long long)parsed.serial,
				  (unsigned long long)conf->least_serial);
	if (err)
		baleen_fleet_policy_free(&parsed);
	else
		*policy = parsed;
	return err;
}

/* --- the two places ----------------------------------------------------------------------- */

/**
 * struct found - a policy that is right
 * @texts: as it is
 * @policy: parsed
 */
struct found {
	struct baleen_fleet_signed texts;
	struct baleen_fleet_policy policy;
};

static void free_found(struct found *found)
{
	baleen_fleet_signed_free(&found->texts);
	baleen_fleet_policy_free(&found->policy);
}

static int name_signature(const struct baleen_fleet_conf *conf, char *path, size_t room,
			  struct baleen_error *error)
{
	int n = snprintf(path, room, "%s" BALEEN_FLEET_SIGNATURE_SUFFIX, conf->policy_path);

	return n < (int)room ? 0 :
			       baleen_fail(error, ENAMETOOLONG, "%s: too long", conf->policy_path);
}

static int find_written(const struct baleen_fleet_conf *conf, struct found *found,
			struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH + 16];
	size_t n;
	int err = name_signature(conf, path, sizeof(path), error);

	if (!err)
		err = baleen_small_file_read(conf->policy_path, BALEEN_INPUT_NAMED,
					     BALEEN_FLEET_POLICY_MAX, &found->texts.text, &n, NULL,
					     error);
	if (!err)
		err = baleen_small_file_read(path, BALEEN_INPUT_NAMED, MAX_SIGNATURE_BYTES,
					     &found->texts.signature, &n, NULL, error);
	return err ? err : judge(conf, path, &found->texts, &found->policy, error);
}

const char *baleen_fleet_site_kept_path(char *path)
{
	if (snprintf(path, BALEEN_FLEET_PATH, "%s/" KEPT, baleen_rule_store_root(true)) >=
	    BALEEN_FLEET_PATH)
		*path = '\0';
	return path;
}

/* Where the text begins, behind its signature; NULL when it ends before. */
static char *find_text(char *bytes)
{
	for (u32 i = 0; i < SIGNATURE_LINES && bytes; i++) {
		bytes = strchr(bytes, '\n');
		bytes += bytes != NULL;
	}
	return bytes;
}

static int find_kept(const struct baleen_fleet_conf *conf, struct found *found,
		     struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH], *bytes, *text;
	size_t n;
	int err = baleen_small_file_read(baleen_fleet_site_kept_path(path), BALEEN_INPUT_OWN,
					 BALEEN_FLEET_POLICY_MAX + MAX_SIGNATURE_BYTES, &bytes, &n,
					 NULL, error);

	if (err)
		return err;
	text = find_text(bytes);
	if (text) {
		found->texts.text = strdup(text);
		*text = '\0';
		found->texts.signature = strdup(bytes);
	}
	free(bytes);
	if (!text)
		return baleen_fail(error, EINVAL, "%s: it ends too soon", path);
	if (!found->texts.text || !found->texts.signature)
		return baleen_no_memory(error);
	return judge(conf, path, &found->texts, &found->policy, error);
}

int baleen_fleet_site_policy(const struct baleen_fleet_conf *conf,
			     struct baleen_fleet_policy *policy, struct baleen_fleet_signed *texts,
			     struct baleen_error *error)
{
	struct baleen_error written_error, kept_error;
	struct found written = { 0 }, kept = { 0 }, *best;
	int written_err = find_written(conf, &written, &written_error),
	    kept_err = find_kept(conf, &kept, &kept_error), err;

	best = written_err || (!kept_err && kept.policy.serial > written.policy.serial) ? &kept :
											  &written;
	err = best == &kept ? kept_err : 0;
	if (!err) {
		*policy = best->policy;
		best->policy = (struct baleen_fleet_policy){ 0 };
	}
	if (!err && texts) {
		*texts = best->texts;
		best->texts = (struct baleen_fleet_signed){ 0 };
	}
	free_found(&written);
	free_found(&kept);
	if (!err)
		return 0;
	/* A file that is there and is not right says more than one that is not there. */
	if (written_err == -ENOENT && kept_err != -ENOENT)
		return baleen_fail(error, -kept_err, "%s", kept_error.text);
	return baleen_fail(error, -written_err, "%s", written_error.text);
}

int baleen_fleet_site_check(const struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	struct found written = { 0 };
	int err = find_written(conf, &written, error);

	free_found(&written);
	return err;
}

/* --- the key of this host --------------------------------------------------------------- */

int baleen_fleet_site_keys(const struct baleen_fleet_conf *conf,
			   const struct baleen_fleet_policy *policy, struct baleen_fleet_keys *keys,
			   bool *is_next, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH + 16], publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	struct baleen_fleet_keys next = { .public_key = { 0 } };
	const u8 *known;

	snprintf(publisher, sizeof(publisher), "%s/o", conf->host);
	snprintf(path, sizeof(path), "%s" BALEEN_FLEET_NEXT_SUFFIX, conf->key_path);
	known = baleen_fleet_policy_key(policy, publisher);
	*is_next = known && !baleen_fleet_keys_load(path, &next, NULL) &&
		   !memcmp(known, next.public_key, sizeof(next.public_key));
	if (*is_next)
		*keys = next;
	baleen_fleet_keys_wipe(&next);
	return *is_next ? 0 : baleen_fleet_keys_load(conf->key_path, keys, error);
}

/* --- another policy ------------------------------------------------------------------- */

/* Two who write at once: the one with the larger serial is to stay. */
static int hold_lock(struct baleen_error *error)
{
	char kept[BALEEN_FLEET_PATH], path[BALEEN_FLEET_PATH + 16];
	int fd;

	snprintf(path, sizeof(path), "%s.lock", baleen_fleet_site_kept_path(kept));
	fd = baleen_output_own(path, error);
	if (fd < 0)
		return fd;
	if (!flock(fd, LOCK_EX))
		return fd;
	baleen_fail(error, errno, "%s: %m", path);
	baleen_close_fd(&fd);
	return -EIO;
}

static int keep(const struct baleen_fleet_signed *texts, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH], *bytes;
	size_t n = strlen(texts->signature);
	bool is_whole = n && texts->signature[n - 1] == '\n';
	int length =
		    asprintf(&bytes, "%s%s%s", texts->signature, is_whole ? "" : "\n", texts->text),
	    err;

	if (length < 0)
		return baleen_no_memory(error);
	err = baleen_output_write(baleen_fleet_site_kept_path(path), BALEEN_OUTPUT_NAMED, 0644,
				  bytes, length, error);
	free(bytes);
	return err;
}

/* A host that has none yet is not given one that nobody would sign today. */
static bool is_too_old(const struct baleen_fleet_policy *policy)
{
	return policy->expires_ms && policy->expires_ms <= baleen_now_ms();
}

static int keep_newer(const struct baleen_fleet_conf *conf,
		      const struct baleen_fleet_policy *policy,
		      const struct baleen_fleet_signed *texts, struct baleen_error *error)
{
	struct baleen_fleet_policy known = { 0 };
	int err = baleen_rule_store_make_root(true, error), lock = err ? err : hold_lock(error);
	bool is_news, is_first;

	if (lock < 0)
		return lock;
	is_first = baleen_fleet_site_policy(conf, &known, NULL, NULL) != 0;
	is_news = is_first || policy->serial > known.serial;
	baleen_fleet_policy_free(&known);
	if (is_first && is_too_old(policy)) {
		close(lock);
		return baleen_fail(error, ESTALE, "policy %llu has expired: a newer one is needed",
				   (unsigned long long)policy->serial);
	}
	if (is_news)
		err = keep(texts, error);
	close(lock);
	return err ? err : is_news;
}

int baleen_fleet_site_policy_take(const struct baleen_fleet_conf *conf,
				  const struct baleen_fleet_signed *texts,
				  struct baleen_error *error)
{
	struct baleen_fleet_policy policy = { 0 };
	int ret = judge(conf, "policy", texts, &policy, error);

	if (!ret)
		ret = keep_newer(conf, &policy, texts, error);
	baleen_fleet_policy_free(&policy);
	return ret;
}

int baleen_fleet_site_write(const struct baleen_fleet_conf *conf,
			    const struct baleen_fleet_signed *texts, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH + 16];
	int err = name_signature(conf, path, sizeof(path), error);

	if (!err)
		err = baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0644, texts->signature,
					  strlen(texts->signature), error);
	if (!err)
		err = baleen_output_write(conf->policy_path, BALEEN_OUTPUT_NAMED, 0644, texts->text,
					  strlen(texts->text), error);
	return err;
}
