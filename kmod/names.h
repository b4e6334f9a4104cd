/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of the filters: who has which.
 *
 * The lock of the names is taken here and nowhere else, see filter.h. What is found
 * under RCU alone may have lost its name in the meantime.
 */
#ifndef BALEEN_KMOD_NAMES_H
#define BALEEN_KMOD_NAMES_H

struct baleen_filter;

/**
 * baleen_names_add() - give a filter its name
 * @filter: its name is set; the name holds a reference of its own
 *
 * Context: may sleep.
 * Return: 0 or -EEXIST.
 */
int baleen_names_add(struct baleen_filter *filter);

/* Takes all names away; nobody adds any more. */
void baleen_names_clear(void);

#endif /* BALEEN_KMOD_NAMES_H */
