// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Commands that baleend runs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>

#include "daemon.h"
#include "net/device.h"
#include "util/command.h"

/* Downloads have much lower limits; a pipe or a network disk has none. */
#define MAX_CHILD_US 1800000000ull
/* The exit status of a command that changed something. */
#define EXIT_CHANGED 3

extern char **environ;

/**
 * struct child - the command that runs
 * @daemon: the daemon
 * @slot: where it is known until it ends
 * @device: the device that it is for
 * @on_end: called when it has ended
 * @process: the process
 * @limit: the timer that ends it
 */
struct child {
	struct daemon *daemon;
	struct child **slot;
	char device[BALEEN_POINT_BYTES];
	child_handler_t on_end;
	sd_event_source *process;
	sd_event_source *limit;
};

static void free_child(struct child *child)
{
	sd_event_source_disable_unref(child->process);
	sd_event_source_disable_unref(child->limit);
	*child->slot = NULL;
	free(child);
}

static int on_exit_of_child(sd_event_source *source, const siginfo_t *info, void *data)
{
	struct child *child = data, ended = *child;
	bool is_good = info->si_code == CLD_EXITED &&
		       (!info->si_status || info->si_status == EXIT_CHANGED);

	free_child(child);
	ended.on_end(ended.daemon, ended.device, is_good);
	return 0;
}

static int on_limit(sd_event_source *timer, uint64_t usec, void *data)
{
	struct child *child = data;

	sd_event_source_send_child_signal(child->process, SIGKILL, NULL, 0);
	return 0;
}

static int start(struct child *child, char *const *arguments)
{
	struct daemon *daemon = child->daemon;
	const struct baleen_spawn spawn = { .path = daemon->options.command,
					    .argv = arguments,
					    .envp = environ };
	pid_t pid;
	int err = sd_event_add_time_relative(daemon->event, &child->limit, CLOCK_MONOTONIC,
					     MAX_CHILD_US, 0, on_limit, child);

	if (err >= 0)
		err = baleen_spawn(&spawn, &pid);
	if (err >= 0)
		err = sd_event_add_child(daemon->event, &child->process, pid, WEXITED,
					 on_exit_of_child, child);
	return err;
}

int child_start(struct daemon *daemon, struct child **slot, const char *device,
		char *const *arguments, child_handler_t on_end)
{
	struct child *child;
	int err;

	if (*slot)
		return -EBUSY;
	child = calloc(1, sizeof(*child));
	if (!child)
		return -ENOMEM;
	child->daemon = daemon;
	child->slot = slot;
	child->on_end = on_end;
	snprintf(child->device, sizeof(child->device), "%s", device);
	*slot = child;
	err = start(child, arguments);
	if (err >= 0)
		return 0;
	notify(daemon, LOG_ERR, device, "cannot run '%s %s': %s", daemon->options.command,
	       arguments[1], strerror(-err));
	free_child(child);
	return err;
}

/* SIGTERM ends a download, but the child completes a change; there is no need to wait. */
void child_stop(struct child **slot)
{
	if (!*slot)
		return;
	sd_event_source_send_child_signal((*slot)->process, SIGTERM, NULL, 0);
	free_child(*slot);
}
