/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The canonical set of a list of addresses: the same entries make the same bytes on every
 * host, in whatever order and how often they were written.
 *
 * It has a group for each family and prefix length, IPv4 before IPv6, then by length. An entry
 * is in its group as a number, its first `length` bits; the numbers ascend. Ranges are the
 * fewest prefixes that they fall into. An entry inside a wider one stays: the publisher wrote it.
 *
 * The digest is BLAKE2b-256 (RFC 7693), as `b2sum -l 256` prints it, of these bytes: for each
 * group that has entries
 *
 *      4 or 6 | length | count (8 bytes, little-endian) | its addresses (4 or 16 bytes each, in
 *                                                         network order)
 */
#ifndef BALEEN_CANON_H
#define BALEEN_CANON_H

#include "key/key_text.h"
#include "list/list.h"
#include "set/numbers.h"
#include "util/error.h"

#define BALEEN_CANON_IP4_GROUPS 33
#define BALEEN_CANON_GROUPS (BALEEN_CANON_IP4_GROUPS + 129)
#define BALEEN_CANON_DIGEST 32
/* Most entries of a set: a GB of memory, should they be IPv6. */
#define BALEEN_CANON_MAX (1ull << 26)

/**
 * struct baleen_canon - a canonical set
 * @group: entries of IPv4 with length 0 to 32, then of IPv6 with length 0 to 128
 */
struct baleen_canon {
	struct baleen_numbers group[BALEEN_CANON_GROUPS];
};

/**
 * baleen_canon_is_ip6() - is a group of IPv6?
 * @group: index of the group
 *
 * Return: true or false.
 */
static inline bool baleen_canon_is_ip6(u32 group)
{
	return group >= BALEEN_CANON_IP4_GROUPS;
}

/**
 * baleen_canon_length() - the prefix length of a group
 * @group: index of the group
 *
 * Return: 0 to 128.
 */
static inline u32 baleen_canon_length(u32 group)
{
	return baleen_canon_is_ip6(group) ? group - BALEEN_CANON_IP4_GROUPS : group;
}

/**
 * baleen_canon_start() - an empty set
 * @canon: filled in
 */
void baleen_canon_start(struct baleen_canon *canon);

/**
 * baleen_canon_free() - free a set, which is empty afterwards
 * @canon: the set
 */
void baleen_canon_free(struct baleen_canon *canon);

/**
 * baleen_canon_n() - how many entries does it have?
 * @canon: the set
 *
 * Return: the number.
 */
u64 baleen_canon_n(const struct baleen_canon *canon);

/**
 * baleen_canon_of_list() - the set of what lists say
 * @list: as read, before baleen_list_finish(); is sorted
 * @canon: filled in; to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when the list has exceptions or keys that are no addresses; -E2BIG;
 * -ENOMEM.
 */
int baleen_canon_of_list(struct baleen_list *list, struct baleen_canon *canon,
			 struct baleen_error *error);

/**
 * baleen_canon_to_list() - append its entries to a list
 * @canon: the set
 * @list: of addresses; appended to, and not finished
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_canon_to_list(const struct baleen_canon *canon, struct baleen_list *list);

/**
 * baleen_canon_digest() - the digest of a set
 * @canon: the set
 * @digest: BALEEN_CANON_DIGEST bytes, filled in
 */
void baleen_canon_digest(const struct baleen_canon *canon, u8 *digest);

/**
 * baleen_canon_text() - an entry as it stands in a list
 * @canon: the set
 * @group: index of the group
 * @i: below its count
 * @text: BALEEN_KEY_TEXT bytes, filled in
 *
 * Return: @text.
 */
const char *baleen_canon_text(const struct baleen_canon *canon, u32 group, size_t i, char *text);

/**
 * baleen_canon_diff() - how two groups differ
 * @from: the numbers before
 * @to: the numbers after
 * @removed: empty and narrow; filled in with indices of @from
 * @added: empty, as wide as @to; filled in
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_canon_diff(const struct baleen_numbers *from, const struct baleen_numbers *to,
		      struct baleen_numbers *removed, struct baleen_numbers *added);

/**
 * baleen_canon_patch() - make the numbers after from those before
 * @from: the numbers before
 * @removed: indices of @from
 * @added: numbers to add
 * @to: empty, as wide as @from; filled in
 *
 * Return: 0; -EINVAL when an index is not below the count of @from, or a number to add is
 * there; -ENOMEM.
 */
int baleen_canon_patch(const struct baleen_numbers *from, const struct baleen_numbers *removed,
		       const struct baleen_numbers *added, struct baleen_numbers *to);

#endif /* BALEEN_CANON_H */
