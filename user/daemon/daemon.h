/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of baleend:
 *
 *      main       options
 *      loop       timers, signals, sd_notify, changed states, the clock
 *      notify     messages to the journal
 *      upkeep     entries that expire, configurations that nobody confirms
 *      child      the commands that it runs
 *      refresh    feeds that are due: 'baleen update'
 *      routes     tables of routes that changed: 'baleen update --routes'
 *      links      devices that come back, and new ones: 'baleen apply --new'
 *      drops      sampled drops to the journal
 *      limits     sources that went over a limit to bans
 *      fleet      baleen-fleetd, which speaks with other hosts
 *      caches     answers for caches, and what these hold: 'baleen icp resync'
 *      http       metrics over HTTP and as a file
 *
 * and, instead of all this, the server of 'baleen icp serve': serve_digest.
 *
 * The kernel filters; baleend only maintains the filters. It holds the lock of a
 * device only for one change, and never waits for another writer: it tries again
 * later.
 */
#ifndef BALEEN_DAEMON_H
#define BALEEN_DAEMON_H

#include <sqlite3.h>
#include <systemd/sd-event.h>

#include "daemon/http_listen.h"
#include "report/metrics_source.h"

/* Pause before the next attempt when another writer holds the lock. */
#define DAEMON_RETRY_US 100000ull
/* The same after a failure, such as a full disk. */
#define DAEMON_FAILED_US 5000000ull
/* How long to wait for the lock of another writer. */
#define DAEMON_LOCK_MS 20
/* Look again after this time, even when no writer announced a change. So baleend at rest
 * wakes up three times a minute: for entries, for feeds and for sampled drops.
 */
#define DAEMON_RESCAN_US 60000000ull

/* The same error of the same device is logged again after this time. */
#define DAEMON_REPEAT_US 600000000ull
#define DAEMON_MAX_LOGGED 32

struct MHD_Daemon;

/**
 * struct daemon_options - the command line
 * @listen: address and port of the HTTP endpoint; NULL for none
 * @textfile: for node_exporter; NULL for none
 * @command: path of baleen, for updates of feeds and for new devices
 * @no_drops: leave the sampled drops to others
 * @route_buffer: bytes that the kernel may keep of what it tells of routes
 */
struct daemon_options {
	const char *listen;
	const char *textfile;
	const char *command;
	bool no_drops;
	u32 route_buffer;
};

/**
 * struct daemon_logged - an error that was logged
 * @hash: hash of device and text
 * @at_us: when
 */
struct daemon_logged {
	u64 hash;
	u64 at_us;
};

/**
 * struct daemon - the state of baleend
 * @options: the command line
 * @event: the event loop
 * @upkeep: timer of the next entry that expires
 * @refresh: timer of the next feed that is due
 * @child: the command that runs, or NULL; one at a time, since downloads are slow and share
 *         the network
 * @followed: the tables of routes that devices have as feeds
 * @route_timer: timer of the next look at them
 * @route_child: the running update of them, or NULL
 * @arrivals: timer of new devices
 * @link: netlink socket with events of devices
 * @known: the devices that exist
 * @is_link_gone: one was deleted, and what it has left was not looked at yet
 * @http: the HTTP server
 * @http_timer: closes slow connections
 * @me: metrics of baleend itself
 * @counts: counts of tables, for the metrics
 * @seen: sampled drops, for 'baleen why'; NULL when they cannot be stored
 * @drops: timer of the next look at sampled drops
 * @sampled: ring buffers that are waited for, a list
 * @limits: timer of the next look at sources over a limit
 * @limits_us: when the last look was
 * @limited: devices whose rules have limits, a list
 * @fleet_timer: timer of the next start of baleen-fleetd
 * @fleet_process: it, while it runs
 * @fleet_begun_us: when it was started
 * @fleet_pause_us: how long it rested when it ended the last time
 * @caches_timer: timer of the next look at caches
 * @caches: siblings that have a source, a list
 * @changes: fires when a state or a filter is another one
 * @clock: fires when the time of day is set
 * @lock: tells that it runs
 * @logged: the last errors
 */
struct daemon {
	struct daemon_options options;
	sd_event *event;
	sd_event_source *upkeep;
	sd_event_source *refresh;
	struct child *child;
	struct followed *followed;
	sd_event_source *route_timer;
	struct child *route_child;
	sd_event_source *arrivals;
	int link_fd; /* -1: none */
	struct known *known;
	bool is_link_gone;
	struct http_server http;
	sd_event_source *http_timer;
	struct baleen_metrics_daemon me;
	struct baleen_metrics_counts counts;
	sqlite3 *seen;
	sd_event_source *drops;
	struct sampled *sampled;
	sd_event_source *limits;
	u64 limits_us;
	struct limited *limited;
	sd_event_source *fleet_timer;
	sd_event_source *fleet_process;
	u64 fleet_begun_us;
	u64 fleet_pause_us;
	sd_event_source *caches_timer;
	struct cache *caches;
	sd_event_source *changes;
	int clock;
	int lock;
	struct daemon_logged logged[DAEMON_MAX_LOGGED];
};

/* Each returns 0, or a negative errno after a message. */
int upkeep_start(struct daemon *daemon);
int refresh_start(struct daemon *daemon);
int routes_start(struct daemon *daemon);
int links_start(struct daemon *daemon);
int drops_start(struct daemon *daemon);
int limits_start(struct daemon *daemon);
int fleet_start(struct daemon *daemon);
int caches_start(struct daemon *daemon);
int http_start(struct daemon *daemon);

/* Look at all states and filters soon: one of them has changed. */
void upkeep_now(struct daemon *daemon);
void refresh_now(struct daemon *daemon);
void links_now(struct daemon *daemon);
void routes_now(struct daemon *daemon);
void drops_now(struct daemon *daemon);
void limits_now(struct daemon *daemon);
void fleet_now(struct daemon *daemon);
void caches_now(struct daemon *daemon);

/* Called with the device of a command that has ended; is_good: with 0 or 3. */
typedef void (*child_handler_t)(struct daemon *daemon, const char *device, bool is_good);

/* Runs baleen with these arguments; *slot is the command until it ends. 0; -EBUSY while
 * there is one; a negative errno after a message.
 */
int child_start(struct daemon *daemon, struct child **slot, const char *device,
		char *const *arguments, child_handler_t on_end);

void child_stop(struct child **slot);
void routes_stop(struct daemon *daemon);
void links_stop(struct daemon *daemon);
void drops_stop(struct daemon *daemon);
void limits_stop(struct daemon *daemon);
void fleet_stop(struct daemon *daemon);
void caches_stop(struct daemon *daemon);
void http_stop(struct daemon *daemon);

/* Writes one line to the journal, or to stderr at a terminal; priorities are those of
 * syslog(3). Errors are counted; the same error is logged once in DAEMON_REPEAT_US.
 */
void notify(struct daemon *daemon, int priority, const char *device, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Runs until a signal ends it; 0 or a negative errno. */
int daemon_loop(struct daemon *daemon);

/* Makes a timer that fires once after so many microseconds; set it again for the next time. */
int timer_make(struct daemon *daemon, sd_event_source **timer, u64 after_us,
	       sd_event_time_handler_t handler);
void timer_set(sd_event_source *timer, u64 after_us);
/* The same, but never moves the timer to a later time. */
void timer_sooner(struct daemon *daemon, sd_event_source *timer, u64 after_us);
/* The time of CLOCK_MONOTONIC, as timers use it. */
u64 now_us(struct daemon *daemon);

#endif /* BALEEN_DAEMON_H */
