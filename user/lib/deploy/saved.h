/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of a device as a directory of files, to be put on again later.
 *
 *      DIR/                  0700
 *        rules.json          order, actions, qualifiers, policy, mode, place,
 *                            and the checksums of each image and of the entries
 *        NAME.bln            the image of rule NAME: what its lists have
 *        entries.json        single entries, bans among them (saved_entries.h)
 *
 * The manifest names each image by its checksums and ends with one of its
 * own, so what was exchanged, renamed, damaged or edited is refused: an
 * allow-list never comes back as a drop-list, nor a half as a whole.
 */
#ifndef BALEEN_SAVED_H
#define BALEEN_SAVED_H

#include "deploy/manifest.h"
#include "xdp/xdp.h"

#define BALEEN_SAVED_MANIFEST "rules.json"

/**
 * baleen_saved_from_xdp() - what a device has now
 * @xdp: opened for writing, so that no writer moves keys while they are copied
 * @saved: filled in; free with baleen_saved_free(); all zeros on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when a map is damaged; -ENOMEM.
 */
int baleen_saved_from_xdp(const struct baleen_xdp *xdp, struct baleen_saved *saved,
			  struct baleen_error *error);

/**
 * baleen_saved_identify() - what tells an image from another
 * @filter: sealed
 *
 * Return: that.
 */
struct baleen_saved_image baleen_saved_identify(const struct baleen_filter *filter);

/**
 * baleen_saved_write() - write a directory, whole or not at all
 * @saved: the rules to write
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
int baleen_saved_write(const struct baleen_saved *saved, const char *path,
		       struct baleen_error *error);

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
 * baleen_saved_free() - free the filters
 * @saved: read or taken from a device, or all zeros
 */
void baleen_saved_free(struct baleen_saved *saved);

#endif /* BALEEN_SAVED_H */
