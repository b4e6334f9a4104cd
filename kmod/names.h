/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters by their names.
 *
 * The lock of the names is local to names.c, see the order of locks in filter.h. A
 * filter found under RCU alone may have lost its name in the meantime.
 */
#ifndef BALEEN_KMOD_NAMES_H
#define BALEEN_KMOD_NAMES_H

#include "filter.h"

/**
 * baleen_filter_create() - make a filter of a body
 * @name: its name, checked by the caller; NULL for a rule's own
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
 * baleen_filter_destroy() - take a name away
 * @name: name of the filter
 *
 * Context: may sleep; takes RTNL.
 * Return: 0; -ENOENT; -EBUSY while rules ask it.
 */
int baleen_filter_destroy(const char *name);

/**
 * baleen_filter_store() - create a filter, or swap the existing one
 * @name: its name
 * @body: its image; the filter's on success
 *
 * A write to the device does this.
 *
 * Context: may sleep; takes RTNL.
 * Return: 0 or as baleen_filter_create() and baleen_filter_swap().
 */
int baleen_filter_store(const char *name, struct baleen_body *body);

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

int baleen_names_init(void);

/* Takes all names away when no command can add one any more. */
void baleen_names_exit(void);

#endif /* BALEEN_KMOD_NAMES_H */
