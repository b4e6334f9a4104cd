// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* New versions of feeds: received, judged, and only then taken.
 *
 * Above 500 lines: each kind of source, one after the other.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/entries.h"
#include "state/feed_fetch.h"
#include "state/feed_file.h"
#include "state/feed_host.h"
#include "state/feed_routes.h"
#include "state/feed_set_copy.h"
#include "state/feed_update.h"
#include "state/set_feed.h"
#include "util/array.h"
#include "util/fd.h"
#include "util/fetch.h"
#include "util/url.h"

/* Most files of a directory; one with more is a home directory, not a feed. */
#define MAX_FILES 1024

/**
 * struct source - a source that is being asked
 * @ask: which, and how
 * @out: where versions go
 * @first: of its own among them
 * @row: what the state has of it
 * @n_rows: how many
 * @error: filled in on failure
 */
struct source {
	const struct baleen_feed_ask *ask;
	struct baleen_feed_versions *out;
	size_t first;
	struct baleen_feed *row;
	size_t n_rows;
	struct baleen_error *error;
};

/* --- rows and versions ------------------------------------------------------- */

static int keep_row(const struct baleen_feed *feed, void *data)
{
	struct source *source = data;

	if (!baleen_feed_is_of(feed, source->ask->rule->name, source->ask->wanted))
		return 0;
	if (baleen_array_add(&source->row, source->n_rows))
		return baleen_no_memory(source->error);
	source->row[source->n_rows++] = *feed;
	return 0;
}

static const struct baleen_feed *find_row(const struct source *source, const char *file)
{
	for (size_t i = 0; i < source->n_rows; i++)
		if (!strcmp(source->row[i].file, file))
			return &source->row[i];
	return NULL;
}

/* A version with what the state has of the feed, if it has any. */
static struct baleen_feed_version *add_version(struct source *source, const char *file)
{
	struct baleen_feed_versions *out = source->out;
	const struct baleen_feed *row = find_row(source, file);
	struct baleen_feed_version *version;

	if (baleen_array_add(&out->version, out->n))
		return NULL;
	version = &out->version[out->n++];
	memset(version, 0, sizeof(*version));
	version->fd = -1;
	if (row)
		version->feed = *row;
	snprintf(version->feed.rule, sizeof(version->feed.rule), "%s", source->ask->rule->name);
	snprintf(version->feed.file, sizeof(version->feed.file), "%s", file);
	version->feed.wanted = *source->ask->wanted;
	version->compared_ms = version->feed.checked_ms;
	version->feed.checked_ms = baleen_now_ms();
	return version;
}

void baleen_feed_version_fail(struct baleen_feed_version *version, const char *why)
{
	baleen_close_fd(&version->fd);
	free(version->news);
	version->news = NULL;
	version->outcome = BALEEN_FEED_FAILED;
	snprintf(version->error.text, sizeof(version->error.text), "%s", why);
}

/* --- what was received --------------------------------------------------------- */

/* Another way to read it makes another list of the same bytes. */
static bool is_read_alike(const struct baleen_feed_source *a, const struct baleen_feed_source *b)
{
	return a->delimiter == b->delimiter && a->skip_bad == b->skip_bad;
}

static bool is_last_copy(const struct source *source, const struct baleen_feed_version *version)
{
	const struct baleen_feed *row = find_row(source, version->feed.file);
	bool is_same;
	int fd;

	if (!row || !baleen_feed_has_copy(row) ||
	    !is_read_alike(&row->wanted, &version->feed.wanted))
		return false;
	fd = baleen_feed_open(source->ask->state, row, NULL);
	is_same = fd >= 0 && baleen_feed_is_same_file(fd, version->fd);
	baleen_close_fd(&fd);
	return is_same;
}

static void mark_same(struct baleen_feed_version *version)
{
	baleen_close_fd(&version->fd);
	version->outcome = BALEEN_FEED_SAME;
	version->now = version->before = (struct baleen_feed_counts){
		.n_entries = version->feed.n_entries,
		.n_ip4 = version->feed.n_ip4,
	};
}

/* Judged alone; the limits are asked when all of the source is there. */
static int judge(const struct source *source, struct baleen_feed_version *version)
{
	const struct baleen_feed *row = find_row(source, version->feed.file);
	struct baleen_error why;
	int err;

	if (is_last_copy(source, version)) {
		mark_same(version);
		return 0;
	}
	version->outcome = row && baleen_feed_has_copy(row) ? BALEEN_FEED_CHANGED : BALEEN_FEED_NEW;
	err = baleen_feed_judge(source->ask->state, source->ask->rule,
				version->outcome == BALEEN_FEED_CHANGED ? row : NULL,
				!source->ask->ignores_limits, version, &why);
	if (err == -ENOMEM)
		return baleen_no_memory(source->error);
	if (err)
		baleen_feed_version_fail(version, why.text);
	return 0;
}

/* --- files ------------------------------------------------------------------------ */

static int receive_file(struct source *source, const char *path, const char *file)
{
	struct baleen_feed_version *version = add_version(source, file);
	struct baleen_error why;

	if (!version)
		return baleen_no_memory(source->error);
	version->fd = baleen_feed_copy_file(path, &version->is_public, &why);
	if (version->fd < 0) {
		version->fd = -1;
		baleen_feed_version_fail(version, why.text);
		return 0;
	}
	return judge(source, version);
}

/* --- URLs ------------------------------------------------------------------------- */

static int receive_url(struct source *source)
{
	struct baleen_feed_version *version = add_version(source, "");
	const struct baleen_feed *row = find_row(source, "");
	struct baleen_fetch_result result;
	struct baleen_error why = { "" };
	int err;

	if (!version)
		return baleen_no_memory(source->error);
	/* Read in another way the old bytes are asked for again. */
	if (row && !is_read_alike(&row->wanted, source->ask->wanted))
		version->feed.etag[0] = version->feed.last_modified[0] = '\0';
	version->fd = memfd_create("baleen-feed", MFD_CLOEXEC);
	if (version->fd < 0)
		return baleen_fail(source->error, errno, "memfd: %m");
	err = baleen_feed_fetch(source->ask, &version->feed, version->fd, &result, &version->news,
				&why);
	if (err == -EINTR)
		return baleen_fail(source->error, EINTR, "%s", why.text);
	if (err) {
		baleen_feed_version_fail(version, why.text);
		return 0;
	}
	baleen_feed_fetched(&version->feed, version->fd, &result);
	version->error = why;
	if (!result.is_unchanged)
		return judge(source, version);
	mark_same(version);
	return 0;
}

/* --- routes and names ------------------------------------------------------------- */

static int receive_of_system(struct source *source)
{
	struct baleen_feed_version *version = add_version(source, "");
	bool is_same = false;
	struct baleen_error why;
	int err;

	if (!version)
		return baleen_no_memory(source->error);
	version->fd = memfd_create("baleen-feed", MFD_CLOEXEC);
	if (version->fd < 0)
		return baleen_fail(source->error, errno, "memfd: %m");
	/* Everybody can ask the kernel for routes, and a resolver for names. */
	version->is_public = true;
	if (baleen_route_feed_is(source->ask->wanted->source))
		err = baleen_feed_routes_read(source->ask, &version->feed, version->fd, &is_same,
					      &why);
	else
		err = baleen_feed_host_read(source->ask, version->fd, &why);
	if (err == -EINTR)
		return baleen_fail(source->error, EINTR, "%s", why.text);
	if (!err && !is_same)
		return judge(source, version);
	if (err)
		baleen_feed_version_fail(version, why.text);
	else
		mark_same(version);
	return 0;
}

/* --- copies ----------------------------------------------------------------------- */

static int receive_copy(struct source *source)
{
	struct baleen_feed_version *version = add_version(source, "");
	struct baleen_error why;

	if (!version)
		return baleen_no_memory(source->error);
	version->is_public = true;
	version->fd = baleen_feed_copy_open(source->ask->state, source->ask->wanted->source, &why);
	if (version->fd >= 0)
		return judge(source, version);
	version->fd = -1;
	baleen_feed_version_fail(version, why.text);
	return 0;
}

/* --- directories ------------------------------------------------------------------- */

static int is_wanted(const struct dirent *entry)
{
	const char *name = entry->d_name;
	size_t length = strlen(name);

	return name[0] != '.' && name[length - 1] != '~' &&
	       (length < 4 || strcmp(name + length - 4, ".tmp"));
}

static int receive_entry(struct source *source, const char *name)
{
	const char *directory = source->ask->wanted->source;
	char path[BALEEN_SOURCE_BYTES];
	struct stat entry;
	bool has_slash = directory[strlen(directory) - 1] == '/';

	if (snprintf(path, sizeof(path), "%s%s%s", directory, has_slash ? "" : "/", name) >=
	    (int)sizeof(path))
		return baleen_fail(source->error, ENAMETOOLONG, "%s/%s: too long a path", directory,
				   name);
	/* Only regular files belong to the feed; a file may vanish meanwhile. */
	if (stat(path, &entry) || !S_ISREG(entry.st_mode))
		return 0;
	return receive_file(source, path, path);
}

static bool was_received(const struct source *source, const char *file)
{
	for (size_t i = source->first; i < source->out->n; i++)
		if (!strcmp(source->out->version[i].feed.file, file))
			return true;
	return false;
}

/* Drop files that the directory no longer has, and the row from before the first file. */
static int add_gone(struct source *source)
{
	for (size_t i = 0; i < source->n_rows; i++) {
		struct baleen_feed_version *version;

		if (was_received(source, source->row[i].file))
			continue;
		version = add_version(source, source->row[i].file);
		if (!version)
			return baleen_no_memory(source->error);
		version->outcome = BALEEN_FEED_GONE;
		version->n_removed = version->before.n_entries = version->feed.n_entries;
		version->before.n_ip4 = version->feed.n_ip4;
	}
	return 0;
}

/* The directory lost all its files: the limits refuse that. */
static bool may_be_empty(const struct source *source)
{
	return !source->ask->rule->limits.min_entries || !source->n_rows || !source->row[0].file[0];
}

/* So that a directory is not forgotten while it has no file. */
static int add_empty(struct source *source)
{
	struct baleen_feed_version *version;

	if (source->ask->rule->limits.min_entries)
		return baleen_fail(source->error, ENOENT, "%s: refused: not a single file",
				   source->ask->wanted->source);
	version = add_version(source, "");
	if (!version)
		return baleen_no_memory(source->error);
	version->outcome = BALEEN_FEED_SAME;
	return 0;
}

static int receive_directory(struct source *source)
{
	struct dirent **entry;
	int n = scandir(source->ask->wanted->source, &entry, is_wanted, alphasort), err = 0;

	if (n < 0)
		return baleen_fail(source->error, errno, "%s: %m", source->ask->wanted->source);
	if (n > MAX_FILES)
		err = baleen_fail(source->error, E2BIG, "%s: more than %d files",
				  source->ask->wanted->source, MAX_FILES);
	for (int i = 0; i < n; i++) {
		if (!err)
			err = receive_entry(source, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	if (!err && source->out->n == source->first && may_be_empty(source))
		err = add_empty(source);
	return err ? err : add_gone(source);
}

/* --- what is at hand ---------------------------------------------------------------- */

static int receive_offer(struct source *source, const struct baleen_feed_offer *offer)
{
	const struct baleen_feed *from = offer->feed;
	struct baleen_feed_version *version = add_version(source, from->file);
	u64 now_ms = baleen_now_ms();

	if (!version)
		return baleen_no_memory(source->error);
	version->is_offered = version->is_public = true;
	version->feed.received_ms = from->received_ms ?: now_ms;
	version->feed.confirmed_ms = from->confirmed_ms ?: now_ms;
	version->feed.checked_ms = from->checked_ms ?: now_ms;
	memcpy(version->feed.etag, from->etag, sizeof(from->etag));
	memcpy(version->feed.last_modified, from->last_modified, sizeof(from->last_modified));
	/* The ETag of a set is that of a manifest, which is not at hand. */
	if (baleen_feed_set_is(source->ask->wanted->source)) {
		version->feed.etag[0] = version->feed.last_modified[0] = '\0';
		version->feed.generation = baleen_set_copy_generation(offer->fd);
	}
	version->fd = fcntl(offer->fd, F_DUPFD_CLOEXEC, 0);
	if (version->fd < 0)
		return baleen_fail(source->error, errno, "dup: %m");
	return judge(source, version);
}

/* Without a copy the source is a row of the state, for who asks it later. */
static int receive_offers(struct source *source)
{
	const struct baleen_feed_ask *ask = source->ask;
	struct baleen_feed_version *version;
	int err = 0;

	for (size_t i = 0; i < ask->n_offers && !err; i++)
		err = receive_offer(source, &ask->offer[i]);
	if (err || ask->n_offers)
		return err ? err : add_gone(source);
	/* A directory without files; other sources keep what came since. */
	if (source->n_rows && !source->row[0].file[0])
		return 0;
	err = add_gone(source);
	if (err)
		return err;
	version = add_version(source, "");
	if (!version)
		return baleen_no_memory(source->error);
	version->outcome = BALEEN_FEED_SAME;
	version->feed.checked_ms = 0;
	return 0;
}

/* --- the source as a whole ----------------------------------------------------------- */

/* A failed file takes its directory with it: half of a list is none. Those that
 * did not fail themselves are as they were.
 */
static void fail_all(struct source *source, const char *why)
{
	for (size_t i = source->first; i < source->out->n; i++) {
		struct baleen_feed_version *version = &source->out->version[i];

		if (version->outcome != BALEEN_FEED_FAILED)
			baleen_feed_version_fail(version, why);
	}
}

static const struct baleen_feed_version *first_failed(const struct source *source)
{
	for (size_t i = source->first; i < source->out->n; i++)
		if (source->out->version[i].outcome == BALEEN_FEED_FAILED)
			return &source->out->version[i];
	return NULL;
}

static void add_counts(struct baleen_feed_counts *sum, const struct baleen_feed_counts *counts)
{
	sum->n_entries += counts->n_entries;
	sum->n_special += counts->n_special;
	sum->n_ends += counts->n_ends;
	sum->n_ip4 += counts->n_ip4;
	sum->ip6_share += counts->ip6_share;
}

static bool has_changed(const struct source *source)
{
	for (size_t i = source->first; i < source->out->n; i++)
		if (source->out->version[i].outcome != BALEEN_FEED_SAME)
			return true;
	return false;
}

static void check_limits(struct source *source)
{
	const struct baleen_feed_limits limits = baleen_feed_routes_limits(source->ask);
	struct baleen_feed_counts before = { 0 }, now = { 0 };
	enum baleen_feed_excess excess;
	struct baleen_error why, text;
	bool had_any = false;

	for (size_t i = source->first; i < source->out->n; i++) {
		add_counts(&before, &source->out->version[i].before);
		add_counts(&now, &source->out->version[i].now);
		had_any |= baleen_feed_has_copy(&source->out->version[i].feed);
	}
	if (!baleen_feed_check(&limits, had_any ? &before : NULL, &now, &excess, &why))
		return;
	baleen_fail(&text, ERANGE, "%.400s: refused: %.200s",
		    baleen_feed_source_name(source->ask->wanted).text, why.text);
	if (excess < BALEEN_N_EXCESSES)
		baleen_feed_name_widest(source->out->version + source->first,
					source->out->n - source->first, source->ask->rule->key_spec,
					excess, &text);
	fail_all(source, text.text);
}

static void judge_whole(struct source *source)
{
	const struct baleen_feed_version *failed = first_failed(source);
	struct baleen_error why;

	if (failed) {
		why = failed->error;
		fail_all(source, why.text);
	} else if (has_changed(source) && !source->ask->ignores_limits) {
		check_limits(source);
	}
}

/* The failure concerns no single file: all feeds of the source fail. */
static int fail_source(struct source *source, const char *why)
{
	size_t n = 0;

	source->out->n = source->first;
	do {
		const char *file = source->n_rows ? source->row[n].file : "";
		struct baleen_feed_version *version = add_version(source, file);

		if (!version)
			return baleen_no_memory(source->error);
		baleen_feed_version_fail(version, why);
	} while (++n < source->n_rows);
	return 0;
}

static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR;
}

static void close_versions(struct baleen_feed_versions *versions, size_t first)
{
	for (size_t i = first; i < versions->n; i++) {
		baleen_close_fd(&versions->version[i].fd);
		free(versions->version[i].news);
		versions->version[i].news = NULL;
	}
	versions->n = first;
}

static int receive_from(struct source *source)
{
	const char *path = source->ask->wanted->source;
	struct baleen_error why = { "" };
	struct stat stat_;
	int err;

	if (source->ask->offer)
		return receive_offers(source);
	if (baleen_route_feed_is(path) || baleen_feed_host_is(path))
		return receive_of_system(source);
	if (baleen_url_is(path) || baleen_feed_set_is(path))
		return receive_url(source);
	if (baleen_feed_copy_is(path))
		return receive_copy(source);
	if (stat(path, &stat_) || !S_ISDIR(stat_.st_mode)) {
		/* It was a directory: its files are not one that cannot be read. */
		if (source->n_rows && source->row[0].file[0]) {
			baleen_fail(&why, ENOTDIR, "%s: is no directory any more", path);
			return fail_source(source, why.text);
		}
		return receive_file(source, path, "");
	}
	err = receive_directory(source);
	if (!err || is_fatal(err))
		return err;
	why = *source->error;
	close_versions(source->out, source->first);
	return fail_source(source, why.text);
}

int baleen_feed_receive(const struct baleen_feed_ask *ask, struct baleen_feed_versions *out,
			struct baleen_error *error)
{
	struct baleen_error unused;
	struct source source = {
		.ask = ask, .out = out, .first = out->n, .error = error ? error : &unused
	};
	int err = 0;

	if (ask->state)
		err = baleen_feeds_each(ask->state, ask->rule->name, keep_row, &source,
					source.error);
	if (!err)
		err = receive_from(&source);
	if (!err)
		judge_whole(&source);
	else
		close_versions(out, source.first);
	free(source.row);
	return err;
}

void baleen_feed_versions_free(struct baleen_feed_versions *versions)
{
	close_versions(versions, 0);
	free(versions->version);
	*versions = (struct baleen_feed_versions){ 0 };
}
