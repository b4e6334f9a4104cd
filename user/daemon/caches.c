// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Caches that configurations speak of: their programs are put on behind each filter that comes
 * back, and one 'baleen icp resync --every' runs for each that has a source. It sees a cache
 * that was emptied by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon.h"
#include "deploy/icp_follow.h"
#include "state/rule_store_each.h"
#include "state/rule_store_schema.h"
#include "util/command.h"
#include "util/duration.h"

/* After a change, so that a writer may finish. */
#define SOON_US 1000000ull
/* A command that ended begins again after this time. */
#define AGAIN_US 10000000ull

/* Room for the words of 'baleen icp resync'. */
#define MAX_ARGUMENTS (BALEEN_CONF_ICP_SOURCES + 10)

extern char **environ;

/**
 * struct cache - a sibling with a source
 * @daemon: the daemon
 * @next: the next one
 * @device: its device
 * @name: the sibling
 * @statements: hash of the statements that it is of
 * @is_wanted: they are still those of the device
 * @process: its resync, while it runs
 * @begun_us: when that was started; 0: never
 */
struct cache {
	struct daemon *daemon;
	struct cache *next;
	char device[BALEEN_POINT_BYTES];
	char name[BALEEN_ICP_NAME_BYTES];
	u64 statements;
	bool is_wanted;
	sd_event_source *process;
	u64 begun_us;
};

/* --- resync ------------------------------------------------------------------- */

static int on_exit_of_resync(sd_event_source *source, const siginfo_t *info, void *data)
{
	struct cache *cache = data;

	cache->process = sd_event_source_disable_unref(cache->process);
	if (cache->is_wanted)
		notify(cache->daemon, LOG_WARNING, cache->device,
		       "the resync of sibling %s ended: it begins again", cache->name);
	else
		cache->begun_us = 0;
	timer_sooner(cache->daemon, cache->daemon->caches_timer,
		     cache->is_wanted ? AGAIN_US : SOON_US);
	return 0;
}

/* It ends with this process: baleen_end_with_parent(). */
static int start_resync(struct cache *cache, const struct baleen_conf_icp_source *source)
{
	char target[BALEEN_POINT_BYTES + 1 + BALEEN_ICP_NAME_BYTES];
	char every[BALEEN_DURATION_TEXT], *arguments[MAX_ARGUMENTS];
	posix_spawn_file_actions_t actions;
	const struct baleen_spawn spawn = { .path = cache->daemon->options.command,
					    .argv = arguments,
					    .envp = environ,
					    .actions = &actions };
	u32 n = 0;
	pid_t pid;
	int err;

	snprintf(target, sizeof(target), "%s:%s", cache->device, cache->name);
	arguments[n++] = "baleen";
	arguments[n++] = "icp";
	arguments[n++] = "resync";
	arguments[n++] = "--every";
	arguments[n++] = (char *)baleen_duration_format_exact(source->every_ms, every);
	if (source->from != BALEEN_SQUID_FROM_ANY) {
		arguments[n++] = "--from";
		arguments[n++] = (char *)baleen_squid_from_name(source->from);
	}
	arguments[n++] = target;
	for (u32 i = 0; i < source->n; i++)
		arguments[n++] = source->path[i];
	arguments[n] = NULL;
	/* A line of each round is nothing for a journal; a failure is. */
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	err = baleen_spawn(&spawn, &pid);
	posix_spawn_file_actions_destroy(&actions);
	if (!err)
		err = sd_event_add_child(cache->daemon->event, &cache->process, pid, WEXITED,
					 on_exit_of_resync, cache);
	if (err < 0)
		notify(cache->daemon, LOG_ERR, cache->device, "cannot run a resync: %s",
		       strerror(-err));
	cache->begun_us = now_us(cache->daemon);
	return err < 0 ? err : 0;
}

/* --- caches --------------------------------------------------------------------- */

static struct cache *find_cache(struct daemon *daemon, const char *device, const char *name,
				u64 statements)
{
	struct cache *cache = daemon->caches;

	while (cache && (strcmp(cache->device, device) || strcmp(cache->name, name) ||
			 cache->statements != statements))
		cache = cache->next;
	if (cache)
		return cache;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return NULL;
	*cache = (struct cache){ .daemon = daemon,
				 .next = daemon->caches,
				 .statements = statements };
	snprintf(cache->device, sizeof(cache->device), "%s", device);
	snprintf(cache->name, sizeof(cache->name), "%s", name);
	daemon->caches = cache;
	return cache;
}

static void want_cache(struct daemon *daemon, const char *device, const struct baleen_conf_icp *icp,
		       u32 n, u64 statements)
{
	struct cache *cache;

	if (!icp->source[n].n)
		return;
	cache = find_cache(daemon, device, icp->words.config.sibling[n].name, statements);
	if (!cache)
		return;
	cache->is_wanted = true;
	if (cache->process || (cache->begun_us && now_us(daemon) - cache->begun_us < AGAIN_US))
		return;
	start_resync(cache, &icp->source[n]);
}

static void want_caches(struct daemon *daemon, const char *device, const char *statements)
{
	struct baleen_conf_icp *icp = NULL;
	struct baleen_error error;

	if (baleen_conf_icp_read(statements, &icp, &error)) {
		notify(daemon, LOG_ERR, device, "icp: %s", error.text);
		return;
	}
	for (u32 n = 0; n < icp->words.config.n_siblings; n++)
		want_cache(daemon, device, icp, n, baleen_icp_statements_hash(statements));
	baleen_conf_icp_free(icp);
}

/* One whose resync still runs is there until that has ended. */
static void drop_unwanted(struct daemon *daemon)
{
	struct cache **at = &daemon->caches, *cache;

	while ((cache = *at)) {
		if (!cache->is_wanted && cache->process)
			sd_event_source_send_child_signal(cache->process, SIGTERM, NULL, 0);
		if (cache->is_wanted || cache->process) {
			at = &cache->next;
			continue;
		}
		*at = cache->next;
		free(cache);
	}
}

/* --- look ------------------------------------------------------------------------ */

/* A filter that came back has nothing behind it yet. */
static void follow(struct daemon *daemon, const char *device)
{
	struct baleen_icp_followed followed;
	struct baleen_error error;

	if (baleen_icp_follow(device, &followed, &error)) {
		notify(daemon, LOG_ERR, device, "caches are not answered for: %s", error.text);
		timer_sooner(daemon, daemon->caches_timer, AGAIN_US);
	} else if (followed.did_attach) {
		notify(daemon, LOG_NOTICE, device, "caches are answered for again");
	}
}

static int look_at_state(struct baleen_rule_store_found *found, void *data)
{
	struct daemon *daemon = data;
	char *statements = NULL;

	if (found->err || baleen_rule_store_get_text(&found->state, BALEEN_TEXT_ICP, &statements) ||
	    !statements)
		return 0;
	baleen_rule_store_let_go(found);
	if (!baleen_icp_is_followed(found->device, statements))
		follow(daemon, found->device);
	if (baleen_icp_is_followed(found->device, statements))
		want_caches(daemon, found->device, statements);
	free(statements);
	return 0;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;

	for (struct cache *cache = daemon->caches; cache; cache = cache->next)
		cache->is_wanted = false;
	timer_set(daemon->caches_timer, DAEMON_RESCAN_US);
	baleen_rule_store_each(look_at_state, daemon, NULL);
	drop_unwanted(daemon);
	return 0;
}

void caches_now(struct daemon *daemon)
{
	timer_sooner(daemon, daemon->caches_timer, SOON_US);
}

/* One of two in a namespace reads the caches. */
int caches_start(struct daemon *daemon)
{
	int err;

	if (daemon->lock < 0)
		return 0;
	err = timer_make(daemon, &daemon->caches_timer, SOON_US, look);
	return err < 0 ? err : 0;
}

void caches_stop(struct daemon *daemon)
{
	struct cache *cache;

	while ((cache = daemon->caches)) {
		if (cache->process)
			sd_event_source_send_child_signal(cache->process, SIGTERM, NULL, 0);
		sd_event_source_disable_unref(cache->process);
		daemon->caches = cache->next;
		free(cache);
	}
	daemon->caches_timer = sd_event_source_disable_unref(daemon->caches_timer);
}
