// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A feed that is a signed set: the newest generation from its publisher. Above 500 lines: one
 * talk with one server, whose parts share what has been said.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/device.h"
#include "set/set_manifest.h"
#include "state/entries.h"
#include "state/feed_set.h"
#include "state/feed_set_copy.h"
#include "state/feed_share.h"
#include "state/set_feed.h"
#include "util/fd.h"
#include "util/minisign.h"
#include "util/small_file.h"
#include "util/url.h"
#include "util/write_file.h"

#define FILE_URL "file://"
#define SIGNATURE_BYTES 16384
#define KEY_BYTES 4096
/* Pages of errors have some kilobytes. */
#define PAGE_BYTES 65536

/**
 * struct work - a set that is asked for
 * @ask: which, and how
 * @feed: as it is
 * @url: of the set, without set+
 * @access: secrets for its host
 * @name: of the set: the last part of @url, at its end
 * @manifest: as signed
 * @news: what that means to this host
 * @held: the last good copy
 * @error: filled in on failure
 */
struct work {
	const struct baleen_feed_ask *ask;
	struct baleen_feed *feed;
	const char *url;
	struct baleen_fetch_access access;
	const char *name;
	struct baleen_set_manifest manifest;
	struct baleen_set_news *news;
	struct baleen_set_copy held;
	struct baleen_error *error;
};

static const char *name_of(const char *url)
{
	const char *slash = strrchr(url, '/');

	return slash ? slash + 1 : url;
}

/* --- files of the set ------------------------------------------------------------- */

static bool is_fatal(int err)
{
	return err == -EINTR || err == -ENOMEM;
}

static int fail(const struct work *work, int code, const char *what)
{
	return baleen_fail(work->error, code, "%.500s: %s",
			   baleen_feed_source_name(work->ask->wanted).text, what);
}

static int read_back(int fd, char **bytes, size_t *n_bytes, struct baleen_error *error)
{
	struct stat stat;
	char *read;

	if (fstat(fd, &stat))
		return baleen_fail(error, errno, "memfd: %m");
	read = malloc(stat.st_size + 1);
	if (!read)
		return baleen_no_memory(error);
	if (pread(fd, read, stat.st_size, 0) != stat.st_size) {
		free(read);
		return baleen_fail(error, EIO, "memfd: %s", strerror(EIO));
	}
	*bytes = read;
	*n_bytes = stat.st_size;
	return 0;
}

/* @ends_with: what stands behind the directory of the set; @is_conditional: when the copy at hand
 * is what the server has, nothing comes
 */
static int get_url(struct work *work, const char *ends_with, u64 most, bool is_conditional,
		   char **bytes, size_t *n_bytes, struct baleen_fetch_result *result,
		   struct baleen_error *error)
{
	char url[BALEEN_SOURCE_BYTES + BALEEN_SET_FILE_NAME];
	int fd = memfd_create("baleen-set", MFD_CLOEXEC), err;
	struct baleen_fetch_request request = baleen_fetch_defaults(url, fd);

	if (fd < 0)
		return baleen_fail(error, errno, "memfd: %m");
	snprintf(url, sizeof(url), "%.*s%s", (int)(work->name - work->url), work->url, ends_with);
	request.max_bytes = most;
	request.may_be_private = work->ask->wanted->may_be_private;
	request.on_progress = work->ask->on_progress;
	request.data = work->ask->data;
	if (work->ask->wanted->timeout_s)
		request.timeout_ms = 1000 * work->ask->wanted->timeout_s;
	if (*work->ask->wanted->access)
		request.access = &work->access;
	if (is_conditional && *work->feed->etag)
		request.etag = work->feed->etag;
	if (is_conditional && *work->feed->last_modified)
		request.last_modified = work->feed->last_modified;
	err = baleen_fetch(&request, result, error);
	if (!err && !result->is_unchanged)
		err = read_back(fd, bytes, n_bytes, error);
	close(fd);
	return err;
}

static int get(struct work *work, const char *ends_with, u64 most, char **bytes, size_t *n_bytes,
	       struct baleen_error *error)
{
	struct baleen_fetch_result result;
	char path[BALEEN_SOURCE_BYTES + BALEEN_SET_FILE_NAME];

	if (baleen_url_is(work->url))
		return get_url(work, ends_with, most, false, bytes, n_bytes, &result, error);
	snprintf(path, sizeof(path), "%.*s%s",
		 (int)(work->name - work->url - (sizeof(FILE_URL) - 1)),
		 work->url + sizeof(FILE_URL) - 1, ends_with);
	return baleen_small_file_read(path, BALEEN_INPUT_NAMED, most, bytes, n_bytes, NULL, error);
}

/* --- the manifest ----------------------------------------------------------------- */

static int read_key(const struct work *work, struct baleen_minisign_public *key)
{
	size_t n_bytes;
	char *text;
	int err = baleen_small_file_read(work->ask->wanted->key, BALEEN_INPUT_NAMED, KEY_BYTES,
					 &text, &n_bytes, NULL, work->error);

	if (err)
		return err;
	err = baleen_minisign_public_parse(text, key);
	free(text);
	return err ? baleen_fail(work->error, EINVAL, "%s: not a public key of minisign",
				 work->ask->wanted->key) :
		     0;
}

int baleen_feed_set_check_key(const struct baleen_feed_source *wanted, struct baleen_error *error)
{
	const struct baleen_feed_ask ask = { .wanted = wanted };
	const struct work work = { .ask = &ask, .error = error };
	struct baleen_minisign_public key;

	return read_key(&work, &key);
}

/* By its generation the manifest says which signature is its own, whoever wrote that. */
static int check_signature(struct work *work, const char *text, size_t n_bytes)
{
	char name[BALEEN_SET_FILE_NAME], *signature;
	struct baleen_minisign_public key;
	const char *why = "";
	size_t n_signature;
	int err = read_key(work, &key);

	if (err)
		return err;
	baleen_set_file_name(work->name, work->manifest.head.generation, "minisig", name);
	err = get(work, name, SIGNATURE_BYTES, &signature, &n_signature, work->error);
	if (err)
		return err;
	err = baleen_minisign_verify(text, n_bytes, signature, n_signature, &key, NULL, &why);
	free(signature);
	return err ? fail(work, -err, why) : 0;
}

static int fail_expired(const struct work *work, const struct baleen_set_head *head)
{
	char why[128];

	snprintf(why, sizeof(why), "generation %llu has expired at %s, and there is none after it",
		 (unsigned long long)head->generation, baleen_set_time(head->expires_s).text);
	return fail(work, ESTALE, why);
}

/* The publisher's server may show an old generation to a device that has none. */
static int check_floor(const struct work *work, u64 generation)
{
	char device[BALEEN_POINT_BYTES], why[BALEEN_POINT_BYTES + 128];
	u64 floor;

	if (work->ask->ignores_limits)
		return 0;
	floor = baleen_feed_share_floor(work->ask->wanted, device);
	if (generation >= floor)
		return 0;
	snprintf(why, sizeof(why),
		 "refused: generation %llu is older than %llu, which %s has (--force takes it)",
		 (unsigned long long)generation, (unsigned long long)floor, device);
	return fail(work, ESTALE, why);
}

/* Return: 0 when it is a later one, 1 when it is the one at hand. */
static int judge_manifest(struct work *work)
{
	const struct baleen_set_head *head = &work->manifest.head, *held = &work->held.head;
	char why[160];

	if (strcmp(work->manifest.name, work->name))
		return fail(work, EINVAL, "its manifest is of another set");
	if (baleen_set_head_has_expired(head, baleen_now_ms()))
		return fail_expired(work, head);
	if (!work->held.is_there || head->generation > held->generation)
		return check_floor(work, head->generation);
	if (head->generation == held->generation)
		return memcmp(head->digest, held->digest, sizeof(head->digest)) ?
			       fail(work, EINVAL, "two sets have the number of its generation") :
			       1;
	if (work->ask->ignores_limits)
		return 0;
	snprintf(why, sizeof(why),
		 "refused: generation %llu is older than %llu, which is at hand (update --force "
		 "takes it)",
		 (unsigned long long)head->generation, (unsigned long long)held->generation);
	return fail(work, ESTALE, why);
}

/* The server has the manifest that the state has, whose generation may be on its way only. */
static int judge_unchanged(struct work *work, struct baleen_fetch_result *result)
{
	result->is_unchanged = false;
	if (baleen_feed_manifest_get(work->ask->state, work->feed->id, &work->manifest) &&
	    work->manifest.head.generation != work->held.head.generation)
		return judge_manifest(work);
	return baleen_set_head_has_expired(&work->held.head, baleen_now_ms()) ?
		       fail_expired(work, &work->held.head) :
		       1;
}

static int read_manifest(struct work *work, struct baleen_fetch_result *result)
{
	char name[BALEEN_SET_FILE_NAME], *text;
	size_t n_bytes;
	int err;

	snprintf(name, sizeof(name), "%s.manifest", work->name);
	if (baleen_url_is(work->url))
		err = get_url(work, name, BALEEN_SET_MANIFEST_BYTES, work->held.is_there, &text,
			      &n_bytes, result, work->error);
	else
		err = get(work, name, BALEEN_SET_MANIFEST_BYTES, &text, &n_bytes, work->error);
	if (err)
		return err;
	if (result->is_unchanged)
		return judge_unchanged(work, result);
	if (baleen_set_manifest_parse(text, n_bytes, &work->manifest))
		err = fail(work, EINVAL, "its manifest cannot be read");
	else
		err = check_signature(work, text, n_bytes);
	free(text);
	return err ? err : judge_manifest(work);
}

/* --- the generation ----------------------------------------------------------------- */

static int get_part(struct work *work, const struct baleen_set_part *part,
		    const struct baleen_canon *from, struct baleen_canon *to,
		    struct baleen_error *error)
{
	const struct baleen_set_head *wanted = &work->manifest.head;
	char name[BALEEN_SET_FILE_NAME], *bytes;
	struct baleen_set_head head;
	const char *why = "";
	size_t n_bytes;
	int err;

	baleen_set_part_name(work->name, wanted->generation, part->from, name);
	if (part->n_bytes > BALEEN_FETCH_MAX_BYTES)
		return baleen_fail(error, E2BIG, "%s: larger than %llu MB", name,
				   BALEEN_FETCH_MAX_BYTES >> 20);
	/* With less room a page of an error would be called too large. */
	err = get(work, name, part->n_bytes + PAGE_BYTES, &bytes, &n_bytes, error);
	if (err)
		return err;
	err = baleen_set_part_check(part, bytes, n_bytes, &why);
	if (!err)
		err = baleen_set_head_read(bytes, n_bytes, &head, &why);
	if (!err && (head.generation != wanted->generation || head.from != part->from ||
		     memcmp(head.digest, wanted->digest, sizeof(head.digest)))) {
		why = "is of another generation than its name says";
		err = -EINVAL;
	}
	if (!err)
		err = baleen_set_decode(bytes, n_bytes, from, to, &why);
	free(bytes);
	if (err == -ENOMEM)
		return baleen_no_memory(error);
	return err ? baleen_fail(error, EINVAL, "%s: %s", name, why) : 0;
}

/* Return: 0 with @to; 1 without one: the full set is asked for; a negative errno. */
static int get_delta(struct work *work, struct baleen_canon *to)
{
	const struct baleen_set_part *part = NULL;
	struct baleen_error why;
	int err;

	if (work->held.is_there)
		part = baleen_set_manifest_delta(&work->manifest, work->held.head.generation);
	if (!part)
		return 1;
	err = get_part(work, part, &work->held.canon, to, &why);
	if (is_fatal(err)) {
		*work->error = why;
		return err;
	}
	if (!err)
		return 0;
	work->feed->n_fallbacks++;
	baleen_fail(work->error, -err, "%.500s: the full set was fetched: %.400s",
		    baleen_feed_source_name(work->ask->wanted).text, why.text);
	return 1;
}

static int get_full(struct work *work, struct baleen_canon *to)
{
	struct baleen_canon none;
	struct baleen_error why;
	int err;

	baleen_canon_start(&none);
	err = get_part(work, &work->manifest.full, &none, to, &why);
	if (err)
		*work->error = why;
	return err;
}

/* Bytes are those of the publisher's full set: there is one way to write it. */
static int write_copy(struct work *work, const struct baleen_canon *canon, int fd, u64 *n)
{
	struct baleen_canon none;
	size_t n_bytes;
	u8 *bytes;
	int err;

	baleen_canon_start(&none);
	err = baleen_set_encode(&none, canon, &work->manifest.head, &bytes, &n_bytes);
	if (err)
		return baleen_no_memory(work->error);
	err = baleen_write_all(fd, bytes, n_bytes);
	free(bytes);
	*n = n_bytes;
	return err ? fail(work, -err, strerror(-err)) : 0;
}

/* The manifest of a generation, which has a file of its own. */
static int read_numbered(struct work *work, u64 generation, struct baleen_error *error)
{
	char name[BALEEN_SET_FILE_NAME], *text;
	struct baleen_set_manifest newest = work->manifest;
	size_t n_bytes;
	int err;

	baleen_set_file_name(work->name, generation, "manifest", name);
	err = get(work, name, BALEEN_SET_MANIFEST_BYTES, &text, &n_bytes, error);
	if (err)
		return err;
	err = baleen_set_manifest_parse(text, n_bytes, &work->manifest);
	if (err || work->manifest.head.generation != generation ||
	    strcmp(work->manifest.name, work->name))
		err = baleen_fail(error, EINVAL, "%s: is not to be taken", name);
	else
		err = check_signature(work, text, n_bytes);
	free(text);
	if (err)
		work->manifest = newest;
	return err;
}

/* That before the newest one. */
static int read_previous(struct work *work, struct baleen_error *error)
{
	struct baleen_set_manifest newest = work->manifest;
	int err = read_numbered(work, newest.previous, error);

	if (err || !baleen_set_head_has_expired(&work->manifest.head, baleen_now_ms()))
		return err;
	work->manifest = newest;
	return baleen_fail(error, ESTALE, "it has expired");
}

static int fail_refused(const struct work *work)
{
	char text[BALEEN_ROLLOUT_TEXT];

	return fail(work, EPERM, baleen_rollout_text(&work->news->rollout, text));
}

/* Which generation, and how? Return: 1 when the copy at hand stays; 0; a negative errno. */
static int choose(struct work *work)
{
	enum baleen_set_plan plan =
		baleen_set_news_plan(work->ask, work->feed, work->held.is_there, work->news);
	struct baleen_error why;
	int err;

	work->news->is_candidate = plan == BALEEN_SET_TRY;
	if (plan == BALEEN_SET_STAY)
		return 1;
	if (plan == BALEEN_SET_REFUSE)
		return fail_refused(work);
	if (plan != BALEEN_SET_PREVIOUS)
		return 0;
	err = read_previous(work, &why);
	*work->error = (struct baleen_error){ "" };
	if (is_fatal(err))
		return err;
	if (err && (work->news->rollout.step == BALEEN_ROLLOUT_VETO ||
		    work->news->rollout.step == BALEEN_ROLLOUT_HELD))
		return fail_refused(work);
	return 0;
}

static int read_news(struct work *work)
{
	work->news = calloc(1, sizeof(*work->news));
	if (!work->news)
		return baleen_no_memory(work->error);
	work->news->manifest = work->manifest;
	baleen_set_news_read(work->ask, work->feed, baleen_now_ms(), work->news);
	work->feed->next_ms = work->news->next_ms;
	return 0;
}

static int take(struct work *work, int fd, struct baleen_fetch_result *result)
{
	struct baleen_canon canon;
	int err = read_manifest(work, result);

	if (err >= 0 && work->manifest.head.generation && read_news(work))
		return -ENOMEM;
	if (!err)
		err = choose(work);
	if (err == 1)
		result->is_unchanged = true;
	if (err)
		return err < 0 ? err : 0;
	err = get_delta(work, &canon);
	if (err == 1)
		err = get_full(work, &canon);
	if (err)
		return err;
	err = write_copy(work, &canon, fd, &result->n_bytes);
	baleen_canon_free(&canon);
	return err;
}

static int begin(struct work *work, const struct baleen_feed_ask *ask, struct baleen_feed *feed,
		 struct baleen_error *error)
{
	*work = (struct work){ .ask = ask, .feed = feed, .error = error };
	*error = (struct baleen_error){ "" };
	work->url = ask->wanted->source + sizeof(BALEEN_FEED_SET) - 1;
	work->name = name_of(work->url);
	return *ask->wanted->access ?
		       baleen_fetch_access_read(ask->wanted->access, &work->access, error) :
		       0;
}

int baleen_feed_set_fetch(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
			  struct baleen_fetch_result *result, struct baleen_set_news **news,
			  struct baleen_error *error)
{
	struct baleen_error unused;
	struct baleen_fetch_result got = { .n_attempts = 1 };
	struct work work;
	int err = begin(&work, ask, feed, error ? error : &unused);

	if (baleen_feed_has_copy(feed))
		baleen_set_copy_open(ask->state, feed, &work.held);
	if (!err)
		err = take(&work, fd, &got);
	explicit_bzero(&work.access, sizeof(work.access));
	baleen_set_copy_close(&work.held);
	if (err) {
		free(work.news);
		return err;
	}
	*result = got;
	*news = work.news;
	return 0;
}

/* --- its lists -------------------------------------------------------------------- */

static int get_source(struct work *work, char **text, size_t *n_bytes)
{
	const struct baleen_set_part *part = &work->manifest.source;
	u64 generation = work->manifest.head.generation;
	char name[BALEEN_SET_FILE_NAME], *read;
	const char *why = "";
	size_t n;
	int err;

	baleen_set_file_name(work->name, generation, "source", name);
	if (!part->n_bytes)
		return fail(work, ENOENT, "its publisher does not show the lists");
	err = get(work, name, part->n_bytes + PAGE_BYTES, &read, &n, work->error);
	if (err)
		return err;
	if (baleen_set_part_check(part, read, n, &why)) {
		free(read);
		return baleen_fail(work->error, EINVAL, "%s: %s", name, why);
	}
	*text = read;
	*n_bytes = n;
	return 0;
}

int baleen_feed_set_source(const struct baleen_feed *feed, char **text, size_t *n_bytes,
			   struct baleen_error *error)
{
	struct baleen_feed own = *feed;
	const struct baleen_feed_ask ask = { .wanted = &own.wanted };
	struct work work;
	int err = begin(&work, &ask, &own, error);

	if (!err)
		err = read_numbered(&work, feed->generation, error);
	if (!err)
		err = get_source(&work, text, n_bytes);
	explicit_bzero(&work.access, sizeof(work.access));
	return err;
}
