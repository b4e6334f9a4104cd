/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A message on its way, and the effects that are told of it.
 */
#ifndef BALEEN_FLEET_WORK_H
#define BALEEN_FLEET_WORK_H

#include "fleet/fleet_pardon.h"
#include "fleet/fleet_result.h"
#include "fleet/fleet_rows.h"

/**
 * struct baleen_fleet_work - a message on its way
 * @receiver: who receives
 * @message: decoded; of a rejudgement none
 * @bytes: as it came
 * @n_bytes: of it
 * @account: of its publisher
 * @grant: of its publisher; NULL when the policy no longer knows it
 * @pardons: those of the store; not of a publisher that an operator is
 * @result: what is told
 * @error: filled in on failure
 */
struct baleen_fleet_work {
	const struct baleen_fleet_receiver *receiver;
	const struct baleen_fleet_message *message;
	const u8 *bytes;
	size_t n_bytes;
	struct baleen_fleet_account account;
	const struct baleen_fleet_grant *grant;
	struct baleen_fleet_pardons *pardons;
	struct baleen_fleet_result *result;
	struct baleen_error *error;
};

/**
 * baleen_fleet_row_counts() - does an entry count now?
 * @work: its account and pardons
 * @row: an entry of the publisher
 *
 * Return: true or false.
 */
bool baleen_fleet_row_counts(const struct baleen_fleet_work *work,
			     const struct baleen_fleet_row *row);

/**
 * baleen_fleet_effect_add() - tell what became of a key
 * @work: its result gets it
 * @publisher: HOST/ORIGIN
 * @row: the entry
 * @is_in_force: it counts now
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_fleet_effect_add(struct baleen_fleet_work *work, const char *publisher,
			    const struct baleen_fleet_row *row, bool is_in_force);

/* Does the policy keep it out of force? */
static inline bool baleen_fleet_is_held(u32 hold)
{
	return hold != BALEEN_FLEET_IN_FORCE && hold != BALEEN_FLEET_HOLD_ENDED;
}

#endif /* BALEEN_FLEET_WORK_H */
