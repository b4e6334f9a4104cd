/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of the module: published by RCU, each changed under its own mutex.
 *
 * A filter has one body, an image with its decoded header, and may get another
 * (swap). A reader uses the body under RCU and never waits. A key is added or
 * deleted in the body that readers see, as <baleen/inplace.h> describes.
 * A replaced body is freed by a worker after a grace period.
 *
 *	names (mutex) --> filter: references, mutex of its writers, counters per CPU
 *	                    |
 *	                    v RCU
 *	                  body: header in host order, image in vmalloc()ed memory
 *
 * A name holds one reference, each rule one, each command in progress one.
 *
 * Order of the locks: filter->lock, RTNL, the lock of the names, filter->state. The
 * holder of RTNL may find, create, bind, describe and put filters, but not swap, store,
 * export or change them. filter->lock is held while an image is copied within the
 * kernel, never while a process is waited for.
 */
#ifndef BALEEN_KMOD_FILTER_H
#define BALEEN_KMOD_FILTER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>

#include <baleen/probe.h>
#include <linux/baleen.h>

#include "body.h"

/**
 * struct baleen_filter - a filter
 * @refs: references of the name, of rules and of commands in progress
 * @name: empty when it is a rule's own
 * @names: in the list of names, under its lock
 * @hash: in the table that bpf_baleen_test() looks into: written under the lock of the
 *        names, read under RCU
 * @n_rules: rules that ask it, under RTNL
 * @lock: one writer at a time: for replacing @body, for changing its keys, and for
 *        the members below @state
 * @body: never NULL; RCU; written under @lock and @state
 * @state: for readers of @body and the members below it as of one moment
 * @n_entries: keys, as far as they were counted; written under @lock and @state
 * @count_known: they were; as @n_entries
 * @changed: since the body came in; as @n_entries
 * @version: see struct baleen_dev_info, never 0; as @n_entries
 * @counters: per CPU
 * @rcu: frees it after readers that found it by its hash, and packets that ask rules which are gone
 */
struct baleen_filter {
	struct kref refs;
	char name[BALEEN_NAME_BYTES];
	struct list_head names;
	struct rhash_head hash;
	u32 n_rules;
	struct mutex lock;
	struct baleen_body __rcu *body;
	spinlock_t state;
	u64 n_entries;
	bool count_known;
	bool changed;
	u64 version;
	struct baleen_dev_counters __percpu *counters;
	struct rcu_work rcu;
};

/**
 * baleen_filter_new() - a filter that has no body yet
 * @name: its name, checked by the caller; NULL for a rule's own
 *
 * Context: may sleep.
 * Return: the filter, with a reference for the caller; NULL when there is no memory.
 */
struct baleen_filter *baleen_filter_new(const char *name);

/**
 * baleen_filter_publish() - let readers see a body
 * @filter: the filter: new, or its lock is held
 * @body: its next image
 *
 * Return: the body before, for baleen_body_retire(); NULL of a new filter.
 */
struct baleen_body *baleen_filter_publish(struct baleen_filter *filter, struct baleen_body *body);

/**
 * baleen_filter_get() - another reference
 * @filter: the filter
 */
static inline void baleen_filter_get(struct baleen_filter *filter)
{
	kref_get(&filter->refs);
}

/**
 * baleen_filter_put() - drop a reference
 * @filter: the filter; NULL is none
 *
 * Context: may sleep.
 */
void baleen_filter_put(struct baleen_filter *filter);

/**
 * baleen_filter_swap() - another image for a filter
 * @filter: the filter
 * @body: the image; the filter's on success
 * @version: required version; 0 for any
 *
 * Context: may sleep; takes RTNL when the keys are of other fields.
 * Return: 0; -ESTALE; -EINVAL when a rule asks it and the keys are of other fields;
 * -EINTR when the process is being killed.
 */
int baleen_filter_swap(struct baleen_filter *filter, struct baleen_body *body, u64 version);

/**
 * baleen_filter_export() - give the image to a process
 * @filter: the filter
 * @image: where it goes
 * @n_bytes: room there
 * @version: set on success
 *
 * Context: may sleep, not under RTNL; writers wait for a copy within the kernel, which takes as
 * much memory as the image until it has been given.
 * Return: 0; -EMSGSIZE; -ENOMEM; -EFAULT; -EINTR when the process is being killed.
 */
int baleen_filter_export(struct baleen_filter *filter, void __user *image, u64 n_bytes,
			 u64 *version);

/**
 * baleen_kfilter_keys() - ask, add or delete keys
 * @filter: the filter
 * @command: BALEEN_DEV_QUERY, _INSERT or _DELETE
 * @keys: the keys
 * @answers: a byte each; NULL for none
 * @n: how many, at least one
 * @n_done: set on success, also when not all could be done
 *
 * Context: may sleep, not under RTNL; queries never wait for writers.
 * Return: see struct baleen_dev_keys.
 */
int baleen_kfilter_keys(struct baleen_filter *filter, unsigned int command,
			const struct baleen_dev_key __user *keys, u8 __user *answers, u32 n,
			u32 *n_done);

/**
 * baleen_filter_note() - the keys in the body have changed
 * @filter: the filter, whose lock is held
 * @n_keys: how many there are more, or fewer
 */
void baleen_filter_note(struct baleen_filter *filter, s64 n_keys);

/**
 * baleen_filter_counters() - the sum over all CPUs
 * @filter: the filter
 * @counters: filled in
 */
void baleen_filter_counters(const struct baleen_filter *filter,
			    struct baleen_dev_counters *counters);

/**
 * baleen_filter_info() - a filter as it is
 * @filter: the filter
 * @info: filled in, reserved fields as well
 * @header: filled in with the header as exported; NULL for none
 *
 * Context: any but interrupts; waits for no writer.
 */
void baleen_filter_info(struct baleen_filter *filter, struct baleen_dev_info *info, void *header);

/**
 * baleen_kfilter_test() - is the key in the filter?
 * @filter: the filter
 * @key: the key, checked
 *
 * Counts nothing: for a packet, pass the answer to baleen_kfilter_count().
 *
 * Context: any, under rcu_read_lock().
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
static inline int baleen_kfilter_test(const struct baleen_filter *filter,
				      const struct baleen_key *key)
{
	const struct baleen_body *body = rcu_dereference(filter->body);

	return baleen_image_test(&body->image, body->bytes, key);
}

/**
 * baleen_kfilter_count() - count a packet that asked
 * @filter: the filter
 * @bytes: size of the packet; 0 when not known
 * @hit: the answer
 *
 * Context: any with bottom halves off, or where a count lost once in a while does
 * not matter.
 */
static inline void baleen_kfilter_count(struct baleen_filter *filter, u64 bytes, int hit)
{
	this_cpu_inc(filter->counters->packets);
	this_cpu_add(filter->counters->bytes, bytes);
	this_cpu_add(filter->counters->hits, hit);
}

/*
 * For other modules of the kernel, which only need the address of a filter:
 * baleen_filter_find() of names.h when they start, baleen_filter_ask() for each packet,
 * baleen_filter_put() when they end.
 */

/**
 * baleen_filter_ask() - is the key in the filter?
 * @filter: from baleen_filter_find()
 * @key: the key
 * @bytes: size of its packet; 0 when not known
 *
 * The filter's counters say so.
 *
 * Context: any.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not; -EINVAL when the key
 * is not canonical.
 */
int baleen_filter_ask(struct baleen_filter *filter, const struct baleen_key *key, u64 bytes);

#endif /* BALEEN_KMOD_FILTER_H */
