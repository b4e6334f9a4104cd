/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pardons and words on publishers, applied: entries of a publisher HOST/control ban nobody, but let
 * keys go, and suspend publishers.
 */
#ifndef BALEEN_FLEET_CONTROL_H
#define BALEEN_FLEET_CONTROL_H

#include "fleet/fleet_work.h"

/**
 * baleen_fleet_control_changes() - what follows from an entry of an operator
 * @work: of its publisher; its result is told of bans that no longer count
 * @old: as it is; NULL for none
 * @row: as it will be; NULL for none
 *
 * To be called before the row is written.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_control_changes(struct baleen_fleet_work *work, const struct baleen_fleet_row *old,
				 const struct baleen_fleet_row *row);

/**
 * baleen_fleet_control_let_go() - bans of this host itself are to be taken back
 * @store: with a transaction
 * @error: filled in on failure
 *
 * Whoever is killed before it is done finds it at the next start.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_control_let_go(struct baleen_fleet_store *store, struct baleen_error *error);

/**
 * baleen_fleet_control_is_due() - are there bans of this host that are to be taken back?
 * @store: opened
 * @mark: filled in: what baleen_fleet_control_is_done() wants; 0 when nothing is due
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_control_is_due(const struct baleen_fleet_store *store, u64 *mark,
				struct baleen_error *error);

/**
 * baleen_fleet_control_is_done() - they were taken back
 * @store: opened for writing
 * @mark: as it was found; another pardon of meanwhile stays due
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_control_is_done(struct baleen_fleet_store *store, u64 mark,
				 struct baleen_error *error);

#endif /* BALEEN_FLEET_CONTROL_H */
