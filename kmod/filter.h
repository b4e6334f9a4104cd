/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of the module: published by RCU, changed under a mutex each.
 *
 * A filter has one body, an image with its decoded header, and may get another
 * (swap). Who asks reads the body under RCU and never waits. A key is added or
 * deleted in the body that readers see, as <baleen/change.h> does it for any reader.
 * A body that was replaced is freed by a worker after a grace period.
 *
 *	names (mutex) --> filter: references, mutex of its writers, counters per CPU
 *	                    |
 *	                    v RCU
 *	                  body: header in host order, image in vmalloc()ed memory
 *
 * A name holds one reference, each rule one, each command in progress one.
 *
 * Order of the locks: filter->lock, RTNL, the lock of the names, filter->state. So who
 * holds RTNL may find, create, bind, describe and put filters, but not swap, store,
 * export or change them. filter->lock is held while an image is copied to a process,
 * which may take as long as its pages do; nobody waits for it with RTNL held.
 */
#ifndef BALEEN_KMOD_FILTER_H
#define BALEEN_KMOD_FILTER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <baleen/image_check.h>
#include <baleen/probe.h>
#include <linux/baleen.h>

/**
 * struct baleen_body - an image in the kernel
 * @image: its decoded header
 * @bytes: the image, aligned to a page
 * @n_bytes: of it
 * @work: frees it
 */
struct baleen_body {
	struct baleen_image image;
	void *bytes;
	size_t n_bytes;
	struct rcu_work work;
};

/**
 * struct baleen_filter - a filter
 * @refs: of the name, of rules and of commands in progress
 * @name: empty when it is a rule's own
 * @names: in the list of names, under its lock
 * @hash: in the table that bpf_baleen_test() looks into: written under the lock of the
 *        names, read under RCU
 * @n_rules: rules that ask it, under RTNL
 * @lock: one writer at a time: for replacing @body, for changing what is in it, and for
 *        all below @state
 * @body: never NULL; RCU; written under @lock and @state
 * @state: for those who read @body and what is below as of one moment
 * @n_entries: keys, as far as they were counted; written under @lock and @state
 * @count_known: they were; as @n_entries
 * @changed: since the body came in; as @n_entries
 * @version: see struct baleen_dev_info, never 0; as @n_entries
 * @counters: per CPU
 * @rcu: frees it, for those who found it by its hash
 */
struct baleen_filter {
	struct kref refs;
	char name[BALEEN_NAME_BYTES];
	struct list_head names;
	struct hlist_node hash;
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
 * baleen_filter_create() - a filter of a body
 * @name: of it, checked by the caller; NULL for a rule's own
 * @body: its image; the filter's on success
 * @filter: set on success, with a reference for the caller
 *
 * Context: may sleep.
 * Return: 0; -EEXIST when the name is taken; -ENOMEM.
 */
int baleen_filter_create(const char *name, struct baleen_body *body, struct baleen_filter **filter);

/**
 * baleen_filter_find() - the filter of a name
 * @name: as struct baleen_dev_target has it
 *
 * Context: may sleep.
 * Return: it with a reference for the caller, or NULL.
 */
struct baleen_filter *baleen_filter_find(const char *name);

/**
 * baleen_filter_find_rcu() - the same for BPF programs
 * @name: BALEEN_NAME_BYTES, padded with zeros
 *
 * Context: any, under rcu_read_lock(), until whose end it stays.
 * Return: it, or NULL.
 */
struct baleen_filter *baleen_filter_find_rcu(const char *name);

/**
 * baleen_filter_get() - another reference
 * @filter: the filter
 */
static inline void baleen_filter_get(struct baleen_filter *filter)
{
	kref_get(&filter->refs);
}

/**
 * baleen_filter_put() - give a reference back
 * @filter: the filter; NULL is none
 *
 * Context: may sleep.
 */
void baleen_filter_put(struct baleen_filter *filter);

/**
 * baleen_filter_destroy() - take a name away
 * @name: of the filter
 *
 * Context: may sleep; takes RTNL.
 * Return: 0; -ENOENT; -EBUSY while rules ask it.
 */
int baleen_filter_destroy(const char *name);

/**
 * baleen_filter_store() - create a filter, or swap the one that there is
 * @name: of it
 * @body: its image; the filter's on success
 *
 * What a write to the device does.
 *
 * Context: may sleep; takes RTNL.
 * Return: 0 or as baleen_filter_create() and baleen_filter_swap().
 */
int baleen_filter_store(const char *name, struct baleen_body *body);

/**
 * baleen_filter_swap() - another image for a filter
 * @filter: the filter
 * @body: the image; the filter's on success
 * @version: what its version has to be; 0 for any
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
 * Context: may sleep, not under RTNL; writers wait.
 * Return: 0; -EMSGSIZE; -EFAULT; -EINTR when the process is being killed.
 */
int baleen_filter_export(struct baleen_filter *filter, void __user *image, u64 n_bytes,
			 u64 *version);

/**
 * baleen_filter_keys() - ask, add or delete keys
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
int baleen_filter_keys(struct baleen_filter *filter, unsigned int command,
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
 * baleen_filter_list() - all filters with a name, in the order of their names
 * @list: set to an array of filters, each with a reference; free with
 *        baleen_filter_list_free()
 * @n: set to how many
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int baleen_filter_list(struct baleen_filter ***list, u32 *n);
void baleen_filter_list_free(struct baleen_filter **list, u32 n);

/**
 * baleen_filter_test() - is the key in the filter?
 * @filter: the filter
 * @key: the key, checked
 *
 * Counts nothing: who asks for a packet calls baleen_filter_count() with the answer.
 *
 * Context: any, under rcu_read_lock().
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
static inline int baleen_filter_test(const struct baleen_filter *filter,
				     const struct baleen_key *key)
{
	const struct baleen_body *body = rcu_dereference(filter->body);

	return baleen_image_test(&body->image, body->bytes, key);
}

/**
 * baleen_filter_count() - count a packet that asked
 * @filter: the filter
 * @bytes: of the packet; 0 when not known
 * @hit: the answer
 *
 * Context: any with bottom halves off, or where a count lost once in a while does
 * not matter.
 */
static inline void baleen_filter_count(struct baleen_filter *filter, u64 bytes, int hit)
{
	this_cpu_inc(filter->counters->packets);
	this_cpu_add(filter->counters->bytes, bytes);
	this_cpu_add(filter->counters->hits, hit);
}

/**
 * baleen_body_retire() - free a body when no reader has it any more
 * @body: no longer published
 *
 * Context: any but interrupts.
 */
void baleen_body_retire(struct baleen_body *body);

/**
 * baleen_filters_settle() - wait until all is freed that was retired
 *
 * Context: may sleep; no locks held.
 */
void baleen_filters_settle(void);

int baleen_filters_init(void);

/* All users are gone; waits for what is being freed. */
void baleen_filters_exit(void);

/*
 * For other modules of the kernel, which need no more of a filter than its address:
 * baleen_filter_find() when they start, baleen_filter_ask() for each packet,
 * baleen_filter_put() when they end.
 */

/**
 * baleen_filter_ask() - is the key in the filter?
 * @filter: of baleen_filter_find()
 * @key: the key
 * @bytes: of the packet that it is of; 0 when not known
 *
 * The filter's counters say so.
 *
 * Context: any.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not; -EINVAL for what is
 * no canonical key.
 */
int baleen_filter_ask(struct baleen_filter *filter, const struct baleen_key *key, u64 bytes);

#endif /* BALEEN_KMOD_FILTER_H */
