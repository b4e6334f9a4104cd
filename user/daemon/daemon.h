/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of baleend share.
 *
 *      main       options, signals, sd_notify, when the clock is set
 *      upkeep     single entries that end, windows of apply --confirm
 *      refresh    feeds that are due: 'baleen update' as a child
 *      links      devices that re-appear
 *      drops      sampled drops to the journal
 *      http       metrics over HTTP and as a file
 *
 * The kernel enforces; all this only maintains. It holds a device's lock for a
 * change and no longer, and never waits for another writer: what it could not do
 * now it tries again.
 */
#ifndef BALEEN_DAEMON_H
#define BALEEN_DAEMON_H

#include <sqlite3.h>
#include <systemd/sd-event.h>

#include "report/metrics_source.h"

/* What another writer kept us from is tried again. */
#define DAEMON_RETRY_US 100000ull
/* And what cannot be done, as on a full disk. */
#define DAEMON_FAILED_US 5000000ull
/* How long we hold still for another writer's lock. */
#define DAEMON_LOCK_MS 20
/* Nobody told us, but it may have changed: look again. */
#define DAEMON_RESCAN_US 60000000ull

/* The same error of the same device is told again after this time. */
#define DAEMON_REPEAT_US 600000000ull
#define DAEMON_MAX_TOLD 32

struct MHD_Daemon;

/**
 * struct daemon_options - what was asked for
 * @listen: address and port of the HTTP endpoint; NULL for none
 * @textfile: for node_exporter; NULL for none
 * @command: path of baleen, for the update of feeds
 * @no_drops: leave the sampled drops to others
 */
struct daemon_options {
	const char *listen;
	const char *textfile;
	const char *command;
	bool no_drops;
};

/**
 * struct daemon_told - an error that was told
 * @what: hash of device and text
 * @at_us: when
 */
struct daemon_told {
	u64 what;
	u64 at_us;
};

/**
 * struct daemon - all of it
 * @options: what was asked for
 * @event: the loop
 * @upkeep: timer of the next entry that ends
 * @refresh: timer of the next feed that is due
 * @update: the update of feeds that runs, or NULL
 * @arrivals: timer of devices that have come
 * @link: the kernel's news of devices
 * @known: the devices that are there
 * @http: the HTTP server
 * @http_timer: when its connections are too slow
 * @me: what it says of itself
 * @counts: of tables, for the metrics
 * @seen: sampled drops, for 'baleen why'; NULL when they cannot be kept
 * @clock: fires when the time of day is set
 * @told: errors of the last time
 */
struct daemon {
	struct daemon_options options;
	sd_event *event;
	sd_event_source *upkeep;
	sd_event_source *refresh;
	struct update *update;
	sd_event_source *arrivals;
	struct mnl_socket *link;
	struct known *known;
	struct MHD_Daemon *http;
	sd_event_source *http_timer;
	struct baleen_metrics_daemon me;
	struct baleen_metrics_counts counts;
	sqlite3 *seen;
	int clock;
	struct daemon_told told[DAEMON_MAX_TOLD];
};

/* Each returns 0 or a negative errno after it wrote why to the journal. */
int upkeep_start(struct daemon *daemon);
int refresh_start(struct daemon *daemon);
int links_start(struct daemon *daemon);
int drops_start(struct daemon *daemon);
int http_start(struct daemon *daemon);

/* Looks at all states at once, since one of them has changed. */
void upkeep_now(struct daemon *daemon);
void refresh_now(struct daemon *daemon);

void refresh_stop(struct daemon *daemon);
void links_stop(struct daemon *daemon);
void drops_stop(struct daemon *daemon);
void http_stop(struct daemon *daemon);

/* One line to the journal, or to stderr at a terminal; priorities are those of
 * syslog(3). An error is counted, and told once in a while when it stays.
 */
void tell(struct daemon *daemon, int priority, const char *device, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A timer that fires after so many microseconds and then waits to be set again. */
int timer_make(struct daemon *daemon, sd_event_source **timer, u64 after_us,
	       sd_event_time_handler_t handler);
void timer_set(sd_event_source *timer, u64 after_us);
/* The same, but one that is set to fire earlier stays so. */
void timer_sooner(struct daemon *daemon, sd_event_source *timer, u64 after_us);
/* Of CLOCK_MONOTONIC, as the timers. */
u64 now_us(struct daemon *daemon);

#endif /* BALEEN_DAEMON_H */
