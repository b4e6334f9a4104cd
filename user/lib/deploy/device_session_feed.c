// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A list or image that was typed, as a feed of a rule's state. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deploy/device_session.h"
#include "state/feed_judge.h"
#include "util/fd.h"
#include "util/write_file.h"

static bool is_kept_as_image(const struct baleen_rule_source *source)
{
	return !source->is_list || source->build->like;
}

/* An image that is no file: it was made of a list, or of live filters. */
static bool is_made(const struct baleen_rule_source *source)
{
	return is_kept_as_image(source) && (source->is_list || !source->fd);
}

/* Whoever reads its name later reads the same. */
static bool is_file(const struct baleen_rule_source *source)
{
	struct stat stat_;

	return !is_made(source) && strcmp(source->path, "-") && !stat(source->path, &stat_) &&
	       S_ISREG(stat_.st_mode);
}

/* A configuration has no word for it. */
static bool has_controls(const char *path)
{
	for (; *path; path++)
		if ((u8)*path < ' ' || *path == 0x7f)
			return true;
	return false;
}

static int is_taken(const struct baleen_feed *feed, void *name)
{
	return !strcmp(feed->wanted.source, name);
}

/* A name that no other copy of the device has. */
static int name_copy(const struct baleen_rule_store *state, const char *path, char *name,
		     struct baleen_error *error)
{
	char of[BALEEN_SOURCE_BYTES];
	int n, ret;

	if (snprintf(of, sizeof(of), "%s", strcmp(path, "-") ? path : "stdin") >= (int)sizeof(of))
		return -ENAMETOOLONG;
	for (char *at = of; *at; at++)
		if ((u8)*at < ' ' || *at == 0x7f)
			*at = '?';
	n = snprintf(name, BALEEN_SOURCE_BYTES, "%s%s", BALEEN_FEED_COPY, of);
	for (u32 i = 2; n < BALEEN_SOURCE_BYTES; i++) {
		ret = baleen_feeds_each(state, NULL, is_taken, name, error);
		if (ret <= 0)
			return ret;
		n = snprintf(name, BALEEN_SOURCE_BYTES, "%s%s-%u", BALEEN_FEED_COPY, of, i);
	}
	return -ENAMETOOLONG;
}

/* A file has a path that means the same from every directory; all else is kept here alone. */
static int name_source(const struct baleen_rule_store *state,
		       const struct baleen_rule_source *source, char *name,
		       struct baleen_error *error)
{
	char real[PATH_MAX];
	int err = -ENAMETOOLONG;

	if (!is_file(source) || !realpath(source->path, real) || has_controls(real)) {
		err = name_copy(state, source->path, name, error);
	} else if (strlen(real) < BALEEN_SOURCE_BYTES) {
		strcpy(name, real);
		err = 0;
	}
	return err == -ENAMETOOLONG ? baleen_fail(error, ENAMETOOLONG,
						  "%.40s...: the path is too long to be remembered",
						  source->path) :
				      err;
}

/* The image itself, for what was no list or is built like another image. */
static int image_fd(const struct baleen_rule_source *source, struct baleen_error *error)
{
	int fd = memfd_create("baleen-image", MFD_CLOEXEC);
	int err = fd < 0 ? -errno :
			   baleen_write_all(fd, source->filter->bytes, source->filter->n_bytes);

	if (!err)
		return fd;
	baleen_close_fd(&fd);
	return baleen_fail(error, -err, "%s: cannot keep the image: %s", source->path,
			   strerror(-err));
}

/* Appends to a text of so many bytes, with a newline between. */
static bool append_line(char *text, size_t bytes, const char *line)
{
	size_t used = strlen(text);
	int n = snprintf(text + used, bytes - used, "%s%s", used ? "\n" : "", line);

	return n >= 0 && (size_t)n < bytes - used;
}

static int describe_table(struct baleen_feed *feed, const struct baleen_csv_options *csv,
			  struct baleen_error *error)
{
	struct baleen_feed_source *wanted = &feed->wanted;
	bool fits =
		append_line(wanted->column, sizeof(wanted->column), csv->column ? csv->column : "");

	for (u32 i = 0; i < csv->n_where; i++)
		fits &= append_line(wanted->where, sizeof(wanted->where), csv->where[i]);
	feed->format = BALEEN_FEED_CSV;
	wanted->delimiter = csv->delimiter;
	if (fits)
		return 0;
	return baleen_fail(error, ENAMETOOLONG,
			   "%s: --column and --where are too long to be remembered",
			   wanted->source);
}

static int describe_feed(const struct baleen_rule_store *state, struct baleen_feed *feed,
			 const char *rule, const struct baleen_rule_source *source,
			 struct baleen_error *error)
{
	const struct baleen_image *image = &source->filter->image;
	/* An image from elsewhere may not tell. */
	u64 n_written = image->n_listed - image->n_covered;
	bool is_image = is_kept_as_image(source);
	int err;

	*feed = (struct baleen_feed){ .format = is_image ? BALEEN_FEED_IMAGE : BALEEN_FEED_LIST,
				      .received_ms = baleen_now_ms(),
				      .n_bytes = is_image ? source->filter->n_bytes : 0,
				      .n_entries = n_written ?: image->n_entries };
	feed->checked_ms = feed->confirmed_ms = feed->received_ms;
	snprintf(feed->rule, sizeof(feed->rule), "%s", rule);
	err = name_source(state, source, feed->wanted.source, error);
	if (err)
		return err;
	feed->wanted.skip_bad = source->skips_bad;
	if (is_image || !baleen_csv_is_wanted(source->csv))
		return 0;
	return describe_table(feed, source->csv, error);
}

/* Entries of a list that the rule takes out as protected. */
static int count_protected(struct baleen_device_session *session, const struct baleen_feed *feed,
			   int fd, const struct baleen_stored_rule *rule,
			   struct baleen_error *error)
{
	struct baleen_protected_set set = { 0 };
	struct baleen_list list = { 0 };
	/* The user has named it. */
	const struct baleen_list_reader reader = { .is_private = false };
	int err = baleen_feed_read(fd, feed->wanted.source, &feed->wanted, rule->key_spec, &reader,
				   &list, error);

	if (!err)
		err = baleen_protected_load(&session->deploy.state, &set, error);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err; role++) {
		struct baleen_protected first;
		u64 n = 0;

		/* Among the special-purpose ranges that are taken out it is counted as one. */
		if (role == BALEEN_PROTECTED_NOBODY && baleen_rule_removes_special(rule))
			continue;
		if (baleen_protected_of_feeds(rule, role) &&
		    baleen_protected_meets(&set, role, &list, &n, &first))
			err = baleen_no_memory(error);
		if (!err && n && !session->n_protected)
			session->first_protected = first;
		session->n_protected += n;
	}
	baleen_protected_free(&set);
	baleen_list_free(&list);
	return err;
}

/* Says how many entries the rule takes out, and refuses a source of which nothing is left,
 * unless it is what is left of the rule itself.
 */
static int count_removed(struct baleen_device_session *session, struct baleen_feed *feed, int fd,
			 const struct baleen_rule_source *source, struct baleen_error *error)
{
	int index = baleen_rule_store_find_rule(&session->plan.rules, feed->rule);
	const struct baleen_stored_rule *rule = &session->plan.rules.rule[index < 0 ? 0 : index];
	struct baleen_feed_version version = { .feed = *feed, .fd = fd, .is_public = true };
	bool is_of_rule = !source->is_list && !source->fd;
	int err;

	if (is_of_rule || index < 0)
		return 0;
	err = source->is_list && baleen_protected_applies(rule) ?
		      count_protected(session, feed, fd, rule, error) :
		      0;
	if (err || !baleen_rule_removes_special(rule))
		return err;
	err = baleen_feed_judge(&session->deploy.state, rule, NULL, false, &version, error);
	if (err)
		return err;
	if (version.feed.n_special && !version.now.n_entries && !source->allows_empty)
		return baleen_fail(
			error, ENODATA,
			"%.600s: not a single key outside of special-purpose ranges, which rule "
			"'%s' takes out: refused (--allow-empty takes it, 'special keep' %s keeps "
			"them)",
			source->path, feed->rule,
			rule->guards_feeds ? "in the configuration" : "behind a rule");
	session->n_special += version.feed.n_special;
	*feed = version.feed;
	return 0;
}

int baleen_device_session_add_feed(struct baleen_device_session *session, const char *rule,
				   const struct baleen_rule_source *source,
				   struct baleen_error *error)
{
	struct baleen_feed feed;
	int fd, err;

	if (!session->has_state)
		return 0;
	err = describe_feed(&session->deploy.state, &feed, rule, source, error);
	if (err)
		return err;
	/* An image file is copied from where it is, not by way of memory. */
	fd = is_made(source) ? image_fd(source, error) : source->fd;
	if (fd < 0)
		return fd;
	err = count_removed(session, &feed, fd, source, error);
	if (!err)
		err = baleen_feeds_put(&session->deploy.state, &feed, error);
	if (!err)
		err = baleen_feed_accept(&session->deploy.state, &feed, fd, error);
	if (is_made(source))
		close(fd);
	return err;
}
