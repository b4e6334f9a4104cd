// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Feeds that are due: a child fetches, reads and judges them. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>

#include "daemon.h"
#include "state/entries.h"
#include "state/feeds.h"

/* Downloads have much lower limits; a pipe or a network disk has none. */
#define MAX_UPDATE_US 1800000000ull
#define SOON_US 1000000ull
/* The pause after a failed update, since the same feed is due at once. */
#define AGAIN_US 10000000ull
/* The exit status of 'baleen update' when it changed something. */
#define EXIT_CHANGED 3

extern char **environ;

/**
 * struct update - a running update; one at a time, since downloads are slow and share
 *                 the network
 * @daemon: the daemon
 * @device: the device that has the feeds
 * @child: the process
 * @limit: the timer that ends it
 */
struct update {
	struct daemon *daemon;
	char device[BALEEN_DEVICE_BYTES];
	sd_event_source *child;
	sd_event_source *limit;
};

/**
 * struct search - the next feed that is due
 * @now_ms: the time of the search
 * @due_ms: when the feed found is due
 * @device: its device; empty when no feed was found
 * @current: the device being searched
 */
struct search {
	u64 now_ms;
	u64 due_ms;
	char device[BALEEN_DEVICE_BYTES];
	char current[BALEEN_DEVICE_BYTES];
};

static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;
	u64 due_ms = baleen_feed_due_ms(feed, search->now_ms);

	if (!due_ms || (*search->device && due_ms >= search->due_ms))
		return 0;
	search->due_ms = due_ms;
	memcpy(search->device, search->current, sizeof(search->device));
	return 0;
}

static int look_at_state(const char *device, bool is_kept, void *data)
{
	struct search *search = data;
	struct baleen_rule_store state;

	snprintf(search->current, sizeof(search->current), "%s", device);
	if (baleen_rule_store_open(&state, device, 0, NULL))
		return 0;
	baleen_feeds_each(&state, NULL, look_at_feed, search, NULL);
	baleen_rule_store_close(&state);
	return 0;
}

static void free_update(struct update *update)
{
	sd_event_source_disable_unref(update->child);
	sd_event_source_disable_unref(update->limit);
	update->daemon->update = NULL;
	free(update);
}

static int on_exit_of_update(sd_event_source *source, const siginfo_t *info, void *data)
{
	struct update *update = data;
	struct daemon *daemon = update->daemon;
	bool is_good = info->si_code == CLD_EXITED &&
		       (!info->si_status || info->si_status == EXIT_CHANGED);

	if (is_good) {
		daemon->me.n_updates++;
	} else {
		daemon->me.n_failed_updates++;
		notify(daemon, LOG_WARNING, update->device,
		       "the update of the feeds failed: the last good ones stay in force");
	}
	free_update(update);
	timer_set(daemon->refresh, is_good ? SOON_US : AGAIN_US);
	return 0;
}

static int on_limit(sd_event_source *timer, uint64_t usec, void *data)
{
	struct update *update = data;

	sd_event_source_send_child_signal(update->child, SIGKILL, NULL, 0);
	return 0;
}

static int spawn(struct daemon *daemon, const char *device, pid_t *pid)
{
	char *arguments[] = { "baleen", "update", "--due", (char *)device, NULL };
	posix_spawnattr_t attributes;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawn(pid, daemon->options.command, NULL, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

static int start_update(struct update *update)
{
	struct daemon *daemon = update->daemon;
	pid_t pid;
	int err = sd_event_add_time_relative(daemon->event, &update->limit, CLOCK_MONOTONIC,
					     MAX_UPDATE_US, 0, on_limit, update);

	if (err >= 0)
		err = spawn(daemon, update->device, &pid);
	if (err >= 0)
		err = sd_event_add_child(daemon->event, &update->child, pid, WEXITED,
					 on_exit_of_update, update);
	return err;
}

static int run_update(struct daemon *daemon, const char *device)
{
	struct update *update = calloc(1, sizeof(*update));
	int err;

	if (!update)
		return -ENOMEM;
	update->daemon = daemon;
	snprintf(update->device, sizeof(update->device), "%s", device);
	daemon->update = update;
	err = start_update(update);
	if (err >= 0)
		return 0;
	notify(daemon, LOG_ERR, device, "cannot run '%s update': %s", daemon->options.command,
	       strerror(-err));
	free_update(update);
	return err;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct search search = { .now_ms = baleen_now_ms() };
	u64 wait_us = DAEMON_RESCAN_US;

	/* The end of the update calls this again. */
	if (daemon->update)
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

/* SIGTERM ends a download, but the child completes a change; there is no need to wait. */
void refresh_stop(struct daemon *daemon)
{
	if (!daemon->update)
		return;
	sd_event_source_send_child_signal(daemon->update->child, SIGTERM, NULL, 0);
	free_update(daemon->update);
}
