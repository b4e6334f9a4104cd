/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that are started: by the daemon, or a command of the operator, such as a health
 * check, without a shell, and not for longer than it may.
 */
#ifndef BALEEN_COMMAND_H
#define BALEEN_COMMAND_H

#include <spawn.h>
#include <stdbool.h>

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_COMMAND_BYTES 512
#define BALEEN_COMMAND_WORDS 32

/**
 * struct baleen_spawn - a program to start
 * @path: its path
 * @argv: its arguments
 * @envp: its environment
 * @actions: what becomes of its descriptors; NULL: it has ours
 * @leads_group: a process group of its own
 */
struct baleen_spawn {
	const char *path;
	char *const *argv;
	char *const *envp;
	const posix_spawn_file_actions_t *actions;
	bool leads_group;
};

/**
 * baleen_spawn() - start a program in which no signal is blocked
 * @spawn: the program
 * @pid: filled in
 *
 * Return: 0 or a negative errno.
 */
int baleen_spawn(const struct baleen_spawn *spawn, pid_t *pid);

/**
 * baleen_command_run() - run a command and wait for it
 * @words: path and arguments, with a newline between two
 * @timeout_ms: then it is killed, and what it has started in its group
 * @error: filled in on failure: names it, and says how it ended
 *
 * It reads nothing, its output is thrown away, no signal is blocked, and of the environment it
 * has PATH alone.
 *
 * Return: 0 when it exits with 0; -ETIME; -EREMOTEIO when it ends in another way; a negative
 * errno when it cannot be run.
 */
int baleen_command_run(const char *words, u64 timeout_ms, struct baleen_error *error);

/**
 * baleen_tie_children() - let programs started from now on know whose they are
 *
 * Those that call baleen_end_with_parent() end with this process, also when it is killed.
 */
void baleen_tie_children(void);

/**
 * baleen_end_with_parent() - get SIGTERM when the process that ties this one ends
 *
 * Return: true when it has ended already; false also when nobody ties this one.
 */
bool baleen_end_with_parent(void);

#endif /* BALEEN_COMMAND_H */
