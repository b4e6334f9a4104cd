// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How far long work has come, on a terminal. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/common/progress.h"
#include "util/clock.h"
#include "util/foreign.h"

#define FIRST_MS 500
#define NEXT_MS 200
#define MAX_WIDTH 160

/**
 * struct progress - the work that goes on
 * @lock: guards all that follows
 * @changed: @is_running was cleared
 * @thread: looks at it while is_running
 * @is_running: between begin and end, on a terminal
 * @is_shown: there is a line to be taken away
 * @what: such as "reading list.txt"
 * @fd: its position tells how much is done; -1 for none
 * @n_done: as told
 * @n_total: how much there is; 0 when that is not known
 * @begun_ms: start, by CLOCK_MONOTONIC
 */
static struct progress {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool is_running;
	bool is_shown;
	char what[128];
	int fd;
	u64 n_done;
	u64 n_total;
	u64 begun_ms;
} work = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A line that wraps could not be taken away. */
static int terminal_width(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col < MAX_WIDTH ? size.ws_col : MAX_WIDTH;
}

/* --- the line; with the lock ----------------------------------------------- */

static void erase(void)
{
	if (work.is_shown)
		fputs("\r\033[K", stderr);
	work.is_shown = false;
}

static void put_line(void)
{
	off_t position = work.fd < 0 ? -1 : lseek(work.fd, 0, SEEK_CUR);
	u64 n = position < 0 ? work.n_done : (u64)position;
	u64 gone_ms = baleen_monotonic_ms() - work.begun_ms;
	char line[MAX_WIDTH + 1], done[NUMBER_TEXT], rate[NUMBER_TEXT];

	if (n && work.n_total)
		snprintf(line, sizeof(line), "%s: %.0f %%, %s/s", work.what,
			 n < work.n_total ? 100. * n / work.n_total : 100,
			 format_bytes(n * 1000. / gone_ms, rate));
	else if (n)
		snprintf(line, sizeof(line), "%s: %s, %s/s", work.what, format_bytes(n, done),
			 format_bytes(n * 1000. / gone_ms, rate));
	else
		snprintf(line, sizeof(line), "%s: %llu s", work.what,
			 (unsigned long long)gone_ms / 1000);
	say_to(stderr, "\r\033[K%.*s", terminal_width() - 1, line);
	fflush(stderr);
	work.is_shown = true;
}

static bool wait_until_over(u64 wait_ms)
{
	u64 end_ms = baleen_monotonic_ms() + wait_ms;
	struct timespec end = { .tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000 };
	int err = 0;

	while (work.is_running && !err)
		err = pthread_cond_timedwait(&work.changed, &work.lock, &end);
	return !work.is_running;
}

static void *look(void *unused)
{
	u64 wait_ms = FIRST_MS;

	pthread_mutex_lock(&work.lock);
	while (!wait_until_over(wait_ms)) {
		put_line();
		wait_ms = NEXT_MS;
	}
	pthread_mutex_unlock(&work.lock);
	return NULL;
}

/* --- the work -------------------------------------------------------------- */

/* CLOCK_MONOTONIC, because the time of day may be set meanwhile. */
static void make_condition(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&work.changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static bool is_wanted(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb");
}

/* A name may be any bytes. */
static void set_what(const char *what)
{
	baleen_foreign_text(work.what, sizeof(work.what), what, strlen(what));
}

static void begin(const char *what, int fd, u64 total)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (work.is_running || !is_wanted())
		return;
	pthread_once(&once, make_condition);
	set_what(what);
	work.fd = fd;
	work.n_done = 0;
	work.n_total = total;
	work.begun_ms = baleen_monotonic_ms();
	work.is_running = true;
	/* Without a thread there is no progress to be seen, but there is some. */
	if (pthread_create(&work.thread, NULL, look, NULL))
		work.is_running = false;
}

void progress_begin_reading(const char *name, int fd)
{
	char what[sizeof(work.what)];
	struct stat stat;

	if (fstat(fd, &stat))
		return;
	snprintf(what, sizeof(what), "reading %s", name);
	begin(what, fd, S_ISREG(stat.st_mode) ? stat.st_size : 0);
}

void progress_begin(const char *what)
{
	begin(what, -1, 0);
}

void progress_set(u64 n_done, u64 n_total)
{
	pthread_mutex_lock(&work.lock);
	work.n_done = n_done;
	work.n_total = n_total;
	pthread_mutex_unlock(&work.lock);
}

/* Leaves errno to who asks what has become of the work. */
void progress_end(void)
{
	int err = errno;

	if (!work.is_running)
		return;
	pthread_mutex_lock(&work.lock);
	work.is_running = false;
	pthread_cond_signal(&work.changed);
	pthread_mutex_unlock(&work.lock);
	pthread_join(work.thread, NULL);
	erase();
	errno = err;
}

void progress_hide(void)
{
	pthread_mutex_lock(&work.lock);
	erase();
	pthread_mutex_unlock(&work.lock);
}
