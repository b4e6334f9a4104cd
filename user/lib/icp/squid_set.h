/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The objects that a cache holds, by their keys, made of what it says came and went.
 *
 * Idea: every event is appended with its key. To finish, events are sorted by key, of
 * one key in the order in which they came, and only the last one counts. Now and then
 * that is done on the way, so that a log of years takes the memory of what was in the
 * cache, not of what happened to it.
 */
#ifndef BALEEN_SQUID_SET_H
#define BALEEN_SQUID_SET_H

#include <baleen/squid.h>

struct baleen_list;

/**
 * struct baleen_squid_object - one object, or what became of it
 * @hi: high half of its key, see squid.h
 * @lo: low half of its key
 * @until: when it is no longer fresh, in seconds since 1970; 0: never was, or not known
 */
struct baleen_squid_object {
	u64 hi;
	u64 lo;
	s64 until;
};

/**
 * struct baleen_squid_event - a change of the set
 * @object: of what
 * @order: when, and whether it is there since then; for squid_set.c alone
 */
struct baleen_squid_event {
	struct baleen_squid_object object;
	u64 order;
};

/**
 * struct baleen_squid_set - objects
 * @object: those that are in, sorted by key, each once; NULL before
 *          baleen_squid_set_finish()
 * @n: how many
 * @event: what came, until then
 * @n_events: how many
 * @room: allocated
 * @n_kept: events that were left when they were last sorted
 * @n_order: events in all
 *
 * All zeros is an empty set.
 */
struct baleen_squid_set {
	struct baleen_squid_object *object;
	size_t n;
	struct baleen_squid_event *event;
	size_t n_events, room, n_kept;
	u64 n_order;
};

/**
 * baleen_squid_set_put() - append an event
 * @set: not finished
 * @hi: high half of the key
 * @lo: low half of the key
 * @event: BALEEN_STORE_INSERT or BALEEN_STORE_DELETE; others change nothing
 * @until: of struct baleen_squid_object
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_squid_set_put(struct baleen_squid_set *set, u64 hi, u64 lo,
			 enum baleen_store_event event, s64 until);

/**
 * baleen_squid_set_finish() - sort, and leave what is in
 * @set: as it was put together; finished again is the same
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_squid_set_finish(struct baleen_squid_set *set);

/**
 * baleen_squid_set_add() - append all objects of another set
 * @set: not finished
 * @other: finished
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_squid_set_add(struct baleen_squid_set *set, const struct baleen_squid_set *other);

/**
 * baleen_squid_set_to_list() - the set as baleen_build() takes it
 * @set: finished
 * @list: filled in with a finished list of BALEEN_KEY_SQUID; free with
 *        baleen_list_free(); untouched on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_squid_set_to_list(const struct baleen_squid_set *set, struct baleen_list *list);

/**
 * baleen_squid_set_free() - free the arrays and make the set empty
 * @set: the set
 */
void baleen_squid_set_free(struct baleen_squid_set *set);

#endif /* BALEEN_SQUID_SET_H */
