/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outcome of a message: a verdict, a cause, and the keys that count now or no longer do.
 */
#ifndef BALEEN_FLEET_RESULT_H
#define BALEEN_FLEET_RESULT_H

#include "fleet/fleet_policy.h"
#include "fleet/fleet_store.h"

/**
 * enum baleen_fleet_cause - why a message is refused
 * @BALEEN_FLEET_CAUSE_NONE: it is not
 * @BALEEN_FLEET_CAUSE_FORM: it cannot be read
 * @BALEEN_FLEET_CAUSE_FLEET: it is of another fleet
 * @BALEEN_FLEET_CAUSE_PUBLISHER: the policy does not know its publisher
 * @BALEEN_FLEET_CAUSE_SIGNATURE: its host did not sign it
 * @BALEEN_FLEET_CAUSE_TIME: it was signed in the future
 * @BALEEN_FLEET_CAUSE_REPLAY: it was signed before what has been applied
 * @BALEEN_FLEET_CAUSE_CLONE: same incarnation and number, other digest
 * @BALEEN_FLEET_CAUSE_RIGHT: its publisher may not say that
 * @BALEEN_FLEET_CAUSE_FULL: its publisher has BALEEN_FLEET_LIVE_MAX entries
 * @BALEEN_FLEET_CAUSE_HELD: not a refusal: entries were held, and are counted as this
 * @BALEEN_FLEET_N_CAUSES: how many there are
 */
enum baleen_fleet_cause {
	BALEEN_FLEET_CAUSE_NONE,
	BALEEN_FLEET_CAUSE_FORM,
	BALEEN_FLEET_CAUSE_FLEET,
	BALEEN_FLEET_CAUSE_PUBLISHER,
	BALEEN_FLEET_CAUSE_SIGNATURE,
	BALEEN_FLEET_CAUSE_TIME,
	BALEEN_FLEET_CAUSE_REPLAY,
	BALEEN_FLEET_CAUSE_CLONE,
	BALEEN_FLEET_CAUSE_RIGHT,
	BALEEN_FLEET_CAUSE_FULL,
	BALEEN_FLEET_CAUSE_HELD,
	BALEEN_FLEET_N_CAUSES,
};

/**
 * enum baleen_fleet_verdict - what became of a message
 * @BALEEN_FLEET_APPLIED: a batch or snapshot: applied; a head: it agrees; a control message: done
 * @BALEEN_FLEET_DUPLICATE: all of it was there
 * @BALEEN_FLEET_GAP: changes before it are missing, or it is of another incarnation, or a head
 *                    is ahead: fetch the snapshot of the publisher
 * @BALEEN_FLEET_MINE: this host published it
 * @BALEEN_FLEET_REFUSED: see the cause; it is counted
 */
enum baleen_fleet_verdict {
	BALEEN_FLEET_APPLIED,
	BALEEN_FLEET_DUPLICATE,
	BALEEN_FLEET_GAP,
	BALEEN_FLEET_MINE,
	BALEEN_FLEET_REFUSED,
};

/**
 * struct baleen_fleet_effect - what became of one key of one publisher
 * @publisher: HOST/ORIGIN
 * @is_in_force: it counts now, until @end_ms; else it does not
 * @is_exception: it is a pardon, which is to be taken out of wider bans
 * @entry: the entry; its end is the one that counts here
 */
struct baleen_fleet_effect {
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	bool is_in_force;
	bool is_exception;
	struct baleen_fleet_entry entry;
};

/**
 * struct baleen_fleet_result - what became of a message
 * @verdict: enum baleen_fleet_verdict
 * @cause: enum baleen_fleet_cause
 * @why: of a refusal, a line for a person
 * @message: as it was read; type 0 when it could not be; its body is none
 * @n_held: entries of it that are held
 * @is_alarm: and it is the first time that this publisher has any for this cause
 * @hold: enum baleen_fleet_hold of the first one
 * @is_whole: effects are not told one by one: ask baleen_fleet_view_each() for
 *            all of @about
 * @about: the publisher
 * @effect: keys that count now, or no longer do, in order
 * @n_effects: how many
 */
struct baleen_fleet_result {
	u32 verdict;
	u32 cause;
	char why[256];
	struct baleen_fleet_message message;
	u64 n_held;
	bool is_alarm;
	u32 hold;
	bool is_whole;
	char about[BALEEN_FLEET_PUBLISHER_BYTES];
	struct baleen_fleet_effect *effect;
	size_t n_effects;
};

/**
 * struct baleen_fleet_receiver - who receives
 * @store: opened for writing
 * @policy: the policy, and so the fleet
 * @host: name of this host: publishers HOST/... are its own
 * @now_ms: broker's time
 * @local_ms: this host's
 */
struct baleen_fleet_receiver {
	struct baleen_fleet_store *store;
	const struct baleen_fleet_policy *policy;
	const char *host;
	u64 now_ms;
	u64 local_ms;
};

/**
 * baleen_fleet_result_free() - free what was told
 * @result: filled in, or all zeros
 */
void baleen_fleet_result_free(struct baleen_fleet_result *result);

/**
 * baleen_fleet_cause_name() - a cause as a word
 * @cause: enum baleen_fleet_cause
 *
 * Return: such as "signature".
 */
const char *baleen_fleet_cause_name(u32 cause);

#endif /* BALEEN_FLEET_RESULT_H */
