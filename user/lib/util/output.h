/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one way in which files are written.
 *
 * A new file is made beside the old one, synced, and gets its name. So a reader sees the old
 * file or the new one, a link or a file that somebody put at the name is never written
 * through, and the old one stays when something fails. Links are followed as in util/place.h.
 */
#ifndef BALEEN_OUTPUT_H
#define BALEEN_OUTPUT_H

#include "util/error.h"
#include "util/place.h"

/**
 * enum baleen_output_kind - whence a path comes
 * @BALEEN_OUTPUT_TYPED: a user gave it to this command: a device, a pipe, or a FIFO of root's
 * or of the caller's is written to
 * @BALEEN_OUTPUT_NAMED: an option of a daemon or a configuration names it: only a regular file
 * is replaced
 */
enum baleen_output_kind {
	BALEEN_OUTPUT_TYPED,
	BALEEN_OUTPUT_NAMED,
};

/**
 * struct baleen_output - a file that is being written
 * @fd: written to by the caller
 * @place: where it will be
 * @mode: permissions of the file
 * @is_in_place: no file: what is written is there at once
 * @beside: its name meanwhile; empty: it has none, and vanishes with the process
 */
struct baleen_output {
	int fd;
	struct baleen_place place;
	unsigned int mode;
	bool is_in_place;
	char beside[NAME_MAX + 1];
};

/**
 * baleen_output_open() - begin to write
 * @output: filled in; ended by baleen_output_commit() or baleen_output_drop()
 * @path: path of the file
 * @kind: whence the path comes
 * @mode: permissions of the file, whatever the umask
 * @error: filled in on failure; may be NULL
 *
 * Return: 0; -EPERM for what others put there; a negative errno.
 */
int baleen_output_open(struct baleen_output *output, const char *path, enum baleen_output_kind kind,
		       unsigned int mode, struct baleen_error *error);

/**
 * baleen_output_name() - give what was written the name, and go on writing
 * @output: open, and stays so
 *
 * Syncs the file and its directory.
 *
 * Return: 0 or a negative errno; then the old file is there, or the new one is, whose name may be
 * lost with the power.
 */
int baleen_output_name(struct baleen_output *output);

/**
 * baleen_output_swap() - baleen_output_name() of a file that has no other writer
 * @output: open, and stays so
 *
 * Return: 0 or a negative errno; then what was there before is there, as far as the file system can
 * exchange names.
 */
int baleen_output_swap(struct baleen_output *output);

/**
 * baleen_output_drop() - end, without the file unless it has its name
 * @output: open, named or not
 */
void baleen_output_drop(struct baleen_output *output);

/**
 * baleen_output_write() - replace a file by these bytes, whole or not at all
 * @path: path of the file
 * @kind: whence the path comes
 * @mode: permissions of the file
 * @bytes: the bytes to write; zeros become holes
 * @n_bytes: how many
 * @error: filled in on failure; may be NULL
 *
 * Return: as baleen_output_open() and baleen_output_name().
 */
int baleen_output_write(const char *path, enum baleen_output_kind kind, unsigned int mode,
			const void *bytes, size_t n_bytes, struct baleen_error *error);

/**
 * baleen_output_make() - make a file that is not there, without bytes
 * @dir: where a relative path begins: AT_FDCWD or a directory
 * @path: path of the file
 * @mode: permissions of the file, less the umask
 *
 * Return: a descriptor for writing; -EEXIST, also for a link; a negative errno.
 */
int baleen_output_make(int dir, const char *path, unsigned int mode);

/**
 * baleen_output_own() - open or make a file of Baleen's own that stays: a lock, a mark
 * @path: path of the file
 * @error: filled in on failure; may be NULL
 *
 * Return: a descriptor for reading and writing; -EINVAL for what is no regular file; -EPERM for
 * what is somebody else's; -ELOOP for a link; a negative errno.
 */
int baleen_output_own(const char *path, struct baleen_error *error);

#endif /* BALEEN_OUTPUT_H */
