/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far a download is, for who looks at a terminal.
 */
#ifndef BALEEN_CLI_FEED_PROGRESS_H
#define BALEEN_CLI_FEED_PROGRESS_H

#include <baleen/port.h>

/* The progress callback of baleen_feed_receive(); @data is the URL. */
void feed_progress(void *data, u64 n_received, u64 n_total);

/* Clears the line, if there is one. */
void feed_progress_end(void);

#endif /* BALEEN_CLI_FEED_PROGRESS_H */
