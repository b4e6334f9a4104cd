/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How baleend learns that there is something new: a file in memory that whoever changes a
 * state or a filter touches, and that it watches.
 */
#ifndef BALEEN_ANNOUNCE_H
#define BALEEN_ANNOUNCE_H

#include <stddef.h>

/**
 * baleen_run_root() - the directory of what ends with the boot
 *
 * Return: BALEEN_RUN_DIR of the environment, or /run/baleen; it may be missing.
 */
const char *baleen_run_root(void);

/**
 * baleen_announce_path() - the file that is touched
 * @path: filled in
 * @n_bytes: size of @path
 *
 * Return: 0 or -ENAMETOOLONG.
 */
int baleen_announce_path(char *path, size_t n_bytes);

/**
 * baleen_announce() - say that a state or a filter is another one now
 *
 * For changes, not for attempts: what baleend tries again and again would wake itself. An
 * announcement that gets lost is made up for by baleend's next look.
 */
void baleen_announce(void);

#endif /* BALEEN_ANNOUNCE_H */
