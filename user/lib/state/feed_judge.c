// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bytes that were received as a feed: can they be read, and what is in them? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "list/list_combine.h"
#include "list/special.h"
#include "list/written.h"
#include "ops/image_file.h"
#include "state/feed_judge.h"
#include "state/protected.h"
#include "util/fd.h"
#include "util/foreign.h"
#include "util/url.h"
#include "util/memory.h"

/**
 * struct contents - what is in a feed
 * @max_entries: more are not read; 0 for any number
 * @list: its entries; empty when an image keeps too little to be listed
 * @is_image: it is an image, so nothing was written
 * @written: its entries as they were written (written.h)
 * @n_special: entries in special-purpose ranges, taken out of @list
 * @counts: of what is left
 */
struct contents {
	u64 max_entries;
	struct baleen_list list;
	bool is_image;
	struct baleen_list written;
	u64 n_special;
	struct baleen_feed_counts counts;
};

static void free_contents(struct contents *contents)
{
	baleen_list_free(&contents->list);
	baleen_list_free(&contents->written);
}

static int measure(const struct baleen_stored_rule *rule, struct contents *contents)
{
	struct baleen_special_removed removed;

	if (baleen_rule_removes_special(rule)) {
		if (baleen_special_remove(&contents->list, &removed))
			return -ENOMEM;
		if (contents->is_image)
			contents->n_special = baleen_special_total(&removed);
		else if (removed.n_ranges)
			contents->n_special = baleen_written_special(&contents->written);
	} else if (baleen_protected_of_feeds(rule, BALEEN_PROTECTED_NOBODY) &&
		   baleen_special_leave_nobody(&contents->list, &contents->n_special)) {
		return -ENOMEM;
	}
	contents->counts = baleen_feed_count(&contents->list);
	contents->counts.n_special = contents->n_special;
	return 0;
}

/* @n: entries so far, or all */
static int refuse_entries(const struct contents *contents, const char *name, u64 n, bool is_all,
			  struct baleen_error *error)
{
	struct baleen_error why;
	int err = baleen_feed_refuse_entries(n, is_all, contents->max_entries, &why);

	return baleen_fail(error, -err, "%.600s: refused: %s", name, why.text);
}

/* --- formats ------------------------------------------------------------------ */

static int read_image(const struct baleen_stored_rule *rule, int fd, const char *name,
		      struct contents *contents, struct baleen_error *error)
{
	struct baleen_filter filter;
	int err = baleen_image_file_read(fd, name, &filter, error);

	contents->is_image = true;
	if (err)
		return err;
	if (filter.image.key_spec != rule->key_spec)
		err = baleen_fail(error, EINVAL,
				  "%.600s: its keys are other ones than those of rule '%s'", name,
				  rule->name);
	else if (contents->max_entries && filter.image.n_entries > contents->max_entries)
		err = refuse_entries(contents, name, filter.image.n_entries, true, error);
	else
		err = baleen_filter_to_list(&filter, &contents->list, NULL);
	if (!err)
		err = measure(rule, contents);
	else if (err == -EOPNOTSUPP) {
		/* A Bloom filter, or one of hashes, knows no addresses. */
		contents->counts.n_entries = filter.image.n_entries;
		err = 0;
	}
	baleen_filter_free(&filter);
	return err;
}

/* The limits are of a directory as a whole, where a file that lost all it had may
 * not weigh enough.
 */
static int read_list(const struct baleen_stored_rule *rule, int fd, const char *name,
		     const struct baleen_feed *feed, bool is_public, struct contents *contents,
		     struct baleen_error *error)
{
	const struct baleen_list_reader reader = { .is_private = !is_public,
						   .max_entries = contents->max_entries,
						   .written = &contents->written };
	int err = baleen_feed_read(fd, name, &feed->wanted, rule->key_spec, &reader,
				   &contents->list, error);

	if (err == -E2BIG)
		return refuse_entries(contents, name, contents->max_entries + 1, false, error);
	if (!err && *feed->file && !contents->list.n_listed && rule->limits.min_entries)
		err = baleen_fail(error, EINVAL,
				  "%.600s: not a single key in a file of a directory (min-entries "
				  "0 takes it)",
				  name);
	return err ? err : measure(rule, contents);
}

static int read_contents(const struct baleen_stored_rule *rule, int fd, u32 format,
			 const struct baleen_feed *feed, bool is_public, struct contents *contents,
			 struct baleen_error *error)
{
	const struct baleen_feed_name name = baleen_feed_name(feed);

	if (format == BALEEN_FEED_IMAGE)
		return read_image(rule, fd, name.text, contents, error);
	return read_list(rule, fd, name.text, feed, is_public, contents, error);
}

static u32 format_of(int fd, const struct baleen_feed_source *wanted)
{
	if (lseek(fd, 0, SEEK_SET) == 0 && baleen_image_file_is(fd))
		return BALEEN_FEED_IMAGE;
	return wanted->column[0] || wanted->where[0] || wanted->delimiter ? BALEEN_FEED_CSV :
									    BALEEN_FEED_LIST;
}

/* --- what differs ---------------------------------------------------------------- */

static u64 count_entries(const struct baleen_list *list)
{
	u64 n = list->n_ip4 + list->n_net4 + list->n_ip6 + list->n_key;

	for (size_t i = 0; i < list->n_prefix6; i++)
		n += !list->prefix6[i].is_exception;
	return n;
}

/* Entries as they were written; of images those that it takes to list what only the first has.
 * @widest: filled in: where most of that is; NULL for no need of it
 */
static u64 count_only(const struct baleen_stored_rule *rule, const struct contents *a,
		      const struct contents *b, struct baleen_feed_widest *widest)
{
	bool is_written = !a->is_image && !b->is_image;
	struct baleen_list only;
	u64 n = is_written ? baleen_written_only(&a->written, &b->written,
						 !baleen_rule_removes_special(rule)) :
			     0;

	if ((is_written && !widest) ||
	    baleen_list_combine(&a->list, &b->list, BALEEN_SET_DIFFERENCE, &only))
		return n;
	if (!is_written)
		n = count_entries(&only);
	if (widest)
		baleen_feed_find_widest(&only, widest);
	baleen_list_free(&only);
	return n;
}

/* The counts of a copy that cannot be read any more are known, except those of IPv6. */
static void compare_last(const struct baleen_rule_store *state,
			 const struct baleen_stored_rule *rule, const struct baleen_feed *last,
			 const struct contents *now, struct baleen_feed_version *version)
{
	struct contents before = { 0 };
	int fd = last ? baleen_feed_open(state, last, NULL) : -1;

	if (last && (fd < 0 || read_contents(rule, fd, last->format, last, false, &before, NULL)))
		before.counts = (struct baleen_feed_counts){ .n_entries = last->n_entries,
							     .n_ip4 = last->n_ip4,
							     .ip6_share = now->counts.ip6_share };
	before.list.key_spec = now->list.key_spec;
	version->n_added =
		count_only(rule, now, &before, &version->widest[BALEEN_EXCESS_GROWN_IP4]);
	/* All of a first copy is new, but for what others make superfluous. */
	if (!last && now->counts.n_entries > now->n_special)
		version->n_added = now->counts.n_entries - now->n_special;
	version->n_removed = count_only(rule, &before, now, NULL);
	version->before = before.counts;
	free_contents(&before);
	baleen_close_fd(&fd);
}

int baleen_feed_judge(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		      const struct baleen_feed *last, bool has_bound,
		      struct baleen_feed_version *version, struct baleen_error *error)
{
	struct baleen_feed *feed = &version->feed;
	struct contents now = { .max_entries =
					has_bound ? baleen_feed_max_entries(&rule->limits,
									    baleen_memory_total()) :
						    0 };
	struct stat stat;
	int err;

	feed->format = format_of(version->fd, &feed->wanted);
	err = fstat(version->fd, &stat) ? -errno : 0;
	if (!err)
		err = read_contents(rule, version->fd, feed->format, feed, version->is_public, &now,
				    error);
	if (!err) {
		feed->n_entries = now.counts.n_entries;
		feed->n_ip4 = now.counts.n_ip4;
		feed->n_special = now.n_special;
		feed->n_bytes = stat.st_size;
		version->now = now.counts;
		baleen_feed_find_widest(&now.list, version->widest);
		compare_last(state, rule, last, &now, version);
	}
	free_contents(&now);
	return err;
}

void baleen_feed_name_widest(const struct baleen_feed_version *version, size_t n, u32 key_spec,
			     enum baleen_feed_excess excess, struct baleen_error *error)
{
	const struct baleen_feed_version *widest = NULL;
	size_t used = strlen(error->text);
	struct baleen_list_line line;
	bool is_shown;

	for (size_t i = 0; i < n; i++)
		if (version[i].fd >= 0 && version[i].feed.format != BALEEN_FEED_IMAGE &&
		    version[i].widest[excess].share > (widest ? widest->widest[excess].share : 0))
			widest = &version[i];
	if (!widest || baleen_feed_find_line(widest->fd, &widest->feed, key_spec,
					     &widest->widest[excess].key, &line))
		return;
	/* No file of this host comes by a URL, and what was read as addresses is no secret. */
	is_shown = widest->is_public || baleen_url_is(widest->feed.wanted.source);
	baleen_foreign_format(error->text + used, sizeof(error->text) - used,
			      "; widest: %.300s%sline %llu%s%s", widest->feed.file,
			      *widest->feed.file ? " " : "", (unsigned long long)line.number,
			      is_shown ? ", " : "", is_shown ? line.text : "");
}
