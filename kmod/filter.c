// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One filter: its life, its body, its export and its counters. */
#include <linux/export.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "filter.h"

/* Bytes copied at a time. */
#define PIECE_BYTES 65536

/* One count for all filters: a new filter of an old name has another version. */
static atomic64_t last_version;

static u64 filter_next_version(void)
{
	return atomic64_inc_return(&last_version);
}

/* The ioctls have the same numbers outside and inside. */
static_assert((u32)BALEEN_DEV_IP4 == (u32)BALEEN_IP4);
static_assert((u32)BALEEN_DEV_IP6 == (u32)BALEEN_IP6);
static_assert((u32)BALEEN_DEV_WORD == (u32)BALEEN_WORD);
static_assert((u32)BALEEN_DEV_TUPLE == (u32)BALEEN_TUPLE);
static_assert((u32)BALEEN_DEV_CUCKOO == (u32)BALEEN_KIND_CUCKOO);
static_assert((u32)BALEEN_DEV_BLOOM == (u32)BALEEN_KIND_BLOOM);
static_assert((u32)BALEEN_DEV_PREFIXES == (u32)BALEEN_KIND_PREFIXES);
static_assert((u32)BALEEN_DEV_CLASSIC == (u32)BALEEN_KIND_CLASSIC);
static_assert((u32)BALEEN_DEV_COUNTING == (u32)BALEEN_KIND_COUNTING);
static_assert((u32)BALEEN_DEV_QUOTIENT == (u32)BALEEN_KIND_QUOTIENT);
static_assert((u32)BALEEN_DEV_SRC == (u32)BALEEN_KEY_SRC);
static_assert((u32)BALEEN_DEV_DST == (u32)BALEEN_KEY_DST);
static_assert((u32)BALEEN_DEV_SPORT == (u32)BALEEN_KEY_SPORT);
static_assert((u32)BALEEN_DEV_DPORT == (u32)BALEEN_KEY_DPORT);
static_assert((u32)BALEEN_DEV_PROTO == (u32)BALEEN_KEY_PROTO);
static_assert((u32)BALEEN_DEV_STRING == (u32)BALEEN_KEY_STRING);
static_assert((u32)BALEEN_DEV_SQUID == (u32)BALEEN_KEY_SQUID);
static_assert((u32)BALEEN_DEV_FINGERPRINT == (u32)BALEEN_KEY_FINGERPRINT);

/* --- bodies ------------------------------------------------------------------ */

/* Readers see the whole body: it is complete before it is published. */
struct baleen_body *baleen_filter_publish(struct baleen_filter *filter, struct baleen_body *body)
{
	struct baleen_body *old;

	spin_lock(&filter->state);
	old = rcu_replace_pointer(filter->body, body, lockdep_is_held(&filter->state));
	filter->n_entries = body->image.n_entries;
	filter->count_known = !(body->image.flags & BALEEN_FLAG_LIVE);
	filter->changed = false;
	filter->version = filter_next_version();
	spin_unlock(&filter->state);
	return old;
}

void baleen_filter_note(struct baleen_filter *filter, s64 n_keys)
{
	spin_lock(&filter->state);
	/* The count in the header may be wrong. */
	filter->n_entries =
		n_keys < 0 && filter->n_entries < -n_keys ? 0 : filter->n_entries + n_keys;
	filter->changed = true;
	filter->version = filter_next_version();
	spin_unlock(&filter->state);
}

/* --- life -------------------------------------------------------------------- */

/* After a grace period: no reader that found it by its hash is left, nor a packet with a rule
 * that is gone.
 */
static void filter_free_retired(struct work_struct *work)
{
	struct baleen_filter *filter = container_of(to_rcu_work(work), struct baleen_filter, rcu);

	baleen_body_free(rcu_dereference_protected(filter->body, true));
	free_percpu(filter->counters);
	kfree(filter);
}

static void filter_retire(struct kref *refs)
{
	struct baleen_filter *filter = container_of(refs, struct baleen_filter, refs);

	INIT_RCU_WORK(&filter->rcu, filter_free_retired);
	baleen_retire(&filter->rcu);
}

void baleen_filter_put(struct baleen_filter *filter)
{
	if (filter)
		kref_put(&filter->refs, filter_retire);
}
EXPORT_SYMBOL_GPL(baleen_filter_put);

struct baleen_filter *baleen_filter_new(const char *name)
{
	struct baleen_filter *filter = kzalloc(sizeof(*filter), GFP_KERNEL_ACCOUNT);

	if (!filter)
		return NULL;
	filter->counters = alloc_percpu_gfp(struct baleen_dev_counters, GFP_KERNEL_ACCOUNT);
	if (!filter->counters) {
		kfree(filter);
		return NULL;
	}
	kref_init(&filter->refs);
	mutex_init(&filter->lock);
	spin_lock_init(&filter->state);
	if (name)
		strscpy_pad(filter->name, name, sizeof(filter->name));
	return filter;
}

/* --- other images ------------------------------------------------------------ */

/* A rule took from the image which fields of a packet are its keys. RTNL holds off
 * new rules.
 */
static int filter_swap_fields(struct baleen_filter *filter, struct baleen_body *body,
			      struct baleen_body **old)
{
	int err = 0;

	if (rtnl_lock_killable())
		return -EINTR;
	if (filter->n_rules)
		err = -EINVAL;
	else
		*old = baleen_filter_publish(filter, body);
	rtnl_unlock();
	return err;
}

static int filter_swap_locked(struct baleen_filter *filter, struct baleen_body *body, u64 version,
			      struct baleen_body **old)
{
	const struct baleen_body *now =
		rcu_dereference_protected(filter->body, lockdep_is_held(&filter->lock));

	if (version && version != filter->version)
		return -ESTALE;
	if (now->image.key_spec != body->image.key_spec)
		return filter_swap_fields(filter, body, old);
	*old = baleen_filter_publish(filter, body);
	return 0;
}

int baleen_filter_swap(struct baleen_filter *filter, struct baleen_body *body, u64 version)
{
	struct baleen_body *old;
	int err;

	if (mutex_lock_killable(&filter->lock))
		return -EINTR;
	err = filter_swap_locked(filter, body, version, &old);
	mutex_unlock(&filter->lock);
	if (!err)
		baleen_body_retire(old);
	return err;
}

/* --- asked by other modules -------------------------------------------------- */

int baleen_filter_ask(struct baleen_filter *filter, const struct baleen_key *key, u64 bytes)
{
	int hit;

	if (baleen_key_is_bad(key))
		return -EINVAL;
	rcu_read_lock();
	hit = baleen_kfilter_test(filter, key);
	rcu_read_unlock();
	baleen_kfilter_count(filter, bytes, hit);
	return hit;
}
EXPORT_SYMBOL_GPL(baleen_filter_ask);

/* --- export and information -------------------------------------------------- */

static void filter_describe_header(const struct baleen_body *body, bool changed, void *header)
{
	if (changed)
		baleen_header_write_live(&body->image, header);
	else
		memcpy(header, body->bytes, BALEEN_HEADER_BYTES);
}

static int filter_copy_out(u8 __user *to, const u8 *from, size_t n_bytes)
{
	for (size_t at = 0, piece; at < n_bytes; at += piece) {
		piece = min_t(size_t, n_bytes - at, PIECE_BYTES);
		if (fatal_signal_pending(current))
			return -EINTR;
		if (copy_to_user(to + at, from + at, piece))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

static void filter_copy_body(u8 *to, const u8 *from, size_t n_bytes)
{
	for (size_t at = 0, piece; at < n_bytes; at += piece) {
		piece = min_t(size_t, n_bytes - at, PIECE_BYTES);
		memcpy(to + at, from + at, piece);
		cond_resched();
	}
}

/* A copy of the image, of a moment between two changes. */
static int filter_snapshot_locked(const struct baleen_filter *filter, u64 n_bytes, u8 **copy,
				  size_t *n_copied)
{
	const struct baleen_body *body =
		rcu_dereference_protected(filter->body, lockdep_is_held(&filter->lock));
	u8 *to;

	if (body->n_bytes > n_bytes)
		return -EMSGSIZE;
	to = vmalloc_huge(body->n_bytes, GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!to)
		return -ENOMEM;
	filter_copy_body(to, body->bytes, body->n_bytes);
	filter_describe_header(body, filter->changed, to);
	*copy = to;
	*n_copied = body->n_bytes;
	return 0;
}

/* The process gets its copy without the lock: its pages may take any time. */
int baleen_filter_export(struct baleen_filter *filter, void __user *image, u64 n_bytes,
			 u64 *version)
{
	u64 version_copied;
	size_t n_copied;
	u8 *copy;
	int err;

	if (mutex_lock_killable(&filter->lock))
		return -EINTR;
	err = filter_snapshot_locked(filter, n_bytes, &copy, &n_copied);
	version_copied = filter->version;
	mutex_unlock(&filter->lock);
	if (err)
		return err;
	err = filter_copy_out(image, copy, n_copied);
	vfree(copy);
	if (!err)
		*version = version_copied;
	return err;
}

void baleen_filter_counters(const struct baleen_filter *filter,
			    struct baleen_dev_counters *counters)
{
	int cpu;

	memset(counters, 0, sizeof(*counters));
	for_each_possible_cpu(cpu) {
		const struct baleen_dev_counters *one = per_cpu_ptr(filter->counters, cpu);

		counters->packets += READ_ONCE(one->packets);
		counters->bytes += READ_ONCE(one->bytes);
		counters->hits += READ_ONCE(one->hits);
		counters->queries += READ_ONCE(one->queries);
		counters->query_hits += READ_ONCE(one->query_hits);
	}
}

/* As the command line names an image: several tables that hold prefixes are one kind. */
static u32 filter_kind(const struct baleen_image *image)
{
	u32 domain = 0;

	if (image->table[BALEEN_IP4_GROUPS].kind || image->table[BALEEN_IP6_STEMS].kind)
		return BALEEN_KIND_PREFIXES;
	while (!image->table[domain].kind)
		domain++;
	return image->table[domain].kind;
}

static void filter_describe_body(const struct baleen_body *body, struct baleen_dev_info *info)
{
	info->kind = filter_kind(&body->image);
	info->key_spec = body->image.key_spec;
	info->n_bytes = body->n_bytes;
}

void baleen_filter_info(struct baleen_filter *filter, struct baleen_dev_info *info, void *header)
{
	const struct baleen_body *body;
	bool changed;

	memset(info, 0, sizeof(*info));
	memcpy(info->name, filter->name, sizeof(info->name));
	info->n_rules = READ_ONCE(filter->n_rules);
	rcu_read_lock();
	spin_lock(&filter->state);
	body = rcu_dereference(filter->body);
	changed = filter->changed;
	info->n_entries = filter->n_entries;
	info->flags = filter->count_known ? BALEEN_DEV_COUNT_KNOWN : 0;
	info->version = filter->version;
	spin_unlock(&filter->state);
	filter_describe_body(body, info);
	if (header)
		filter_describe_header(body, changed, header);
	rcu_read_unlock();
	baleen_filter_counters(filter, &info->counters);
}
