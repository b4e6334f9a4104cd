// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices that come back: their filters are restored; new ones get that of default.conf.
 *
 * Only a new device gets a filter: an operator who detached a filter wants it off.
 * A file in /run has the number and name of each device that exists, so baleend finds at
 * start which devices came while it did not run. A renamed device counts as new.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <syslog.h>

#include "daemon.h"
#include "deploy/conf_find.h"
#include "deploy/deploy.h"
#include "deploy/gone.h"
#include "net/device.h"
#include "net/link_wait.h"
#include "state/rule_store_path.h"
#include "util/fd.h"
#include "util/input.h"
#include "util/output.h"

/* Try for half a minute: a driver may not be ready, or another writer may be busy. */
#define AGAIN_US 500000ull
#define MAX_ATTEMPTS 60
/* default.conf of a new device may need a network that is not there yet. */
#define DEFAULT_AGAIN_US 60000000ull

/* Many devices that go at once cause few looks. */
#define GONE_US 20000ull

/**
 * struct known_link - a device that exists
 * @index: its number
 * @name: its name
 * @is_new: its filter was not checked yet
 * @is_seen: the current scan found it
 * @n_attempts: to restore its filter
 * @default_us: when to apply default.conf to it; 0 for never
 */
struct known_link {
	int index;
	char name[IF_NAMESIZE];
	bool is_new;
	bool is_seen;
	u32 n_attempts;
	u64 default_us;
};

/**
 * struct known - the devices that exist
 * @n: how many
 * @room: allocated
 * @link: in no order
 */
struct known {
	size_t n, room;
	struct known_link link[];
};

static struct known_link *find(struct known *known, int index)
{
	for (size_t i = 0; i < known->n; i++)
		if (known->link[i].index == index)
			return &known->link[i];
	return NULL;
}

static struct known_link *append(struct daemon *daemon, int index)
{
	struct known *known = daemon->known;

	if (known->n == known->room) {
		size_t room = known->room * 2;

		known = realloc(known, sizeof(*known) + room * sizeof(known->link[0]));
		if (!known)
			return NULL;
		known->room = room;
		daemon->known = known;
	}
	known->link[known->n] = (struct known_link){ .index = index };
	return &known->link[known->n++];
}

/* Return: true when the device is new or has another name. */
static bool learn(struct daemon *daemon, int index, const char *name, bool is_new)
{
	struct known_link *link = find(daemon->known, index);

	if (link)
		link->is_seen = true;
	if (link && !strcmp(link->name, name))
		return false;
	if (!link)
		link = append(daemon, index);
	if (!link)
		return false;
	snprintf(link->name, sizeof(link->name), "%s", name);
	link->is_new = link->is_seen = is_new;
	link->n_attempts = 0;
	link->default_us = 0;
	return true;
}

static void forget(struct known *known, int index)
{
	struct known_link *link = find(known, index);

	if (link)
		*link = known->link[--known->n];
}

/* --- memory ---------------------------------------------------------------- */

static int memory_path(char *path, size_t n)
{
	struct baleen_rule_store_owner owner;

	if (baleen_rule_store_owner("lo", &owner, NULL))
		return -ENOENT;
	snprintf(path, n, "%s/devices-ns%llu", baleen_rule_store_root(false),
		 (unsigned long long)owner.netns_cookie);
	return 0;
}

/* Devices that wait for a filter are left out: they are new again after a restart. */
static void remember(struct daemon *daemon)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES], *text;
	size_t n_bytes;
	FILE *file;

	if (memory_path(path, sizeof(path)))
		return;
	file = open_memstream(&text, &n_bytes);
	if (!file)
		return;
	for (size_t i = 0; i < daemon->known->n; i++)
		if (!daemon->known->link[i].is_new && !daemon->known->link[i].default_us)
			fprintf(file, "%d %s\n", daemon->known->link[i].index,
				daemon->known->link[i].name);
	if (!fclose(file))
		baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0600, text, n_bytes, NULL);
	free(text);
}

static void recall(struct daemon *daemon)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES], name[IF_NAMESIZE];
	FILE *file;
	int index;

	if (memory_path(path, sizeof(path)))
		return;
	file = baleen_input_stream(path, BALEEN_INPUT_OWN, NULL);
	if (!file)
		return;
	while (fscanf(file, "%d %15s", &index, name) == 2)
		learn(daemon, index, name, false);
	fclose(file);
}

/* --- restore --------------------------------------------------------------- */

static int put_on(struct daemon *daemon, const char *device, struct baleen_attempts *attempts,
		  bool *did, struct baleen_error *error)
{
	struct baleen_deploy deploy;
	int err = baleen_deploy_open(&deploy, device, DAEMON_LOCK_MS, error);

	*did = false;
	if (err)
		return err;
	if (deploy.state.is_kept && !deploy.has_xdp) {
		err = baleen_deploy_restore(&deploy, attempts, error);
		*did = !err;
		if (!err && deploy.book_error.text[0])
			notify(daemon, LOG_ERR, device, "its single entries are not in force: %s",
			       deploy.book_error.text);
	}
	baleen_deploy_close(&deploy);
	return err;
}

/* Return: true when nothing is left to do. */
static bool restore_point(struct daemon *daemon, const char *device, bool is_last)
{
	struct baleen_attempts attempts = { 0 };
	struct baleen_rule_store state;
	struct baleen_error error;
	bool did, is_kept;
	int err = baleen_rule_store_open(&state, device, 0, &error);

	if (!err) {
		is_kept = state.is_kept;
		baleen_rule_store_close(&state);
		if (!is_kept)
			return true;
		err = put_on(daemon, device, &attempts, &did, &error);
	}
	if (err == -ENOENT || err == -ENODEV)
		return true;
	if (!err && did) {
		daemon->me.n_reattached++;
		notify(daemon, LOG_NOTICE, device, "is back: its rules are in force again, %s",
		       baleen_mode_text(attempts.mode));
	}
	if (err && (err != -ETIMEDOUT || is_last))
		notify(daemon, LOG_ERR, device, "cannot put its rules on again: %s", error.text);
	return !err || is_last;
}

/* The filter of frames that come in by a device, and that of those that go out. */
static bool restore(struct daemon *daemon, const char *device, bool is_last)
{
	bool is_done = restore_point(daemon, device, is_last);
	char egress[BALEEN_POINT_BYTES];

	return (baleen_device_egress(device, egress) || restore_point(daemon, egress, is_last)) &&
	       is_done;
}

/* --- default.conf ----------------------------------------------------------- */

static bool is_of_default(const char *device)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	bool is_default;

	return !baleen_conf_find(device, path, sizeof(path), &is_default, NULL) && is_default &&
	       !baleen_rule_store_is_there(device);
}

static void on_applied(struct daemon *daemon, const char *device, bool is_good)
{
	for (size_t i = 0; i < daemon->known->n; i++) {
		struct known_link *link = &daemon->known->link[i];

		if (!strcmp(link->name, device) && link->default_us)
			link->default_us = is_good ? 0 : now_us(daemon) + DEFAULT_AGAIN_US;
	}
	if (is_good)
		notify(daemon, LOG_NOTICE, device, "is new: default.conf was applied to it");
	else
		notify(daemon, LOG_ERR, device, "is new: default.conf cannot be applied to it");
	links_now(daemon);
	refresh_now(daemon);
}

/* One device at a time. Returns when to look again; 0 for never. */
static u64 apply_default(struct daemon *daemon)
{
	u64 now = now_us(daemon), next_us = 0;

	for (size_t i = 0; i < daemon->known->n; i++) {
		struct known_link *link = &daemon->known->link[i];
		char *arguments[] = { "baleen", "apply", "--new", "--", link->name, NULL };

		if (link->default_us && link->default_us <= now && !is_of_default(link->name))
			link->default_us = 0;
		/* The end of another command calls this again. */
		if (link->default_us && link->default_us <= now && !daemon->child &&
		    child_start(daemon, &daemon->child, link->name, arguments, on_applied))
			link->default_us = now + DEFAULT_AGAIN_US;
		if (link->default_us > now && (!next_us || link->default_us < next_us))
			next_us = link->default_us;
	}
	return next_us;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	bool is_left = false;
	u64 next_us;

	if (daemon->is_link_gone)
		baleen_gone_tidy();
	daemon->is_link_gone = false;
	for (size_t i = 0; i < daemon->known->n; i++) {
		struct known_link *link = &daemon->known->link[i];

		if (!link->is_new)
			continue;
		link->is_new = !restore(daemon, link->name, ++link->n_attempts == MAX_ATTEMPTS);
		is_left |= link->is_new;
		if (!link->is_new && is_of_default(link->name))
			link->default_us = now_us(daemon);
	}
	next_us = apply_default(daemon);
	remember(daemon);
	if (is_left)
		timer_set(daemon->arrivals, AGAIN_US);
	else if (next_us)
		timer_set(daemon->arrivals, next_us - now_us(daemon));
	return 0;
}

void links_now(struct daemon *daemon)
{
	timer_sooner(daemon, daemon->arrivals, 0);
}

/* --- news ------------------------------------------------------------------ */

/* Scans all devices, since events were lost. */
static void look_at_all(struct daemon *daemon)
{
	struct if_nameindex *all = if_nameindex();

	if (!all) {
		notify(daemon, LOG_ERR, NULL, "cannot list the devices: %m");
		return;
	}
	for (size_t i = 0; i < daemon->known->n; i++)
		daemon->known->link[i].is_seen = false;
	for (struct if_nameindex *one = all; one->if_index; one++)
		learn(daemon, one->if_index, one->if_name, true);
	if_freenameindex(all);
	for (size_t i = daemon->known->n; i--;)
		if (!daemon->known->link[i].is_seen)
			forget(daemon->known, daemon->known->link[i].index);
	daemon->is_link_gone = true;
	timer_sooner(daemon, daemon->arrivals, 0);
}

static int parse_name(const struct nlattr *attribute, void *data)
{
	if (mnl_attr_get_type(attribute) == IFLA_IFNAME &&
	    !mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING))
		snprintf(data, IF_NAMESIZE, "%s", mnl_attr_get_str(attribute));
	return MNL_CB_OK;
}

static int receive_news(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct daemon *daemon = data;
	char name[IF_NAMESIZE] = "";

	/* A bridge reports its ports in the same messages. */
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*info) || info->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	if (message->nlmsg_type == RTM_DELLINK) {
		forget(daemon->known, info->ifi_index);
		daemon->is_link_gone = true;
		timer_sooner(daemon, daemon->arrivals, GONE_US);
	}
	if (message->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	mnl_attr_parse(message, sizeof(*info), parse_name, name);
	if (*name && learn(daemon, info->ifi_index, name, true))
		timer_sooner(daemon, daemon->arrivals, 0);
	return MNL_CB_OK;
}

static int on_news(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct daemon *daemon = data;
	char news[32768] __attribute__((aligned(8)));
	ssize_t n;

	while ((n = recv(fd, news, sizeof(news), MSG_TRUNC)) > 0)
		if (n > (ssize_t)sizeof(news))
			look_at_all(daemon);
		else
			mnl_cb_run(news, n, 0, 0, receive_news, daemon);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		look_at_all(daemon);
	return 0;
}

static int hear(struct daemon *daemon)
{
	struct baleen_error error;

	daemon->link_fd = baleen_link_wait_open(&error);
	if (daemon->link_fd < 0) {
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
		return daemon->link_fd;
	}
	return sd_event_add_io(daemon->event, NULL, daemon->link_fd, EPOLLIN, on_news, daemon);
}

int links_start(struct daemon *daemon)
{
	int err;

	daemon->known = calloc(1, sizeof(*daemon->known) + 16 * sizeof(struct known_link));
	if (!daemon->known)
		return -ENOMEM;
	daemon->known->room = 16;
	err = timer_make(daemon, &daemon->arrivals, 0, look);
	if (err >= 0)
		err = hear(daemon);
	if (err < 0)
		return err;
	recall(daemon);
	look_at_all(daemon);
	return 0;
}

void links_stop(struct daemon *daemon)
{
	baleen_close_fd(&daemon->link_fd);
	free(daemon->known);
}
