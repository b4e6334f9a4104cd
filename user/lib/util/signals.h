/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals that end a command, held back until what it does is whole.
 */
#ifndef BALEEN_SIGNALS_H
#define BALEEN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/**
 * baleen_signals_hold() - block SIGHUP, SIGINT and SIGTERM
 * @before: the mask that was, for sigprocmask(); may be NULL
 *
 * Those that are ignored stay so, as under nohup.
 */
void baleen_signals_hold(sigset_t *before);

/**
 * baleen_signals_to_errors() - have writes fail instead of ending the program
 *
 * A reader that went away (SIGPIPE) gives EPIPE, a limit on the size of files (SIGXFSZ) gives
 * EFBIG, which are reported as a full disk is. For main(); a library leaves its program's alone.
 */
void baleen_signals_to_errors(void);

/**
 * baleen_signals_came() - is a signal waiting that was held back?
 *
 * Return: true or false.
 */
bool baleen_signals_came(void);

#endif /* BALEEN_SIGNALS_H */
