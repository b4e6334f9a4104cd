/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a Squid cache from its reports: its swap.state, a cache digest, its store.log
 * or the list of objects of its cache manager, from a file or by HTTP.
 *
 *      swap        keys, what is on disk now, by the log of a cache_dir
 *      digest      bits: a classic image, which a feed cannot change
 *      log         keys, all that came and went since the cache was empty
 *      objects     keys, what is on disk now
 */
#ifndef BALEEN_SQUID_SOURCE_H
#define BALEEN_SQUID_SOURCE_H

#include "icp/digest.h"
#include "icp/squid_objects.h"
#include "icp/squid_set.h"
#include "icp/store_log.h"
#include "icp/swap_state.h"

/* Room for baleen_squid_source_text(). */
#define BALEEN_SQUID_SOURCE_TEXT 256

/**
 * enum baleen_squid_from - what a source is
 * @BALEEN_SQUID_FROM_ANY: what its content says
 * @BALEEN_SQUID_FROM_DIGEST: a cache digest
 * @BALEEN_SQUID_FROM_LOG: store.log
 * @BALEEN_SQUID_FROM_OBJECTS: the report "objects" of the cache manager
 * @BALEEN_SQUID_FROM_SWAP: swap.state
 * @BALEEN_SQUID_N_FROM: how many
 */
enum baleen_squid_from {
	BALEEN_SQUID_FROM_ANY,
	BALEEN_SQUID_FROM_DIGEST,
	BALEEN_SQUID_FROM_LOG,
	BALEEN_SQUID_FROM_OBJECTS,
	BALEEN_SQUID_FROM_SWAP,
	BALEEN_SQUID_N_FROM,
};

/**
 * struct baleen_squid_source - a source that was read
 * @from: its type; never BALEEN_SQUID_FROM_ANY
 * @set: of keys: what is in, finished; else empty
 * @filter: filter of a digest: a sealed classic image of hash squid; else all zeros
 * @digest: head of a digest
 * @log: of a log: what was in it
 * @objects: of objects: what was in them
 * @swap: of swap.state: what was in it
 */
struct baleen_squid_source {
	enum baleen_squid_from from;
	struct baleen_squid_set set;
	struct baleen_filter filter;
	struct baleen_digest digest;
	struct baleen_store_log log;
	struct baleen_squid_objects objects;
	struct baleen_swap_state swap;
};

/**
 * struct baleen_squid_read - how to read a source
 * @from: its type
 * @on_progress: as of struct baleen_fetch_request; may be NULL
 * @data: passed to @on_progress
 * @timeout_ms: time limit of a fetch with its retries; 0: 10 minutes
 * @n_retries: number of retries of a fetch
 */
struct baleen_squid_read {
	enum baleen_squid_from from;
	void (*on_progress)(void *data, u64 n_received, u64 n_total);
	void *data;
	u32 timeout_ms;
	u32 n_retries;
};

/**
 * baleen_squid_source_read() - read a source, whole or not at all
 * @text: path of a file, "-" for standard input, or a URL. One without a path gets the
 *        one where Squid has what @read->from says
 * @read: how; NULL: what its content says, no retries
 * @source: filled in; free with baleen_squid_source_free(); untouched on failure
 * @error: filled in on failure, with the name of the source
 *
 * Writes fetched data to a file without a name in $TMPDIR or /tmp first: the objects of a
 * large cache are hundreds of megabytes.
 *
 * Return: 0; -EINVAL when it is no such source, is incomplete, or its type is unknown;
 * -ENOMEM; a negative errno of a file; as baleen_fetch().
 */
int baleen_squid_source_read(const char *text, const struct baleen_squid_read *read,
			     struct baleen_squid_source *source, struct baleen_error *error);

/**
 * baleen_squid_source_is() - does a file begin as a source does?
 * @fd: open for reading, of a file that can be read from anywhere
 *
 * Return: true or false.
 */
bool baleen_squid_source_is(int fd);

/**
 * baleen_squid_source_text() - what was found, for people
 * @source: as read
 * @text: such as "1843 objects of store.log; 2 lines skipped, the first is line 17"; at
 *        least BALEEN_SQUID_SOURCE_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_squid_source_text(const struct baleen_squid_source *source, char *text);

/**
 * baleen_squid_from_name() - what is typed behind --from
 * @from: enum baleen_squid_from
 *
 * Return: the name.
 */
const char *baleen_squid_from_name(enum baleen_squid_from from);

/**
 * baleen_squid_from_parse() - from a name
 * @name: digest, log, objects or swap
 * @from: filled in; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_squid_from_parse(const char *name, enum baleen_squid_from *from);

/**
 * baleen_squid_source_free() - free what was read
 * @source: as read, or all zeros
 */
void baleen_squid_source_free(struct baleen_squid_source *source);

#endif /* BALEEN_SQUID_SOURCE_H */
