// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a command and appends what it took to a file: wall time in milliseconds, peak
 * resident memory in KiB, milliseconds of processor.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static double ms_of(const struct timeval *time)
{
	return time->tv_sec * 1e3 + time->tv_usec / 1e3;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		err(125, "fork");
	if (!pid) {
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	return pid;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double began, ended;
	int status;
	pid_t pid;
	FILE *out;

	if (argc < 3) {
		fprintf(stderr, "usage: usage FILE COMMAND [ARGUMENT...]\n");
		return 125;
	}
	out = fopen(argv[1], "a");
	if (!out)
		err(125, "%s", argv[1]);
	began = now_ms();
	pid = start(&argv[2]);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			err(125, "wait4");
	ended = now_ms();
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
	fprintf(out, "%.2f %ld %.2f\n", ended - began, usage.ru_maxrss,
		ms_of(&usage.ru_utime) + ms_of(&usage.ru_stime));
	return fclose(out) ? 125 : 0;
}
