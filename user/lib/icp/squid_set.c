// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The objects that a cache holds, made of what it says came and went. */
#include <errno.h>
#include <stdlib.h>

#include "list/list.h"

#include "icp/squid_set.h"
#include "util/array.h"

/* Events at first, and the least that are sorted on the way. */
#define MIN_EVENTS 65536

static bool is_insert(const struct baleen_squid_event *event)
{
	return event->order & 1;
}

static int compare_objects(const struct baleen_squid_object *a, const struct baleen_squid_object *b)
{
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

static int compare_events(const void *a, const void *b)
{
	const struct baleen_squid_event *x = a, *y = b;
	int order = compare_objects(&x->object, &y->object);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Leaves the last event of each object, if it is there since then: what was deleted is
 * no other than what never came.
 */
static void settle(struct baleen_squid_set *set)
{
	size_t n = 0;

	if (set->n_events)
		qsort(set->event, set->n_events, sizeof(*set->event), compare_events);
	for (size_t i = 0; i < set->n_events; i++) {
		bool is_last = i + 1 == set->n_events ||
			       compare_objects(&set->event[i].object, &set->event[i + 1].object);

		if (is_last && is_insert(&set->event[i]))
			set->event[n++] = set->event[i];
	}
	set->n_events = set->n_kept = n;
}

static int make_room(struct baleen_squid_set *set)
{
	/* Sorted only when that may free half of it, so that it is seldom. */
	if (set->n_events >= MIN_EVENTS && set->n_events / 2 >= set->n_kept)
		settle(set);
	if (set->n_events <= set->room / 2 && set->room)
		return 0;
	return baleen_array_reserve(&set->event, &set->room, set->room + 1);
}

int baleen_squid_set_put(struct baleen_squid_set *set, u64 hi, u64 lo,
			 enum baleen_store_event event, s64 until)
{
	if (event != BALEEN_STORE_INSERT && event != BALEEN_STORE_DELETE)
		return 0;
	if (set->n_events == set->room && make_room(set))
		return -ENOMEM;
	set->event[set->n_events++] = (struct baleen_squid_event){
		.object = { .hi = hi, .lo = lo, .until = until },
		.order = ++set->n_order << 1 | (event == BALEEN_STORE_INSERT),
	};
	return 0;
}

int baleen_squid_set_finish(struct baleen_squid_set *set)
{
	struct baleen_squid_object *object;

	if (set->object)
		return 0;
	settle(set);
	object = malloc((set->n_events + 1) * sizeof(*object));
	if (!object)
		return -ENOMEM;
	for (size_t i = 0; i < set->n_events; i++)
		object[i] = set->event[i].object;
	set->object = object;
	set->n = set->n_events;
	free(set->event);
	set->event = NULL;
	set->n_events = set->room = set->n_kept = 0;
	return 0;
}

int baleen_squid_set_add(struct baleen_squid_set *set, const struct baleen_squid_set *other)
{
	int err = 0;

	for (size_t i = 0; i < other->n && !err; i++)
		err = baleen_squid_set_put(set, other->object[i].hi, other->object[i].lo,
					   BALEEN_STORE_INSERT, other->object[i].until);
	return err;
}

int baleen_squid_set_to_list(const struct baleen_squid_set *set, struct baleen_list *list)
{
	struct baleen_list made = { .key_spec = BALEEN_KEY_SQUID };

	made.key = calloc(set->n + 1, sizeof(*made.key));
	if (!made.key)
		return -ENOMEM;
	for (size_t i = 0; i < set->n; i++)
		made.key[i] = baleen_squid_key(set->object[i].hi, set->object[i].lo);
	made.n_key = made.room_key = set->n;
	made.n_listed = set->n;
	*list = made;
	return 0;
}

void baleen_squid_set_free(struct baleen_squid_set *set)
{
	free(set->object);
	free(set->event);
	*set = (struct baleen_squid_set){ 0 };
}
