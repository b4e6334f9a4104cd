/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The twin of a program that is attached: loaded from this version's code with
 * the constants of the other, over the same maps of the rules, attached to
 * nothing, with counters and events of its own.
 *
 *                       constants of the load
 *                      /                     \
 *      device ---> program  <--- rules ---> twin <--- test run of a frame
 *                     |        (one map      |
 *                  counters     each)     counters
 *
 * It does with a frame what the program does, and its counters tell why, while
 * no counter of the device moves. That both have the same instructions is told
 * by their tags, a hash the kernel makes of them: where it differs, the program
 * is of another version.
 */
#ifndef BALEEN_SHADOW_PROG_H
#define BALEEN_SHADOW_PROG_H

#include "xdp/replay.h"
#include "xdp/xdp.h"

/**
 * struct baleen_shadow_prog - a twin
 * @replay: it, as a program that judges frames
 * @live_fd: the program that is attached
 * @is_same: both have the same instructions
 */
struct baleen_shadow_prog {
	struct baleen_replay replay;
	int live_fd;
	bool is_same;
};

/**
 * struct baleen_shadow_prog_answer - what becomes of a frame, and why
 * @judgement: of the twin: is_drop is the verdict (false in a dry run), outcome
 *             and rule are what decided; see replay.h
 * @is_live_asked: the program that is attached was asked, too, because it has
 *                 other instructions, and has counted the frame
 * @is_live_drop: what it said; as the twin when it was not asked
 *
 * Where the two verdicts differ, the explanation is not that of the verdict
 * that is in force, @is_live_drop.
 */
struct baleen_shadow_prog_answer {
	struct baleen_judgement judgement;
	bool is_live_asked;
	bool is_live_drop;
};

/**
 * baleen_shadow_prog_open() - make the twin of what is attached
 * @xdp: opened; may be closed before the twin is
 * @shadow: filled in; close with baleen_shadow_prog_close()
 * @error: filled in on failure
 *
 * Return: 0; -EPERM; -ESTALE when a swap took the program away, so that @xdp has
 * to be opened again; a negative errno.
 */
int baleen_shadow_prog_open(const struct baleen_xdp *xdp, struct baleen_shadow_prog *shadow,
			    struct baleen_error *error);

/**
 * baleen_shadow_prog_ask() - what becomes of a frame?
 * @shadow: opened
 * @frame: from its destination MAC address on; see frame.h
 * @n_bytes: its length, 14 to 1500: what fits in one buffer
 * @answer: filled in
 * @error: filled in on failure
 *
 * A program in a chain (libxdp's dispatcher) cannot be asked; then the twin
 * answers alone, also when it is not the same.
 *
 * Return: 0; -EINVAL for another length; the negative errno of the kernel.
 */
int baleen_shadow_prog_ask(struct baleen_shadow_prog *shadow, const u8 *frame, u32 n_bytes,
			   struct baleen_shadow_prog_answer *answer, struct baleen_error *error);

/**
 * baleen_shadow_prog_close() - unload the twin
 * @shadow: opened
 */
void baleen_shadow_prog_close(struct baleen_shadow_prog *shadow);

#endif /* BALEEN_SHADOW_PROG_H */
