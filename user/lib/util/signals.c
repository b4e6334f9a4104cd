// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signals that end a command, held back until what it does is whole. */
#include <stddef.h>

#include "util/signals.h"

void baleen_signals_hold(sigset_t *before)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action;
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, before);
}

void baleen_signals_to_errors(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool baleen_signals_came(void)
{
	sigset_t pending;

	return !sigpending(&pending) && !sigisemptyset(&pending);
}
