// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen-fleetd runs while this host has a fleet.conf. It is a process of its own, so that
 * neither the network nor what comes over it holds up, or brings down, what baleend does.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon.h"
#include "fleet/fleet_conf.h"
#include "util/command.h"
#include "util/helper.h"

/* The pause after it ended, doubled each time that it ran for less than MAX_PAUSE_US. */
#define FIRST_PAUSE_US 200000ull
#define MAX_PAUSE_US 30000000ull
/* fleet.conf is new, or was changed. */
#define SOON_US 50000ull

extern char **environ;

static int start_program(pid_t *pid)
{
	char path[PATH_MAX], *arguments[] = { "baleen-fleetd", NULL };
	const struct baleen_spawn spawn = { .path = path, .argv = arguments, .envp = environ };

	baleen_helper_find("baleen-fleetd", path);
	return baleen_spawn(&spawn, pid);
}

static bool is_wanted(void)
{
	char path[BALEEN_FLEET_PATH];

	return !access(baleen_fleet_conf_path(path), F_OK);
}

static void rest(struct daemon *daemon)
{
	u64 ran_us = now_us(daemon) - daemon->fleet_begun_us;

	if (!daemon->fleet_pause_us || ran_us > MAX_PAUSE_US)
		daemon->fleet_pause_us = FIRST_PAUSE_US;
	else if (daemon->fleet_pause_us < MAX_PAUSE_US)
		daemon->fleet_pause_us *= 2;
	timer_set(daemon->fleet_timer, daemon->fleet_pause_us);
}

/* 0: it goes on by itself with another configuration. */
static int on_exit_of_fleetd(sd_event_source *source, const siginfo_t *info, void *data)
{
	struct daemon *daemon = data;

	daemon->fleet_process = sd_event_source_disable_unref(daemon->fleet_process);
	if (info->si_code == CLD_EXITED && !info->si_status) {
		timer_set(daemon->fleet_timer, SOON_US);
		return 0;
	}
	notify(daemon, LOG_WARNING, NULL,
	       "baleen-fleetd ended: what came of the fleet stays in force, and nothing new comes "
	       "until it runs again");
	rest(daemon);
	return 0;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	pid_t pid = 0;
	int err;

	if (daemon->fleet_process || !is_wanted())
		return 0;
	daemon->fleet_begun_us = now_us(daemon);
	err = start_program(&pid);
	if (err >= 0)
		err = sd_event_add_child(daemon->event, &daemon->fleet_process, pid, WEXITED,
					 on_exit_of_fleetd, daemon);
	if (err >= 0)
		return 0;
	if (pid)
		kill(pid, SIGTERM);
	notify(daemon, LOG_ERR, NULL, "cannot run baleen-fleetd: %s", strerror(-err));
	rest(daemon);
	return 0;
}

void fleet_now(struct daemon *daemon)
{
	int enabled = SD_EVENT_OFF;

	if (!daemon->fleet_timer || daemon->fleet_process)
		return;
	/* One that ended rests. */
	sd_event_source_get_enabled(daemon->fleet_timer, &enabled);
	if (enabled == SD_EVENT_OFF)
		timer_set(daemon->fleet_timer, SOON_US);
}

/* A host has one fleet, and one of two that run in a namespace speaks for it. */
int fleet_start(struct daemon *daemon)
{
	int err;

	if (daemon->lock < 0)
		return 0;
	err = timer_make(daemon, &daemon->fleet_timer, 0, look);
	return err < 0 ? err : 0;
}

void fleet_stop(struct daemon *daemon)
{
	if (daemon->fleet_process)
		sd_event_source_send_child_signal(daemon->fleet_process, SIGTERM, NULL, 0);
	daemon->fleet_process = sd_event_source_disable_unref(daemon->fleet_process);
	daemon->fleet_timer = sd_event_source_disable_unref(daemon->fleet_timer);
}
