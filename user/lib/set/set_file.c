// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A generation of a set as a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "set/rice.h"
#include "set/set_file.h"

#define VERSION 1

static const char magic[4] = "BSET";

static void put_u32(u8 *at, u32 value)
{
	value = baleen_le32(value);
	memcpy(at, &value, 4);
}

static void put_u64(u8 *at, u64 value)
{
	value = baleen_le64(value);
	memcpy(at, &value, 8);
}

static u32 get_u32(const u8 *at)
{
	u32 value;

	memcpy(&value, at, 4);
	return baleen_le32(value);
}

static u64 get_u64(const u8 *at)
{
	u64 value;

	memcpy(&value, at, 8);
	return baleen_le64(value);
}

/* --- writing --- */

static u8 *grow(struct baleen_bits_out *bits, size_t n)
{
	u8 *at;

	if (baleen_array_reserve(&bits->byte, &bits->room, bits->n_bytes + n))
		return NULL;
	at = bits->byte + bits->n_bytes;
	memset(at, 0, n);
	bits->n_bytes += n;
	return at;
}

static int write_head(struct baleen_bits_out *bits, const struct baleen_set_head *head)
{
	u8 *at = grow(bits, BALEEN_SET_HEAD_BYTES);

	if (!at)
		return -ENOMEM;
	memcpy(at, magic, 4);
	put_u32(at + 4, VERSION);
	put_u64(at + 8, head->generation);
	put_u64(at + 16, head->from);
	put_u64(at + 24, head->n_entries);
	put_u64(at + 32, head->created_s);
	put_u64(at + 40, head->expires_s);
	memcpy(at + 48, head->digest, BALEEN_CANON_DIGEST);
	return 0;
}

static int write_group(struct baleen_bits_out *bits, u32 group,
		       const struct baleen_numbers *removed, const struct baleen_numbers *added)
{
	u32 k_removed = baleen_rice_choose(removed, 32);
	u32 k_added = baleen_rice_choose(added, baleen_canon_length(group));
	size_t start = bits->n_bytes;
	u8 *at = grow(bits, BALEEN_SET_GROUP_BYTES);

	if (!at)
		return -ENOMEM;
	at[0] = baleen_canon_is_ip6(group) ? 6 : 4;
	at[1] = baleen_canon_length(group);
	at[2] = k_removed;
	at[3] = k_added;
	put_u32(at + 4, removed->n);
	put_u32(at + 8, added->n);
	if (baleen_rice_write(bits, removed, k_removed) ||
	    baleen_rice_write(bits, added, k_added) || baleen_rice_close(bits))
		return -ENOMEM;
	put_u32(bits->byte + start + 12, bits->n_bytes - start - BALEEN_SET_GROUP_BYTES);
	return 0;
}

static int write_difference(struct baleen_bits_out *bits, u32 group,
			    const struct baleen_numbers *from, const struct baleen_numbers *to)
{
	struct baleen_numbers removed = { .is_wide = false }, added = { .is_wide = to->is_wide };
	int err = 0;

	/* All of a group that was empty needs no copy. */
	if (!from->n)
		return to->n ? write_group(bits, group, &removed, to) : 0;
	err = baleen_canon_diff(from, to, &removed, &added);
	if (!err && (removed.n || added.n))
		err = write_group(bits, group, &removed, &added);
	baleen_numbers_free(&removed);
	baleen_numbers_free(&added);
	return err;
}

int baleen_set_encode(const struct baleen_canon *from, const struct baleen_canon *to,
		      const struct baleen_set_head *head, u8 **bytes, size_t *n_bytes)
{
	struct baleen_bits_out bits = { .byte = NULL };
	int err = write_head(&bits, head);

	for (u32 g = 0; g < BALEEN_CANON_GROUPS && !err; g++)
		err = write_difference(&bits, g, &from->group[g], &to->group[g]);
	if (err) {
		free(bits.byte);
		return err;
	}
	*bytes = bits.byte;
	*n_bytes = bits.n_bytes;
	return 0;
}

/* --- reading --- */

static int refuse(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

int baleen_set_head_read(const void *bytes, size_t n_bytes, struct baleen_set_head *head,
			 const char **why)
{
	const u8 *at = bytes;
	struct baleen_set_head read;

	if (n_bytes < 4 || memcmp(at, magic, 4))
		return refuse(why, "is no set");
	if (n_bytes < BALEEN_SET_HEAD_BYTES)
		return refuse(why, "ends within its head");
	if (get_u32(at + 4) != VERSION)
		return refuse(why, "has a version of the format that this release does not read");
	read = (struct baleen_set_head){
		.generation = get_u64(at + 8),
		.from = get_u64(at + 16),
		.n_entries = get_u64(at + 24),
		.created_s = get_u64(at + 32),
		.expires_s = get_u64(at + 40),
	};
	memcpy(read.digest, at + 48, BALEEN_CANON_DIGEST);
	if (!read.generation || read.from >= read.generation)
		return refuse(why, "has an impossible generation");
	if (read.n_entries > BALEEN_CANON_MAX)
		return refuse(why, "claims more entries than a set may have");
	*head = read;
	return 0;
}

int baleen_set_group_read(const u8 *at, size_t n_left, struct baleen_set_group *group,
			  const char **why)
{
	struct baleen_set_group read;
	u32 length, n_bytes;

	if (n_left < BALEEN_SET_GROUP_BYTES)
		return refuse(why, "ends within a group");
	length = at[1];
	n_bytes = get_u32(at + 12);
	if ((at[0] != 4 || length > 32) && (at[0] != 6 || length > 128))
		return refuse(why, "has a group of no family");
	if (n_bytes > n_left - BALEEN_SET_GROUP_BYTES)
		return refuse(why, "ends within a group");
	read = (struct baleen_set_group){
		.group = at[0] == 4 ? length : BALEEN_CANON_IP4_GROUPS + length,
		.k_removed = at[2],
		.k_added = at[3],
		.n_removed = get_u32(at + 4),
		.n_added = get_u32(at + 8),
		.n_bytes = n_bytes,
	};
	if (!read.n_removed && !read.n_added)
		return refuse(why, "has a group in which nothing differs");
	if (read.k_removed > (read.n_removed ? 32 : 0) ||
	    read.k_added > (read.n_added ? length : 0))
		return refuse(why, "has a Rice parameter that is too large");
	*group = read;
	return 0;
}

/* Text of an IPv4-mapped address is an IPv4 address, so no list makes one of IPv6. */
static bool has_mapped(const struct baleen_numbers *numbers)
{
	for (size_t i = 0; i < numbers->n; i++)
		if (numbers->wide[i] >> 32 == 0xffff)
			return true;
	return false;
}

/* @at: its bits */
static int patch_group(const struct baleen_set_group *record, const u8 *at,
		       const struct baleen_canon *from, struct baleen_canon *to, const char **why)
{
	struct baleen_bits_in bits = { .byte = at, .n_bytes = record->n_bytes };
	const struct baleen_numbers *before = &from->group[record->group];
	struct baleen_numbers removed = { .is_wide = false };
	struct baleen_numbers added = { .is_wide = before->is_wide };
	int err = baleen_rice_read(&bits, record->n_removed, record->k_removed, 32, &removed);

	if (!err)
		err = baleen_rice_read(&bits, record->n_added, record->k_added,
				       baleen_canon_length(record->group), &added);
	if (!err && !baleen_rice_is_done(&bits))
		err = -EINVAL;
	if (!err && record->group == BALEEN_CANON_GROUPS - 1 && has_mapped(&added))
		err = -EINVAL;
	if (err == -EINVAL)
		refuse(why, "has a group whose gaps are malformed");
	if (!err) {
		err = baleen_canon_patch(before, &removed, &added, &to->group[record->group]);
		if (err == -EINVAL)
			refuse(why, "does not fit the generation that it is the difference from");
	}
	baleen_numbers_free(&removed);
	baleen_numbers_free(&added);
	return err;
}

static int copy_group(const struct baleen_numbers *from, struct baleen_numbers *to)
{
	static const struct baleen_numbers none;
	const struct baleen_numbers none_wide = { .is_wide = true };

	return from->n ? baleen_canon_patch(from, &none, from->is_wide ? &none_wide : &none, to) :
			 0;
}

int baleen_set_groups_read(const u8 *at, size_t n_left, const struct baleen_canon *from,
			   struct baleen_canon *to, const char **why)
{
	u32 next = 0;
	int err = 0;

	while (n_left && !err) {
		struct baleen_set_group record;

		err = baleen_set_group_read(at, n_left, &record, why);
		if (!err && record.group < next)
			err = refuse(why, "has groups that are out of order");
		for (; !err && next < record.group; next++)
			err = copy_group(&from->group[next], &to->group[next]);
		if (err)
			break;
		err = patch_group(&record, at + BALEEN_SET_GROUP_BYTES, from, to, why);
		next++;
		at += BALEEN_SET_GROUP_BYTES + record.n_bytes;
		n_left -= BALEEN_SET_GROUP_BYTES + record.n_bytes;
	}
	for (; !err && next < BALEEN_CANON_GROUPS; next++)
		err = copy_group(&from->group[next], &to->group[next]);
	return err;
}

int baleen_set_decode(const void *bytes, size_t n_bytes, const struct baleen_canon *from,
		      struct baleen_canon *to, const char **why)
{
	u8 digest[BALEEN_CANON_DIGEST];
	struct baleen_set_head head;
	struct baleen_canon made;
	int err = baleen_set_head_read(bytes, n_bytes, &head, why);

	if (err)
		return err;
	baleen_canon_start(&made);
	err = baleen_set_groups_read((const u8 *)bytes + BALEEN_SET_HEAD_BYTES,
				     n_bytes - BALEEN_SET_HEAD_BYTES, from, &made, why);
	if (!err && baleen_canon_n(&made) != head.n_entries)
		err = refuse(why, "has another number of entries than it says");
	if (!err) {
		baleen_canon_digest(&made, digest);
		if (memcmp(digest, head.digest, sizeof(digest)))
			err = refuse(why, "is not the set that its digest is of");
	}
	if (err)
		baleen_canon_free(&made);
	else
		*to = made;
	return err;
}
