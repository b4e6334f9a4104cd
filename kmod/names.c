// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The names of the filters: a hash table that is read under RCU, and a list in order. */
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>

#include "names.h"

#define NAMES_BITS 8

static DEFINE_MUTEX(names_lock);
static DEFINE_HASHTABLE(hashed, NAMES_BITS); /* written under names_lock, read under RCU */
static LIST_HEAD(sorted);		     /* under names_lock */
static u32 n_names;			     /* under names_lock */

static u32 hash_of(const char *name)
{
	return jhash(name, BALEEN_NAME_BYTES, 0);
}

struct baleen_filter *baleen_filter_find_rcu(const char *name)
{
	struct baleen_filter *filter;

	hash_for_each_possible_rcu(hashed, filter, hash, hash_of(name),
				   lockdep_is_held(&names_lock))
		if (!memcmp(filter->name, name, BALEEN_NAME_BYTES))
			return filter;
	return NULL;
}

struct baleen_filter *baleen_filter_find(const char *name)
{
	struct baleen_filter *filter;

	/* The name holds its reference until this lock is free. */
	mutex_lock(&names_lock);
	filter = baleen_filter_find_rcu(name);
	if (filter)
		baleen_filter_get(filter);
	mutex_unlock(&names_lock);
	return filter;
}
EXPORT_SYMBOL_GPL(baleen_filter_find);

/* Where a name goes: before the first that is greater. */
static struct list_head *next_of(const char *name)
{
	struct baleen_filter *filter;

	list_for_each_entry(filter, &sorted, names)
		if (memcmp(filter->name, name, BALEEN_NAME_BYTES) > 0)
			return &filter->names;
	return &sorted;
}

/* Publishes the body before the name; on failure it stays the caller's. */
static int add(struct baleen_filter *filter, struct baleen_body *body)
{
	int err = -EEXIST;

	mutex_lock(&names_lock);
	if (!baleen_filter_find_rcu(filter->name)) {
		baleen_filter_publish(filter, body);
		baleen_filter_get(filter);
		list_add_tail(&filter->names, next_of(filter->name));
		hash_add_rcu(hashed, &filter->hash, hash_of(filter->name));
		n_names++;
		err = 0;
	}
	mutex_unlock(&names_lock);
	return err;
}

int baleen_filter_create(const char *name, struct baleen_body *body, struct baleen_filter **filter)
{
	struct baleen_filter *new = baleen_filter_new(name);
	int err = 0;

	if (!new)
		return -ENOMEM;
	if (name)
		err = add(new, body);
	else
		baleen_filter_publish(new, body);
	if (err)
		baleen_filter_put(new);
	else
		*filter = new;
	return err;
}

int baleen_filter_store(const char *name, struct baleen_body *body)
{
	struct baleen_filter *filter;
	int err;

	/* Again when another took the name in between. */
	do {
		filter = baleen_filter_find(name);
		err = filter ? baleen_filter_swap(filter, body, 0) :
			       baleen_filter_create(name, body, &filter);
		if (err != -EEXIST)
			baleen_filter_put(filter);
	} while (err == -EEXIST);
	return err;
}

static void remove(struct baleen_filter *filter)
{
	list_del(&filter->names);
	hash_del_rcu(&filter->hash);
	n_names--;
}

int baleen_filter_destroy(const char *name)
{
	struct baleen_filter *filter;
	int err = 0;

	rtnl_lock();
	mutex_lock(&names_lock);
	filter = baleen_filter_find_rcu(name);
	if (!filter)
		err = -ENOENT;
	else if (filter->n_rules)
		err = -EBUSY;
	else
		remove(filter);
	mutex_unlock(&names_lock);
	rtnl_unlock();
	if (!err)
		baleen_filter_put(filter);
	return err;
}

int baleen_filter_list(struct baleen_filter ***list, u32 *n)
{
	struct baleen_filter *filter, **all;
	u32 i = 0;

	mutex_lock(&names_lock);
	all = kvmalloc_array(n_names + 1, sizeof(*all), GFP_KERNEL_ACCOUNT);
	if (all) {
		list_for_each_entry(filter, &sorted, names) {
			baleen_filter_get(filter);
			all[i++] = filter;
		}
	}
	mutex_unlock(&names_lock);
	if (!all)
		return -ENOMEM;
	*list = all;
	*n = i;
	return 0;
}

void baleen_filter_list_free(struct baleen_filter **list, u32 n)
{
	for (u32 i = 0; i < n; i++)
		baleen_filter_put(list[i]);
	kvfree(list);
}

void baleen_names_clear(void)
{
	struct baleen_filter *filter, *next;

	mutex_lock(&names_lock);
	list_for_each_entry_safe(filter, next, &sorted, names) {
		remove(filter);
		baleen_filter_put(filter);
	}
	mutex_unlock(&names_lock);
}
