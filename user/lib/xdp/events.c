// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sampled events of a device: one at a time, with the rule that made them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fd.h"
#include "util/shell.h"
#include "xdp/events.h"

#define BATCH_EVENTS 256
#define NS_PER_S 1000000000ull
/* How long to wait for another to go away. */
#define WAIT_NS (NS_PER_S / 2)

/**
 * struct baleen_event_batch - events copied out of the ring buffer
 * @n: how many
 * @next: the first that was not handed out
 * @since_ns: older ones are left out
 * @event: the events
 */
struct baleen_event_batch {
	u32 n;
	u32 next;
	u64 since_ns;
	struct baleen_event event[BATCH_EVENTS];
};

static u64 tick_ns(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_nsec;
}

/* --- open ------------------------------------------------------------------ */

/* Read locks do not exclude each other, but a directory cannot be opened for
 * another: so take one, then ask whether a write lock would find a second. Two
 * that start at the same moment may both go away.
 */
static int lock_watch(const char *path)
{
	struct flock mine = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	struct flock other = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_OFD_SETLK, &mine) || fcntl(fd, F_OFD_GETLK, &other))
		err = -errno;
	else if (other.l_type != F_UNLCK)
		err = -EBUSY;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Waits for the lock: a reader that only looks in, as baleend does, gives it back soon. */
static int lock_watch_within(const char *path, u64 timeout_ns)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	u64 end_ns = baleen_clock_ns(CLOCK_MONOTONIC) + timeout_ns;
	int fd = lock_watch(path);

	while (fd == -EBUSY && baleen_clock_ns(CLOCK_MONOTONIC) < end_ns) {
		nanosleep(&nap, NULL);
		fd = lock_watch(path);
	}
	return fd;
}

static int map_id(int fd, u32 *id)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);
	int err = bpf_obj_get_info_by_fd(fd, &info, &bytes);

	if (!err)
		*id = info.id;
	return err;
}

/* Called by libbpf; a negative return ends its round behind this event. */
static int batch_add(void *data, void *bytes, size_t n_bytes)
{
	struct baleen_event_batch *batch = data;
	const struct baleen_event *event = bytes;

	if (n_bytes < sizeof(*event) || event->time_ns < batch->since_ns)
		return 0;
	batch->event[batch->n++] = *event;
	return batch->n == BATCH_EVENTS ? -ENOBUFS : 0;
}

/* --- batches --------------------------------------------------------------- */

static int fail_ended(const struct baleen_events *events, struct baleen_error *error)
{
	return baleen_fail(error, ENOLINK, "%s: the filter was taken off, or its device deleted",
			   events->xdp.device);
}

/* The time of the load, of CLOCK_MONOTONIC; 0 when it is not known. */
static u64 program_loaded_ns(const struct baleen_pins *pins, u32 program_id)
{
	u64 loaded_ns = baleen_pins_loaded_ns(pins, program_id);

	return loaded_ns ? loaded_ns + baleen_clock_ns(CLOCK_MONOTONIC) -
				   baleen_clock_ns(CLOCK_BOOTTIME) :
			   0;
}

/* Takes over what the device has now, or says why there is nothing to watch. */
static int adopt(struct baleen_events *events, struct baleen_xdp *now, struct baleen_error *error)
{
	u32 ring_id;

	if (now->attach_status != BALEEN_ATTACH_STATUS_ATTACHED &&
	    now->attach_status != BALEEN_ATTACH_STATUS_MOVED)
		return fail_ended(events, error);
	if (now->events_fd >= 0 && (map_id(now->events_fd, &ring_id) || ring_id != events->ring_id))
		return fail_ended(events, error);
	if (now->events_fd < 0 || !now->config.sample_interval_ns)
		return baleen_fail(error, ENODATA, "%s: sampling was stopped", now->device);
	if (now->program_id != events->xdp.program_id) {
		events->before = events->xdp.config;
		events->loaded_ns = program_loaded_ns(&now->pins, now->program_id);
	}
	baleen_xdp_close(&events->xdp);
	events->xdp = *now;
	return 0;
}

static int look_again(struct baleen_events *events, struct baleen_error *error)
{
	struct baleen_xdp now;
	int err = baleen_xdp_open_pins(&now, &events->xdp.pins, error);

	if (err == -ENOENT)
		return fail_ended(events, error);
	if (err)
		return err;
	err = adopt(events, &now, error);
	if (err)
		baleen_xdp_close(&now);
	return err;
}

static int read_batch(struct baleen_events *events, int timeout_ms, struct baleen_error *error)
{
	struct baleen_event_batch *batch = events->batch;
	int err;

	batch->n = batch->next = 0;
	err = timeout_ms ? ring_buffer__poll(events->ring, timeout_ms) :
			   ring_buffer__consume(events->ring);
	if (err < 0 && err != -EINTR && err != -ENOBUFS)
		return baleen_fail(error, -err, "%s: events: %s", events->xdp.device,
				   strerror(-err));
	events->time_of_day_ns = baleen_clock_ns(CLOCK_REALTIME) - baleen_clock_ns(CLOCK_MONOTONIC);
	err = look_again(events, error);
	/* Events come first: an error that ends the watch is returned when none are left. */
	return batch->n ? 0 : err;
}

static int start(struct baleen_events *events, u64 since_ns, struct baleen_error *error)
{
	const struct baleen_xdp *xdp = &events->xdp;
	int err;

	if (!xdp->config.sample_interval_ns || xdp->events_fd < 0)
		return baleen_fail(error, ENODATA,
				   "%s samples no events: 'baleen policy %s --sample 100/s' "
				   "starts it",
				   xdp->device, baleen_shell_word(xdp->device).text);
	events->lock_fd = lock_watch_within(xdp->pins.path, since_ns ? WAIT_NS : 0);
	if (events->lock_fd == -EBUSY)
		return baleen_fail(error, EBUSY, "somebody else is watching %s", xdp->device);
	if (events->lock_fd < 0)
		return baleen_fail(error, -events->lock_fd, "%s: %s", xdp->pins.path,
				   strerror(-events->lock_fd));
	events->batch = calloc(1, sizeof(*events->batch));
	if (!events->batch)
		return baleen_fail(error, ENOMEM, "no memory for events");
	events->batch->since_ns = since_ns;
	err = map_id(xdp->events_fd, &events->ring_id);
	if (err)
		return baleen_fail(error, -err, "%s: events: %s", xdp->device, strerror(-err));
	events->ring = ring_buffer__new(xdp->events_fd, batch_add, events->batch, NULL);
	if (!events->ring)
		return baleen_fail(error, errno, "%s: events: %m", xdp->device);
	err = baleen_xdp_stats(xdp, &events->at_start, error);
	/* A ring that nobody read is full: make room at once. */
	return err || !since_ns ? err : read_batch(events, 0, error);
}

static int open_since(struct baleen_events *events, const char *device, u64 since_ns,
		      struct baleen_error *error)
{
	int err;

	memset(events, 0, sizeof(*events));
	events->lock_fd = -1;
	err = baleen_xdp_open(&events->xdp, device, false, error);
	if (err)
		return err;
	err = start(events, since_ns, error);
	if (err)
		baleen_events_close(events);
	return err;
}

int baleen_events_open(struct baleen_events *events, const char *device, struct baleen_error *error)
{
	return open_since(events, device, baleen_clock_ns(CLOCK_MONOTONIC_COARSE), error);
}

int baleen_events_resume(struct baleen_events *events, const char *device,
			 struct baleen_error *error)
{
	return open_since(events, device, 0, error);
}

void baleen_events_close(struct baleen_events *events)
{
	ring_buffer__free(events->ring);
	free(events->batch);
	baleen_close_fd(&events->lock_fd);
	baleen_xdp_close(&events->xdp);
}

/* --- read ------------------------------------------------------------------ */

static const struct baleen_rule *rule_of_slot(const struct baleen_config *config, u32 slot)
{
	for (u32 i = 0; i < config->n_rules; i++)
		if (config->rule[i].slot == slot)
			return &config->rule[i];
	return NULL;
}

/* A rule keeps its slot, and a slot is given to another only when it was free
 * before, so the two configurations seldom disagree. When they do, a program in
 * between had neither of the two rules, and the time tells. It may be a tick
 * early.
 */
static const struct baleen_rule *rule_of_event(const struct baleen_events *events,
					       const struct baleen_event *event)
{
	const struct baleen_rule *now = rule_of_slot(&events->xdp.config, event->slot);
	const struct baleen_rule *before = NULL;

	if (events->loaded_ns)
		before = rule_of_slot(&events->before, event->slot);
	if (!before || !now)
		return now ? now : before;
	return event->time_ns + tick_ns() < events->loaded_ns ? before : now;
}

static struct timespec time_of_day(const struct baleen_events *events, u64 monotonic_ns)
{
	u64 ns = monotonic_ns + events->time_of_day_ns;

	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

static void parse_event(const struct baleen_event *event, const struct baleen_rule *rule,
			struct baleen_sighting *sighting)
{
	u32 n = event->n_captured < BALEEN_EVENT_BYTES ? event->n_captured : BALEEN_EVENT_BYTES;
	const u8 *end = event->frame + n;
	u32 spec = rule ? rule->image.key_spec : 0;

	*sighting = (struct baleen_sighting){ .event = event, .rule = rule };
	sighting->parse = baleen_packet_parse(event->frame, end, &sighting->packet);
	if (sighting->parse > BALEEN_PARSE_IP6)
		return;
	baleen_packet_details(sighting->packet.ip, end, sighting->parse == BALEEN_PARSE_IP6,
			      &sighting->transport, &sighting->fields);
	if (!spec || !baleen_packet_has_key(&sighting->transport, spec))
		return;
	sighting->key = baleen_key_fields(spec, &sighting->fields);
	sighting->has_key = true;
}

int baleen_events_next(struct baleen_events *events, int timeout_ms,
		       struct baleen_sighting *sighting, struct baleen_error *error)
{
	struct baleen_event_batch *batch = events->batch;
	const struct baleen_event *event;
	int err = 0;

	if (batch->next == batch->n)
		err = read_batch(events, timeout_ms, error);
	if (err || !batch->n)
		return err;
	event = &batch->event[batch->next++];
	parse_event(event, rule_of_event(events, event), sighting);
	sighting->time = time_of_day(events, event->time_ns);
	return 1;
}

int baleen_events_missed(const struct baleen_events *events, u64 *n_lost, u64 *n_not_sampled,
			 struct baleen_error *error)
{
	struct baleen_stats now;
	int err = baleen_xdp_stats(&events->xdp, &now, error);

	if (err)
		return err;
	*n_lost = now.sample_lost - events->at_start.sample_lost;
	*n_not_sampled = now.not_sampled - events->at_start.not_sampled;
	return 0;
}
