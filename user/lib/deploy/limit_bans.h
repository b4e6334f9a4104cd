/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bans of sources that went over a limit.
 *
 *      packets --> bucket empty --> ring buffer --> bans of origin `limit`, which end, of all
 *                                                   rules that take bans, of all devices
 */
#ifndef BALEEN_LIMIT_BANS_H
#define BALEEN_LIMIT_BANS_H

#include "deploy/deploy.h"

#define BALEEN_ORIGIN_LIMIT "limit"

/**
 * struct baleen_limit_bans - what became of sources that went over a limit
 * @n_added: banned
 * @n_renewed: banned already, and for longer now
 * @n_capped: not banned, since as many are as the limit may ban
 * @n_narrowed: of those that are banned, without what must not be
 * @n_refused: not banned, since they must not be: withheld, or a guarded session
 * @refused: the first of these; empty for none
 * @answer: why: what the door said of it
 * @protected: that came with it
 */
struct baleen_limit_bans {
	u64 n_added;
	u64 n_renewed;
	u64 n_capped;
	u64 n_narrowed;
	u64 n_refused;
	char refused[BALEEN_RULE_ENTRY_TEXT];
	enum baleen_gate_answer answer;
	struct baleen_protected protected;
};

/**
 * baleen_limit_bans_put() - ban who went over a limit
 * @device: name of the device whose limits they are of
 * @overrun: sources that did
 * @n: how many
 * @timeout_ms: as for baleen_bans_put()
 * @bans: filled in
 * @error: filled in on failure
 *
 * A ban counts from the overrun, so an old one may have ended. Whoever is protected, and
 * the peers of guarded sessions, are not banned. The cap of a limit is for the bans that came by it.
 *
 * Return: 0; -ENOENT when the device has no filter, or no rule takes bans; -ETIMEDOUT when another
 * writer held the book; a negative errno.
 */
int baleen_limit_bans_put(const char *device, const struct baleen_overrun *overrun, size_t n,
			  u64 timeout_ms, struct baleen_limit_bans *bans,
			  struct baleen_error *error);

#endif /* BALEEN_LIMIT_BANS_H */
