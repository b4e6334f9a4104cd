// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of this host --> the stream.
 *
 *      states --> local_sync() --> outbox --> XADD, with the head in one transaction of Redis
 *                                  |
 *             head at Redis is not what was sent --> snapshot, head, and a note in the stream
 *
 * Redis may forget what it acknowledged. The head there says how much it has; who finds less
 * than he has sent publishes anew.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_health.h"
#include "fleetd/publisher.h"
#include "util/array.h"
#include "util/clock.h"

/* Changes that come so soon after others go out with the next ones. */
#define COALESCE_MS 50
/* A state that could not be read is read again. */
#define AGAIN_MS 500

/* --- own publishers ----------------------------------------------------------------- */

/**
 * struct own - the publishers of this host
 * @publisher: they
 * @n: how many
 */
struct own {
	struct baleen_fleet_publisher *publisher;
	size_t n;
};

static int keep_own(const struct baleen_fleet_publisher *publisher, void *data)
{
	struct own *own = data;

	if (!publisher->is_own)
		return 0;
	if (baleen_array_add(&own->publisher, own->n))
		return -ENOMEM;
	own->publisher[own->n++] = *publisher;
	return 0;
}

static int find_own(struct publisher *publisher, struct own *own, struct baleen_error *error)
{
	*own = (struct own){ 0 };
	return baleen_fleet_store_each(&publisher->fleet->store, keep_own, own, error);
}

/* --- all that is looked at ------------------------------------------------------------- */

static int compare_all(struct publisher *publisher, struct baleen_error *error)
{
	struct own own;
	int err = find_own(publisher, &own, error);

	for (size_t i = 0; i < own.n && !err; i++)
		err = compare_with_redis(publisher, &own.publisher[i], error);
	free(own.publisher);
	return err;
}

/* Whatever Redis has of this host is of a clock of before. */
static int publish_all_anew(struct publisher *publisher, struct baleen_error *error)
{
	struct own own;
	int err = find_own(publisher, &own, error);

	for (size_t i = 0; i < own.n && !err; i++)
		if (own.publisher[i].head_ms)
			err = publish_anew(publisher, &own.publisher[i], error);
	free(own.publisher);
	return err;
}

static int look(struct publisher *publisher, struct baleen_error *error)
{
	int err;

	publisher->looks_at_ms = baleen_monotonic_ms() + RECONCILE_MS;
	/* A change that was not told of goes out, too. */
	publisher->is_due = true;
	changes_mend(publisher->fleet, &publisher->changes);
	if (!redis_is_master_still(&publisher->redis, &publisher->fleet->conf)) {
		redis_close(&publisher->redis);
		return baleen_fail(error, EAGAIN, "%s:%s is no longer the master",
				   publisher->redis.server.host, publisher->redis.server.port);
	}
	err = clock_measure(publisher->fleet, &publisher->redis, error);
	if (err > 0)
		err = publish_all_anew(publisher, error);
	if (!err)
		err = life_show(publisher->fleet, &publisher->redis, error);
	if (!err)
		err = policy_offer(publisher->fleet, &publisher->redis, error);
	if (!err)
		err = controls_put_back(publisher->fleet, &publisher->redis, error);
	if (!err)
		err = snapshot_want_all(publisher->fleet, &publisher->redis, error);
	return err ? err : compare_all(publisher, error);
}

/* --- the loop --------------------------------------------------------------------------- */

static bool waits(struct publisher *publisher, const char *name)
{
	const struct sent *sent = find_sent(publisher, name);

	return sent && sent->waits;
}

static int send_all(struct publisher *publisher, struct baleen_error *error)
{
	struct own own;
	int err = find_own(publisher, &own, error);

	for (size_t i = 0; i < own.n && !err; i++) {
		struct baleen_fleet_publisher *one = &own.publisher[i];

		if (one->acknowledged == one->sequence || waits(publisher, one->name))
			continue;
		/* Redis may have what a host of this name and key has published before. */
		if (!one->head_ms)
			err = compare_with_redis(publisher, one, error);
		if (!err && !one->head_ms)
			err = baleen_fleet_store_find(&publisher->fleet->store, one->name, one,
						      error);
		if (err < 0)
			break;
		err = one->acknowledged < one->sequence && !waits(publisher, one->name) ?
			      send_batches(publisher, one, error) :
			      0;
	}
	free(own.publisher);
	return err;
}

/* An error that Redis answered leaves a connection, whose next answers could be of others. */
static void fail(struct publisher *publisher, const struct baleen_error *error)
{
	say(publisher->fleet, LOG_WARNING, "%s", error->text);
	note(publisher->fleet, BALEEN_FLEET_TEXT_SENDS, "%s", error->text);
	redis_close(&publisher->redis);
	pause_more(&publisher->pause);
}

static void work(struct publisher *publisher)
{
	u64 now_ms = baleen_monotonic_ms();
	struct baleen_error error;
	int err = 0;

	if (publisher->is_due && now_ms >= publisher->synced_ms + COALESCE_MS) {
		publisher->synced_ms = now_ms;
		publisher->is_due = false;
		if (local_sync(publisher->fleet, &error)) {
			say(publisher->fleet, LOG_WARNING, "%s", error.text);
			publisher->is_due = true;
			publisher->synced_ms = now_ms + AGAIN_MS;
		}
	}
	if (publisher->redis.fd < 0 && now_ms < publisher->pause.until_ms)
		return;
	if (publisher->redis.fd < 0) {
		err = redis_find(&publisher->redis, &publisher->fleet->conf, REDIS_MASTER, &error);
		publisher->looks_at_ms = 0;
		publisher->n_snapshots = 0;
	}
	if (!err && now_ms >= publisher->looks_at_ms)
		err = look(publisher, &error);
	if (!err)
		err = signals_send(publisher->fleet, &publisher->redis, &error);
	if (!err)
		err = questions_answer(publisher->fleet, &publisher->redis, &error);
	if (!err)
		err = send_all(publisher, &error);
	if (err)
		fail(publisher, &error);
	else
		note(publisher->fleet, BALEEN_FLEET_TEXT_SENDS, "%s", "");
	if (!err)
		pause_none(&publisher->pause);
}

static u64 next_ms(const struct publisher *publisher)
{
	u64 next = publisher->redis.fd < 0 ? publisher->pause.until_ms : publisher->looks_at_ms;

	if (publisher->is_due && publisher->synced_ms + COALESCE_MS < next)
		next = publisher->synced_ms + COALESCE_MS;
	return next;
}

/* Nothing is expected of Redis between commands but its end. */
static void rest(struct publisher *publisher)
{
	struct pollfd fds[] = { { .fd = publisher->changes, .events = POLLIN },
				{ .fd = publisher->redis.fd, .events = POLLIN },
				{ .fd = publisher->redis.fd < 0 ? -1 :
								  publisher->fleet->question[0],
				  .events = POLLIN } };
	u64 now_ms = baleen_monotonic_ms(), next = next_ms(publisher);

	if (poll(fds, 3, next > now_ms ? (int)(next - now_ms) : 0) <= 0)
		return;
	if (fds[0].revents) {
		changes_read(&publisher->changes);
		publisher->is_due = true;
	}
	if (fds[1].revents)
		redis_close(&publisher->redis);
}

int publisher_run(struct fleet *fleet)
{
	struct publisher publisher = { .fleet = fleet, .redis = REDIS_CLOSED, .is_due = true };

	publisher.changes = changes_open();
	for (;;) {
		work(&publisher);
		rest(&publisher);
	}
}
