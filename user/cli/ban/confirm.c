// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen confirm: a change that was applied on trial stays. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "cli/ban/apply.h"
#include "cli/common/options.h"
#include "cli/open/devices.h"
#include "deploy/confirm.h"
#include "deploy/icp_follow.h"
#include "util/fd.h"
#include "xdp/pins.h"

/* --- the processes that wait ------------------------------------------------------
 *
 * One waits, another one stands behind it and takes its place when it is killed.
 */

/* Attempts to take a change back, a second apart. */
#define MAX_FAILURES 3600

/* It looks this often, should the clock and the deadline disagree. */
#define MAX_PAUSE_MS 60000

/* The one behind this process, and a pipe that tells it when that ends. */
static pid_t second = -1;
static int to_second = -1;
static u32 n_killed;

static volatile sig_atomic_t is_asked_back;

static void ask_back(int signal)
{
	is_asked_back = true;
}

static void wake(int signal)
{
}

/* A signal ends it, also one that came before it began; the machine may sleep meanwhile. */
static void pause_ms(u64 ms)
{
	const struct timespec most = { .tv_sec = MAX_PAUSE_MS / 1000 };
	struct pollfd timer = { .fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC),
				.events = POLLIN };
	const struct itimerspec end = { .it_value = { .tv_sec = ms / 1000,
						      .tv_nsec = ms % 1000 * 1000000 + 1 } };
	sigset_t none;

	sigemptyset(&none);
	if (timer.fd >= 0)
		timerfd_settime(timer.fd, 0, &end, NULL);
	ppoll(&timer, 1, &most, &none);
	baleen_close_fd(&timer.fd);
}

/* They come while it pauses only. */
static void handle_signals(bool waits)
{
	const struct sigaction back = { .sa_handler = waits ? ask_back : SIG_DFL };
	const struct sigaction child = { .sa_handler = waits ? wake : SIG_DFL };
	sigset_t handled;

	sigemptyset(&handled);
	sigaddset(&handled, SIGTERM);
	sigaddset(&handled, SIGINT);
	sigaddset(&handled, SIGCHLD);
	sigaction(SIGTERM, &back, NULL);
	sigaction(SIGINT, &back, NULL);
	sigaction(SIGCHLD, &child, NULL);
	sigprocmask(waits ? SIG_BLOCK : SIG_UNBLOCK, &handled, NULL);
}

static void wait_for_command(const char *device);

/* Behind the one that waits. Also who was killed closes the pipe. */
static void stand_behind(const char *device, int from_first)
{
	char byte;

	handle_signals(false);
	second = to_second = -1;
	if (read(from_first, &byte, 1) == 1)
		_exit(0);
	close(from_first);
	syslog(LOG_WARNING, "%s: who waited for 'baleen confirm' was killed: another one does",
	       device);
	/* Something may kill each of them, one after the other. */
	handle_signals(true);
	pause_ms(n_killed * 1000 < MAX_PAUSE_MS ? n_killed * 1000 : MAX_PAUSE_MS);
	n_killed++;
	wait_for_command(device);
}

static void get_second(const char *device)
{
	int fds[2];

	if (to_second >= 0)
		close(to_second);
	to_second = second = -1;
	if (pipe2(fds, O_CLOEXEC)) {
		syslog(LOG_WARNING, "%s: nobody stands behind the process that waits: %m", device);
		return;
	}
	second = fork();
	if (!second) {
		close(fds[1]);
		stand_behind(device, fds[0]);
	}
	close(fds[0]);
	to_second = fds[1];
	if (second < 0)
		syslog(LOG_WARNING, "%s: nobody stands behind the process that waits: %m", device);
}

static void dismiss_second(void)
{
	if (to_second >= 0 && write(to_second, "", 1) != 1)
		syslog(LOG_DEBUG, "who stood behind was killed");
}

/* Return: 1 when it was taken back, 0 when nothing waits any more; else a message. */
static int take_back_in_time(const char *device)
{
	struct baleen_error error;
	u32 n_failures = 0;

	while (n_failures < MAX_FAILURES) {
		u64 deadline_ms, now_ms;
		int did;

		if (second > 0 && waitpid(second, NULL, WNOHANG) == second)
			get_second(device);
		if (is_asked_back && baleen_confirm_hasten(device, &error))
			syslog(LOG_ERR, "%s: %s", device, error.text);
		else
			is_asked_back = false;
		did = baleen_confirm_check(device, BALEEN_LOCK_TIMEOUT_MS, &deadline_ms, &error);
		if (did > 0)
			baleen_icp_seed(device, NULL);
		if (did > 0 || (!did && !deadline_ms))
			return did;
		now_ms = baleen_now_ms();
		if (did < 0) {
			/* The first and the last are enough for a journal. */
			if (!n_failures++)
				syslog(LOG_ERR, "%s: cannot put the previous state back: %s",
				       device, error.text);
			pause_ms(1000);
		} else if (is_asked_back) {
			pause_ms(1000);
		} else if (deadline_ms > now_ms) {
			u64 left_ms = deadline_ms - now_ms;

			pause_ms(left_ms < MAX_PAUSE_MS ? left_ms : MAX_PAUSE_MS);
		}
	}
	syslog(LOG_CRIT, "%s: gave up putting the previous state back: %s", device, error.text);
	return -1;
}

static void wait_for_end(const char *device)
{
	handle_signals(true);
	if (take_back_in_time(device) > 0)
		syslog(LOG_WARNING, "%s: was not confirmed: the previous state is back in force",
		       device);
	dismiss_second();
}

/* Nothing of the terminal, nothing of who started it: neither locks nor pipes. */
static void let_go(int fd)
{
	sigset_t none;
	int null;

	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_DFL);
	handle_signals(false);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/"))
		syslog(LOG_WARNING, "cannot change to /: %m");
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i <= STDERR_FILENO && null >= 0; i++)
		dup2(null, i);
	dup2(fd, STDERR_FILENO + 1);
	close_range(STDERR_FILENO + 2, ~0u, 0);
}

/* The command that began the trial tells by a pipe that nobody need wait; also one that was killed
 * closes it. Whoever takes over reads it again.
 */
static void wait_for_command(const char *device)
{
	char byte;

	handle_signals(false);
	if (second < 0)
		get_second(device);
	if (read(STDERR_FILENO + 1, &byte, 1) == 1)
		dismiss_second();
	else
		wait_for_end(device);
	_exit(0);
}

static void wait_as_child(const char *device, int fd)
{
	let_go(fd);
	openlog("baleen", LOG_PID, LOG_DAEMON);
	wait_for_command(device);
}

int start_waiter(struct waiter *waiter, const char *device)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return complain("%s: pipe: %m", device);
	waiter->pid = fork();
	if (!waiter->pid) {
		close(fds[1]);
		wait_as_child(device, fds[0]);
	}
	close(fds[0]);
	waiter->fd = fds[1];
	if (waiter->pid > 0)
		return 0;
	complain("%s: fork: %m", device);
	waiter->pid = 0;
	close(waiter->fd);
	return EXIT_FAILED;
}

void release_waiter(struct waiter *waiter, bool is_needed)
{
	if (!waiter->pid)
		return;
	if (!is_needed && write(waiter->fd, "", 1) == 1)
		waitpid(waiter->pid, NULL, 0);
	close(waiter->fd);
	waiter->pid = 0;
}

/* --- the command ---------------------------------------------------------------- */

/* @all: the names of those that were confirmed, added to; NULL for words */
static int confirm(const char *device, json_t *all)
{
	struct baleen_error error;

	if (baleen_device_privileges(&error) || baleen_confirm_end(device, &error))
		return complain("%s", error.text);
	if (all)
		json_array_append_new(all, json_text(device));
	else
		say("%s: confirmed\n", device);
	return 0;
}

static int confirm_each(json_t *all)
{
	struct devices devices = { 0 };
	int err = devices_with_states(&devices), result = EXIT_DONE;
	size_t n = 0;

	for (size_t i = 0; i < devices.n && !err; i++) {
		if (!baleen_confirm_deadline(devices.name[i]))
			continue;
		n++;
		if (confirm(devices.name[i], all))
			result = EXIT_FAILED;
	}
	devices_free(&devices);
	if (!err && !n)
		err = complain("no device waits to be confirmed");
	return err ? err : result;
}

static int run(int argc, char **argv)
{
	bool json = false;
	int err = options_parse(&confirm_command, &json, &argc, &argv);
	json_t *all;

	if (err)
		return err;
	all = json ? json_array() : NULL;
	err = argc ? confirm(*argv, all) : confirm_each(all);
	if (all && json_array_size(all)) {
		json_t *done = json_pack("{s:O}", "confirmed", argc ? json_array_get(all, 0) : all);

		json_decref(all);
		return print_json(done) ? EXIT_FAILED : err;
	}
	json_decref(all);
	return err ? err : finish_output(EXIT_DONE);
}

static const struct option_spec options[] = {
	{ "json", 'j', NULL, option_flag, .help = "say so as JSON" },
	{ 0 },
};

const struct command confirm_command = {
	.name = "confirm",
	.synopsis = "[-j] [DEV]",
	.help = "Says that what 'baleen apply --confirm' has put on a device shall stay. Without it the\n"
		"previous rules, feeds and policy come back when the time is over, also when the command,\n"
		"its terminal or the machine is gone by then. Without DEV it says so of all devices that wait\n"
		"for it.\n",
	.options = options,
	.asks = { 0, 1, "one device at most is asked for" },
	.run = run,
};
