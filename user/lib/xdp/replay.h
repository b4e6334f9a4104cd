/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verdict of the XDP program on a frame: the program itself, over maps of
 * its own and attached to nothing, runs by BPF_PROG_TEST_RUN.
 *
 *      frame --- test run ---> program ---> verdict
 *                                 |
 *                         counters in an array that is mapped here:
 *                         what was counted says who decided
 */
#ifndef BALEEN_REPLAY_H
#define BALEEN_REPLAY_H

#include <baleen/stats.h>

#include "xdp/load.h"
#include "xdp/ruleset.h"
#include "xdp/xdp.h"

/**
 * enum baleen_outcome - what decided on a frame
 * @BALEEN_OUTCOME_RULE: a rule
 * @BALEEN_OUTCOME_UNMATCHED: no rule, so the default
 * @BALEEN_OUTCOME_VITAL: it passes by default, because no host lives without
 * @BALEEN_OUTCOME_NOT_IP: not parsed, so the default; these five as in
 *                         enum baleen_parse
 * @BALEEN_OUTCOME_MPLS: labelled
 * @BALEEN_OUTCOME_TAGS: too many VLAN tags
 * @BALEEN_OUTCOME_VERSION: IP version contradicts the EtherType
 * @BALEEN_OUTCOME_SHORT: ends before its headers do
 * @BALEEN_N_OUTCOMES: how many
 */
enum baleen_outcome {
	BALEEN_OUTCOME_RULE,
	BALEEN_OUTCOME_UNMATCHED,
	BALEEN_OUTCOME_VITAL,
	BALEEN_OUTCOME_NOT_IP,
	BALEEN_OUTCOME_MPLS,
	BALEEN_OUTCOME_TAGS,
	BALEEN_OUTCOME_VERSION,
	BALEEN_OUTCOME_SHORT,
	BALEEN_N_OUTCOMES,
};

/**
 * enum baleen_run - how a frame was judged
 * @BALEEN_RUN_WHOLE: the program was given all of it
 * @BALEEN_RUN_START: the kernel takes none that long; the program was given as
 *                    much as it can read of a frame of several buffers
 * @BALEEN_RUN_NONE: the kernel takes none that short; the outcome is what the frame is parsed to,
 *                   such as BALEEN_OUTCOME_SHORT, whatever the rules
 */
enum baleen_run {
	BALEEN_RUN_WHOLE,
	BALEEN_RUN_START,
	BALEEN_RUN_NONE,
};

/**
 * struct baleen_judgement - what becomes of a frame
 * @is_drop: it is dropped
 * @outcome: the reason for the verdict
 * @run: how that was found out
 * @rule: index of the rule that decided; 0 when none did
 * @counted: the rules of BALEEN_ACTION_COUNT that matched, one bit each
 * @parse: type of the frame
 * @has_key: @key is valid: it is IP, and has the fields that @rule asks for
 * @is_ip6: of an IPv6 packet
 * @key: the key that @rule looks up
 */
struct baleen_judgement {
	bool is_drop;
	enum baleen_outcome outcome;
	enum baleen_run run;
	u32 rule;
	u32 counted;
	enum baleen_parse parse;
	bool has_key;
	bool is_ip6;
	struct baleen_key key;
};

/**
 * struct baleen_replay - a program that judges frames
 * @loaded: the program and its maps
 * @config: its rules and policy
 * @stats: its counters
 * @n_readable: bytes of a long frame that the program can read
 */
struct baleen_replay {
	struct baleen_loaded loaded;
	struct baleen_config config;
	struct baleen_stats *stats;
	u32 n_readable;
};

/**
 * baleen_replay_open() - load rules, to be asked and not to be attached
 * @replay: filled in; close with baleen_replay_close()
 * @ruleset: one rule or more, each with a filter, which is copied to the kernel;
 *           it is enforced whatever its dry_run says, and samples nothing
 * @is_egress: of what goes out
 * @error: filled in on failure
 *
 * Return: 0; -EPERM; a negative errno, as baleen_ruleset_check().
 */
int baleen_replay_open(struct baleen_replay *replay, const struct baleen_ruleset *ruleset,
		       bool is_egress, struct baleen_error *error);

/**
 * baleen_replay_open_copy() - load a copy of the rules of a device
 * @replay: filled in; close with baleen_replay_close()
 * @xdp: opened for writing, so that nobody else changes its maps; may be closed afterwards
 * @error: filled in on failure
 *
 * They are enforced also where the device is in a dry run.
 *
 * Return: 0; -EPERM; a negative errno.
 */
int baleen_replay_open_copy(struct baleen_replay *replay, const struct baleen_xdp *xdp,
			    struct baleen_error *error);

/**
 * baleen_replay_open_live() - load the rules of a device once more, to be asked
 * @replay: filled in; close with baleen_replay_close()
 * @xdp: opened; its program's constants and the maps of its rules are used, its
 *       counters and events are not
 * @error: filled in on failure
 *
 * In a dry run nothing is dropped, here as there. Frames of several buffers are
 * not for it.
 *
 * Return: 0; -EPERM; a negative errno.
 */
int baleen_replay_open_live(struct baleen_replay *replay, const struct baleen_xdp *xdp,
			    struct baleen_error *error);

/**
 * baleen_replay_frame() - judge one frame
 * @replay: opened
 * @frame: from its destination MAC address on
 * @n_bytes: its length, 0 or more
 * @judgement: filled in
 * @error: filled in on failure
 *
 * Return: 0 or the negative errno of the kernel.
 */
int baleen_replay_frame(struct baleen_replay *replay, const u8 *frame, u32 n_bytes,
			struct baleen_judgement *judgement, struct baleen_error *error);

/**
 * baleen_replay_close() - unload
 * @replay: opened
 */
void baleen_replay_close(struct baleen_replay *replay);

/**
 * baleen_replay_skips() - what a program is not given of a frame
 * @config: its constants
 * @frame: a frame of Ethernet
 * @n_bytes: how much that is
 *
 * Return: bytes at the start, when its device has no Ethernet.
 */
u32 baleen_replay_skips(const struct baleen_config *config, const u8 *frame, u32 n_bytes);

/**
 * baleen_replay_is_drop() - does a program drop?
 * @config: its constants
 * @action: what it returned
 *
 * Return: true when the frame goes no further.
 */
bool baleen_replay_is_drop(const struct baleen_config *config, u32 action);

#endif /* BALEEN_REPLAY_H */
