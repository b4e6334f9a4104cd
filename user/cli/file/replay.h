/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture and the rules that judge its frames.
 */
#ifndef BALEEN_CLI_REPLAY_H
#define BALEEN_CLI_REPLAY_H

#include "cli/open/policy.h"
#include "net/trace.h"
#include "xdp/replay.h"

/**
 * struct total - frames that were judged alike
 * @frames: how many
 * @bytes: their length on the wire
 */
struct total {
	u64 frames;
	u64 bytes;
};

/**
 * struct replay - one run of replay
 * @rules: that were typed, in order; the capture waits behind them
 * @lists: how their lists are read
 * @policy: the verdict when no rule of them decides
 * @n_words: words that were typed, of rules and others
 * @first: the first of them
 * @device: whose rules are asked instead; NULL for none
 * @conf_path: -c; NULL for what the device has
 * @is_offline: --offline
 * @shows_frames: print frames, not totals
 * @json: print JSON
 * @program: that judges
 * @key_width: width of the widest key so far
 * @rule: what each rule decided or, of one that only counts, saw
 * @outcome: what came of the frames; those of rules are in @rule
 * @dropped: of all of them
 * @passed: of all of them
 * @n_snapped: frames of which the capture holds only the start
 */
struct replay {
	struct rules rules;
	struct list_options lists;
	struct policy policy;
	u32 n_words;
	const char *first;
	const char *device;
	const char *conf_path;
	bool is_offline;
	bool shows_frames;
	bool json;
	struct baleen_replay program;
	int key_width;
	struct total rule[BALEEN_MAX_RULES];
	struct total outcome[BALEEN_N_OUTCOMES];
	struct total dropped;
	struct total passed;
	u64 n_snapped;
};

/* Judges a capture and prints what became of it; an exit code. */
int replay_print(struct replay *replay, struct baleen_trace *trace);

#endif /* BALEEN_CLI_REPLAY_H */
