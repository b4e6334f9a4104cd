/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A feed that is a signed set (set/set_publish.h): generations from a web server or a directory.
 *
 * The manifest is asked for, and its signature; then the difference from the generation at hand,
 * or the full set. The last good copy is the full set of its generation as a file, however it
 * came: it is what the publisher has as NAME-GEN.set.
 */
#ifndef BALEEN_FEED_SET_H
#define BALEEN_FEED_SET_H

#include "state/feed_set_news.h"
#include "util/fetch.h"

/**
 * baleen_feed_set_fetch() - get the newest generation
 * @ask: which source, and how
 * @feed: the feed as it is; its n_fallbacks grows when a difference was of no use
 * @fd: where the full set goes, an empty file
 * @result: filled in
 * @news: what the manifest means, to be freed by the caller; NULL when none came; untouched on
 *        failure
 * @error: filled in on failure; on success empty, or why the full set was fetched though there
 *         is a difference
 *
 * A generation that is older than the one at hand, or than what another device has
 * (feed_share.h), is refused, unless @ask ignores limits; so are a manifest that has expired, and
 * one that is of another key or name.
 *
 * Return: 0; -EINTR; -ENOMEM; a negative errno.
 */
int baleen_feed_set_fetch(const struct baleen_feed_ask *ask, struct baleen_feed *feed, int fd,
			  struct baleen_fetch_result *result, struct baleen_set_news **news,
			  struct baleen_error *error);

/**
 * baleen_feed_set_check_key() - is the file of the key of a signed set one?
 * @wanted: the set
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when it is another file; a negative errno.
 */
int baleen_feed_set_check_key(const struct baleen_feed_source *wanted, struct baleen_error *error);

/**
 * baleen_feed_set_source() - the lists that a signed set is made of
 * @feed: the feed, with the generation that is meant
 * @text: filled in; to be freed by the caller
 * @n_bytes: likewise
 * @error: filled in on failure
 *
 * Asks the server for the manifest of that generation, its signature, and the lists. What is not as
 * it was signed is refused.
 *
 * Return: 0; -ENOENT when the publisher does not show them; -EINTR; -ENOMEM; a negative errno.
 */
int baleen_feed_set_source(const struct baleen_feed *feed, char **text, size_t *n_bytes,
			   struct baleen_error *error);

#endif /* BALEEN_FEED_SET_H */
