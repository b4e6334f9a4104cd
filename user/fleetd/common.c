// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages, clocks and pauses of both processes. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <syslog.h>
#include <unistd.h>

#include "fleet/fleet_clock.h"
#include "fleetd/fleetd.h"
#include "state/entries.h"
#include "util/announce.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/foreign.h"

/* The same message is written again after this time. */
#define REPEAT_MS 600000
#define MAX_SAID 32

#define MIN_PAUSE_MS 100
#define MAX_PAUSE_MS 10000

/* Offsets that differ by less are the same: entries would change for nothing. */
#define SAME_OFFSET_MS 250

/* --- messages ----------------------------------------------------------------------- */

static bool is_news(const char *text)
{
	static struct {
		char text[512];
		u64 at_ms;
	} said[MAX_SAID];
	u64 now_ms = baleen_monotonic_ms();
	size_t oldest = 0;

	for (size_t i = 0; i < MAX_SAID; i++) {
		if (said[i].at_ms && now_ms - said[i].at_ms < REPEAT_MS &&
		    !strncmp(said[i].text, text, sizeof(said[i].text) - 1))
			return false;
		if (said[i].at_ms < said[oldest].at_ms)
			oldest = i;
	}
	memcpy(said[oldest].text, text, strnlen(text, sizeof(said[oldest].text) - 1) + 1);
	said[oldest].text[sizeof(said[oldest].text) - 1] = '\0';
	said[oldest].at_ms = now_ms;
	return true;
}

void say(const struct fleet *fleet, int priority, const char *format, ...)
{
	char text[1280];
	va_list args;

	va_start(args, format);
	baleen_foreign_vformat(text, sizeof(text), format, args);
	va_end(args);
	if (!is_news(text))
		return;
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>", priority);
	fprintf(stderr, "baleen-fleetd: %s: %s\n", fleet->name, text);
}

void note(struct fleet *fleet, const char *name, const char *format, ...)
{
	char text[BALEEN_FLEET_TEXT_BYTES], known[BALEEN_FLEET_TEXT_BYTES] = "";
	va_list args;

	va_start(args, format);
	baleen_foreign_vformat(text, sizeof(text), format, args);
	va_end(args);
	if (baleen_fleet_store_get(&fleet->store, name, known, NULL) || strcmp(text, known))
		baleen_fleet_store_set(&fleet->store, name, text, NULL);
}

/* --- clocks ------------------------------------------------------------------------- */

u64 broker_ms(const struct fleet *fleet)
{
	return baleen_now_ms() + baleen_fleet_store_offset(&fleet->store);
}

static bool read_time(const redisReply *reply, u64 *ms)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
	    reply->element[0]->type != REDIS_REPLY_STRING ||
	    reply->element[1]->type != REDIS_REPLY_STRING)
		return false;
	*ms = strtoull(reply->element[0]->str, NULL, 10) * 1000 +
	      strtoull(reply->element[1]->str, NULL, 10) / 1000;
	return true;
}

bool clock_is_known(const struct fleet *fleet)
{
	char text[BALEEN_FLEET_TEXT_BYTES];

	return !baleen_fleet_store_get(&fleet->store, BALEEN_FLEET_TEXT_OFFSET, text, NULL) &&
	       *text;
}

static int keep_offset(struct fleet *fleet, s64 offset, struct baleen_error *error)
{
	s64 known = baleen_fleet_store_offset(&fleet->store);
	char text[24];

	if (offset < known + SAME_OFFSET_MS && known < offset + SAME_OFFSET_MS &&
	    clock_is_known(fleet))
		return 0;
	snprintf(text, sizeof(text), "%lld", (long long)offset);
	return baleen_fleet_store_set(&fleet->store, BALEEN_FLEET_TEXT_OFFSET, text, error);
}

/* A program that has just begun has no clock to compare with but what was signed: the broker's time
 * is before that, so it was set back, unless that was known.
 */
static s64 find_set_back(const struct fleet *fleet, u64 broker, u64 local_ms)
{
	s64 moved_ms = (s64)(broker - local_ms) - baleen_fleet_store_offset(&fleet->store);
	u64 latest_ms = 0;

	if (!clock_is_known(fleet) || moved_ms > -BALEEN_FLEET_CLOCK_JUMP_MS ||
	    baleen_fleet_store_latest(&fleet->store, &latest_ms, NULL) ||
	    broker + BALEEN_FLEET_CLOCK_JUMP_MS >= latest_ms)
		return 0;
	return moved_ms;
}

/* Logs of this host go along with the broker's clock. */
static int move_logs(struct fleet *fleet, s64 moved_ms, s64 offset, struct baleen_error *error)
{
	int err = baleen_fleet_own_move(&fleet->store, moved_ms, baleen_now_ms() + offset, error);

	say(fleet, LOG_ALERT,
	    "the broker's clock was set by %lld s: bans and pardons of this host move along, and "
	    "are published anew",
	    (long long)moved_ms / 1000);
	return err ? err : keep_offset(fleet, offset, error);
}

/* The offset that is known goes on where the broker's time is not believed. */
int clock_measure(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	static struct baleen_fleet_clock clock;
	bool is_first = !clock.broker_ms;
	s64 moved_ms;
	u64 asked_ms = baleen_now_ms(), local_ms, broker = 0;
	redisReply *reply = NULL;
	int err = redis_call(redis, &reply, error, "TIME");

	if (err)
		return err;
	if (!read_time(reply, &broker))
		err = baleen_fail(error, EPROTO, "%s: no answer to TIME", redis->server.host);
	freeReplyObject(reply);
	if (err)
		return err;
	local_ms = (asked_ms + baleen_now_ms()) / 2;
	switch (baleen_fleet_clock_judge(&clock, broker, local_ms,
					 baleen_clock_ns(CLOCK_BOOTTIME) / 1000000)) {
	case BALEEN_FLEET_CLOCK_FAR:
		say(fleet, LOG_ALERT,
		    "the clock of %s:%s is more than two hours from this host's: one of them is "
		    "wrong, and bans go by the time that was known before",
		    redis->server.host, redis->server.port);
		return 0;
	case BALEEN_FLEET_CLOCK_JUMPED:
		say(fleet, LOG_ALERT,
		    "the clock of %s:%s was set: its time counts when it has been steady for ten "
		    "minutes",
		    redis->server.host, redis->server.port);
		return 0;
	default: break;
	}
	moved_ms = is_first ? find_set_back(fleet, broker, local_ms) : clock.moved_ms;
	if (!moved_ms)
		return keep_offset(fleet, broker - local_ms, error);
	err = move_logs(fleet, moved_ms, broker - local_ms, error);
	return err ? err : 1;
}

/* --- changes of states ---------------------------------------------------------------- */

int changes_open(void)
{
	char path[PATH_MAX];
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (baleen_announce_path(path, sizeof(path)))
		err = -ENAMETOOLONG;
	/* It is made by the first who changes something. */
	if (!err && access(path, F_OK))
		baleen_announce();
	if (!err && inotify_add_watch(fd, path, IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF) < 0)
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

void changes_read(int *fd)
{
	char buffer[4096] __attribute__((aligned(8)));
	ssize_t n = *fd < 0 ? -1 : read(*fd, buffer, sizeof(buffer));

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const void *)(buffer + at);

		/* Somebody removed the file: writers make another. */
		if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) {
			baleen_close_fd(fd);
			break;
		}
		at += sizeof(*event) + event->len;
	}
	if (*fd < 0)
		*fd = changes_open();
}

void changes_mend(const struct fleet *fleet, int *fd)
{
	if (*fd < 0)
		*fd = changes_open();
	if (*fd < 0)
		say(fleet, LOG_WARNING,
		    "changes of devices are seen later, not at once: inotify: %s", strerror(-*fd));
}

/* --- pauses --------------------------------------------------------------------------- */

void pause_more(struct pause *pause)
{
	u32 random = 0;
	u64 ms = pause->next_ms ? pause->next_ms : MIN_PAUSE_MS;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = 0;
	pause->until_ms = baleen_monotonic_ms() + ms / 2 + random % (ms / 2 + 1);
	pause->next_ms = ms * 2 > MAX_PAUSE_MS ? MAX_PAUSE_MS : ms * 2;
}

void pause_none(struct pause *pause)
{
	*pause = (struct pause){ 0 };
}
