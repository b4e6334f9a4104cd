/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a packet is dropped or passes.
 *
 * The answer is the packet path's: the program itself judges a frame (twin.h). The
 * explanation comes from the entries of the state (derive.h). Where the two do
 * not agree, that is said and not smoothed over.
 */
#ifndef BALEEN_EXPLAIN_H
#define BALEEN_EXPLAIN_H

#include "deploy/derive.h"
#include "net/frame.h"
#include "state/drops.h"
#include "xdp/limits.h"
#include "xdp/shadow_prog.h"

/* Entries of one rule that are told; more are counted. */
#define BALEEN_MAX_REASONS 16

/**
 * enum baleen_opinion - what the state says of a rule and a key
 * @BALEEN_OPINION_NONE: there is no state, or the rule is not in it
 * @BALEEN_OPINION_ABSENT: the rule shall not hold the key
 * @BALEEN_OPINION_HOLDS: it shall
 */
enum baleen_opinion {
	BALEEN_OPINION_NONE,
	BALEEN_OPINION_ABSENT,
	BALEEN_OPINION_HOLDS,
};

/**
 * struct baleen_explained_rule - one rule and the packet
 * @holds: the live filter holds the key
 * @is_exact: it cannot do so by error
 * @matches: it holds the key and the packet has what the qualifiers ask for, or hides what
 *           they or the key ask for, and the rule takes that for a match
 * @asks_hidden: they or the key ask for what the packet hides
 * @limited: the source that its limit counts; 0 when it has no limit, or counts none
 * @is_over: that is over the limit now
 * @proof: does it count the packet?
 * @opinion: the verdict by the state
 * @is_any: it is for every address, whatever the entries
 * @is_protected: the key is kept out of the rule
 * @protected: why
 * @has_ended: an entry that has ended and is still there holds the key
 * @ended: that entry
 * @n_reasons: entries that cover the key, exceptions among them
 * @n_shown: how many of them are here
 * @reason: they; the first is the one that decides, unless the key is withheld
 */
struct baleen_explained_rule {
	bool holds;
	bool is_exact;
	bool matches;
	bool asks_hidden;
	u64 limited;
	bool is_over;
	enum baleen_limit_proof proof;
	enum baleen_opinion opinion;
	bool is_any;
	bool is_protected;
	struct baleen_protected protected;
	bool has_ended;
	struct baleen_rule_entry ended;
	u32 n_reasons;
	u32 n_shown;
	struct baleen_reason reason[BALEEN_MAX_REASONS];
};

/**
 * struct baleen_question - a packet
 * @fields: addresses, protocol and ports; those of a protocol without ports are 0
 * @vlan: BALEEN_VLAN_NONE for none
 * @is_established: a TCP segment of a session, not one that opens it
 * @shape: how much of its protocol it shows
 */
struct baleen_question {
	struct baleen_fields fields;
	u32 vlan;
	bool is_established;
	enum baleen_frame_shape shape;
};

/**
 * struct baleen_explanation - what becomes of it, and why
 * @answer: answer of the packet path
 * @would_drop: it is dropped, or were it not for a dry run
 * @is_other_version: the program on the device is not this release's
 * @has_state: the rules have a state
 * @is_changing: and it is being changed right now
 * @rule: of each rule of the device
 * @has_drop: a sampled drop of the source is known
 * @drop: the last one
 */
struct baleen_explanation {
	struct baleen_shadow_prog_answer answer;
	bool would_drop;
	bool is_other_version;
	bool has_state;
	bool is_changing;
	struct baleen_explained_rule rule[BALEEN_MAX_RULES];
	bool has_drop;
	struct baleen_drop drop;
};

/**
 * struct baleen_explainer - what answers questions about a device
 * @xdp: the device, which stays the caller's
 * @shadow: of its program
 * @filter: live filter of each of its rules
 * @has_state: the rules have a state
 * @state: opened for reading
 * @rules: rules of the state
 * @drops: sampled drops; NULL when nobody has written any
 */
struct baleen_explainer {
	const struct baleen_xdp *xdp;
	struct baleen_shadow_prog shadow;
	struct baleen_filter filter[BALEEN_MAX_RULES];
	bool has_state;
	struct baleen_rule_store state;
	struct baleen_stored_rules rules;
	sqlite3 *drops;
};

/**
 * baleen_explainer_open() - make ready for questions
 * @explainer: filled in; close with baleen_explainer_close()
 * @xdp: opened, attached; to be closed after the explainer
 * @error: filled in on failure
 *
 * Return: 0; -ESTALE when a swap took the program away; -EINVAL for a damaged map
 * or state; a negative errno.
 */
int baleen_explainer_open(struct baleen_explainer *explainer, const struct baleen_xdp *xdp,
			  struct baleen_error *error);

/**
 * baleen_explain() - what becomes of a packet, and why
 * @explainer: opened
 * @question: the packet
 * @explanation: filled in
 * @error: filled in on failure
 *
 * No counter of the device moves, unless its program is of another version.
 *
 * Return: 0 or a negative errno.
 */
int baleen_explain(struct baleen_explainer *explainer, const struct baleen_question *question,
		   struct baleen_explanation *explanation, struct baleen_error *error);

/**
 * baleen_explainer_close() - no more questions
 * @explainer: opened
 */
void baleen_explainer_close(struct baleen_explainer *explainer);

/**
 * baleen_explained_differs() - do packet path and state disagree about a rule?
 * @explained: the rule
 *
 * Return: true or false.
 */
static inline bool baleen_explained_differs(const struct baleen_explained_rule *explained)
{
	return explained->opinion != BALEEN_OPINION_NONE &&
	       explained->holds != (explained->opinion == BALEEN_OPINION_HOLDS);
}

#endif /* BALEEN_EXPLAIN_H */
