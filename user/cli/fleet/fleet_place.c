// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fleet that this host is in, and the program that speaks with it. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fleet/fleet_verbs.h"
#include "state/entries.h"
#include "util/fd.h"
#include "util/helper.h"
#include "util/write_file.h"

extern char **environ;

int fleet_place_open(struct fleet_place *place)
{
	struct baleen_error error;
	int err = baleen_fleet_conf_read(&place->conf, &error);

	if (err == -ENOENT)
		return complain("this host is in no fleet: see 'baleen help fleet'");
	if (!err)
		err = baleen_fleet_store_open(&place->store, NULL, false, &error);
	if (err == -ENOENT)
		return complain(
			"this host has heard nothing of the fleet yet: is baleend running?");
	return err ? complain("%s", error.text) : EXIT_DONE;
}

void fleet_place_close(struct fleet_place *place)
{
	baleen_fleet_store_close(&place->store);
}

u64 fleet_now_ms(const struct fleet_place *place)
{
	return baleen_now_ms() + baleen_fleet_store_offset(&place->store);
}

/* --- baleen-fleetd ---------------------------------------------------------------------- */

/* Its message becomes one of this command. */
static int pass_on(int fd)
{
	char text[1024];
	size_t n = 0;
	ssize_t got;

	while (n + 1 < sizeof(text) && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return complain("%s", n ? text : "baleen-fleetd ended without a word");
}

static int spawn(const char *option, const char *name, int input, int output, int errors,
		 pid_t *pid)
{
	char path[PATH_MAX];
	char *arguments[] = { "baleen-fleetd", (char *)option, (char *)name, NULL };
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	baleen_helper_find("baleen-fleetd", path);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!err && output >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	if (!err)
		err = posix_spawn(pid, path, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err ? complain("%s: %s", path, strerror(err)) : 0;
}

/* All that the program prints; NULL without memory. */
static char *read_output(int fd)
{
	char *text = NULL, part[4096];
	size_t n = 0;
	ssize_t got;
	FILE *file = open_memstream(&text, &n);

	while (file && (got = read(fd, part, sizeof(part))) > 0)
		fwrite(part, 1, got, file);
	if (file && fclose(file)) {
		free(text);
		text = NULL;
	}
	return file ? text : NULL;
}

int fleet_run_order(const char *option, const char *name, const void *input, size_t n_input,
		    char **output)
{
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } }, status = 0, ret = EXIT_FAILED;
	int *in = pipes[0], *out = pipes[1], *errors = pipes[2];
	char *text = NULL;
	pid_t pid;

	fflush(stdout);
	if (pipe2(in, O_CLOEXEC) || pipe2(errors, O_CLOEXEC) || (output && pipe2(out, O_CLOEXEC))) {
		complain("cannot make a pipe: %s", strerror(errno));
		goto out;
	}
	ret = spawn(option, name, in[0], out[1], errors[1], &pid);
	if (ret)
		goto out;
	baleen_close_fd(&out[1]);
	baleen_close_fd(&errors[1]);
	/* A message is shorter than what a pipe holds. */
	baleen_write_all(in[1], input, n_input);
	baleen_close_fd(&in[1]);
	if (output)
		text = read_output(out[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ret = WIFEXITED(status) && !WEXITSTATUS(status) ? EXIT_DONE : pass_on(errors[0]);
	if (!ret && output && !text)
		ret = complain("not enough memory");
	if (!ret && output) {
		*output = text;
		text = NULL;
	}
out:
	free(text);
	for (u32 i = 0; i < 3; i++) {
		baleen_close_fd(&pipes[i][0]);
		baleen_close_fd(&pipes[i][1]);
	}
	return ret;
}
