/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device as a directory of files: all that it enforces, to be put on again later.
 *
 *      DIR/                  0700
 *        device.conf         the configuration, as baleen config prints it, with secrets
 *        RULE.N              copies of its feeds, as they were received; images among them
 *        entries.json        single entries, bans among them (saved_entries.h)
 *        saved.json          checksums of all these, and what was known of each feed
 *
 * So what was exchanged, renamed, damaged or edited is refused: an allow-list never comes back as
 * a drop-list, nor a half as a whole.
 */
#ifndef BALEEN_SAVED_H
#define BALEEN_SAVED_H

#include "deploy/manifest.h"
#include "state/feed_update.h"
#include "xdp/xdp.h"

#define BALEEN_SAVED_MANIFEST "saved.json"
#define BALEEN_SAVED_CONF "device.conf"

/**
 * baleen_saved_from_xdp() - what a device has now
 * @xdp: opened for writing, so that no writer changes its state meanwhile
 * @saved: filled in; free with baleen_saved_free(); all zeros on failure
 * @error: filled in on failure
 *
 * Without a state that can be read, its rules are made of the images that packets meet.
 *
 * Return: 0; -EINVAL when a map is damaged; -ENOMEM; a negative errno.
 */
int baleen_saved_from_xdp(const struct baleen_xdp *xdp, struct baleen_saved *saved,
			  struct baleen_error *error);

/**
 * baleen_saved_write() - write a directory, whole or not at all
 * @saved: what to write; sizes and checksums are filled in
 * @path: path of the directory; a symbolic link is followed
 * @error: filled in on failure
 *
 * Writes beside the directory, syncs, and renames. One that is there is
 * replaced when it is empty, or holds what was saved before and nothing else.
 * The next writer removes the files that a killed one left. Waits
 * BALEEN_LOCK_TIMEOUT_MS for another writer beside it.
 *
 * Ends early when a signal is pending that the caller blocked.
 *
 * Return: 0; -EEXIST for a directory of somebody else; -EINTR; -ETIMEDOUT; a
 * negative errno. On failure nothing is left but what was there.
 */
int baleen_saved_write(struct baleen_saved *saved, const char *path, struct baleen_error *error);

/**
 * baleen_saved_read() - read a directory and check all that is in it
 * @path: path of the directory
 * @saved: filled in; free with baleen_saved_free(); all zeros on failure
 * @error: filled in on failure: names the file
 *
 * Return: 0; -EINVAL for what is missing, damaged, edited or too much; -ENOMEM;
 * a negative errno.
 */
int baleen_saved_read(const char *path, struct baleen_saved *saved, struct baleen_error *error);

/**
 * baleen_saved_feed_of() - which feed is a copy of?
 * @saved: with its configuration
 * @copy: a copy
 *
 * Return: the feed; NULL when there is none.
 */
const struct baleen_conf_feed *baleen_saved_feed_of(const struct baleen_saved *saved,
						    const struct baleen_saved_copy *copy);

/**
 * baleen_saved_receive() - its copies as new versions of the feeds of a device
 * @saved: read
 * @state: of the device; NULL when it has none
 * @versions: filled in; free with baleen_feed_versions_free()
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a copy that its rule cannot have; -ENOMEM; a negative errno.
 */
int baleen_saved_receive(const struct baleen_saved *saved, const struct baleen_rule_store *state,
			 struct baleen_feed_versions *versions, struct baleen_error *error);

/**
 * baleen_saved_free() - close and free
 * @saved: read or taken from a device, or all zeros
 */
void baleen_saved_free(struct baleen_saved *saved);

#endif /* BALEEN_SAVED_H */
