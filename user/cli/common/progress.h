/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far long work has come, on a terminal.
 *
 * A thread looks and prints, so that the library stays silent and is not slowed
 * down: how much of a file is read is the position of its descriptor. It prints
 * when stderr is a terminal and the work takes longer than half a second, and
 * takes its line away again.
 */
#ifndef BALEEN_CLI_PROGRESS_H
#define BALEEN_CLI_PROGRESS_H

#include <baleen/port.h>

/* One piece of work at a time; each begin has its end. Text is copied. */

/* "reading NAME": the file is read to its end, by whoever. */
void progress_begin_reading(const char *name, int fd);

/* Nobody knows how far it has come, or progress_set() tells. */
void progress_begin(const char *what);

/* So much is done; of 0 when that is not known. */
void progress_set(u64 n_done, u64 n_total);

void progress_end(void);

/* Takes the line away until the next look: before anything else is printed. */
void progress_hide(void);

#endif /* BALEEN_CLI_PROGRESS_H */
