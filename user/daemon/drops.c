// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sampled drops to the journal, and to the table that 'baleen why' reads. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "daemon.h"
#include "key/key_text.h"
#include "net/device.h"
#include "state/drops.h"
#include "util/fd.h"
#include "util/foreign.h"
#include "xdp/pins.h"

/* Reads at most once a second, when there is something; 'baleen watch' may read in between. */
#define ROUND_US 1000000ull
/* Limit for one device and round, since other devices wait. Further events stay in the
 * ring buffer, or the kernel drops and counts them.
 */
#define MAX_EVENTS 2048

/**
 * struct sampled - a device that is sampled
 * @source: its ring buffer has something
 * @next: another device
 */
struct sampled {
	sd_event_source *source;
	struct sampled *next;
};

static void to_journal(const struct daemon *daemon, const struct baleen_sighting *sighting,
		       const char *device)
{
	const struct baleen_fields *fields = &sighting->fields;
	u32 key_spec = baleen_drops_key_spec(baleen_device_is_egress(device) ? -1 : 1);
	struct baleen_key other_end = baleen_key_fields(key_spec, fields);
	bool goes_out = key_spec == BALEEN_KEY_DST;
	const char *rule = sighting->rule ? sighting->rule->image.name : "default";
	char text[BALEEN_KEY_TEXT], message[512];

	if (sighting->parse > BALEEN_PARSE_IP6)
		return;
	baleen_key_format(&other_end, key_spec, text);
	baleen_foreign_format(message, sizeof(message), "%s: rule %s: %s%s %s, proto %u, port %u",
			      device, rule, goes_out ? "to " : "", text,
			      sighting->event->dry_run ? "would be dropped" : "dropped",
			      fields->proto, fields->dport);
	sd_journal_send("PRIORITY=%i", LOG_INFO, "MESSAGE=%s", message, "BALEEN_DEVICE=%s", device,
			"BALEEN_RULE=%s", rule,
			goes_out ? "BALEEN_DESTINATION=%s" : "BALEEN_SOURCE=%s", text,
			"BALEEN_PROTO=%u", fields->proto, "BALEEN_PORT=%u", fields->dport, NULL);
}

static bool is_drop(const struct baleen_sighting *sighting)
{
	return sighting->event->action == BALEEN_ACTION_DROP;
}

static void read_device(struct daemon *daemon, const char *device)
{
	struct baleen_sighting sighting;
	struct baleen_events events;

	/* Nothing is attached or sampled, or another process reads. */
	if (baleen_events_resume(&events, device, NULL))
		return;
	if (daemon->seen)
		baleen_drops_begin(daemon->seen);
	for (u32 i = 0; i < MAX_EVENTS; i++) {
		if (baleen_events_next(&events, 0, &sighting, NULL) <= 0)
			break;
		if (!is_drop(&sighting))
			continue;
		daemon->me.n_events++;
		to_journal(daemon, &sighting, device);
		if (daemon->seen)
			baleen_drops_add(daemon->seen, events.xdp.pins.netns_cookie,
					 events.xdp.pins.ifindex, &sighting);
	}
	if (daemon->seen)
		baleen_drops_end(daemon->seen);
	baleen_events_close(&events);
}

/* Reads at once, then rests: the next round reads all events that come meanwhile. */
static int on_event(sd_event_source *source, int fd, uint32_t events, void *data)
{
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	drops_now(data);
	return 0;
}

static int wait_for(struct daemon *daemon, int ring_fd)
{
	struct sampled *sampled = calloc(1, sizeof(*sampled));
	int fd = fcntl(ring_fd, F_DUPFD_CLOEXEC, 0), err = -ENOMEM;

	if (sampled && fd >= 0)
		err = sd_event_add_io(daemon->event, &sampled->source, fd, EPOLLIN, on_event,
				      daemon);
	if (err < 0) {
		baleen_close_fd(&fd);
		free(sampled);
		return err;
	}
	sd_event_source_set_io_fd_own(sampled->source, true);
	sampled->next = daemon->sampled;
	daemon->sampled = sampled;
	return 0;
}

static void wait_for_none(struct daemon *daemon)
{
	while (daemon->sampled) {
		struct sampled *next = daemon->sampled->next;

		sd_event_source_disable_unref(daemon->sampled->source);
		free(daemon->sampled);
		daemon->sampled = next;
	}
}

static int read_pins(const struct baleen_pins *pins, void *data)
{
	struct daemon *daemon = data;
	struct baleen_xdp xdp;

	if (baleen_xdp_open_pins(&xdp, pins, NULL))
		return 0;
	if (xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED && xdp.config.sample_interval_ns &&
	    xdp.events_fd >= 0) {
		read_device(daemon, xdp.device);
		if (wait_for(daemon, xdp.events_fd))
			notify(daemon, LOG_ERR, xdp.device, "cannot wait for sampled drops");
	}
	baleen_xdp_close(&xdp);
	return 0;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct baleen_error error;

	wait_for_none(daemon);
	/* Without bpffs no filter exists. */
	if (baleen_pins_each(read_pins, daemon, &error) < 0)
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
	timer_set(timer, DAEMON_RESCAN_US);
	return 0;
}

void drops_now(struct daemon *daemon)
{
	if (daemon->drops)
		timer_sooner(daemon, daemon->drops, ROUND_US);
}

int drops_start(struct daemon *daemon)
{
	struct baleen_error error;
	int err;

	if (daemon->options.no_drops)
		return 0;
	/* The journal still gets the drops. */
	if (baleen_drops_open(&daemon->seen, true, &error))
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
	err = timer_make(daemon, &daemon->drops, ROUND_US, look);
	return err < 0 ? err : 0;
}

void drops_stop(struct daemon *daemon)
{
	wait_for_none(daemon);
	if (daemon->seen)
		baleen_drops_close(daemon->seen);
}
