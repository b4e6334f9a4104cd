/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one way in which files are opened for reading.
 *
 *                     what others could have put there      may be
 *      TYPED          is read: a user sees and decides      a pipe, a terminal, any device
 *      TYPED_FILE     is read                               a regular file
 *      NAMED          is not followed: util/place.h         a regular file
 *      PART           is not followed                       a regular file; no link
 *      OWN            is refused                            a regular file of root's or ours; no
 * link SYSTEM         cannot be                             anything
 *
 * Only TYPED waits. tests/unit/house.sh finds whoever calls open() instead.
 */
#ifndef BALEEN_INPUT_H
#define BALEEN_INPUT_H

#include <stdio.h>

#include "util/error.h"

/**
 * enum baleen_input - whence a path comes
 * @BALEEN_INPUT_TYPED: a user gave it to this command
 * @BALEEN_INPUT_TYPED_FILE: the same, and it is read more than once, or changed
 * @BALEEN_INPUT_NAMED: a configuration names it, or a directory holds it
 * @BALEEN_INPUT_PART: in a directory that Baleen wrote and a user may have moved
 * @BALEEN_INPUT_OWN: in Baleen's own directories
 * @BALEEN_INPUT_SYSTEM: of the kernel or the system: below /proc, /sys, /run/netns
 */
enum baleen_input {
	BALEEN_INPUT_TYPED,
	BALEEN_INPUT_TYPED_FILE,
	BALEEN_INPUT_NAMED,
	BALEEN_INPUT_PART,
	BALEEN_INPUT_OWN,
	BALEEN_INPUT_SYSTEM,
};

/**
 * baleen_input_open() - open a file for reading
 * @path: path of the file
 * @kind: whence the path comes
 * @error: filled in on failure; may be NULL
 *
 * Return: a descriptor; -EINVAL for what is no regular file and has to be one; -EPERM for what
 * is somebody else's; -ENOENT; a negative errno.
 */
int baleen_input_open(const char *path, enum baleen_input kind, struct baleen_error *error);

/**
 * baleen_input_open_at() - open a file of a directory for reading
 * @dir: descriptor of the directory
 * @name: name in it
 * @path: of the file, for messages
 * @kind: whence the name comes
 * @error: filled in on failure; may be NULL
 *
 * Return: as baleen_input_open().
 */
int baleen_input_open_at(int dir, const char *name, const char *path, enum baleen_input kind,
			 struct baleen_error *error);

/**
 * baleen_input_stream() - open a file for reading by lines
 * @path: path of the file
 * @kind: whence the path comes
 * @error: filled in on failure; may be NULL
 *
 * Return: a stream for fclose(); NULL with errno.
 */
FILE *baleen_input_stream(const char *path, enum baleen_input kind, struct baleen_error *error);

/**
 * baleen_input_check() - look at a file of Baleen's own that somebody else opens
 * @path: path of the file
 * @error: filled in on failure; may be NULL
 *
 * Opens nothing, so that no lock of this process on the file ends (fcntl_locking(2)).
 *
 * Return: as baleen_input_open() with OWN, but 0 instead of a descriptor.
 */
int baleen_input_check(const char *path, struct baleen_error *error);

#endif /* BALEEN_INPUT_H */
