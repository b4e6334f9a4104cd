// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Feeds that are due: another process gets, reads and judges them. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>

#include "daemon.h"
#include "feeds.h"
#include "singles.h"

/* One after the other: a download is slow, and the network is shared. */
#define MAX_CHILDREN 1
/* After a failure, and with the exit status of a change. */
#define RETRY_MS 300000ull
#define EXIT_CHANGED 3

extern char **environ;

/**
 * struct update - an update that runs
 * @daemon: the daemon
 * @device: of it
 */
struct update {
	struct daemon *daemon;
	char device[BALEEN_DEVICE_BYTES];
};

/**
 * struct search - the next feed that is due
 * @now_ms: the time of the search
 * @due_ms: when the one found is due
 * @device: of it; empty when there is none
 * @current: the device whose feeds are looked at
 */
struct search {
	u64 now_ms;
	u64 due_ms;
	char device[BALEEN_DEVICE_BYTES];
	char current[BALEEN_DEVICE_BYTES];
};

static u64 due_of(const struct baleen_feed *feed)
{
	u64 every_ms = feed->wanted.every_s * 1000ull;

	if (feed->n_failures && every_ms > RETRY_MS)
		every_ms = RETRY_MS;
	return feed->checked_ms + every_ms;
}

static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;
	u64 due_ms = due_of(feed);

	if (!feed->wanted.every_s || (*search->device && due_ms >= search->due_ms))
		return 0;
	search->due_ms = due_ms;
	memcpy(search->device, search->current, sizeof(search->device));
	return 0;
}

static int look_at_state(const char *device, bool is_kept, void *data)
{
	struct search *search = data;
	struct baleen_state state;

	snprintf(search->current, sizeof(search->current), "%s", device);
	if (baleen_state_open(&state, device, 0, NULL))
		return 0;
	baleen_feeds_each(&state, NULL, look_at_feed, search, NULL);
	baleen_state_close(&state);
	return 0;
}

static int on_exit_of_update(sd_event_source *source, const siginfo_t *info, void *data)
{
	struct update *update = data;
	struct daemon *daemon = update->daemon;
	bool is_good = info->si_code == CLD_EXITED &&
		       (!info->si_status || info->si_status == EXIT_CHANGED);

	daemon->n_children--;
	if (is_good)
		daemon->me.n_updates++;
	else
		daemon->me.n_failed_updates++;
	if (!is_good)
		tell(daemon, LOG_WARNING, update->device,
		     "the update of the feeds failed: the last good ones stay in force");
	free(update);
	sd_event_source_unref(source);
	refresh_now(daemon);
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

static int run_update(struct daemon *daemon, const char *device)
{
	struct update *update = calloc(1, sizeof(*update));
	sd_event_source *source = NULL;
	pid_t pid;
	int err;

	if (!update)
		return -ENOMEM;
	update->daemon = daemon;
	snprintf(update->device, sizeof(update->device), "%s", device);
	err = spawn(daemon, device, &pid);
	if (!err)
		err = sd_event_add_child(daemon->event, &source, pid, WEXITED, on_exit_of_update,
					 update);
	if (err < 0) {
		tell(daemon, LOG_ERR, device, "cannot run '%s update': %s",
		     daemon->options.command, strerror(-err));
		free(update);
		return err;
	}
	daemon->n_children++;
	return 0;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct search search = { .now_ms = baleen_now_ms() };
	u64 wait_us = DAEMON_RESCAN_US;

	/* Its end comes here again. */
	if (daemon->n_children >= MAX_CHILDREN)
		return 0;
	baleen_state_each(look_at_state, &search, NULL);
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
	/* Not at once: a writer may be adding one feed after the other. */
	timer_set(daemon->refresh, 1000000);
}

int refresh_start(struct daemon *daemon)
{
	int err = timer_make(daemon, &daemon->refresh, 1000000, look);

	return err < 0 ? err : 0;
}
