// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The names of the filters: a hash table that is read under RCU, and a list of all. */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <linux/sort.h>

#include "names.h"

static DEFINE_MUTEX(names_lock);
static struct rhashtable names_hashed; /* written under names_lock, read under RCU */
static LIST_HEAD(names_all);	       /* under names_lock */
static u32 n_names;		       /* under names_lock */

/* The compiler knows this size, which saves a BPF program instructions for each packet. */
static int names_differ(struct rhashtable_compare_arg *arg, const void *object)
{
	const struct baleen_filter *filter = object;

	return memcmp(filter->name, arg->key, BALEEN_NAME_BYTES) != 0;
}

static const struct rhashtable_params names_params = {
	.key_len = BALEEN_NAME_BYTES,
	.key_offset = offsetof(struct baleen_filter, name),
	.head_offset = offsetof(struct baleen_filter, hash),
	.obj_cmpfn = names_differ,
	.automatic_shrinking = true,
};

struct baleen_filter *baleen_filter_find_rcu(const char *name)
{
	return rhashtable_lookup(&names_hashed, name, names_params);
}

struct baleen_filter *baleen_filter_find(const char *name)
{
	struct baleen_filter *filter;

	/* The name holds its reference until this lock is free. */
	mutex_lock(&names_lock);
	filter = rhashtable_lookup_fast(&names_hashed, name, names_params);
	if (filter)
		baleen_filter_get(filter);
	mutex_unlock(&names_lock);
	return filter;
}
EXPORT_SYMBOL_GPL(baleen_filter_find);

/* Publishes the body before the name; on failure it stays the caller's. */
static int names_add(struct baleen_filter *filter, struct baleen_body *body)
{
	int err;

	mutex_lock(&names_lock);
	baleen_filter_publish(filter, body);
	err = rhashtable_lookup_insert_fast(&names_hashed, &filter->hash, names_params);
	if (err) {
		RCU_INIT_POINTER(filter->body, NULL);
	} else {
		baleen_filter_get(filter);
		list_add(&filter->names, &names_all);
		n_names++;
	}
	mutex_unlock(&names_lock);
	/* Other errors of the table are for want of memory; -EBUSY means rules elsewhere. */
	return err && err != -EEXIST ? -ENOMEM : err;
}

int baleen_filter_create(const char *name, struct baleen_body *body, struct baleen_filter **filter)
{
	struct baleen_filter *new = baleen_filter_new(name);
	int err = 0;

	if (!new)
		return -ENOMEM;
	if (name)
		err = names_add(new, body);
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

static void names_remove(struct baleen_filter *filter)
{
	list_del(&filter->names);
	rhashtable_remove_fast(&names_hashed, &filter->hash, names_params);
	n_names--;
}

int baleen_filter_destroy(const char *name)
{
	struct baleen_filter *filter;
	int err = 0;

	rtnl_lock();
	mutex_lock(&names_lock);
	filter = rhashtable_lookup_fast(&names_hashed, name, names_params);
	if (!filter)
		err = -ENOENT;
	else if (filter->n_rules)
		err = -EBUSY;
	else
		names_remove(filter);
	mutex_unlock(&names_lock);
	rtnl_unlock();
	if (!err)
		baleen_filter_put(filter);
	return err;
}

static int names_compare(const void *a, const void *b)
{
	const struct baleen_filter *x = *(const struct baleen_filter *const *)a;
	const struct baleen_filter *y = *(const struct baleen_filter *const *)b;

	return memcmp(x->name, y->name, BALEEN_NAME_BYTES);
}

int baleen_filter_list(struct baleen_filter ***list, u32 *n)
{
	struct baleen_filter *filter, **all;
	u32 i = 0;

	mutex_lock(&names_lock);
	all = kvmalloc_array(n_names + 1, sizeof(*all), GFP_KERNEL_ACCOUNT);
	if (all) {
		list_for_each_entry(filter, &names_all, names) {
			baleen_filter_get(filter);
			all[i++] = filter;
		}
	}
	mutex_unlock(&names_lock);
	if (!all)
		return -ENOMEM;
	sort(all, i, sizeof(*all), names_compare, NULL);
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

int baleen_names_init(void)
{
	return rhashtable_init(&names_hashed, &names_params);
}

void baleen_names_exit(void)
{
	struct baleen_filter *filter, *next;

	mutex_lock(&names_lock);
	list_for_each_entry_safe(filter, next, &names_all, names) {
		names_remove(filter);
		baleen_filter_put(filter);
	}
	mutex_unlock(&names_lock);
	rhashtable_destroy(&names_hashed);
}
