// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Feeds and never-names that are due: a child fetches, reads and judges them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "daemon.h"
#include "net/device.h"
#include "state/entries.h"
#include "state/feeds.h"
#include "state/never_names.h"
#include "state/rule_store_each.h"

#define SOON_US 1000000ull
/* The pause after a failed update, since the same feed is due at once. */
#define AGAIN_US 10000000ull
/**
 * struct search - the next feed or name that is due
 * @now_ms: the time of the search
 * @due_ms: when it is due
 * @device: its device; empty when none was found
 * @current: the device being searched
 */
struct search {
	u64 now_ms;
	u64 due_ms;
	char device[BALEEN_POINT_BYTES];
	char current[BALEEN_POINT_BYTES];
};

static void look_at(struct search *search, u64 due_ms)
{
	if (!due_ms || (*search->device && due_ms >= search->due_ms))
		return;
	search->due_ms = due_ms;
	memcpy(search->device, search->current, sizeof(search->device));
}

static int look_at_name(const struct baleen_never_name *name, void *data)
{
	struct search *search = data;

	look_at(search, baleen_never_name_due_ms(name, search->now_ms));
	return 0;
}

static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;

	look_at(search, baleen_feed_due_ms(feed, search->now_ms));
	return 0;
}

static int look_at_state(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;

	if (found->err)
		return 0;
	snprintf(search->current, sizeof(search->current), "%s", found->device);
	baleen_feeds_each(&found->state, NULL, look_at_feed, search, NULL);
	baleen_never_names_each(&found->state, look_at_name, search, NULL);
	return 0;
}

static void on_end(struct daemon *daemon, const char *device, bool is_good)
{
	if (is_good) {
		daemon->me.n_updates++;
	} else {
		daemon->me.n_failed_updates++;
		notify(daemon, LOG_WARNING, device,
		       "the update of the feeds failed: the last good ones stay in force");
	}
	timer_set(daemon->refresh, is_good ? SOON_US : AGAIN_US);
	links_now(daemon);
}

static int run_update(struct daemon *daemon, const char *device)
{
	char *arguments[] = { "baleen", "update", "--due", (char *)device, NULL };

	return child_start(daemon, &daemon->child, device, arguments, on_end);
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct search search = { .now_ms = baleen_now_ms() };
	u64 wait_us = DAEMON_RESCAN_US;

	/* The end of the child calls this again. */
	if (daemon->child)
		return 0;
	baleen_rule_store_each(look_at_state, &search, NULL);
	if (*search.device && search.due_ms <= search.now_ms) {
		if (!run_update(daemon, search.device))
			return 0;
	} else if (*search.device && (search.due_ms - search.now_ms) * 1000 < wait_us) {
		wait_us = (search.due_ms - search.now_ms) * 1000;
	}
	timer_set(daemon->refresh, wait_us);
	return 0;
}

void refresh_now(struct daemon *daemon)
{
	/* Wait a moment: a writer may add several feeds. */
	timer_sooner(daemon, daemon->refresh, SOON_US);
}

int refresh_start(struct daemon *daemon)
{
	int err = timer_make(daemon, &daemon->refresh, SOON_US, look);

	return err < 0 ? err : 0;
}
