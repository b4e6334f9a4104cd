/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Votes of hosts on generations of sets that reach them in rings (set/rollout.h): a text beside
 * the states of the devices, one vote a line, the newest last:
 *
 *      ok SET GENERATION DIGEST HOST own|heard SECONDS
 *      veto SET GENERATION DIGEST HOST own|heard SECONDS REASON
 *
 * A host writes its own, and in a fleet what it hears; it has one vote on a generation. Votes
 * on generations whose digest is another one do not count, so two lists may have one name.
 */
#ifndef BALEEN_VOTES_H
#define BALEEN_VOTES_H

#include "set/set_manifest.h"
#include "util/error.h"

#define BALEEN_VOTE_HOST_BYTES 65
#define BALEEN_VOTE_REASON_BYTES 256
/* Older ones are forgotten. */
#define BALEEN_VOTES_MAX 4096

/**
 * struct baleen_vote - a vote
 * @is_veto: the generation is bad; else it is good
 * @is_taken_back: neither: what the host has said of the generation no longer holds
 * @is_own: of this host; in a fleet it is sent to the others
 * @set: name of the set
 * @generation: the generation
 * @digest: the first 8 bytes of its digest, the highest first
 * @host: who says it
 * @made_s: when, in seconds since 1970
 * @reason: of a veto
 */
struct baleen_vote {
	bool is_veto;
	bool is_taken_back;
	bool is_own;
	char set[BALEEN_SET_NAME_BYTES];
	u64 generation;
	u64 digest;
	char host[BALEEN_VOTE_HOST_BYTES];
	u64 made_s;
	char reason[BALEEN_VOTE_REASON_BYTES];
};

/**
 * struct baleen_votes_count - what was said of a generation
 * @n_ok: hosts that said it is good
 * @n_vetoes: hosts that said it is bad
 * @veto: the first of these
 */
struct baleen_votes_count {
	u32 n_ok;
	u32 n_vetoes;
	struct baleen_vote veto;
};

/**
 * baleen_vote_digest() - a digest as votes have it
 * @head: of the generation
 *
 * Return: its first 8 bytes.
 */
u64 baleen_vote_digest(const struct baleen_set_head *head);

/**
 * baleen_votes_put() - write a vote down
 * @vote: takes the place of an earlier one of the same host on the same generation
 * @error: filled in on failure
 *
 * On disk when it returns. Control characters of the reason become blanks. One that is taken back
 * is written nowhere: the earlier one goes.
 *
 * Return: 1; 0 when nothing is to change; -EINVAL for a name that cannot be; a negative errno.
 */
int baleen_votes_put(const struct baleen_vote *vote, struct baleen_error *error);

/**
 * baleen_votes_count() - what was said of a generation
 * @set: name of the set
 * @head: of the generation
 * @count: filled in
 */
void baleen_votes_count(const char *set, const struct baleen_set_head *head,
			struct baleen_votes_count *count);

#endif /* BALEEN_VOTES_H */
