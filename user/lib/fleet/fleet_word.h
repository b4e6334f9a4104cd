/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of an operator on this host: pardons, and words on publishers.
 *
 * `baleen fleet pardon` posts it in the database; baleen-fleetd makes it an entry of HOST/control,
 * with the next number, and sends it when there is a broker. It counts here at once.
 */
#ifndef BALEEN_FLEET_WORD_H
#define BALEEN_FLEET_WORD_H

#include "fleet/fleet_result.h"

/* Taken in one transaction. */
#define BALEEN_FLEET_WORDS_AT_ONCE 512

/**
 * baleen_fleet_word_time() - the time of what is said now
 * @store: opened
 * @now_ms: broker's time
 * @made_ms: filled in: @now_ms, or one more than all that this host has heard of, whichever is
 * later
 * @error: filled in on failure
 *
 * So nothing that the operator could know of is newer than what he says, whatever clocks do.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_word_time(const struct baleen_fleet_store *store, u64 now_ms, u64 *made_ms,
			   struct baleen_error *error);

/**
 * baleen_fleet_word_post() - say it
 * @store: opened for writing
 * @entry: set, key, made_ms and reason count
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_word_post(struct baleen_fleet_store *store, const struct baleen_fleet_entry *entry,
			   struct baleen_error *error);

/**
 * baleen_fleet_word_is_posted() - is there anything to be taken?
 * @store: opened
 * @error: filled in on failure
 *
 * Return: 1, 0 or a negative errno.
 */
int baleen_fleet_word_is_posted(const struct baleen_fleet_store *store, struct baleen_error *error);

/**
 * baleen_fleet_words_take() - make what was posted entries of this host
 * @receiver: this host; its store has a transaction
 * @result: filled in, as of a message of the host itself; free it with baleen_fleet_result_free()
 * @error: filled in on failure
 *
 * Takes BALEEN_FLEET_WORDS_AT_ONCE at the most, and takes back what has ended.
 *
 * Return: 1 when something was taken, 0, or a negative errno.
 */
int baleen_fleet_words_take(const struct baleen_fleet_receiver *receiver,
			    struct baleen_fleet_result *result, struct baleen_error *error);

#endif /* BALEEN_FLEET_WORD_H */
