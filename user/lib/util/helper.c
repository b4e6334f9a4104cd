// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The helper program baleen-fetch. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fd.h"
#include "util/helper.h"

/* Copies of descriptors lie from here on: above all that the helper gets. */
#define FIRST_COPY 10

/**
 * struct helper - the helper at work
 * @use: what for
 * @pid: its process
 * @socket: our end
 * @said: what it wrote to stderr, such as a library that is missing
 * @deadline_ms: when it is ended
 */
struct helper {
	const struct baleen_helper_use *use;
	pid_t pid;
	int socket;
	int said;
	u64 deadline_ms;
};

/* --- start ------------------------------------------------------------------------- */

static bool find_beside(const char *where, const char *name, char *path)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	return snprintf(path, PATH_MAX, "%s/%s/%s", self, where, name) < PATH_MAX &&
	       !access(path, X_OK);
}

void baleen_helper_find(const char *name, char *path)
{
	if (!find_beside("../libexec/baleen", name, path) &&
	    !find_beside("libexec/baleen", name, path))
		snprintf(path, PATH_MAX, "/usr/libexec/baleen/%s", name);
}

/* The helper needs only the variables of proxies and certificates. */
static void choose_environment(char **chosen, size_t room)
{
	static const char *const names[] = { "http_proxy", "https_proxy",   "HTTPS_PROXY",
					     "all_proxy",  "ALL_PROXY",	    "no_proxy",
					     "NO_PROXY",   "SSL_CERT_FILE", "SSL_CERT_DIR" };
	size_t n = 0;

	for (char **entry = environ; *entry && n + 1 < room; entry++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(*entry, names[i], strlen(names[i])) &&
			    (*entry)[strlen(names[i])] == '=')
				chosen[n++] = *entry;
	chosen[n] = NULL;
}

/* @from[i] becomes descriptor @to[i] of the helper, which gets no others. */
static int spawn(pid_t *pid, const int *from, const int *to, u32 n)
{
	char path[PATH_MAX], *arguments[] = { "baleen-fetch", NULL }, *environment[16];
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	baleen_helper_find("baleen-fetch", path);
	choose_environment(environment, sizeof(environment) / sizeof(environment[0]));
	for (u32 i = 0; i < n && !err; i++)
		err = posix_spawn_file_actions_adddup2(&actions, from[i], to[i]);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(&actions,
							       BALEEN_HELPER_PACKED + (n > 3));
	if (!err)
		err = posix_spawn(pid, path, &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* Copies lie above all targets, so that none is closed before it is copied. */
static int start(struct helper *helper, int their_socket)
{
	static const int to[] = { BALEEN_HELPER_SOCKET, BALEEN_HELPER_BODY, STDERR_FILENO,
				  BALEEN_HELPER_PACKED };
	const int given[] = { their_socket, helper->use->body, helper->said, helper->use->packed };
	u32 n = helper->use->packed < 0 ? 3 : 4;
	int from[] = { -1, -1, -1, -1 }, err = 0;

	for (u32 i = 0; i < n && !err; i++) {
		from[i] = fcntl(given[i], F_DUPFD_CLOEXEC, FIRST_COPY);
		if (from[i] < 0)
			err = -errno;
	}
	if (!err)
		err = spawn(&helper->pid, from, to, n);
	for (u32 i = 0; i < n; i++)
		baleen_close_fd(&from[i]);
	return err;
}

/* --- at work ------------------------------------------------------------------------ */

/* A server's words may be in it. */
static void make_printable(char *text, size_t n_bytes)
{
	text[n_bytes - 1] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

/* Takes the line that the program itself or the loader has complained with. */
static int fail_silent(const struct helper *helper, struct baleen_error *error)
{
	char said[512] = "";

	if (pread(helper->said, said, sizeof(said) - 1, 0) <= 0)
		strcpy(said, "baleen-fetch ended without a word");
	said[strcspn(said, "\n")] = '\0';
	return baleen_fail(error, EIO, "%s: %s", helper->use->name, said);
}

/* Signals that are held back; a child that ends is not meant. */
static int open_signals(const struct helper *helper)
{
	sigset_t blocked;

	if (!helper->use->ends_by_signal)
		return -1;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	sigdelset(&blocked, SIGCHLD);
	return signalfd(-1, &blocked, SFD_CLOEXEC);
}

/* Waits for a packet; the signal that ends the waiting stays pending. */
static int wait_for_report(const struct helper *helper, int signals, struct baleen_error *error)
{
	struct pollfd waiting[] = { { .fd = signals, .events = POLLIN },
				    { .fd = helper->socket, .events = POLLIN } };
	u64 now = baleen_monotonic_ms();
	u64 left = now < helper->deadline_ms ? helper->deadline_ms - now : 0;
	int n = poll(waiting, 2, left < INT_MAX ? (int)left : INT_MAX);

	if (n < 0 && errno != EINTR)
		return baleen_fail(error, errno, "%s: poll: %m", helper->use->name);
	if (n > 0 && waiting[0].revents)
		return baleen_fail(error, EINTR, "%s: interrupted", helper->use->name);
	if (!n)
		return baleen_fail(error, ETIMEDOUT, "%s: takes too long", helper->use->name);
	return 0;
}

static int receive(const struct helper *helper, int signals, struct baleen_fetch_report *report,
		   struct baleen_error *error)
{
	const struct baleen_helper_use *use = helper->use;
	ssize_t n;
	int err;

	do {
		err = wait_for_report(helper, signals, error);
		if (err)
			return err;
		n = recv(helper->socket, report, sizeof(*report), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n != sizeof(*report))
			return fail_silent(helper, error);
		if (!report->is_last && use->on_progress)
			use->on_progress(use->data, report->n_received, report->n_total);
	} while (n < 0 || !report->is_last);
	make_printable(report->text, sizeof(report->text));
	make_printable(report->etag, sizeof(report->etag));
	make_printable(report->last_modified, sizeof(report->last_modified));
	return 0;
}

static int work(struct helper *helper, struct baleen_fetch_report *report,
		struct baleen_error *error)
{
	int signals = open_signals(helper), err;

	if (send(helper->socket, helper->use->order, sizeof(*helper->use->order), MSG_NOSIGNAL) < 0)
		err = fail_silent(helper, error);
	else
		err = receive(helper, signals, report, error);
	baleen_close_fd(&signals);
	return err;
}

int baleen_helper_run(const struct baleen_helper_use *use, struct baleen_fetch_report *report,
		      struct baleen_error *error)
{
	struct helper helper = { .use = use,
				 .deadline_ms = baleen_monotonic_ms() + use->time_limit_ms };
	struct baleen_fetch_report last;
	int ends[2], status = 0, err;

	helper.said = memfd_create("baleen-said", MFD_CLOEXEC);
	if (helper.said < 0)
		return baleen_fail(error, errno, "%s: memfd: %m", use->name);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = baleen_fail(error, errno, "%s: socketpair: %m", use->name);
		goto close_said;
	}
	helper.socket = ends[0];
	err = start(&helper, ends[1]);
	close(ends[1]);
	if (err) {
		baleen_fail(error, -err, "%s: baleen-fetch cannot be started: %s", use->name,
			    strerror(-err));
		goto close_socket;
	}
	err = work(&helper, &last, error);
	/* After the last report there is nothing left for it to do. */
	kill(helper.pid, SIGKILL);
	while (waitpid(helper.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (err && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		err = baleen_fail(error, EACCES,
				  "%s: baleen-fetch was ended for a system call that no fetch "
				  "makes: dmesg has its number (type=1326)",
				  use->name);
	if (!err)
		*report = last;
close_socket:
	close(helper.socket);
close_said:
	close(helper.said);
	return err;
}
