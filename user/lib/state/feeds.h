/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The feeds of a rule: where each comes from, how it is read, and the last good
 * copy of it.
 */
#ifndef BALEEN_FEEDS_H
#define BALEEN_FEEDS_H

#include <string.h>

#include "list/list.h"
#include "state/rule_store.h"

#define BALEEN_SOURCE_BYTES 1024
/* A source that is nowhere but in the state begins so: what came from standard input or a pipe, or
 * was made of live filters.
 */
#define BALEEN_FEED_COPY "copy:"
#define BALEEN_FEED_OPTION_BYTES 256

/**
 * enum baleen_feed_format - what a feed is made of
 * @BALEEN_FEED_LIST: a list (list.h), gzipped or not
 * @BALEEN_FEED_CSV: a table (csv_table.h), gzipped or not
 * @BALEEN_FEED_IMAGE: an image
 */
enum baleen_feed_format {
	BALEEN_FEED_LIST,
	BALEEN_FEED_CSV,
	BALEEN_FEED_IMAGE,
};

/**
 * struct baleen_feed_source - what is asked for
 * @source: a path, a directory of lists, an http or https URL, route:TABLE
 *          (route_feed.h), name:HOST (feed_host.h), set+URL (feed_set.h), or copy:NAME
 * @column: of a table: the column of the keys; empty for a list
 * @where: of a table: COLUMN=VALUE, several with newlines between
 * @delimiter: of a table: its character; 0 to find out
 * @skip_bad: bad lines are passed over
 * @every_s: baleend looks for a new one this often; 0 for never
 * @timeout_s: time limit of a download; 0 for the default
 * @access: of a URL: path of the file of its secrets (util/fetch_access.h), which is read
 *          anew for each download; empty for none
 * @may_be_private: of a URL: it may lead to private networks
 * @hold_s: of a table of routes: how long to hold those that go with many others; 0 for
 *          none
 * @key: of a signed set: path of the file of the public key of its publisher
 * @ring: likewise: the ring of this host, from 1, whatever its name; 0 for by its name
 */
struct baleen_feed_source {
	char source[BALEEN_SOURCE_BYTES];
	char column[BALEEN_FEED_OPTION_BYTES];
	char where[BALEEN_FEED_OPTION_BYTES];
	char delimiter;
	bool skip_bad;
	u32 every_s;
	u32 timeout_s;
	char access[BALEEN_FEED_OPTION_BYTES];
	bool may_be_private;
	u32 hold_s;
	char key[BALEEN_FEED_OPTION_BYTES];
	u32 ring;
};

/**
 * struct baleen_feed - a feed of a rule, as the state has it
 * @id: its number in the state; the last good copy is feeds/<id>
 * @rule: name of the rule
 * @wanted: where it comes from
 * @file: of a directory the path of the file in it; else empty
 * @format: enum baleen_feed_format of the last good copy
 * @etag: ETag of the last good copy; may be empty
 * @last_modified: Last-Modified of the last good copy; may be empty
 * @n_entries: entries of the last good copy
 * @n_ip4: IPv4 addresses that it covers
 * @n_bytes: size of the last good copy
 * @n_special: entries in special-purpose ranges that were taken out of it
 * @checked_ms: when it was looked for last; 0 for never
 * @received_ms: when the last good copy came; 0 when there is none
 * @confirmed_ms: when the source last said that it is still good
 * @n_failures: failures since then; 0 when it is well
 * @failure: the last one, in a line; empty when it is well
 * @n_held: of a table of routes: entries of the last good copy that are held
 * @next_ms: when one of them is to be let go; of a signed set on its way in rings: when to look
 *           again; 0 for never
 * @generation: of a signed set: which one the last good copy is
 * @n_fallbacks: how often its full set was fetched because a difference was of no use
 *
 * A directory is one feed per file in it, each with the same @wanted but for
 * its path in @file.
 */
struct baleen_feed {
	u64 id;
	char rule[BALEEN_NAME_BYTES];
	struct baleen_feed_source wanted;
	char file[BALEEN_SOURCE_BYTES];
	u32 format;
	char etag[BALEEN_FEED_OPTION_BYTES];
	char last_modified[64];
	u64 n_entries;
	u64 n_ip4;
	u64 n_bytes;
	u64 n_special;
	u64 checked_ms;
	u64 received_ms;
	u64 confirmed_ms;
	u32 n_failures;
	char failure[1024];
	u64 n_held;
	u64 next_ms;
	u64 generation;
	u64 n_fallbacks;
};

/**
 * baleen_feed_copy_is() - is a source nowhere but in the state?
 * @source: as in struct baleen_feed_source
 *
 * Return: true of copy:NAME.
 */
static inline bool baleen_feed_copy_is(const char *source)
{
	return !strncmp(source, BALEEN_FEED_COPY, sizeof(BALEEN_FEED_COPY) - 1);
}

/* Is there a last good copy of it? */
static inline bool baleen_feed_has_copy(const struct baleen_feed *feed)
{
	return feed->id && feed->received_ms;
}

/**
 * baleen_feeds_each() - the feeds of a rule, in the order they were added
 * @state: opened
 * @rule: name of the rule; NULL for all rules
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_feeds_each(const struct baleen_rule_store *state, const char *rule,
		      int (*visit)(const struct baleen_feed *feed, void *data), void *data,
		      struct baleen_error *error);

/* Their files are called so; files of directories begin with a slash. */
#define BALEEN_COPY_OTHERS "+*"

/**
 * baleen_feed_copies_each() - copies of signed sets that are not in force (feed_rollout.h)
 * @state: opened
 * @rule: name of the rule; NULL for all rules
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_feed_copies_each(const struct baleen_rule_store *state, const char *rule,
			    int (*visit)(const struct baleen_feed *feed, void *data), void *data,
			    struct baleen_error *error);

/* A rule of any address: nobody wrote its two prefixes. */
#define BALEEN_WRITTEN_ANY (~0ull)

/**
 * baleen_rule_written() - how many entries is a rule made of?
 * @state: opened
 * @rule: name of the rule
 *
 * Return: those of its feeds, as they were written and without duplicates, and single ones;
 * 0 when it has neither; BALEEN_WRITTEN_ANY.
 */
u64 baleen_rule_written(const struct baleen_rule_store *state, const char *rule);

/* A feed that failed is asked again after so long, if it is not due before. */
#define BALEEN_FEED_RETRY_MS 300000ull

/**
 * baleen_feed_due_ms() - when a feed is to be looked for
 * @feed: the feed
 * @now_ms: the time; a feed that was looked for later than that, before the clock
 *          was set back, is due
 *
 * Return: milliseconds since the epoch; 0 for never: it has no interval, holds no routes,
 * or is nowhere but in the state.
 */
u64 baleen_feed_due_ms(const struct baleen_feed *feed, u64 now_ms);

/**
 * baleen_feeds_put() - add a feed, or change what is known of one
 * @state: with a transaction
 * @feed: id 0 adds it, and is filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feeds_put(struct baleen_rule_store *state, struct baleen_feed *feed,
		     struct baleen_error *error);

/**
 * baleen_feeds_remove() - forget a feed
 * @state: with a transaction; the copy goes with the commit
 * @id: id of the feed
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feeds_remove(struct baleen_rule_store *state, u64 id, struct baleen_error *error);

/**
 * baleen_feed_accept() - make bytes the last good copy of a feed
 * @state: with a transaction
 * @feed: feed of the state
 * @fd: the bytes as received, read from the start; a pipe is for the caller to
 *      spool
 * @error: filled in on failure
 *
 * The file is written aside, synced and given its name by the commit: a copy of
 * a transaction that was undone is never read. feeds/<id>.<generation> is its
 * name, and the row says which generation counts.
 *
 * Return: 0 or a negative errno (-ENOSPC on a full disk).
 */
int baleen_feed_accept(struct baleen_rule_store *state, struct baleen_feed *feed, int fd,
		       struct baleen_error *error);

/**
 * baleen_feed_open() - the last good copy, as received
 * @state: opened
 * @feed: feed of the state
 * @error: filled in on failure
 *
 * Return: a descriptor; -ENOENT when there is none; a negative errno.
 */
int baleen_feed_open(const struct baleen_rule_store *state, const struct baleen_feed *feed,
		     struct baleen_error *error);

/**
 * baleen_feed_open_lines() - the same as a list: unpacked, a table turned into lines
 * @state: opened
 * @feed: feed of the state, not an image
 * @error: filled in on failure
 *
 * Line N of what is read is line N of what was received.
 *
 * Return: a descriptor; a negative errno.
 */
int baleen_feed_open_lines(const struct baleen_rule_store *state, const struct baleen_feed *feed,
			   struct baleen_error *error);

/**
 * baleen_feed_read() - bytes as received, as a set
 * @fd: open for reading, seekable
 * @name: name of the source in messages
 * @wanted: how it is read
 * @key_spec: enum baleen_key_spec of the rule
 * @reader: how to treat bad lines, and whether they may be seen; NULL for a private list
 * @list: filled in with a finished list
 * @error: filled in on failure: the first bad line, if that is why
 *
 * Return: 0; -EINVAL for bad lines, unless they may be skipped; -E2BIG for more than the reader's
 * max_entries; -ENOMEM; a negative errno.
 */
int baleen_feed_read(int fd, const char *name, const struct baleen_feed_source *wanted,
		     u32 key_spec, const struct baleen_list_reader *reader,
		     struct baleen_list *list, struct baleen_error *error);

/**
 * baleen_feed_find_line() - the widest line that lists an address
 * @fd: bytes as received, seekable
 * @feed: how they are read
 * @key_spec: enum baleen_key_spec of the rule
 * @key: the address
 * @line: filled in: of the lines that cover it and are no exceptions, the first with
 *        the shortest prefix
 *
 * Return: 0; -ENOENT when there is none; a negative errno.
 */
int baleen_feed_find_line(int fd, const struct baleen_feed *feed, u32 key_spec,
			  const struct baleen_key *key, struct baleen_list_line *line);

/**
 * struct baleen_feed_name - what a feed is called wherever anybody may read it
 * @text: its file or path, or the URL without secrets (util/url.h)
 */
struct baleen_feed_name {
	char text[BALEEN_SOURCE_BYTES];
};

/**
 * baleen_feed_name() - what a feed is called
 * @feed: the feed; of a directory one file of it
 *
 * Return: its name.
 */
struct baleen_feed_name baleen_feed_name(const struct baleen_feed *feed);

/**
 * baleen_feed_public_name() - what a source is called, from its text alone
 * @source: as in struct baleen_feed_source
 *
 * Return: its name.
 */
struct baleen_feed_name baleen_feed_public_name(const char *source);

/**
 * baleen_feed_source_name() - what a source is called
 * @wanted: the source; of a directory the directory
 *
 * Return: its name.
 */
struct baleen_feed_name baleen_feed_source_name(const struct baleen_feed_source *wanted);

#endif /* BALEEN_FEEDS_H */
