/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Findings of a checkup.
 */
#ifndef BALEEN_FINDING_H
#define BALEEN_FINDING_H

#include <baleen/port.h>

/**
 * enum baleen_level - how bad it is
 * @BALEEN_LEVEL_OK: as it should be
 * @BALEEN_LEVEL_NOTE: it costs speed or surprises, or cannot be told
 * @BALEEN_LEVEL_PROBLEM: packets are not filtered as asked, or would not be, or
 *                        several times slower than they could be
 */
enum baleen_level {
	BALEEN_LEVEL_OK,
	BALEEN_LEVEL_NOTE,
	BALEEN_LEVEL_PROBLEM,
};

#define BALEEN_MAX_FINDINGS 64

/**
 * struct baleen_finding - one thing that was looked at
 * @level: how bad it is
 * @check: what was looked at, a word that stays from release to release
 * @text: the finding and its meaning
 * @command: for a shell run by root, what mends it; empty when nothing does, or
 *           has to
 */
struct baleen_finding {
	enum baleen_level level;
	const char *check;
	char text[320];
	char command[512];
};

/**
 * struct baleen_checkup - what was found
 * @n: how much
 * @finding: always in the same order
 */
struct baleen_checkup {
	u32 n;
	struct baleen_finding finding[BALEEN_MAX_FINDINGS];
};

#endif /* BALEEN_FINDING_H */
