/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where states are, and whose they are.
 */
#ifndef BALEEN_RULE_STORE_PATH_H
#define BALEEN_RULE_STORE_PATH_H

#include "state/rule_store_handle.h"

/* Behind the name of a directory that is being made, and of one that is being
 * removed. Longer than the name of a device can be, so no state is called so.
 */
#define BALEEN_RULE_STORE_ASIDE ".baleen-state-aside"
#define BALEEN_RULE_STORE_GONE ".baleen-state-gone"

/* In a directory that can be taken back, and not in what took its place. */
#define BALEEN_RULE_STORE_COPY_MARK "copy"

/* Room for a path and a suffix. */
#define BALEEN_RULE_STORE_NAME_BYTES (BALEEN_RULE_STORE_PATH_BYTES + 64)

/**
 * baleen_boot_id() - which boot of the kernel this is
 * @boot: filled in; BALEEN_BOOT_ID bytes
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_boot_id(char *boot, struct baleen_error *error);

/**
 * baleen_rule_store_root() - the directory of all states
 * @is_kept: of the kept ones of this network namespace, else of all the volatile ones
 *
 * Return: its path, until the next call in this thread.
 */
const char *baleen_rule_store_root(bool is_kept);

/**
 * baleen_rule_store_name() - the directory of the state of a device
 * @device: name of the device
 * @is_kept: which of the two
 * @path: BALEEN_RULE_STORE_PATH_BYTES bytes
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when no device can be called so; -ENODEV when a volatile one
 * is not there; a negative errno.
 */
int baleen_rule_store_name(const char *device, bool is_kept, char *path,
			   struct baleen_error *error);

/**
 * baleen_rule_store_stamp() - how the database of a state is now
 * @directory: path of the state
 *
 * Return: its stamp, without an inode when there is none.
 */
struct baleen_file_stamp baleen_rule_store_stamp(const char *directory);

/**
 * baleen_rule_store_mark_name() - the file that says something of the maps of a device
 * @state: opened
 * @suffix: what
 * @path: BALEEN_RULE_STORE_NAME_BYTES bytes
 * @error: filled in on failure
 *
 * Return: 0; -ENODEV when there is no such device, so no map; a negative errno.
 */
int baleen_rule_store_mark_name(const struct baleen_rule_store *state, const char *suffix,
				char *path, struct baleen_error *error);

#define BALEEN_MARK_CHANGING ".changing"
#define BALEEN_MARK_BEHIND ".behind"

/**
 * baleen_rule_store_unkept_name() - where the database of a kept state is that its disk
 * does not take
 * @device: name of the device
 * @inode: of the directory of the state
 * @path: BALEEN_RULE_STORE_PATH_BYTES bytes
 *
 * Return: 0 or -ENAMETOOLONG.
 */
int baleen_rule_store_unkept_name(const char *device, u64 inode, char *path);

/**
 * baleen_rule_store_owner() - who the device of this name is, here and now
 * @device: name of the device, which need not be there
 * @owner: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_owner(const char *device, struct baleen_rule_store_owner *owner,
			    struct baleen_error *error);

/**
 * baleen_rule_store_is_foreign() - is it the state of another network namespace?
 * @was: the device when its state was changed last
 * @is: the device of this name now
 *
 * Only asked of what is in the directory of this namespace: one that has no name may share
 * it with others.
 *
 * Return: true when it is, or may be.
 */
bool baleen_rule_store_is_foreign(const struct baleen_rule_store_owner *was,
				  const struct baleen_rule_store_owner *is);

/**
 * baleen_rule_store_make_root() - make the directory of all states, if it is not there
 * @is_kept: which of the two
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_make_root(bool is_kept, struct baleen_error *error);

/**
 * baleen_rule_store_remove_tree() - remove a directory that looks like a state
 * @path: its path; need not be there
 *
 * Files, directories of files, and nothing deeper; links are not followed.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_remove_tree(const char *path);

/**
 * baleen_rule_store_remove_whole() - remove such a directory at once
 * @path: path of the directory
 *
 * Its name goes first, so that it is there as a whole or not at all.
 *
 * Return: 0 or a negative errno of the renaming.
 */
int baleen_rule_store_remove_whole(const char *path);

/**
 * baleen_rule_store_remove_gone() - remove what a killed baleen_rule_store_remove_whole() left
 * @path: path of the directory that was
 */
void baleen_rule_store_remove_gone(const char *path);

/**
 * baleen_rule_store_sync_parent() - have the names in a directory on disk
 * @path: of something in it
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_sync_parent(const char *path);

/**
 * baleen_rule_store_is_feed_name() - is a file the copy of a feed?
 * @name: name of the file
 * @id: id of the feed, when it is
 * @generation: which of its copies
 *
 * Return: true when it is.
 */
bool baleen_rule_store_is_feed_name(const char *name, u64 *id, u64 *generation);

/**
 * baleen_rule_store_copy_bytes() - the bytes of one file into another
 * @from: a file or memfd open for reading; read from its start, its position stays
 * @to: an empty file open for writing
 * @n_bytes: how many
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_copy_bytes(int from, int to, u64 *n_bytes);

/**
 * baleen_rule_store_is_kept() - has the device a state that can be read, and is kept?
 * @device: name of the device
 *
 * Return: true or false.
 */
bool baleen_rule_store_is_kept(const char *device);

/**
 * baleen_rule_store_forget() - forget the volatile state of a device that is gone
 * @netns_cookie: cookie of its network namespace, which may be gone, too
 * @ifindex: its number
 */
void baleen_rule_store_forget(u64 netns_cookie, int ifindex);

/**
 * baleen_rule_store_make_file() - make an empty file in the directory of a state or a book
 * @state: locked
 * @name: name of the file
 * @error: filled in on failure
 *
 * Return: 0; -EEXIST; another negative errno.
 */
int baleen_rule_store_make_file(const struct baleen_rule_store *state, const char *name,
				struct baleen_error *error);

#endif /* BALEEN_RULE_STORE_PATH_H */
