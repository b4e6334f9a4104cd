/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sampled events of a device: one at a time, with the rule that made them.
 *
 * The programs of a device share one ring buffer. An event has only the slot
 * of its rule, so the configuration is looked at again after each batch of
 * events and before the first of them is handed out: when the program is
 * still the same, it made them all. When it is another, the time of its load
 * tells them apart.
 *
 * A ring buffer has one reader. Who watches holds a read lock of fcntl(2) on
 * the device's directory, beside the flock(2) of the writers; it ends with
 * the process and with the directory, and leaves nothing behind.
 */
#ifndef BALEEN_EVENTS_H
#define BALEEN_EVENTS_H

#include <baleen/stats.h>
#include <time.h>

#include "xdp/xdp.h"

struct baleen_event_batch;
struct ring_buffer;

/**
 * struct baleen_events - what a watcher holds
 * @xdp: the device as last looked at
 * @before: the constants of the program before that one
 * @loaded_ns: when the present program was loaded, of CLOCK_MONOTONIC; 0 when
 *             there is none before it
 * @time_of_day_ns: what makes the time of day of CLOCK_MONOTONIC
 * @at_start: the counters when it began
 * @ring: the reader of the ring buffer
 * @ring_id: id of that map
 * @batch: events that were read and not yet handed out
 * @lock_fd: the directory, with the lock
 */
struct baleen_events {
	struct baleen_xdp xdp;
	struct baleen_config before;
	u64 loaded_ns;
	u64 time_of_day_ns;
	struct baleen_stats at_start;
	struct ring_buffer *ring;
	u32 ring_id;
	struct baleen_event_batch *batch;
	int lock_fd;
};

/**
 * struct baleen_sighting - an event, taken apart
 * @event: as sampled; valid until the next one is asked for
 * @rule: that made it; NULL when none did, or when no rule has its slot. Valid
 *        as @event
 * @time: time of the day, as coarse as the kernel's tick
 * @parse: type of the frame, as far as it was captured
 * @packet: parsed
 * @transport: protocol and ports of an IP packet
 * @fields: addresses, protocol and ports of an IP packet
 * @has_key: @key is set: there is a rule, and the frame has its key
 * @key: by the key spec of the rule
 */
struct baleen_sighting {
	const struct baleen_event *event;
	const struct baleen_rule *rule;
	struct timespec time;
	enum baleen_parse parse;
	struct baleen_packet packet;
	struct baleen_transport transport;
	struct baleen_fields fields;
	bool has_key;
	struct baleen_key key;
};

/**
 * baleen_events_open() - begin to watch a device
 * @events: filled in; close with baleen_events_close()
 * @device: its name now, or at attach
 * @error: filled in on failure
 *
 * Discards older events that wait in the ring buffer.
 *
 * Return: 0; -ENODATA when the device samples nothing; -EBUSY when somebody
 * else watches; else as baleen_xdp_open().
 */
int baleen_events_open(struct baleen_events *events, const char *device,
		       struct baleen_error *error);

/**
 * baleen_events_resume() - go on watching a device
 * @events: filled in; close with baleen_events_close()
 * @device: its name now, or at attach
 * @error: filled in on failure
 *
 * Older events that wait in the ring buffer come first. This is for a reader that
 * looks in now and then, and lets others watch in between.
 *
 * Return: as baleen_events_open().
 */
int baleen_events_resume(struct baleen_events *events, const char *device,
			 struct baleen_error *error);

/**
 * baleen_events_close() - let another watch
 * @events: opened
 */
void baleen_events_close(struct baleen_events *events);

/**
 * baleen_events_next() - the next event
 * @events: opened
 * @timeout_ms: how long to wait for it
 * @sighting: filled in when there is one
 * @error: filled in on failure
 *
 * Return: 1; 0 when none came in time or a signal did; -ENODATA when sampling
 * was stopped; -ENOLINK when the filter was taken off or its device deleted; a
 * negative errno. What was sampled before comes first.
 */
int baleen_events_next(struct baleen_events *events, int timeout_ms,
		       struct baleen_sighting *sighting, struct baleen_error *error);

/**
 * baleen_events_missed() - what was not handed out since the start
 * @events: opened
 * @n_lost: events that found no room in the ring buffer
 * @n_not_sampled: frames that the rate did not allow
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_events_missed(const struct baleen_events *events, u64 *n_lost, u64 *n_not_sampled,
			 struct baleen_error *error);

#endif /* BALEEN_EVENTS_H */
