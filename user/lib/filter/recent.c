// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of recent changes behind a live image. */
#include <errno.h>

#include "filter/kind.h"
#include "filter/recent.h"
#include "list/list_algebra.h"

/* An eighth of the image, since it is built anew when this is full. */
#define MIN_BUCKETS 2048u
#define MAX_BUCKETS 4096u
#define IMAGE_SHARE 8

#define FLAGS (BALEEN_RECENT_IN | BALEEN_RECENT_FRESH | BALEEN_RECENT_ROWLESS)

u32 baleen_recent_buckets(const struct baleen_image *image)
{
	u32 n = MIN_BUCKETS;

	if (!baleen_spec_is_address(image->key_spec) || image->flags & BALEEN_FLAG_COPIES)
		return 0;
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_IP6; domain++)
		if (image->table[domain].kind &&
		    !baleen_table_keeps_hashes(&image->table[domain], domain))
			return 0;
	while (n < MAX_BUCKETS && n < image->n_blocks / IMAGE_SHARE)
		n *= 2;
	return n;
}

bool baleen_recent_is_empty(const struct baleen_filter *filter)
{
	return !filter->n_recent ||
	       !(baleen_recent_head(filter)->word[0] | baleen_recent_head(filter)->word[1]);
}

bool baleen_recent_supports(const struct baleen_filter *filter, bool is_ip6)
{
	return filter->n_recent && !(is_ip6 && filter->image.table[BALEEN_IP6].kind);
}

/* --- slots ----------------------------------------------------------------- */

struct slot {
	struct baleen_block *bucket;
	u32 i;
};

static u32 tag_of(const struct slot *slot)
{
	return baleen_le64(slot->bucket->word[BALEEN_RECENT_TAGS]) >> 16 * slot->i & 0xffff;
}

static void set_tag(const struct slot *slot, u32 tag)
{
	u64 tags = baleen_le64(slot->bucket->word[BALEEN_RECENT_TAGS]);

	tags &= ~(0xffffull << 16 * slot->i);
	tags |= (u64)tag << 16 * slot->i;
	baleen_store_word(&slot->bucket->word[BALEEN_RECENT_TAGS], baleen_le64(tags));
}

static u32 name_of(const struct baleen_recent_net *net)
{
	return (net->is_ip6 ? BALEEN_RECENT_IP6 : 0) | (net->length + 1u);
}

static bool is_of(const struct slot *slot, const struct baleen_recent_net *net)
{
	return (tag_of(slot) & BALEEN_RECENT_NAME) == name_of(net) &&
	       baleen_le64(slot->bucket->word[2 * slot->i]) == net->hi &&
	       baleen_le64(slot->bucket->word[2 * slot->i + 1]) == net->lo;
}

/* The slot of a prefix, dead or alive; or else a free one, in the emptiest bucket: slots
 * are taken from the first on.
 * Return: false when there is neither.
 */
static bool find(const struct baleen_filter *filter, const struct baleen_recent_net *net,
		 struct slot *slot)
{
	u64 hash = baleen_recent_hash(&filter->image.seed, net);
	struct slot free = { .i = BALEEN_RECENT_SLOTS };

	for (u32 k = 0; k < BALEEN_RECENT_CHOICES; k++) {
		slot->bucket = baleen_recent_head(filter) + 1 +
			       baleen_recent_bucket(hash, k, filter->n_recent);
		for (slot->i = 0; slot->i < BALEEN_RECENT_SLOTS && tag_of(slot); slot->i++)
			if (is_of(slot, net))
				return true;
		if (slot->i < free.i)
			free = *slot;
	}
	*slot = free;
	return free.i < BALEEN_RECENT_SLOTS;
}

/* --- lengths --------------------------------------------------------------- */

/* @lengths with one more in its place, or 0 when there is no room for it. */
static u64 add_length(u64 lengths, u32 length)
{
	u64 byte = length + 1, result = 0;
	u32 n = 0;

	for (; lengths; lengths >>= 8) {
		if ((lengths & 0xff) == byte)
			byte = 0;
		if ((lengths & 0xff) < byte) {
			result |= byte << 8 * n++;
			byte = 0;
		}
		if (n == BALEEN_RECENT_LENGTHS)
			return 0;
		result |= (lengths & 0xff) << 8 * n++;
	}
	if (byte && n == BALEEN_RECENT_LENGTHS)
		return 0;
	return byte ? result | byte << 8 * n : result;
}

static int collect_length(const struct baleen_recent_net *net, u32 flags, void *data)
{
	u64 *lengths = data;

	lengths[net->is_ip6] = add_length(lengths[net->is_ip6], net->length);
	return 0;
}

void baleen_recent_tidy(struct baleen_filter *filter)
{
	u64 lengths[2] = { 0 };

	baleen_recent_each(filter, collect_length, lengths);
	for (u32 i = 0; i < 2; i++)
		if (baleen_le64(baleen_recent_head(filter)->word[i]) != lengths[i])
			baleen_store_word(&baleen_recent_head(filter)->word[i],
					  baleen_le64(lengths[i]));
}

/* --- prefixes -------------------------------------------------------------- */

u32 baleen_recent_get(const struct baleen_filter *filter, const struct baleen_recent_net *net)
{
	struct slot slot;

	if (!filter->n_recent || !find(filter, net, &slot) || tag_of(&slot) & BALEEN_RECENT_DEAD)
		return 0;
	return tag_of(&slot);
}

int baleen_recent_put(struct baleen_filter *filter, const struct baleen_recent_net *net, u32 flags)
{
	u64 *word = &baleen_recent_head(filter)->word[net->is_ip6];
	u64 lengths = add_length(baleen_le64(*word), net->length);
	struct slot slot;

	if (!lengths || !find(filter, net, &slot))
		return -ENOSPC;
	if (!tag_of(&slot)) {
		baleen_store_word(&slot.bucket->word[2 * slot.i], baleen_le64(net->hi));
		baleen_store_word(&slot.bucket->word[2 * slot.i + 1], baleen_le64(net->lo));
	}
	/* Packets ask the prefilter no longer, which does not have it. */
	if (filter->prefilter && !net->is_ip6)
		baleen_store_word(&baleen_recent_head(filter->prefilter)->word[0], baleen_le64(1));
	set_tag(&slot, name_of(net) | (flags & FLAGS));
	if (lengths != baleen_le64(*word))
		baleen_store_word(word, baleen_le64(lengths));
	return 0;
}

void baleen_recent_drop(struct baleen_filter *filter, const struct baleen_recent_net *net)
{
	struct slot slot;

	if (find(filter, net, &slot) && tag_of(&slot))
		set_tag(&slot, name_of(net) | BALEEN_RECENT_DEAD);
}

/* --- all of it ------------------------------------------------------------- */

int baleen_recent_each(const struct baleen_filter *filter,
		       int (*visit)(const struct baleen_recent_net *net, u32 flags, void *data),
		       void *data)
{
	int ret = 0;

	for (u32 k = 0; k < filter->n_recent * BALEEN_RECENT_SLOTS && !ret; k++) {
		struct slot slot = { baleen_recent_head(filter) + 1 + k / BALEEN_RECENT_SLOTS,
				     k % BALEEN_RECENT_SLOTS };
		u32 tag = tag_of(&slot);
		struct baleen_recent_net net = {
			.hi = baleen_le64(slot.bucket->word[2 * slot.i]),
			.lo = baleen_le64(slot.bucket->word[2 * slot.i + 1]),
			.length = (tag & 0xff) - 1,
			.is_ip6 = tag & BALEEN_RECENT_IP6,
		};

		if (tag && !(tag & BALEEN_RECENT_DEAD))
			ret = visit(&net, tag & FLAGS, data);
	}
	return ret;
}

static int count(const struct baleen_recent_net *net, u32 flags, void *data)
{
	s64 *n = data;

	if (flags & BALEEN_RECENT_FRESH)
		*n += !!(flags & BALEEN_RECENT_IN);
	else
		*n -= !!(flags & BALEEN_RECENT_ROWLESS);
	return 0;
}

s64 baleen_recent_entries(const struct baleen_filter *filter)
{
	s64 n = 0;

	if (!baleen_recent_is_empty(filter))
		baleen_recent_each(filter, count, &n);
	return n;
}

/* The keys that the table covers, and those of them that are in the set. */
struct changes {
	struct baleen_list covered;
	struct baleen_list in;
};

int baleen_recent_list(struct baleen_list *list, const struct baleen_recent_net *net,
		       bool is_exception)
{
	struct baleen_ip6 address = { net->hi, net->lo };

	if (!net->is_ip6)
		return baleen_list_add_prefix4(list, net->hi >> 32, net->length, is_exception);
	if (net->length == 128 && !is_exception)
		return baleen_list_add_ip6(list, address);
	return baleen_list_add_prefix6(list, address, net->length, is_exception);
}

static int add_change(const struct baleen_recent_net *net, u32 flags, void *data)
{
	struct changes *changes = data;
	int err = baleen_recent_list(&changes->covered, net, false);

	return err ? err : baleen_recent_list(&changes->in, net, !(flags & BALEEN_RECENT_IN));
}

int baleen_recent_apply(const struct baleen_filter *filter, struct baleen_list *set)
{
	struct changes changes = { .covered.key_spec = set->key_spec,
				   .in.key_spec = set->key_spec };
	int err = 0;

	if (baleen_recent_is_empty(filter))
		return 0;
	err = baleen_recent_each(filter, add_change, &changes);
	if (!err)
		err = baleen_list_finish(&changes.covered);
	if (!err)
		err = baleen_list_finish(&changes.in);
	if (!err)
		err = baleen_list_subtract(set, &changes.covered);
	if (!err)
		err = baleen_list_unite(set, &changes.in);
	baleen_list_free(&changes.covered);
	baleen_list_free(&changes.in);
	return err;
}
