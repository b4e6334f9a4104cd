/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kept state whose disk takes no more: its database goes on in memory.
 *
 *      /run/baleen/unkept/DEV.<inode of the state's directory>/state.db
 *
 * While it is there it is the state, for readers and writers, and the database on the
 * disk is what a reboot brings back. Each writer, baleend among them, writes it to the
 * disk as soon as there is room, in one transaction. Feeds stay where they are, and none
 * is removed meanwhile: the database on the disk may speak of it.
 */
#ifndef BALEEN_UNKEPT_H
#define BALEEN_UNKEPT_H

#include "state/rule_store_handle.h"

/**
 * baleen_unkept_find() - is the database of a state in memory?
 * @state: with a path; its @unkept is filled in
 *
 * Return: whether it is.
 */
bool baleen_unkept_find(struct baleen_rule_store *state);

/**
 * baleen_unkept_goes_on() - is what failed to be done again in memory?
 * @state: opened for writing, without a transaction, its database on the disk
 * @err: what came of a transaction
 *
 * Where the disk has no room, the state goes on in memory, and nobody is protected less.
 *
 * Return: true when @err was a lack of room and the state goes on in memory.
 */
bool baleen_unkept_goes_on(struct baleen_rule_store *state, int err);

/**
 * baleen_unkept_has_room() - does the disk take it now, as far as can be told?
 * @state: opened, its database in memory
 *
 * Return: whether it does.
 */
bool baleen_unkept_has_room(const struct baleen_rule_store *state);

/**
 * baleen_unkept_keep() - write it to the disk, if there is room now
 * @state: opened for writing, without a transaction, its database in memory
 * @error: filled in on failure; that there is no room is none
 *
 * Return: 0, and @unkept tells whether it is still in memory; a negative errno, then it is
 * to be closed.
 */
int baleen_unkept_keep(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_unkept_why() - why is a state not kept?
 * @state: opened
 *
 * Return: such as "disk full"; NULL when it is kept, or is to end with the filter.
 */
const char *baleen_unkept_why(const struct baleen_rule_store *state);

#endif /* BALEEN_UNKEPT_H */
