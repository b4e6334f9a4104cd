// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys from a process: queried, added and deleted a piece at a time. */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <baleen/inplace.h>

#include "filter.h"

/* Keys of a piece, which with its answers takes a page. */
#define PIECE_KEYS (PAGE_SIZE / (sizeof(struct baleen_key) + 1))

/**
 * struct piece - keys that are done in one go
 * @keys: as they came in
 * @answers: to them
 */
struct piece {
	struct baleen_key keys[PIECE_KEYS];
	u8 answers[PIECE_KEYS];
};

static_assert(sizeof(struct piece) <= PAGE_SIZE);

/* The same bytes outside and inside. */
#define SAME_FIELD(field) \
	static_assert(offsetof(struct baleen_dev_key, field) == offsetof(struct baleen_key, field))

static_assert(sizeof(struct baleen_dev_key) == sizeof(struct baleen_key));
SAME_FIELD(domain);
SAME_FIELD(ip4);
SAME_FIELD(hi);
SAME_FIELD(lo);
SAME_FIELD(dst_hi);
SAME_FIELD(dst_lo);
SAME_FIELD(rest);

/**
 * struct batch - a command on keys
 * @filter: the filter
 * @command: BALEEN_DEV_QUERY, _INSERT or _DELETE
 * @piece: a piece of the keys
 * @search: scratch of an insertion, else NULL
 */
struct batch {
	struct baleen_filter *filter;
	unsigned int command;
	struct piece *piece;
	struct baleen_search *search;
};

/* --- a piece in the kernel: @n is how many there are, then how many were done --- */

/* All of a piece are asked of one body. */
static int keys_query(struct baleen_filter *filter, struct piece *piece, u32 *n)
{
	const struct baleen_body *body;
	u32 i = 0;
	int err = 0;

	rcu_read_lock();
	body = rcu_dereference(filter->body);
	for (; i < *n && !baleen_key_is_bad(&piece->keys[i]); i++)
		piece->answers[i] = baleen_image_test(&body->image, body->bytes, &piece->keys[i]);
	rcu_read_unlock();
	if (i < *n)
		err = -EINVAL;
	*n = i;
	return err;
}

/* Counts queries whose answers have reached the process. */
static void keys_count_queries(struct baleen_filter *filter, const struct piece *piece, u32 n)
{
	u32 n_hits = 0;

	for (u32 i = 0; i < n; i++)
		n_hits += piece->answers[i];
	this_cpu_add(filter->counters->queries, n);
	this_cpu_add(filter->counters->query_hits, n_hits);
}

static int keys_change_one(const struct batch *batch, const struct baleen_body *body,
			   const struct baleen_key *key, bool *changed)
{
	if (baleen_key_is_bad(key))
		return -EINVAL;
	if (batch->command == BALEEN_DEV_INSERT)
		return baleen_image_add(&body->image, body->bytes, batch->search, key, changed);
	return baleen_image_del(&body->image, body->bytes, key, changed);
}

static int keys_change_locked(const struct batch *batch, u32 *n)
{
	struct baleen_filter *filter = batch->filter;
	struct piece *piece = batch->piece;
	const struct baleen_body *body =
		rcu_dereference_protected(filter->body, lockdep_is_held(&filter->lock));
	s64 n_changed = 0;
	int err = 0;
	u32 i = 0;

	for (; i < *n; i++) {
		bool changed;

		err = keys_change_one(batch, body, &piece->keys[i], &changed);
		if (err)
			break;
		piece->answers[i] = changed;
		n_changed += changed;
		/* A key that finds no room takes a millisecond. */
		cond_resched();
	}
	if (n_changed)
		baleen_filter_note(filter,
				   batch->command == BALEEN_DEV_INSERT ? n_changed : -n_changed);
	*n = i;
	return err;
}

static int keys_change(const struct batch *batch, u32 *n)
{
	struct baleen_filter *filter = batch->filter;
	int err = mutex_lock_killable(&filter->lock) ? -EINTR : 0;

	if (err) {
		*n = 0;
		return err;
	}
	err = keys_change_locked(batch, n);
	mutex_unlock(&filter->lock);
	return err;
}

/* --- keys in, answers out ---------------------------------------------------- */

/* Copies as many keys as are readable. Where a copy stops at a fault, not each machine says to the
 * byte how far it came: arm64 may have read more than it says. So then key by key.
 */
static int keys_fetch(struct piece *piece, const struct baleen_dev_key __user *keys, u32 *n)
{
	u32 i = 0;

	if (!copy_from_user(piece->keys, keys, *n * sizeof(*keys)))
		return 0;
	while (i < *n && !copy_from_user(&piece->keys[i], &keys[i], sizeof(*keys)))
		i++;
	if (i == *n)
		return 0;
	*n = i;
	return -EFAULT;
}

/* A key is done when its answer has reached the caller; as above, then one by one. */
static int keys_answer(const struct piece *piece, u8 __user *answers, u32 *n)
{
	u32 i = 0;

	if (!answers || !copy_to_user(answers, piece->answers, *n))
		return 0;
	while (i < *n && !put_user(piece->answers[i], &answers[i]))
		i++;
	if (i == *n)
		return 0;
	*n = i;
	return -EFAULT;
}

/* A change cannot be undone when its answer cannot be written. A page at a time: for
 * several pages, kernels without the fix of April 2025 ("mm/gup: fix wrongly calculated
 * returned value in fault_in_safe_writeable()") only report the first.
 */
static int keys_check_room(u8 __user *answers, u32 *n)
{
	for (u32 at = 0, size; answers && at < *n; at += size) {
		size = min_t(u32, *n - at, PAGE_SIZE - offset_in_page(answers + at));
		if (fault_in_safe_writeable((char __user *)answers + at, size)) {
			*n = at;
			return -EFAULT;
		}
	}
	return 0;
}

static int keys_do_piece(const struct batch *batch, const struct baleen_dev_key __user *keys,
			 u8 __user *answers, u32 *n)
{
	bool is_query = batch->command == BALEEN_DEV_QUERY;
	int no_more = keys_fetch(batch->piece, keys, n), err = 0, lost;

	if (!is_query && keys_check_room(answers, n))
		no_more = -EFAULT;
	if (*n)
		err = is_query ? keys_query(batch->filter, batch->piece, n) : keys_change(batch, n);
	lost = keys_answer(batch->piece, answers, n);
	if (is_query)
		keys_count_queries(batch->filter, batch->piece, *n);
	if (lost)
		return lost;
	return err ? err : no_more;
}

static int keys_do_batch(const struct batch *batch, const struct baleen_dev_key __user *keys,
			 u8 __user *answers, u32 n, u32 *n_done)
{
	u32 done = 0, size;
	int err = 0;

	while (done < n && !err) {
		if (done && signal_pending(current))
			break;
		size = min_t(u32, n - done, PIECE_KEYS);
		err = keys_do_piece(batch, keys + done, answers ? answers + done : NULL, &size);
		done += size;
		cond_resched();
	}
	if (!done)
		return err;
	*n_done = done;
	return 0;
}

int baleen_kfilter_keys(struct baleen_filter *filter, unsigned int command,
			const struct baleen_dev_key __user *keys, u8 __user *answers, u32 n,
			u32 *n_done)
{
	struct batch batch = { .filter = filter, .command = command };
	int err = -ENOMEM;

	batch.piece = kmalloc(sizeof(*batch.piece), GFP_KERNEL);
	if (!batch.piece)
		return err;
	if (command == BALEEN_DEV_INSERT) {
		batch.search = kmalloc(sizeof(*batch.search), GFP_KERNEL);
		if (!batch.search)
			goto no_search;
	}
	err = keys_do_batch(&batch, keys, answers, n, n_done);
	kfree(batch.search);
no_search:
	kfree(batch.piece);
	return err;
}
