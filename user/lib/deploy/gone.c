// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices that come and go: what they leave behind is bounded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "deploy/conf_edits.h"
#include "deploy/gone.h"
#include "net/device.h"
#include "state/rule_store_commit.h"
#include "state/rule_store_each.h"
#include "state/rule_store_path.h"
#include "util/array.h"
#include "util/clock.h"
#include "xdp/stale_pins.h"

/* Long enough to take a lock that nobody has. */
#define AT_ONCE_MS 1

/* --- filters ----------------------------------------------------------------- */

/**
 * struct filters - those whose device was deleted
 * @ifindex: numbers of the devices, of those that go
 * @n: how many
 * @by_hand: the same of those that nothing can make again
 * @n_by_hand: how many
 */
struct filters {
	int *ifindex;
	size_t n;
	int *by_hand;
	size_t n_by_hand;
};

static bool note_filter(const struct baleen_stale_pins *gone, void *data)
{
	struct filters *filters = data;

	if (!gone->is_link)
		return false;
	if (*gone->device && baleen_rule_store_is_kept(gone->device)) {
		if (!baleen_array_add(&filters->ifindex, filters->n))
			filters->ifindex[filters->n++] = gone->ifindex;
	} else if (!baleen_array_add(&filters->by_hand, filters->n_by_hand)) {
		filters->by_hand[filters->n_by_hand++] = gone->ifindex;
	}
	return false;
}

/* Numbers are given in their order, and those of what goes out have a minus. */
static int compare_age(const void *a, const void *b)
{
	return abs(*(const int *)b) - abs(*(const int *)a);
}

static bool is_among(const int *ifindex, size_t n, int wanted)
{
	for (size_t i = 0; i < n; i++)
		if (ifindex[i] == wanted)
			return true;
	return false;
}

static bool goes(const struct baleen_stale_pins *gone, void *data)
{
	const struct filters *filters = data;

	return is_among(filters->ifindex, filters->n, gone->ifindex) ||
	       (filters->n_by_hand > BALEEN_GONE_KEPT &&
		is_among(filters->by_hand + BALEEN_GONE_KEPT, filters->n_by_hand - BALEEN_GONE_KEPT,
			 gone->ifindex));
}

/* A kept state goes by its name: these are its marks. */
static void forget_by_number(const struct baleen_stale_pins *gone, void *data)
{
	baleen_rule_store_forget(gone->netns_cookie, gone->ifindex);
}

static void tidy_filters(void)
{
	struct filters filters = { .n = 0 };

	baleen_stale_pins_forget_deleted(note_filter, NULL, &filters);
	if (filters.n_by_hand > BALEEN_GONE_KEPT)
		qsort(filters.by_hand, filters.n_by_hand, sizeof(int), compare_age);
	if (filters.n || filters.n_by_hand > BALEEN_GONE_KEPT)
		baleen_stale_pins_forget_deleted(goes, forget_by_number, &filters);
	free(filters.ifindex);
	free(filters.by_hand);
}

/* --- states ------------------------------------------------------------------ */

/* An empty file in a state, as old as its device was first seen to be gone. */
#define GONE "gone"

/* A device that has not come an hour after boot does not come. */
#define BOOTED_NS 3600000000000ull

/**
 * struct gone_state - a kept state whose device is not there
 * @device: name of the device
 * @since: when it went
 */
struct gone_state {
	char device[BALEEN_POINT_BYTES];
	struct timespec since;
};

struct gone_states {
	struct gone_state *state;
	size_t n;
};

static bool is_absent(const char *device)
{
	return !baleen_device_index(device) && errno == ENODEV;
}

static int compare_times(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* A file that is older than the last change of the state is of an earlier time. */
static int note_state(const char *device, void *data)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES], database[BALEEN_RULE_STORE_NAME_BYTES];
	char gone[BALEEN_RULE_STORE_NAME_BYTES];
	struct gone_states *states = data;
	struct stat went, changed;

	if (baleen_rule_store_name(device, true, path, NULL))
		return 0;
	snprintf(database, sizeof(database), "%s/" BALEEN_RULE_STORE_DB, path);
	snprintf(gone, sizeof(gone), "%s/" GONE, path);
	if (!is_absent(device)) {
		unlink(gone);
		return 0;
	}
	mknod(gone, S_IFREG | 0600, 0);
	if (lstat(database, &changed))
		return 0;
	if (lstat(gone, &went) || compare_times(&went.st_mtim, &changed.st_mtim) < 0)
		went = changed;
	if (baleen_array_add(&states->state, states->n))
		return -ENOMEM;
	states->state[states->n] = (struct gone_state){ .since = went.st_mtim };
	strcpy(states->state[states->n++].device, device);
	return 0;
}

/* The last one that went first. */
static int compare_gone(const void *a, const void *b)
{
	return compare_times(&((const struct gone_state *)b)->since,
			     &((const struct gone_state *)a)->since);
}

/* By its number, since udev restores a device before it has its name. After a boot devices come one
 * after the other.
 */
static bool is_deleted(const struct baleen_rule_store *state)
{
	struct baleen_rule_store_owner was = { .ifindex = 0 }, is;
	char name[BALEEN_POINT_BYTES];

	if (!is_absent(state->device) || baleen_rule_store_read_owner(state, &was, NULL) ||
	    baleen_rule_store_owner(state->device, &is, NULL))
		return false;
	if (strcmp(was.boot, is.boot))
		return baleen_clock_ns(CLOCK_BOOTTIME) > BOOTED_NS;
	return was.netns_cookie == is.netns_cookie && !baleen_device_name(was.ifindex, name);
}

/* Only default.conf says which devices it is for. */
static bool is_as_applied(const struct baleen_rule_store *state)
{
	struct baleen_conf applied, now = { .text = NULL };
	bool is_same;

	if (baleen_conf_applied(state, &applied))
		return false;
	is_same = *applied.match && !baleen_conf_from_state(state, &now, NULL) &&
		  baleen_conf_is_same(&applied, &now);
	baleen_conf_free(&applied);
	baleen_conf_free(&now);
	return is_same;
}

/* Whoever has changed it by hand wants it back with its device. */
static bool may_go(const struct baleen_rule_store *state)
{
	return state->is_kept && is_deleted(state) && is_as_applied(state);
}

static bool may_be_forgotten(const char *device)
{
	struct baleen_rule_store state;
	bool is;

	if (baleen_rule_store_open(&state, device, 0, NULL))
		return false;
	is = may_go(&state);
	baleen_rule_store_close(&state);
	return is;
}

/* Asked again behind the lock: the device may have come back. */
static void forget_state(const char *device)
{
	struct baleen_rule_store state;

	if (baleen_rule_store_open(&state, device, AT_ONCE_MS, NULL))
		return;
	if (may_go(&state))
		baleen_rule_store_remove(&state);
	else
		baleen_rule_store_close(&state);
}

static void tidy_states(void)
{
	const struct baleen_rule_store_stamps none = { .n = 0 };
	struct gone_states states = { .n = 0 };
	size_t n_of_default = 0;

	baleen_rule_store_each_news(&none, note_state, &states, NULL);
	if (states.n > BALEEN_GONE_KEPT)
		qsort(states.state, states.n, sizeof(*states.state), compare_gone);
	for (size_t i = 0; i < states.n && states.n > BALEEN_GONE_KEPT; i++)
		if (may_be_forgotten(states.state[i].device) && ++n_of_default > BALEEN_GONE_KEPT)
			forget_state(states.state[i].device);
	free(states.state);
}

void baleen_gone_tidy(void)
{
	tidy_filters();
	tidy_states();
}
