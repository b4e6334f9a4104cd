/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers of a host when an operator asks all of them about a key.
 *
 *      ask, in the stream --> each host --> answer, signed, in a hash that ends in a minute
 *
 * Answers are control messages of their own: topic "answer", subject the key, value the state,
 * and the reason in words. Whoever asked verifies them, and names those that gave none.
 */
#ifndef BALEEN_FLEET_ANSWER_H
#define BALEEN_FLEET_ANSWER_H

#include "fleet/fleet_live.h"
#include "fleet/fleet_own.h"
#include "fleet/fleet_policy.h"

/* A question that is older is nobody's any more. */
#define BALEEN_FLEET_QUESTION_MS 30000ull
#define BALEEN_FLEET_ANSWER_TOPIC "answer"

/**
 * enum baleen_fleet_answer - how a key stands on a host
 * @BALEEN_FLEET_NOT_BANNED: no publisher has banned it, as far as the host knows
 * @BALEEN_FLEET_BANNED: a ban of it, or of a prefix that it is in, counts
 * @BALEEN_FLEET_NOT_COUNTED: it is banned, but no ban counts: the reason says why not
 * @BALEEN_FLEET_NO_RULE: a ban counts, and no rule of the host takes bans of the fleet
 * @BALEEN_FLEET_NOT_HELD: a ban counts, and packets of the key, or of a part of it, pass all the
 *                         same: the reason says why
 */
enum baleen_fleet_answer {
	BALEEN_FLEET_NOT_BANNED,
	BALEEN_FLEET_BANNED,
	BALEEN_FLEET_NOT_COUNTED,
	BALEEN_FLEET_NO_RULE,
	BALEEN_FLEET_NOT_HELD,
};

/**
 * baleen_fleet_answer_make() - answer a question
 * @store: opened
 * @question: decoded; who asked may
 * @live: how the key fares in the rules of this host
 * @publisher: HOST/ORIGIN that answers
 * @signer: who signs
 * @writer: the answer, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_answer_make(const struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *question,
			     const struct baleen_fleet_live *live, const char *publisher,
			     const struct baleen_fleet_signer *signer,
			     struct baleen_fleet_writer *writer, struct baleen_error *error);

/**
 * baleen_fleet_answer_read() - is this the answer of a host to a question?
 * @policy: the policy
 * @question: decoded
 * @host: name of the host
 * @bytes: from elsewhere
 * @n_bytes: how many
 * @answer: filled in: value is enum baleen_fleet_answer
 *
 * Return: true when the host has signed it, to this question.
 */
bool baleen_fleet_answer_read(const struct baleen_fleet_policy *policy,
			      const struct baleen_fleet_message *question, const char *host,
			      const void *bytes, size_t n_bytes,
			      struct baleen_fleet_message *answer);

#endif /* BALEEN_FLEET_ANSWER_H */
