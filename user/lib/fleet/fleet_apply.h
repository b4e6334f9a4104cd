/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of a publisher: from a message that was verified to rows.
 */
#ifndef BALEEN_FLEET_APPLY_H
#define BALEEN_FLEET_APPLY_H

#include "fleet/fleet_work.h"

/**
 * baleen_fleet_apply_batch() - the changes of a batch that are new
 * @work: the next change of the publisher is in it
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_apply_batch(struct baleen_fleet_work *work);

/**
 * baleen_fleet_apply_snapshot() - all entries of a publisher
 * @work: the snapshot
 *
 * Entries that are in force and in it stay in force; the others are judged, the oldest first.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_apply_snapshot(struct baleen_fleet_work *work);

/**
 * baleen_fleet_digest_of() - the digest of a snapshot
 * @message: the snapshot
 *
 * Return: the digest.
 */
struct baleen_fleet_digest baleen_fleet_digest_of(const struct baleen_fleet_message *message);

/**
 * baleen_fleet_row_end() - when an entry ends on this host
 * @grant: of its publisher; may be NULL
 * @is_control: it is what an operator says, and ends when he says so
 * @row: its entry and base_ms
 *
 * Return: broker's time.
 */
u64 baleen_fleet_row_end(const struct baleen_fleet_grant *grant, bool is_control,
			 const struct baleen_fleet_row *row);

#endif /* BALEEN_FLEET_APPLY_H */
