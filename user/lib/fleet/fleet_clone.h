/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two machines that publish under one name: the same number, and another change.
 *
 * A copy of a machine goes on with the numbers of the first one. Whoever comes second with a
 * number is passed over as a duplicate; so that this is noticed, a receiver remembers a hash of
 * each of the last changes of a publisher.
 */
#ifndef BALEEN_FLEET_CLONE_H
#define BALEEN_FLEET_CLONE_H

#include "fleet/fleet_apply.h"

/* Changes of a publisher that are remembered, about. */
#define BALEEN_FLEET_REMEMBERED 4096

/**
 * baleen_fleet_clone_remember() - remember the changes of a batch
 * @work: a batch that has been applied
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_clone_remember(struct baleen_fleet_work *work);

/**
 * baleen_fleet_clone_forget() - remember none of a publisher
 * @work: its account
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_clone_forget(struct baleen_fleet_work *work);

/**
 * baleen_fleet_clone_find() - is a change of a batch another one than the one of this number?
 * @work: a batch of the incarnation that is known
 * @number: filled in: of the first such change
 *
 * Return: 1 or 0; a negative errno.
 */
int baleen_fleet_clone_find(struct baleen_fleet_work *work, u64 *number);

#endif /* BALEEN_FLEET_CLONE_H */
