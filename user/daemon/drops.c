// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sampled drops to the journal, and to the table that 'baleen why' reads. */
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "daemon.h"
#include "key/key_text.h"
#include "state/drops.h"
#include "xdp/pins.h"

/* Reads once a second; 'baleen watch' may read in between. */
#define ROUND_US 1000000ull
/* Limit for one device and round, since other devices wait. Further events stay in the
 * ring buffer, or the kernel drops and counts them.
 */
#define MAX_EVENTS 2048

static void to_journal(const struct daemon *daemon, const struct baleen_sighting *sighting,
		       const char *device)
{
	const struct baleen_fields *fields = &sighting->fields;
	struct baleen_key source = baleen_key_fields(BALEEN_KEY_SRC, fields);
	const char *rule = sighting->rule ? sighting->rule->image.name : "default";
	char text[BALEEN_KEY_TEXT];

	if (sighting->parse > BALEEN_PARSE_IP6)
		return;
	baleen_key_format(&source, BALEEN_KEY_SRC, text);
	sd_journal_send("PRIORITY=%i", LOG_INFO, "MESSAGE=%s: rule %s: %s %s, proto %u, port %u",
			device, rule, text,
			sighting->event->dry_run ? "would be dropped" : "dropped", fields->proto,
			fields->dport, "BALEEN_DEVICE=%s", device, "BALEEN_RULE=%s", rule,
			"BALEEN_SOURCE=%s", text, "BALEEN_PROTO=%u", fields->proto,
			"BALEEN_PORT=%u", fields->dport, NULL);
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

static int read_pins(const struct baleen_pins *pins, void *data)
{
	struct baleen_xdp xdp;
	char device[IF_NAMESIZE];
	bool samples;

	if (baleen_xdp_open_pins(&xdp, pins, NULL))
		return 0;
	samples =
		xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED && xdp.config.sample_interval_ns;
	memcpy(device, xdp.device, sizeof(device));
	baleen_xdp_close(&xdp);
	if (samples)
		read_device(data, device);
	return 0;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct baleen_error error;

	/* Without bpffs no filter exists. */
	if (baleen_pins_each(read_pins, data, &error) < 0)
		notify(data, LOG_ERR, NULL, "%s", error.text);
	timer_set(timer, ROUND_US);
	return 0;
}

int drops_start(struct daemon *daemon)
{
	struct baleen_error error;
	sd_event_source *timer = NULL;
	int err;

	if (daemon->options.no_drops)
		return 0;
	/* The journal still gets the drops. */
	if (baleen_drops_open(&daemon->seen, true, &error))
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
	err = timer_make(daemon, &timer, ROUND_US, look);
	return err < 0 ? err : 0;
}

void drops_stop(struct daemon *daemon)
{
	if (daemon->seen)
		baleen_drops_close(daemon->seen);
}
