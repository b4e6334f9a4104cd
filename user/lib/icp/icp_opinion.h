/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An answer of the program about an object, and why: without a packet, and counting nothing.
 */
#ifndef BALEEN_ICP_OPINION_H
#define BALEEN_ICP_OPINION_H

#include "icp/icp.h"

/**
 * enum baleen_icp_says - what becomes of a query of an asker
 * @BALEEN_ICP_SAYS_HIT: answered: hit
 * @BALEEN_ICP_SAYS_MISS: answered: miss
 * @BALEEN_ICP_SAYS_LOST: nobody answers: the instance is not in force
 * @BALEEN_ICP_SAYS_STALE: left to the sibling, which was not heard of
 * @BALEEN_ICP_SAYS_OBSERVED: left to it, mode observe
 * @BALEEN_ICP_SAYS_EXPIRED: left to it: the object is stale, soon will be, or nobody knows
 * @BALEEN_ICP_SAYS_CONFIRM: left to it: a hit, in mode confirm
 * @BALEEN_ICP_SAYS_UNCONFIRMED: left to it: a hit, of which it said none lately
 */
enum baleen_icp_says {
	BALEEN_ICP_SAYS_HIT,
	BALEEN_ICP_SAYS_MISS,
	BALEEN_ICP_SAYS_LOST,
	BALEEN_ICP_SAYS_STALE,
	BALEEN_ICP_SAYS_OBSERVED,
	BALEEN_ICP_SAYS_EXPIRED,
	BALEEN_ICP_SAYS_CONFIRM,
	BALEEN_ICP_SAYS_UNCONFIRMED,
};

/**
 * struct baleen_icp_opinion - of one object
 * @says: what becomes of a query
 * @has: the filter has it
 * @fresh_s: seconds that it is fresh for; 0 when it is not, or nobody knows
 */
struct baleen_icp_opinion {
	enum baleen_icp_says says;
	bool has;
	u64 fresh_s;
};

/**
 * baleen_icp_opinion() - of one object of a sibling
 * @icp: opened
 * @n: the sibling
 * @key: of Squid
 * @opinion: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_icp_opinion(const struct baleen_icp *icp, u32 n, const struct baleen_key *key,
		       struct baleen_icp_opinion *opinion, struct baleen_error *error);

/**
 * baleen_icp_says_text() - in words
 * @says: what becomes of a query
 *
 * Return: such as "left to the cache: mode confirm leaves hits to it".
 */
const char *baleen_icp_says_text(enum baleen_icp_says says);

#endif /* BALEEN_ICP_OPINION_H */
