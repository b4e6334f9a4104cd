/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command of the operator, such as a health check: without a shell, and not for longer than
 * it may.
 */
#ifndef BALEEN_COMMAND_H
#define BALEEN_COMMAND_H

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_COMMAND_BYTES 512
#define BALEEN_COMMAND_WORDS 32

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

#endif /* BALEEN_COMMAND_H */
