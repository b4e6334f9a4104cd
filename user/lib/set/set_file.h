/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A generation of a set as a file: the difference from an earlier one, or from nothing, which
 * is generation 0. All numbers are little-endian.
 *
 *      offset  bytes
 *           0      4  "BSET"
 *           4      4  1, the version of this format
 *           8      8  generation
 *          16      8  generation that it is the difference from; 0: a full set
 *          24      8  entries of the generation
 *          32      8  created, in seconds since 1970
 *          40      8  expires, in seconds since 1970; 0: never
 *          48     32  digest of the generation (canon.h): the same for a full set and a difference
 *          80         for each group that differs, in the order of groups:
 *                 1  4 or 6
 *                 1  prefix length
 *                 1  Rice parameter of the removed (rice.h)
 *                 1  Rice parameter of the added
 *                 4  number of the removed
 *                 4  number of the added
 *                 4  bytes that follow: gaps between the indices of the removed, in the group as
 *                    it was, then gaps between the added; the rest of the last byte is zero
 *
 * Example: 1.0.0.0/8, 7.0.0.0/8 and 8.0.0.0/8 are the numbers 1, 7 and 8 of group 4, 8, with the
 * gaps 1, 5 and 0. Parameter 1 takes the fewest bits:
 *
 *      04 08 00 01  00 00 00 00  03 00 00 00  01 00 00 00  2e     0x2e: 0 1, 110 1, 0 0
 *
 * The next generation has 9.0.0.0/8 for 7.0.0.0/8: index 1 goes, number 9 comes.
 *
 *      04 08 00 03  01 00 00 00  01 00 00 00  01 00 00 00  15     0x15: 1 0, 1 0 100
 */
#ifndef BALEEN_SET_FILE_H
#define BALEEN_SET_FILE_H

#include "set/canon.h"

#define BALEEN_SET_HEAD_BYTES 80
#define BALEEN_SET_GROUP_BYTES 16

/**
 * struct baleen_set_head - what a file says of itself
 * @generation: 1 or more
 * @from: generation that it is the difference from; 0 for a full set
 * @n_entries: entries of the generation
 * @created_s: when it was published, in seconds since 1970
 * @expires_s: until when it may be taken; 0 for ever
 * @digest: of the generation
 */
struct baleen_set_head {
	u64 generation;
	u64 from;
	u64 n_entries;
	u64 created_s;
	u64 expires_s;
	u8 digest[BALEEN_CANON_DIGEST];
};

/* May it no longer be taken? */
static inline bool baleen_set_head_has_expired(const struct baleen_set_head *head, u64 now_ms)
{
	return head->expires_s && head->expires_s * 1000 <= now_ms;
}

/**
 * struct baleen_set_group - the start of a group of a file
 * @group: index of the group (canon.h)
 * @k_removed: Rice parameter of the removed
 * @k_added: likewise
 * @n_removed: how many
 * @n_added: likewise
 * @n_bytes: bytes of their gaps, which follow
 */
struct baleen_set_group {
	u32 group;
	u32 k_removed;
	u32 k_added;
	u32 n_removed;
	u32 n_added;
	u32 n_bytes;
};

/**
 * baleen_set_encode() - a generation as a file
 * @from: the earlier one; an empty set when @head->from is 0
 * @to: the generation
 * @head: its n_entries and digest are those of @to
 * @bytes: the file; to be freed by the caller
 * @n_bytes: how many
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_set_encode(const struct baleen_canon *from, const struct baleen_canon *to,
		      const struct baleen_set_head *head, u8 **bytes, size_t *n_bytes);

/**
 * baleen_set_head_read() - what a file says of itself
 * @bytes: the file
 * @n_bytes: how many
 * @head: filled in
 * @why: why not, a constant string; untouched on success
 *
 * Return: 0 or -EINVAL.
 */
int baleen_set_head_read(const void *bytes, size_t n_bytes, struct baleen_set_head *head,
			 const char **why);

/**
 * baleen_set_group_read() - the start of a group
 * @at: it
 * @n_left: bytes from there to the end of the file
 * @group: filled in: its gaps are within the file; untouched on failure
 * @why: why not, a constant string; untouched on success
 *
 * Return: 0 or -EINVAL.
 */
int baleen_set_group_read(const u8 *at, size_t n_left, struct baleen_set_group *group,
			  const char **why);

/**
 * baleen_set_groups_read() - the groups of a file, whatever set they make
 * @at: the first one
 * @n_left: bytes of them
 * @from: the earlier generation
 * @to: empty; filled in, also on failure
 * @why: why not, a constant string; untouched on success
 *
 * Return: 0; -EINVAL when they are malformed; -ENOMEM.
 */
int baleen_set_groups_read(const u8 *at, size_t n_left, const struct baleen_canon *from,
			   struct baleen_canon *to, const char **why);

/**
 * baleen_set_decode() - a generation from a file
 * @bytes: the file, from whomever
 * @n_bytes: how many
 * @from: the earlier generation; an empty set for a full one
 * @to: filled in; to be freed by the caller
 * @why: why not, a constant string; untouched on success
 *
 * Memory for the result is bound by the file, by @from and by BALEEN_CANON_MAX.
 *
 * Return: 0; -EINVAL when it is malformed, of another earlier generation, or not the set that
 * its digest is of; -ENOMEM. Outputs are untouched on failure.
 */
int baleen_set_decode(const void *bytes, size_t n_bytes, const struct baleen_canon *from,
		      struct baleen_canon *to, const char **why);

#endif /* BALEEN_SET_FILE_H */
