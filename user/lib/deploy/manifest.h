/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The manifest of what was saved: all but the images, as JSON.
 */
#ifndef BALEEN_MANIFEST_H
#define BALEEN_MANIFEST_H

#include "net/device.h"
#include "state/rule_store.h"
#include "xdp/ruleset.h"

/* Bytes of the name of an image file: rule name, ".bln" and the NUL byte. */
#define BALEEN_SAVED_FILE_BYTES (BALEEN_NAME_BYTES + 4)

/**
 * struct baleen_saved_image - what tells one sealed image from another
 * @n_entries: keys of all its tables
 * @header_crc: of its header, so of geometry, seed and counts
 * @body_crc: of the rest
 */
struct baleen_saved_image {
	u64 n_entries;
	u32 header_crc;
	u32 body_crc;
};

/**
 * struct baleen_saved - the rules of a device, away from the device
 * @device: its name then
 * @mode: as the attach was asked for
 * @attach_type: enum baleen_attach_type
 * @ruleset: rules that continue none; @filter[i] is the filter of rule i
 * @filter: sealed images
 * @image: what is written down of each
 * @bans: what bans of each are, of a device with a state
 * @accept_fpp: false positive rate that each accepts; 0 for what every rule does
 * @removes_special: of each, whether special-purpose ranges are taken out of its lists
 * @n_ending: of each that is saved: entries whose end an image does not keep; 0 when read
 * @entries: single entries as lines of JSON (saved_entries.h); NULL for none
 * @n_entry_bytes: of them
 * @n_entries: how many
 * @entries_crc: what the manifest says of their bytes
 *
 * @ruleset points into the struct, so it is not to be copied.
 */
struct baleen_saved {
	char device[BALEEN_POINT_BYTES];
	enum baleen_mode mode;
	u32 attach_type;
	struct baleen_ruleset ruleset;
	struct baleen_filter filter[BALEEN_MAX_RULES];
	struct baleen_saved_image image[BALEEN_MAX_RULES];
	struct baleen_rule_bans bans[BALEEN_MAX_RULES];
	double accept_fpp[BALEEN_MAX_RULES];
	bool removes_special[BALEEN_MAX_RULES];
	u64 n_ending[BALEEN_MAX_RULES];
	char *entries;
	size_t n_entry_bytes;
	u64 n_entries;
	u32 entries_crc;
};

/**
 * baleen_saved_file() - the file of a rule's image
 * @name: name of the rule
 * @file: BALEEN_SAVED_FILE_BYTES bytes
 */
void baleen_saved_file(const char *name, char *file);

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
 * @saved: filled in but for the filters; undefined on failure
 * @error: filled in on failure
 *
 * Knows every field, or refuses it. The rules may be had by a device, and
 * their names are names of files.
 *
 * Return: 0; -EINVAL; -E2BIG or -EEXIST as baleen_ruleset_check().
 */
int baleen_manifest_read(int fd, const char *name, struct baleen_saved *saved,
			 struct baleen_error *error);

#endif /* BALEEN_MANIFEST_H */
