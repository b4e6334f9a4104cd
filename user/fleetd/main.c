// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen-fleetd: speaks with the other hosts of a fleet; baleend starts it.
 *
 * Without arguments it runs until fleet.conf or the policy is another one, or something fails.
 * `baleen fleet` starts it to try the connection, or to send one message.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "fleetd/fleetd.h"
#include "fleetd/order.h"
#include "util/announce.h"
#include "util/clock.h"
#include "util/command.h"
#include "util/fd.h"
#include "util/output.h"
#include "util/rlimit.h"
#include "util/signals.h"

/* An answer of 256 MiB in two copies, and what is kept. hiredis allocates for as many elements as
 * an answer says that it has, and takes 100 bytes for one of three: without a limit a broker could
 * fill the memory of its hosts.
 */
#define MAX_DATA (2ull << 30)
/* The files are looked at so often. */
#define LOOK_S 2

static volatile sig_atomic_t is_ended;

static void on_end(int signal_number)
{
	is_ended = true;
}

/* --- files -------------------------------------------------------------------------- */

/* Is there one? One that is not right is said, and counts as none. */
static bool has_policy(struct fleet *fleet)
{
	struct baleen_fleet_policy policy = { 0 };
	struct baleen_error error;
	int err = baleen_fleet_site_policy(&fleet->conf, &policy, NULL, &error);

	baleen_fleet_policy_free(&policy);
	if (err && err != -ENOENT)
		say(fleet, LOG_WARNING, "%s", error.text);
	return !err;
}

/* A host that joins gets its first policy by Redis. */
static int wait_for_policy(struct fleet *fleet)
{
	const struct timespec pause = { .tv_sec = 1 };
	struct redis redis = REDIS_CLOSED;
	struct baleen_error error;
	int ret;

	while (!is_ended && !has_policy(fleet)) {
		ret = redis_find(&redis, &fleet->conf, REDIS_MASTER, &error);
		if (!ret)
			ret = policy_fetch(fleet, &redis, &error);
		redis_close(&redis);
		if (ret < 0)
			say(fleet, LOG_WARNING, "no policy yet: %s", error.text);
		if (ret <= 0)
			nanosleep(&pause, NULL);
	}
	return is_ended ? -EINTR : 0;
}

static int load(struct fleet *fleet, struct baleen_error *error)
{
	bool is_next;
	int err = baleen_fleet_conf_read(&fleet->conf, error);

	if (!err)
		err = baleen_fleet_site_policy(&fleet->conf, &fleet->policy, NULL, error);
	if (!err)
		err = baleen_fleet_site_keys(&fleet->conf, &fleet->policy, &fleet->keys, &is_next,
					     error);
	if (!err)
		err = baleen_fleet_store_open(&fleet->store, NULL, true, error);
	return err;
}

/**
 * struct stamps - when files were changed
 * @conf: fleet.conf
 * @written: the policy that fleet.conf names
 * @kept: the policy that came over Redis
 * @key: of this host
 */
struct stamps {
	struct timespec conf, written, kept, key;
};

static struct timespec stamp_of(const char *path)
{
	struct stat stat_of;

	return stat(path, &stat_of) ? (struct timespec){ 0 } : stat_of.st_mtim;
}

static void take_stamps(const struct baleen_fleet_conf *conf, struct stamps *stamps)
{
	char path[BALEEN_FLEET_PATH];

	memset(stamps, 0, sizeof(*stamps));
	stamps->conf = stamp_of(baleen_fleet_conf_path(path));
	stamps->written = stamp_of(conf->policy_path);
	stamps->kept = stamp_of(baleen_fleet_site_kept_path(path));
	stamps->key = stamp_of(conf->key_path);
}

/* --- the two processes ---------------------------------------------------------------- */

static pid_t start(struct fleet *fleet, const char *name, int (*run)(struct fleet *fleet))
{
	struct baleen_error error;
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* A signal of before that has ended nobody, and nobody hears of a parent that is gone. */
	if (is_ended || getppid() != parent)
		_exit(EXIT_FAILURE);
	fleet->name = name;
	/* SQLite's handles do not cross a fork. */
	if (load(fleet, &error)) {
		say(fleet, LOG_ERR, "%s", error.text);
		_exit(EXIT_FAILURE);
	}
	_exit(run(fleet));
}

/* The reader or the publisher ended: 1; a file is another one, or a signal came: 0. */
static int wait_for_end(const struct fleet *fleet, const struct stamps *begun)
{
	struct stamps now;

	for (;;) {
		struct timespec pause = { .tv_sec = LOOK_S };

		if (is_ended)
			return 0;
		if (waitpid(-1, NULL, WNOHANG) > 0)
			return 1;
		/* A child that ends ends the pause. */
		nanosleep(&pause, NULL);
		take_stamps(&fleet->conf, &now);
		if (memcmp(begun, &now, sizeof(now)))
			return 0;
	}
}

static void on_child(int signal_number)
{
}

static void handle(int signal_number, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };

	sigaction(signal_number, &action, NULL);
}

/* Another one, of a baleend that was killed, may be about to end. */
static int hold_lock(void)
{
	char path[BALEEN_FLEET_PATH];
	int fd;

	if (snprintf(path, sizeof(path), "%s/fleetd.lock", baleen_run_root()) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	mkdir(baleen_run_root(), 0700);
	fd = baleen_output_own(path, NULL);
	if (fd < 0)
		return fd;
	return flock(fd, LOCK_EX) ? -errno : fd;
}

static int run(struct fleet *fleet, const struct stamps *begun)
{
	pid_t publisher, reader;
	int status;

	if (questions_open(fleet))
		return EXIT_FAILURE;
	handle(SIGCHLD, on_child);
	baleen_fleet_store_close(&fleet->store);
	publisher = start(fleet, "publisher", publisher_run);
	reader = start(fleet, "reader", reader_run);
	status = publisher < 0 || reader < 0 ? EXIT_FAILURE : wait_for_end(fleet, begun);
	if (publisher > 0)
		kill(publisher, SIGTERM);
	if (reader > 0)
		kill(reader, SIGTERM);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return status;
}

int main(int argc, char **argv)
{
	static struct fleet fleet = { .name = "start" };
	struct baleen_error error;
	struct stamps begun;
	int err;

	baleen_signals_to_errors();
	err = baleen_rlimit_lower(RLIMIT_DATA, MAX_DATA);
	if (err) {
		say(&fleet, LOG_ERR, "cannot limit its memory: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	if (argc > 1)
		return order_run(&fleet, argc - 1, argv + 1);
	handle(SIGTERM, on_end);
	handle(SIGINT, on_end);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (baleen_end_with_parent())
		return EXIT_FAILURE;
	if (baleen_fleet_conf_read(&fleet.conf, &error)) {
		say(&fleet, LOG_ERR, "%s", error.text);
		return EXIT_FAILURE;
	}
	if (hold_lock() < 0 || wait_for_policy(&fleet))
		return EXIT_FAILURE;
	/* A file that changes from here on makes it start again. */
	take_stamps(&fleet.conf, &begun);
	if (load(&fleet, &error)) {
		say(&fleet, LOG_ERR, "%s", error.text);
		return EXIT_FAILURE;
	}
	if (!access(fleet.conf.policy_path, F_OK) && baleen_fleet_site_check(&fleet.conf, &error))
		say(&fleet, LOG_WARNING, "%s: the policy before it counts", error.text);
	return run(&fleet, &begun);
}
