// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The event loop: timers, signals, changed states, the clock. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "daemon.h"
#include "net/daemon_lock.h"
#include "util/announce.h"
#include "util/command.h"
#include "util/fd.h"

/* --- timers ---------------------------------------------------------------- */

int timer_make(struct daemon *daemon, sd_event_source **timer, u64 after_us,
	       sd_event_time_handler_t handler)
{
	return sd_event_add_time_relative(daemon->event, timer, CLOCK_MONOTONIC, after_us, 1000,
					  handler, daemon);
}

void timer_set(sd_event_source *timer, u64 after_us)
{
	sd_event_source_set_time_relative(timer, after_us);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

u64 now_us(struct daemon *daemon)
{
	uint64_t now = 0;

	sd_event_now(daemon->event, CLOCK_MONOTONIC, &now);
	return now;
}

void timer_sooner(struct daemon *daemon, sd_event_source *timer, u64 after_us)
{
	int enabled = SD_EVENT_OFF;
	uint64_t at;

	if (!sd_event_source_get_enabled(timer, &enabled) || enabled == SD_EVENT_OFF ||
	    sd_event_source_get_time(timer, &at) < 0 || at > now_us(daemon) + after_us)
		timer_set(timer, after_us);
}

/* --- events ---------------------------------------------------------------- */

static void look_again(struct daemon *daemon)
{
	upkeep_now(daemon);
	refresh_now(daemon);
	routes_now(daemon);
	drops_now(daemon);
	limits_now(daemon);
	fleet_now(daemon);
	caches_now(daemon);
}

static int watch_changes(struct daemon *daemon);

static int on_change(sd_event_source *source, const struct inotify_event *event, void *data)
{
	struct daemon *daemon = data;

	look_again(daemon);
	/* Somebody removed the file: writers make another. */
	if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) {
		daemon->changes = sd_event_source_disable_unref(daemon->changes);
		watch_changes(daemon);
	}
	return 0;
}

/* The file alone, not its directory: baleend writes there, too, and would wake itself. */
static int watch_changes(struct daemon *daemon)
{
	char path[PATH_MAX];
	int err = baleen_announce_path(path, sizeof(path));

	baleen_announce();
	if (err >= 0)
		err = sd_event_add_inotify(daemon->event, &daemon->changes, path,
					   IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF, on_change,
					   daemon);
	if (err < 0)
		notify(daemon, LOG_ERR, NULL, "%s: %s", path, strerror(-err));
	return err < 0 ? err : 0;
}

/* The timer never fires; the kernel cancels it when the clock is set. */
static int arm_clock(struct daemon *daemon)
{
	const struct itimerspec never = { .it_value.tv_sec = INT32_MAX };

	return timerfd_settime(daemon->clock, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
			       NULL);
}

static int on_clock(sd_event_source *source, int fd, uint32_t events, void *data)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0 && errno != ECANCELED)
		return 0;
	arm_clock(data);
	look_again(data);
	return 0;
}

/* Entries expire and feeds are due by the time of day, but timers count elapsed time. */
static int watch_clock(struct daemon *daemon)
{
	int err;

	daemon->clock = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (daemon->clock < 0 || arm_clock(daemon)) {
		err = -errno;
		notify(daemon, LOG_ERR, NULL, "cannot watch the clock: %m");
		return err;
	}
	err = sd_event_add_io(daemon->event, NULL, daemon->clock, EPOLLIN, on_clock, daemon);
	return err < 0 ? err : 0;
}

static int add_signals(struct daemon *daemon)
{
	static const int signals[] = { SIGTERM, SIGINT };
	sigset_t blocked;
	int err = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]) && err >= 0; i++)
		err = sd_event_add_signal(daemon->event, NULL, signals[i], NULL, NULL);
	return err < 0 ? err : 0;
}

/* A second one is in nobody's way, and the first is the one that doctor finds. */
static void hold_lock(struct daemon *daemon)
{
	daemon->lock = baleen_daemon_lock();
	if (daemon->lock < 0 && daemon->lock != -EAGAIN)
		notify(daemon, LOG_ERR, NULL, "cannot be found by 'baleen doctor': %s",
		       strerror(-daemon->lock));
}

static int start(struct daemon *daemon)
{
	int err = add_signals(daemon);

	baleen_tie_children();
	if (!err)
		err = watch_changes(daemon);
	if (!err)
		hold_lock(daemon);
	if (!err)
		err = watch_clock(daemon);
	if (!err)
		err = upkeep_start(daemon);
	if (!err)
		err = refresh_start(daemon);
	if (!err)
		err = routes_start(daemon);
	if (!err)
		err = links_start(daemon);
	if (!err)
		err = drops_start(daemon);
	if (!err)
		err = limits_start(daemon);
	if (!err)
		err = fleet_start(daemon);
	if (!err)
		err = caches_start(daemon);
	if (!err)
		err = http_start(daemon);
	return err;
}

int daemon_loop(struct daemon *daemon)
{
	int err = sd_event_new(&daemon->event);

	if (err < 0)
		return err;
	err = start(daemon);
	if (!err) {
		sd_event_set_watchdog(daemon->event, true);
		sd_notify(false, "READY=1");
		err = sd_event_loop(daemon->event);
		sd_notify(false, "STOPPING=1");
	}
	child_stop(&daemon->child);
	routes_stop(daemon);
	http_stop(daemon);
	drops_stop(daemon);
	limits_stop(daemon);
	fleet_stop(daemon);
	caches_stop(daemon);
	links_stop(daemon);
	baleen_close_fd(&daemon->clock);
	baleen_close_fd(&daemon->lock);
	baleen_metrics_counts_free(&daemon->counts);
	sd_event_unref(daemon->event);
	return err;
}
