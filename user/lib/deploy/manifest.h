/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The manifest of what was saved: checksums of its files, what is known of each copy of a feed, and
 * the last answers for names, as JSON.
 */
#ifndef BALEEN_MANIFEST_H
#define BALEEN_MANIFEST_H

#include "deploy/conf.h"
#include "net/device.h"
#include "state/never_names.h"

/* Bytes of the name of a file: rule name, a dot, a number and the NUL byte. */
#define BALEEN_SAVED_FILE_BYTES (BALEEN_NAME_BYTES + 12)

/**
 * struct baleen_saved_file - a file of it
 * @n_bytes: its size
 * @crc: CRC-32C of its bytes
 */
struct baleen_saved_file {
	u64 n_bytes;
	u32 crc;
};

/**
 * struct baleen_saved_copy - the copy of a feed, or of one file of a directory
 * @name: of its file: RULE.N
 * @rule: name of the rule
 * @place: which feed of the rule it is of, from 0, in the order of the text
 * @feed: what the state knew of it: file, ETag, times, generation
 * @file: size and checksum
 * @fd: its bytes; -1 before they are opened
 */
struct baleen_saved_copy {
	char name[BALEEN_SAVED_FILE_BYTES];
	char rule[BALEEN_NAME_BYTES];
	u32 place;
	struct baleen_feed feed;
	struct baleen_saved_file file;
	int fd;
};

/**
 * struct baleen_saved - what a device enforces, away from the device
 * @device: its name then
 * @is_kept: it was put on again at boot
 * @conf: the configuration, with its text
 * @conf_file: size and checksum of that
 * @copy: copies of its feeds
 * @n_copies: how many
 * @answers: the last answers for its never-names
 * @entries: single entries as lines of JSON (saved_entries.h); NULL for none
 * @n_entries: how many
 * @entries_file: size and checksum of these lines
 */
struct baleen_saved {
	char device[BALEEN_POINT_BYTES];
	bool is_kept;
	struct baleen_conf conf;
	struct baleen_saved_file conf_file;
	struct baleen_saved_copy *copy;
	size_t n_copies;
	struct baleen_never_answers answers;
	char *entries;
	u64 n_entries;
	struct baleen_saved_file entries_file;
};

/**
 * baleen_manifest_format() - the manifest as text
 * @saved: what it is about
 *
 * Return: a text to be freed by the caller; NULL when there is no memory.
 */
char *baleen_manifest_format(const struct baleen_saved *saved);

/**
 * baleen_manifest_read() - read and check a manifest
 * @fd: open for reading a regular file; closed afterwards
 * @name: name of the file in messages
 * @saved: filled in but for what its files have; to be freed also on failure
 * @error: filled in on failure
 *
 * Knows every field, or refuses it.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int baleen_manifest_read(int fd, const char *name, struct baleen_saved *saved,
			 struct baleen_error *error);

#endif /* BALEEN_MANIFEST_H */
