/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another filter for a sibling: the next generation beside the one in force, then in
 * its place.
 *
 *      baleen_icp_next()           loaded, pinned, on no device
 *      baleen_icp_enter_feed()     the feed changes its filters; queries still go by
 *                                  the old ones
 *      baleen_icp_enter_answer()   queries go by it, too; the old one is forgotten
 *
 * Where the feed comes in by the device that answers, one program does both, and
 * baleen_icp_enter_feed() has nothing to do: baleen_icp_enter_answer() switches both at
 * once. A step that fails leaves the one before in force. A command that is killed
 * before the feed was switched has changed nothing, and afterwards the next writer
 * goes on to the answer.
 */
#ifndef BALEEN_ICP_NEXT_H
#define BALEEN_ICP_NEXT_H

#include "icp/icp.h"

/**
 * baleen_icp_next() - load the next generation
 * @icp: opened for writing
 * @n: the sibling that gets another filter; the others keep their maps
 * @filter: it, copied to a new map; of BALEEN_KEY_SQUID, and where the sibling is
 *          fed of a kind that can be
 * @has_times: until when its objects are fresh was noted: baleen_icp_times_put()
 * @next: filled in, its config.generation one more; for baleen_icp_enter_answer() or
 *        baleen_icp_abandon()
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP for a filter that cannot be; a negative errno. On failure
 * nothing has changed.
 */
int baleen_icp_next(struct baleen_icp *icp, u32 n, const struct baleen_filter *filter,
		    bool has_times, struct baleen_icp_loaded *next, struct baleen_error *error);

/**
 * baleen_icp_abandon() - do without the next generation
 * @icp: opened for writing
 * @next: from baleen_icp_next(); closed, its pins removed. A feed that was switched is
 *        switched back: what it changed meanwhile is not in the filters in force
 */
void baleen_icp_abandon(struct baleen_icp *icp, struct baleen_icp_loaded *next);

#endif /* BALEEN_ICP_NEXT_H */
