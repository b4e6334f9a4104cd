// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices that come and go: what they leave behind is bounded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "deploy/conf_plan.h"
#include "deploy/gone.h"
#include "net/device.h"
#include "state/rule_store_each.h"
#include "state/rule_store_path.h"
#include "util/array.h"
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

static bool has_kept_state(const char *device)
{
	struct baleen_rule_store state;
	bool is_kept;

	if (baleen_rule_store_open(&state, device, 0, NULL))
		return false;
	is_kept = state.is_kept;
	baleen_rule_store_close(&state);
	return is_kept;
}

static bool note_filter(const struct baleen_stale_pins *gone, void *data)
{
	struct filters *filters = data;

	if (*gone->device && has_kept_state(gone->device)) {
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

	if (is_among(filters->ifindex, filters->n, gone->ifindex))
		return true;
	if (filters->n_by_hand <= BALEEN_GONE_KEPT ||
	    !is_among(filters->by_hand + BALEEN_GONE_KEPT, filters->n_by_hand - BALEEN_GONE_KEPT,
		      gone->ifindex))
		return false;
	baleen_rule_store_forget(gone->netns_cookie, gone->ifindex);
	return true;
}

static void tidy_filters(void)
{
	struct filters filters = { .n = 0 };

	baleen_stale_pins_forget_deleted(note_filter, &filters);
	if (filters.n_by_hand > BALEEN_GONE_KEPT)
		qsort(filters.by_hand, filters.n_by_hand, sizeof(int), compare_age);
	if (filters.n || filters.n_by_hand > BALEEN_GONE_KEPT)
		baleen_stale_pins_forget_deleted(goes, &filters);
	free(filters.ifindex);
	free(filters.by_hand);
}

/* --- states ------------------------------------------------------------------ */

/**
 * struct gone_state - a kept state whose device is not there
 * @device: name of the device
 * @changed: when it was last changed
 */
struct gone_state {
	char device[BALEEN_POINT_BYTES];
	struct timespec changed;
};

struct gone_states {
	struct gone_state *state;
	size_t n;
};

static bool is_absent(const char *device)
{
	return !baleen_device_index(device) && errno == ENODEV;
}

static int note_state(const char *device, void *data)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES], database[BALEEN_RULE_STORE_NAME_BYTES];
	struct gone_states *states = data;
	struct stat info;

	if (!is_absent(device) || baleen_rule_store_name(device, true, path, NULL))
		return 0;
	snprintf(database, sizeof(database), "%s/" BALEEN_RULE_STORE_DB, path);
	if (stat(database, &info))
		return 0;
	if (baleen_array_add(&states->state, states->n))
		return -ENOMEM;
	states->state[states->n] = (struct gone_state){ .changed = info.st_mtim };
	strcpy(states->state[states->n++].device, device);
	return 0;
}

static int compare_changed(const void *a, const void *b)
{
	const struct timespec *x = &((const struct gone_state *)a)->changed;
	const struct timespec *y = &((const struct gone_state *)b)->changed;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

/* Only default.conf says which devices it is for. */
static bool is_as_applied(const struct baleen_rule_store *state, const char *text)
{
	struct baleen_conf applied = { .text = NULL }, now = { .text = NULL };
	char *wanted = NULL, *is = NULL;
	bool is_same = false;

	if (!baleen_conf_parse(text, strlen(text), state->device, &applied, NULL) &&
	    *applied.match && !baleen_conf_from_state(state, &now, NULL)) {
		applied.match[0] = '\0';
		wanted = baleen_conf_format(&applied, true);
		is = baleen_conf_format(&now, true);
		is_same = wanted && is && !strcmp(wanted, is);
	}
	free(wanted);
	free(is);
	baleen_conf_free(&applied);
	baleen_conf_free(&now);
	return is_same;
}

/* Whoever has changed it by hand wants it back with its device. */
static bool is_of_default(const struct baleen_rule_store *state)
{
	char *text = NULL;
	bool is_same;

	if (!state->is_kept || baleen_rule_store_get_text(state, "conf", &text) || !text)
		return false;
	is_same = is_as_applied(state, text);
	free(text);
	return is_same;
}

static bool is_read_of_default(const char *device)
{
	struct baleen_rule_store state;
	bool is;

	if (baleen_rule_store_open(&state, device, 0, NULL))
		return false;
	is = is_of_default(&state);
	baleen_rule_store_close(&state);
	return is;
}

/* The device may have come back: who waits for this lock restores it. */
static void forget_state(const char *device)
{
	struct baleen_rule_store state;

	if (baleen_rule_store_open(&state, device, AT_ONCE_MS, NULL))
		return;
	if (is_absent(device) && is_of_default(&state))
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
		qsort(states.state, states.n, sizeof(*states.state), compare_changed);
	for (size_t i = 0; i < states.n && states.n > BALEEN_GONE_KEPT; i++)
		if (is_read_of_default(states.state[i].device) && ++n_of_default > BALEEN_GONE_KEPT)
			forget_state(states.state[i].device);
	free(states.state);
}

void baleen_gone_tidy(void)
{
	tidy_filters();
	tidy_states();
}
