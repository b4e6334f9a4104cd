/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a running cache: a snapshot of its objects, the events that came
 * meanwhile, and the corrections that the filter made of both still needs.
 *
 * A snapshot takes time, and each of its keys was read at a moment of its own. Events
 * were recorded before the first: they are never older than what the snapshot could
 * have seen before them, so of a key that had any the last one counts, whatever the
 * snapshot says. A key without events is what the snapshot says.
 *
 * The new filter is built of that, and then the feed changes it instead of the old one.
 * Two counts of each key settle the rest. @wanted, by the last event of each feeder in
 * the order of the log, whoever made it; and @n_in, how often the new filter has it: as
 * often as it was built in, and then by each change that was really made to it,
 * by its program (the event says so) or by corrections. Additions and deletions of one
 * key commute in a filter that counts, and in a set alternate, so the sum is right in
 * whatever order they are heard of. Where the two differ, the difference is the
 * correction: events that only the old filter saw, an object that the snapshot had and
 * whose event came late and was counted twice, a delete of an absent key that took the
 * bits of others along. Corrections race with the feed: once all programs that ran
 * beside them are done and their events are read, the two are compared again. A key
 * differs then only if it changed again, so few rounds do, and when none differs the
 * filter is what it would be had the feed made it alone. What a filter that counts
 * cannot be spared is an event that was on its way since before its key was read and
 * comes when all this is over: it counts twice, until the next time.
 *
 * No kernel here: see icp_resync.h.
 */
#ifndef BALEEN_ICP_JOURNAL_H
#define BALEEN_ICP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <baleen/icp.h>

/**
 * struct baleen_icp_journal_key - one object
 * @hi: high half of its key, see squid.h
 * @lo: low half of its key
 * @present: bit f: feeder f has it
 * @reported: bit f: an event of feeder f was recorded, which the snapshot does not overrule
 * @before: @present, when the new generation made its first event of the key
 * @is_open: it is among those to be looked at
 * @is_new: the new generation made an event of it: @before stays
 * @n_in: how often the new filter has it
 */
struct baleen_icp_journal_key {
	u64 hi;
	u64 lo;
	u16 present;
	u16 reported;
	u16 before;
	bool is_open;
	bool is_new;
	int n_in;
};

/**
 * struct baleen_icp_journal - the objects of one sibling
 * @sibling: its number: events of others are passed over
 * @counts: the filter counts: an object of two feeders is there twice
 * @is_built: the new filter has been made of it
 * @generation: generation of the new filter's program
 * @n_new: entries that its events added, less those that they took
 * @key: every object that was heard of
 * @n_keys: how many
 * @room: allocated
 * @slot: where in @key an object is, plus one; 0: nowhere
 * @n_slots: a power of two; 0 before the first object
 * @salt: who knows many URLs of one slot shall not
 * @open: keys that may differ
 * @n_open: how many
 * @room_open: allocated
 * @at: of @open, where the round has come to
 * @kept: of @open, those that were looked at and stay
 * @asked: keys of the last batch
 *
 * Context: one thread at a time.
 */
struct baleen_icp_journal {
	u32 sibling;
	bool counts;
	bool is_built;
	u32 generation;
	s64 n_new;
	struct baleen_icp_journal_key *key;
	size_t n_keys, room;
	u32 *slot;
	size_t n_slots;
	u64 salt[2];
	u32 *open;
	size_t n_open, room_open, at, kept;
	struct {
		u32 key;
		int sign;
	} asked[BALEEN_ICP_BATCH];
};

/**
 * baleen_icp_journal_init() - nothing heard of yet
 * @journal: filled in; free with baleen_icp_journal_free()
 * @sibling: the sibling that has the objects
 * @counts: its filter counts
 */
void baleen_icp_journal_init(struct baleen_icp_journal *journal, u32 sibling, bool counts);

/**
 * baleen_icp_journal_free() - free it
 * @journal: as initialised
 */
void baleen_icp_journal_free(struct baleen_icp_journal *journal);

/**
 * baleen_icp_journal_object() - an object of the snapshot
 * @journal: not built
 * @hi: high half of its key
 * @lo: low half of its key
 * @feeder: whose, below BALEEN_ICP_MAX_FEEDERS
 *
 * Return: 0, or -ENOMEM: the journal is as before.
 */
int baleen_icp_journal_object(struct baleen_icp_journal *journal, u64 hi, u64 lo, u32 feeder);

/**
 * baleen_icp_journal_event() - an event of the log, in its order
 * @journal: built or not
 * @event: of any sibling
 *
 * Return: 0; -EINVAL for what no program writes; -ENOMEM: the event is lost.
 */
int baleen_icp_journal_event(struct baleen_icp_journal *journal,
			     const struct baleen_icp_event *event);

/**
 * baleen_icp_journal_wanted() - how often the filter is to have a key
 * @journal: its journal
 * @key: one of its keys
 *
 * Return: 0 or 1; where the filter counts, how many feeders have it.
 */
u32 baleen_icp_journal_wanted(const struct baleen_icp_journal *journal,
			      const struct baleen_icp_journal_key *key);

/**
 * baleen_icp_journal_built() - the new filter is what the journal says now
 * @journal: not built
 * @generation: generation of the program that the feed goes to
 */
void baleen_icp_journal_built(struct baleen_icp_journal *journal, u32 generation);

/**
 * baleen_icp_journal_entries() - what the new filter has
 * @journal: built
 *
 * Return: the sum of n_in; 0 rather than less.
 */
u64 baleen_icp_journal_entries(const struct baleen_icp_journal *journal);

/**
 * baleen_icp_journal_round() - look at all that may differ once more
 * @journal: built; every event of programs that ran beside the last batch was read
 */
void baleen_icp_journal_round(struct baleen_icp_journal *journal);

/**
 * baleen_icp_journal_next() - the next corrections of this round
 * @journal: in a round
 * @batch: filled in, for the program baleen_icp_apply; no key is twice in it unless
 *         it is wanted twice
 *
 * Return: how many; 0: the round is over.
 */
u32 baleen_icp_journal_next(struct baleen_icp_journal *journal, struct baleen_icp_batch *batch);

/**
 * baleen_icp_journal_applied() - what became of these corrections
 * @journal: in a round
 * @batch: the last one, as the program left it
 */
void baleen_icp_journal_applied(struct baleen_icp_journal *journal,
				const struct baleen_icp_batch *batch);

#endif /* BALEEN_ICP_JOURNAL_H */
