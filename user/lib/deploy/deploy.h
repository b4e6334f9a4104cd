/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State and device as one thing, changed together.
 *
 * Whoever changes a device with a state comes through here, so that entries and
 * packets agree, whatever is killed in between.
 */
#ifndef BALEEN_DEPLOY_H
#define BALEEN_DEPLOY_H

#include "deploy/deploy_step.h"
#include "deploy/gate.h"

/**
 * baleen_deploy_open() - become the only writer of a device with a state
 * @deploy: filled in; close with baleen_deploy_close()
 * @device: name of the device
 * @timeout_ms: how long to wait for another writer, for each of the two locks
 * @error: filled in on failure
 *
 * Repairs first what a killed writer left half-way, and follows the book where the device was
 * left behind: maps are derived anew. Expired entries are removed.
 *
 * Return: 0; -ENOENT when there is no state; else as baleen_rule_store_open() and
 * baleen_xdp_open().
 */
int baleen_deploy_open(struct baleen_deploy *deploy, const char *device, u64 timeout_ms,
		       struct baleen_error *error);

/**
 * baleen_deploy_open_read() - the same of a device whose state is open for reading
 * @deploy: filled in; close with baleen_deploy_close()
 * @state: its state; closed on failure, else part of @deploy
 * @book: the book that it is to share (baleen_book_share()); NULL for one of its own
 * @timeout_ms: as for baleen_deploy_open()
 * @error: filled in on failure
 *
 * Return: as baleen_deploy_open().
 */
int baleen_deploy_open_read(struct baleen_deploy *deploy, struct baleen_rule_store *state,
			    const struct baleen_rule_store *book, u64 timeout_ms,
			    struct baleen_error *error);

/**
 * baleen_deploy_close() - let the next writer in
 * @deploy: opened
 */
void baleen_deploy_close(struct baleen_deploy *deploy);

/**
 * enum baleen_rule_entry_op - what is done with a single entry
 * @BALEEN_RULE_ENTRY_PUT: added, or given another reason and time
 * @BALEEN_RULE_ENTRY_REMOVE: forgotten; an empty origin means all origins
 */
enum baleen_rule_entry_op {
	BALEEN_RULE_ENTRY_PUT,
	BALEEN_RULE_ENTRY_REMOVE,
};

/**
 * struct baleen_rule_entry_change - one change of a batch
 * @op: the operation
 * @entry: the entry
 * @result: filled in: 0; -EEXIST when a put found one of this key and origin (and
 *          renewed it); -ENOENT when there was none to remove; -EPERM when the door
 *          refused it, and so it was not added
 * @answer: filled in: what the door said
 * @protected: filled in where that is about what is protected
 */
struct baleen_rule_entry_change {
	enum baleen_rule_entry_op op;
	struct baleen_rule_entry entry;
	int result;
	enum baleen_gate_answer answer;
	struct baleen_protected protected;
};

/**
 * struct baleen_batch - changes of one rule that are made together
 * @rule: name of the rule; of bans of all rules (bans.h) it is not asked for
 * @change: the changes, in order
 * @n: how many
 * @asker: who asks
 * @cuts_sessions: peers of TCP sessions may be banned
 * @forces: --force, as struct baleen_gate has it
 * @narrows: --narrow
 * @snapshot_of: all entries of this origin that are not put by the batch are
 *               forgotten; NULL to leave them
 * @flush_of: all entries of this origin are forgotten first, of every origin when
 *            it is empty; NULL to leave them
 * @host: addresses of this host that must not be banned, surveyed if they are not yet;
 *        NULL for a survey of the batch's own
 * @atomic: derived anew and put on in one step, also what could change in place
 * @is_trial: results are filled in as if, and nothing changes
 * @only_bans: of bans of all rules: removals do not reach entries of the rules themselves
 * @is_whole: of bans of all rules: when one rule must not have a change, nothing is done
 * @n_flushed: filled in: entries that @snapshot_of or @flush_of made go
 * @in_place: filled in: the live map was changed in place, not replaced
 * @widened: filled in: a prefix that is banned now because of the bans in it (widen.h), the
 *           last of them; empty for none
 */
struct baleen_batch {
	const char *rule;
	struct baleen_rule_entry_change *change;
	size_t n;
	enum baleen_asker asker;
	bool cuts_sessions;
	bool forces;
	bool narrows;
	const char *snapshot_of;
	const char *flush_of;
	struct baleen_host *host;
	bool atomic;
	bool is_trial;
	bool only_bans;
	bool is_whole;
	u64 n_flushed;
	bool in_place;
	char widened[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * baleen_deploy_batch() - change single entries and what packets see of them
 * @deploy: opened
 * @batch: what to do; results are filled in
 * @error: filled in on failure
 *
 * Hosts change in place, one after the other; anything else, and what finds no
 * room, is derived anew and put on in one step. What other entries hold stays
 * in force. On disk when this returns. A device that is not attached has its
 * state changed.
 *
 * Return: 0, also when single changes were refused; -ENOENT for no such rule;
 * a negative errno, then nothing has changed.
 */
int baleen_deploy_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
			struct baleen_error *error);

/**
 * baleen_deploy_expire() - take out the entries whose time has come
 * @deploy: opened
 * @now_ms: the time
 * @n: how many there were
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_expire(struct baleen_deploy *deploy, u64 now_ms, u64 *n,
			 struct baleen_error *error);

/**
 * baleen_deploy_settle_widened() - judge the entries of prefixes anew
 * @deploy: opened
 * @rules: its rules, which may widen by other numbers than before
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_settle_widened(struct baleen_deploy *deploy,
				 const struct baleen_stored_rules *rules,
				 struct baleen_error *error);

/**
 * baleen_deploy_put() - make the device what the state says, and commit
 * @deploy: opened, with a transaction that has all changes of the state
 * @plan: what is to be derived
 * @attempts: filled in when the device had to be attached; may be NULL
 * @check: asked before anything goes live, with the whole ruleset; a nonzero
 *         return refuses it and is passed on; may be NULL
 * @data: passed to @check
 * @error: filled in on failure
 *
 * One update of an attached device, or an attach of another. Afterwards the
 * state is committed; on failure it is rolled back and the device as it was.
 *
 * Return: 0; a negative errno.
 */
int baleen_deploy_put(struct baleen_deploy *deploy, const struct baleen_deploy_plan *plan,
		      struct baleen_attempts *attempts,
		      int (*check)(void *data, const struct baleen_ruleset *ruleset), void *data,
		      struct baleen_error *error);

/**
 * baleen_deploy_restore() - attach a device again, as its state says
 * @deploy: opened
 * @attempts: filled in
 * @error: filled in on failure
 *
 * Without network: from the last good copies. Does nothing when it is attached.
 * Removes the pins of a deleted device of the same name.
 *
 * Return: 0; a negative errno.
 */
int baleen_deploy_restore(struct baleen_deploy *deploy, struct baleen_attempts *attempts,
			  struct baleen_error *error);

/**
 * baleen_deploy_refresh() - the program of this release for what another attached
 * @device: name of the device
 * @force: also in place of this release's
 * @old_id: filled in: id of its program before
 * @id: filled in: id of its program now; the same when it was this release's already
 * @error: filled in on failure
 *
 * The device follows its state first, an edited never-drop list included; one that cannot be
 * opened is no reason to keep an old program.
 *
 * Return: 0; as baleen_xdp_open() and baleen_xdp_update().
 */
int baleen_deploy_refresh(const char *device, bool force, u32 *old_id, u32 *id,
			  struct baleen_error *error);

#endif /* BALEEN_DEPLOY_H */
