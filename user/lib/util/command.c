// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A command of the operator, without a shell. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/command.h"

/* In the environment: the process id of who ties its children. */
#define PARENT "BALEEN_PARENT"

#define OUR_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int split(char *words, char **argv)
{
	char *rest = NULL;
	u32 n = 0;

	for (char *word = strtok_r(words, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
		if (n == BALEEN_COMMAND_WORDS)
			return -E2BIG;
		argv[n++] = word;
	}
	argv[n] = NULL;
	return n ? 0 : -EINVAL;
}

int baleen_spawn(const struct baleen_spawn *spawn, pid_t *pid)
{
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	posix_spawnattr_t attributes;
	sigset_t none, ours;
	int err;

	if (spawn->leads_group)
		flags |= POSIX_SPAWN_SETPGROUP;
	sigemptyset(&none);
	/* baleen_signals_to_errors() is for us. */
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &ours);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, flags);
	err = posix_spawn(pid, spawn->path, spawn->actions, &attributes, spawn->argv, spawn->envp);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

static int start(char *const *argv, pid_t *pid)
{
	char *environment[] = { OUR_PATH, NULL };
	posix_spawn_file_actions_t actions;
	const struct baleen_spawn spawn = { .path = argv[0],
					    .argv = argv,
					    .envp = environment,
					    .actions = &actions,
					    .leads_group = true };
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	err = baleen_spawn(&spawn, pid);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* Return: true when it has ended, or nobody can tell. */
static bool ends_in_time(pid_t pid, u64 timeout_ms)
{
	struct pollfd ended = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	u64 until_ms = baleen_monotonic_ms() + timeout_ms, now_ms;
	int n = 0;

	if (ended.fd < 0)
		return false;
	while ((now_ms = baleen_monotonic_ms()) < until_ms) {
		n = poll(&ended, 1, until_ms - now_ms);
		if (n > 0 || (n < 0 && errno != EINTR))
			break;
	}
	close(ended.fd);
	return n > 0;
}

int baleen_command_run(const char *words, u64 timeout_ms, struct baleen_error *error)
{
	char copy[BALEEN_COMMAND_BYTES], *argv[BALEEN_COMMAND_WORDS + 1];
	bool is_late;
	int status = 0, err;
	pid_t pid;

	if (strlen(words) >= sizeof(copy))
		return baleen_fail(error, E2BIG, "too long a command");
	strcpy(copy, words);
	err = split(copy, argv);
	if (!err)
		err = start(argv, &pid);
	if (err)
		return baleen_fail(error, -err, "%.200s: %s",
				   err == -EINVAL ? "no command" : argv[0], strerror(-err));
	is_late = !ends_in_time(pid, timeout_ms);
	/* Processes that it has left in the background end, too. */
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (is_late)
		return baleen_fail(error, ETIME, "%.200s: has not ended after %llu s", argv[0],
				   (unsigned long long)timeout_ms / 1000);
	if (WIFSIGNALED(status))
		return baleen_fail(error, EREMOTEIO, "%.200s: signal %d ended it", argv[0],
				   WTERMSIG(status));
	if (WEXITSTATUS(status))
		return baleen_fail(error, EREMOTEIO, "%.200s: exit status %d", argv[0],
				   WEXITSTATUS(status));
	return 0;
}

void baleen_tie_children(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv(PARENT, pid, 1);
}

/* Nobody hears of a parent that was killed before prctl() asked for it. */
bool baleen_end_with_parent(void)
{
	const char *parent = getenv(PARENT);

	if (!parent)
		return false;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return strtol(parent, NULL, 10) != getppid();
}
