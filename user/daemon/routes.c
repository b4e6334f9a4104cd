// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of routes that devices have as feeds: read when the kernel tells of a change.
 *
 *      state --> followed: device, table --+
 *                                          +--> is_due --> 'baleen update --routes DEV'
 *      kernel --> changed tables ----------+
 *
 * A notification only says that a table is to be read: the table itself is what counts, so
 * lost and repeated notifications do no harm.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <syslog.h>

#include "daemon.h"
#include "net/device.h"
#include "net/route_names.h"
#include "net/routes.h"
#include "state/feeds.h"
#include "state/route_feed.h"
#include "state/rule_store_each.h"
#include "util/array.h"
#include "util/fd.h"

/* Changes come in groups: the first one waits for the others. */
#define GROUP_US 20000ull
/* A new feed was just read. */
#define NEW_US 100000ull
/* After an update it rests as long as that took, but no longer than this. */
#define MAX_REST_US 5000000ull
#define FAILED_US 10000000ull

/**
 * struct table - a table that a device has as a feed
 * @device: the device
 * @name: as the feed has it
 * @number: of the table; 0 while nobody has given that name
 * @is_due: it is to be read
 */
struct table {
	char device[BALEEN_POINT_BYTES];
	char name[BALEEN_ROUTE_NAME];
	u32 number;
	bool is_due;
};

/**
 * struct followed - the tables
 * @table: they
 * @n: how many
 * @fd: socket with changes of routes; -1 while there is no table
 * @source: of it
 * @begun_us: when the last update began
 * @rests_until_us: no update begins before
 * @device: that the last update was of
 */
struct followed {
	struct table *table;
	size_t n;
	int fd;
	sd_event_source *source;
	u64 begun_us;
	u64 rests_until_us;
	char device[BALEEN_POINT_BYTES];
};

/**
 * struct search - the tables of all states
 * @table: found so far
 * @n: how many
 * @device: whose state is read
 * @err: 0 or a negative errno
 */
struct search {
	struct table *table;
	size_t n;
	char device[BALEEN_POINT_BYTES];
	int err;
};

/* --- which tables ------------------------------------------------------------ */

static struct table *find(struct table *table, size_t n, const char *device, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].device, device) && !strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;
	const char *name = feed->wanted.source + sizeof(BALEEN_ROUTE_FEED) - 1;
	struct table table = { .is_due = true };

	if (!baleen_route_feed_is(feed->wanted.source) || strlen(name) >= sizeof(table.name) ||
	    find(search->table, search->n, search->device, name))
		return 0;
	search->err = baleen_array_add(&search->table, search->n);
	if (search->err)
		return search->err;
	memcpy(table.device, search->device, sizeof(table.device));
	strcpy(table.name, name);
	baleen_route_table_find(name, &table.number, NULL);
	search->table[search->n++] = table;
	return 0;
}

static int look_at_state(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;

	if (found->err)
		return 0;
	snprintf(search->device, sizeof(search->device), "%s", found->device);
	baleen_feeds_each(&found->state, NULL, look_at_feed, search, NULL);
	return 0;
}

/* A table that was followed already was read when it changed. */
static int find_tables(struct followed *followed)
{
	struct search search = { 0 };

	baleen_rule_store_each(look_at_state, &search, NULL);
	if (search.err) {
		free(search.table);
		return search.err;
	}
	for (size_t i = 0; i < search.n; i++) {
		struct table *table = &search.table[i];
		const struct table *old =
			find(followed->table, followed->n, table->device, table->name);

		if (old && old->number == table->number)
			table->is_due = old->is_due;
	}
	free(followed->table);
	followed->table = search.table;
	followed->n = search.n;
	return 0;
}

/* The end of an update calls for the next one. */
static void look_soon(struct daemon *daemon, u64 wait_us)
{
	u64 until_us = daemon->followed->rests_until_us, now = now_us(daemon);

	if (until_us > now + wait_us)
		wait_us = until_us - now;
	if (!daemon->route_child)
		timer_sooner(daemon, daemon->route_timer, wait_us);
}

/* --- changes ------------------------------------------------------------------- */

static void mark(struct daemon *daemon, const struct baleen_routes_news *news)
{
	struct followed *followed = daemon->followed;
	bool is_any = false;

	for (size_t i = 0; i < followed->n; i++) {
		struct table *table = &followed->table[i];

		for (size_t j = 0; j < news->n; j++)
			table->is_due |= news->table[j] == table->number;
		table->is_due |= news->is_lost;
		is_any |= table->is_due;
	}
	if (is_any)
		look_soon(daemon, GROUP_US);
}

static int on_news(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct daemon *daemon = data;
	struct baleen_routes_news news;

	baleen_routes_hear(fd, &news);
	if (news.is_lost)
		notify(daemon, LOG_NOTICE, NULL,
		       "changes of routes were lost: the tables are read as a whole");
	mark(daemon, &news);
	return 0;
}

static void stop_hearing(struct followed *followed)
{
	followed->source = sd_event_source_disable_unref(followed->source);
	baleen_close_fd(&followed->fd);
}

static int hear(struct daemon *daemon)
{
	struct followed *followed = daemon->followed;
	struct baleen_error error;
	int err;

	followed->fd = baleen_routes_listen(daemon->options.route_buffer, &error);
	if (followed->fd < 0) {
		err = followed->fd;
		followed->fd = -1;
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
		return err;
	}
	err = sd_event_add_io(daemon->event, &followed->source, followed->fd, EPOLLIN, on_news,
			      daemon);
	if (err < 0)
		stop_hearing(followed);
	return err;
}

/* --- updates --------------------------------------------------------------------- */

static void on_end(struct daemon *daemon, const char *device, bool is_good)
{
	struct followed *followed = daemon->followed;
	u64 now = now_us(daemon), rest_us = now - followed->begun_us;
	bool others_wait = false;

	if (is_good) {
		daemon->me.n_updates++;
	} else {
		daemon->me.n_failed_updates++;
		notify(daemon, LOG_WARNING, device,
		       "the update of the routes failed: the last good ones stay in force");
	}
	if (rest_us > MAX_REST_US)
		rest_us = MAX_REST_US;
	if (!is_good)
		rest_us = FAILED_US;
	for (size_t i = 0; i < followed->n; i++) {
		struct table *table = &followed->table[i];
		bool is_other = strcmp(table->device, device);

		others_wait |= is_other && table->is_due;
		table->is_due |= !is_other && !is_good;
	}
	followed->rests_until_us = others_wait ? now : now + rest_us;
	timer_set(daemon->route_timer, others_wait ? 0 : rest_us);
}

static int run_update(struct daemon *daemon, const char *device)
{
	char *arguments[] = { "baleen", "update", "--routes", (char *)device, NULL };

	daemon->followed->begun_us = now_us(daemon);
	return child_start(daemon, &daemon->route_child, device, arguments, on_end);
}

/* One command reads all tables of a device. */
static bool collect_due(struct followed *followed)
{
	char *device = followed->device;

	*device = '\0';
	for (size_t i = 0; i < followed->n; i++) {
		struct table *table = &followed->table[i];

		if (!table->is_due)
			continue;
		if (!*device)
			strcpy(device, table->device);
		if (!strcmp(device, table->device))
			table->is_due = false;
	}
	return *device;
}

/* Listens before it reads, so that no change is missed in between. */
static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct followed *followed = daemon->followed;
	u64 wait_us = DAEMON_RESCAN_US;

	if (daemon->route_child)
		return 0;
	if (find_tables(followed)) {
		wait_us = FAILED_US;
	} else if (!followed->n) {
		stop_hearing(followed);
	} else if (followed->fd < 0 && hear(daemon) < 0) {
		wait_us = FAILED_US;
	} else if (collect_due(followed)) {
		if (run_update(daemon, followed->device))
			on_end(daemon, followed->device, false);
		return 0;
	}
	timer_set(daemon->route_timer, wait_us);
	return 0;
}

void routes_now(struct daemon *daemon)
{
	look_soon(daemon, NEW_US);
}

int routes_start(struct daemon *daemon)
{
	int err;

	daemon->followed = calloc(1, sizeof(*daemon->followed));
	if (!daemon->followed)
		return -ENOMEM;
	daemon->followed->fd = -1;
	err = timer_make(daemon, &daemon->route_timer, 0, look);
	return err < 0 ? err : 0;
}

void routes_stop(struct daemon *daemon)
{
	child_stop(&daemon->route_child);
	if (!daemon->followed)
		return;
	stop_hearing(daemon->followed);
	free(daemon->followed->table);
	free(daemon->followed);
	daemon->followed = NULL;
}
