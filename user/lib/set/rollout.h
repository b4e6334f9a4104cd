/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A generation of a set reaches its hosts in rings, each larger than the one before it. A ring
 * waits until the soak times of those before it have passed since the generation was made:
 *
 *      created        + 1h                  + 5h                              + 17h
 *         | ring 1: 1 %  | ring 2: to 10 %     | ring 3: to 50 %                 | ring 4: all
 *
 * Hosts of ring 1 are canaries: they count first what the generation would drop (deploy/trial.h).
 * Nobody tells a host when it goes on. It knows from the signed manifest, its own name and its
 * clock, and in a fleet from what canaries said. So when all else is dead nobody goes on.
 *
 * The place of a host among all hosts is the first 4 bytes of BLAKE2b-128 (RFC 7693) of
 * "LIST HOST", the highest first, of 2^32. It is in the first ring whose percent are above it.
 * web4 is at 22.8 % of the list bans, in ring 3 of 1, 10, 50 and 100 %:
 *
 *      $ printf 'bans web4' | b2sum -l 128
 *      3a65dce85cc1392a9b07200a7c854c5c  -         0x3a65dce8 / 2^32 = 0.228
 *
 * The name of the list takes part, so that not always the same hosts go first.
 */
#ifndef BALEEN_SET_ROLLOUT_H
#define BALEEN_SET_ROLLOUT_H

#include <stdbool.h>

#include <baleen/port.h>

#define BALEEN_SET_RINGS 8
/* A ring that waits for longer than a month is forgotten by everybody. */
#define BALEEN_SET_SOAK_MAX_S 2592000u
#define BALEEN_SET_CANARIES_MAX 1000u

/**
 * struct baleen_set_ring - some of the hosts
 * @percent: those of this ring and of all before it, 1 to 100
 * @soak_s: the next ring waits so many seconds; of the last one: so long it is watched
 */
struct baleen_set_ring {
	u32 percent;
	u32 soak_s;
};

/**
 * struct baleen_set_rollout - how a generation reaches its hosts
 * @n_rings: how many; 0: it is for all hosts at once
 * @ring: they, with ascending percents; the last has 100
 * @n_canaries: in a fleet so many hosts of the first ring have to say that it is good
 */
struct baleen_set_rollout {
	u32 n_rings;
	struct baleen_set_ring ring[BALEEN_SET_RINGS];
	u32 n_canaries;
};

/**
 * baleen_set_rollout_refuse() - why rings cannot be
 * @rollout: from wherever
 *
 * Return: NULL when they can, or the reason, a constant string.
 */
const char *baleen_set_rollout_refuse(const struct baleen_set_rollout *rollout);

/**
 * baleen_set_rollout_parse() - rings from text
 * @text: "1:1h,10:4h,50:12h,100:1h", percents and soak times; "default" is these, "none" has none
 * @rollout: its rings are filled in; untouched on failure
 *
 * Return: NULL, or why not, a constant string.
 */
const char *baleen_set_rollout_parse(const char *text, struct baleen_set_rollout *rollout);

/**
 * baleen_set_place() - where a host is among all hosts of a list
 * @list: name of the set
 * @host: name of the host
 *
 * Return: of 2^32.
 */
u32 baleen_set_place(const char *list, const char *host);

/**
 * baleen_set_ring_of() - the ring of a host
 * @rollout: the rings
 * @list: name of the set
 * @host: name of the host
 * @wanted: its ring by its configuration, of which the last one counts for those above it; 0 for
 *          none
 *
 * Return: from 1; 0 without rings.
 */
u32 baleen_set_ring_of(const struct baleen_set_rollout *rollout, const char *list, const char *host,
		       u32 wanted);

/**
 * baleen_set_ring_due_s() - when a ring goes on
 * @rollout: the rings
 * @created_s: when the generation was made
 * @ring: from 1; 0 without rings; one more than there are: when all is over
 *
 * Return: seconds since 1970.
 */
u64 baleen_set_ring_due_s(const struct baleen_set_rollout *rollout, u64 created_s, u32 ring);

/**
 * enum baleen_rollout_step - may a host take a generation?
 * @BALEEN_ROLLOUT_GO: yes
 * @BALEEN_ROLLOUT_RING: its ring is not due
 * @BALEEN_ROLLOUT_CANARIES: too few canaries have said that it is good
 * @BALEEN_ROLLOUT_VETO: a host has said that it is bad
 * @BALEEN_ROLLOUT_HELD: the operator holds it
 */
enum baleen_rollout_step {
	BALEEN_ROLLOUT_GO,
	BALEEN_ROLLOUT_RING,
	BALEEN_ROLLOUT_CANARIES,
	BALEEN_ROLLOUT_VETO,
	BALEEN_ROLLOUT_HELD,
};

/**
 * struct baleen_rollout_view - what a host knows of a generation
 * @rollout: its rings
 * @created_s: when it was made
 * @now_s: the time
 * @ring: of the host; 0 without rings
 * @has_fleet: other hosts can say something
 * @n_ok: canaries that said it is good
 * @n_vetoes: hosts, this one among them, that said it is bad
 * @is_held: by the operator of this host
 * @is_released: by the operator, whatever others say and whenever its ring is due
 */
struct baleen_rollout_view {
	const struct baleen_set_rollout *rollout;
	u64 created_s;
	u64 now_s;
	u32 ring;
	bool has_fleet;
	u32 n_ok;
	u32 n_vetoes;
	bool is_held;
	bool is_released;
};

/**
 * baleen_rollout_decide() - may a host take a generation?
 * @view: what it knows
 *
 * A clock that is behind the time when the generation was made takes nothing but as a canary.
 *
 * Return: the answer.
 */
enum baleen_rollout_step baleen_rollout_decide(const struct baleen_rollout_view *view);

#endif /* BALEEN_SET_ROLLOUT_H */
