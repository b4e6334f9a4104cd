// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sources that went over the limit of a rule to bans. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <syslog.h>

#include "daemon.h"
#include "deploy/limit_bans.h"
#include "util/fd.h"
#include "xdp/limits.h"
#include "xdp/pins.h"

/* Between two rounds, so that a flood of overruns becomes few batches. */
#define PAUSE_US 20000ull
/* For who holds a device when the ban is on the disk: a flood is to be banned within 100 ms. What
 * is behind still is of upkeep.c.
 */
#define WAIT_MS 50
/* After the book was locked. */
#define BUSY_US 30000ull
/* As many as the ring buffer holds. A source that is still over is told of again a second later. */
#define MAX_WAITING 2048

/**
 * struct limited - a device whose rules have limits
 * @device: its name
 * @ifindex: its number
 * @ring_id: of the map that is waited for
 * @source: that has something
 * @is_there: it was found in this round
 * @overrun: sources that are still to be banned
 * @n: how many
 * @next: another device
 */
struct limited {
	char device[BALEEN_DEVICE_BYTES];
	int ifindex;
	u32 ring_id;
	sd_event_source *source;
	bool is_there;
	struct baleen_overrun overrun[MAX_WAITING];
	size_t n;
	struct limited *next;
};

static void report_refused(struct daemon *daemon, const char *device,
			   const struct baleen_limit_bans *bans)
{
	char why[BALEEN_GATE_WHY], text[BALEEN_GATE_TEXT];

	if (bans->answer == BALEEN_GATE_PROTECTED)
		notify(daemon, LOG_ERR, device,
		       "%s is over a limit and not banned, since it is never dropped (%s)",
		       bans->refused, baleen_gate_why(&bans->protected, why));
	else
		notify(daemon, LOG_ERR, device, "%s is over a limit and not banned: %s",
		       bans->refused, baleen_gate_text(bans->answer, &bans->protected, text));
}

/* One message a round; the first of several sources stands for them. */
static void report(struct daemon *daemon, const struct limited *limited,
		   const struct baleen_limit_bans *bans)
{
	daemon->me.n_limit_bans += bans->n_added;
	daemon->me.n_limit_refused += bans->n_refused;
	daemon->me.n_limit_capped += bans->n_capped;
	if (bans->n_added)
		notify(daemon, LOG_NOTICE, limited->device, "%llu over a limit banned",
		       (unsigned long long)bans->n_added);
	if (bans->n_narrowed)
		notify(daemon, LOG_NOTICE, limited->device,
		       "%llu over a limit narrowed: their prefixes hold what is never dropped",
		       (unsigned long long)bans->n_narrowed);
	if (bans->n_refused)
		report_refused(daemon, limited->device, bans);
	if (bans->n_capped)
		notify(daemon, LOG_ERR, limited->device,
		       "more are over a limit than it may ban at a time: its cap is reached");
}

static void ban(struct daemon *daemon, struct limited *limited)
{
	struct baleen_limit_bans bans;
	struct baleen_error error;
	int err;

	if (!limited->n)
		return;
	err = baleen_limit_bans_put(limited->device, limited->overrun, limited->n, WAIT_MS, &bans,
				    &error);
	if (err == -ETIMEDOUT) {
		timer_sooner(daemon, daemon->limits, BUSY_US);
		return;
	}
	limited->n = 0;
	if (err)
		notify(daemon, LOG_ERR, limited->device, "cannot ban who is over a limit: %s",
		       error.text);
	else
		report(daemon, limited, &bans);
}

/* Overruns that come meanwhile are read in one round with it. */
static int on_overrun(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct daemon *daemon = data;
	u64 now = now_us(daemon), next = daemon->limits_us + PAUSE_US;

	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	timer_sooner(daemon, daemon->limits, next > now ? next - now : 0);
	return 0;
}

static int wait_for(struct daemon *daemon, struct limited *limited, int ring_fd, u32 ring_id)
{
	int fd, err;

	if (limited->source && limited->ring_id == ring_id)
		return sd_event_source_set_enabled(limited->source, SD_EVENT_ON);
	limited->source = sd_event_source_disable_unref(limited->source);
	fd = fcntl(ring_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = sd_event_add_io(daemon->event, &limited->source, fd, EPOLLIN, on_overrun, daemon);
	if (err < 0) {
		close(fd);
		return err;
	}
	sd_event_source_set_io_fd_own(limited->source, true);
	limited->ring_id = ring_id;
	return 0;
}

static struct limited *find(struct daemon *daemon, int ifindex)
{
	struct limited *limited = daemon->limited;

	while (limited && limited->ifindex != ifindex)
		limited = limited->next;
	if (limited)
		return limited;
	limited = calloc(1, sizeof(*limited));
	if (!limited)
		return NULL;
	limited->ifindex = ifindex;
	limited->next = daemon->limited;
	daemon->limited = limited;
	return limited;
}

/* The ring is waited for before it is read, so nothing comes in between. */
static void read_device(struct daemon *daemon, const struct baleen_xdp *xdp)
{
	struct limited *limited = find(daemon, xdp->pins.ifindex);
	struct baleen_error error;
	size_t n = 0;

	if (!limited || wait_for(daemon, limited, xdp->limit_fd[BALEEN_LIMIT_RING],
				 baleen_overruns_id(xdp)) < 0) {
		notify(daemon, LOG_ERR, xdp->device, "cannot wait for who goes over a limit");
		return;
	}
	limited->is_there = true;
	memcpy(limited->device, xdp->device, sizeof(limited->device));
	if (baleen_overruns_read(xdp, limited->overrun + limited->n, MAX_WAITING - limited->n, &n,
				 &error))
		notify(daemon, LOG_ERR, xdp->device, "%s", error.text);
	limited->n += n;
}

static int read_pins(const struct baleen_pins *pins, void *data)
{
	struct baleen_xdp xdp;

	if (baleen_xdp_open_pins(&xdp, pins, NULL))
		return 0;
	if (xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED &&
	    xdp.limit_fd[BALEEN_LIMIT_RING] >= 0)
		read_device(data, &xdp);
	baleen_xdp_close(&xdp);
	return 0;
}

static void forget(struct limited **at)
{
	struct limited *gone = *at;

	*at = gone->next;
	sd_event_source_disable_unref(gone->source);
	free(gone);
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct limited **at = &daemon->limited;
	struct baleen_error error;

	timer_set(timer, DAEMON_RESCAN_US);
	for (struct limited *each = daemon->limited; each; each = each->next)
		each->is_there = false;
	if (baleen_pins_each(read_pins, daemon, &error) < 0)
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
	while (*at) {
		if (!(*at)->is_there) {
			forget(at);
			continue;
		}
		ban(daemon, *at);
		at = &(*at)->next;
	}
	daemon->limits_us = now_us(daemon);
	return 0;
}

void limits_now(struct daemon *daemon)
{
	if (daemon->limits)
		timer_sooner(daemon, daemon->limits, PAUSE_US);
}

/* Each overrun is read once, so of two in a namespace one reads them. */
int limits_start(struct daemon *daemon)
{
	int err;

	if (daemon->lock < 0)
		return 0;
	err = timer_make(daemon, &daemon->limits, 0, look);
	return err < 0 ? err : 0;
}

void limits_stop(struct daemon *daemon)
{
	while (daemon->limited)
		forget(&daemon->limited);
}
