/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step of a device: from what it enforces to what its state says.
 *
 *      mark    prepare    switch    commit    unmark
 *
 * Until the switch nothing has happened. Who dies between it and the commit
 * leaves the mark, and whoever finds that puts the device back to what the state
 * says. Nothing here takes a filter off a device that had one.
 */
#ifndef BALEEN_DEPLOY_STEP_H
#define BALEEN_DEPLOY_STEP_H

#include "deploy/derive.h"
#include "xdp/attach.h"
#include "xdp/update.h"

/**
 * struct baleen_deploy - a device and its state, held against other writers
 * @state: opened for writing
 * @has_xdp: the device is attached, and @xdp opened for writing
 * @xdp: the device
 * @never_error: why an edited never-drop list is not followed; empty for none
 * @book_error: why a device came up without its single entries; empty for none
 */
struct baleen_deploy {
	struct baleen_rule_store state;
	bool has_xdp;
	struct baleen_xdp xdp;
	struct baleen_error never_error;
	struct baleen_error book_error;
};

/**
 * struct baleen_deploy_plan - what is to be put on
 * @rules: rules and policy afterwards; the state has them, and their feeds,
 *         already, in the open transaction
 * @rebuild: rule i is to be derived anew; others keep their live map where they
 *           continue one (same name and key)
 * @renamed_from: rule i continues this rule of the device; empty for its own name
 */
struct baleen_deploy_plan {
	struct baleen_stored_rules rules;
	bool rebuild[BALEEN_MAX_RULES];
	char renamed_from[BALEEN_MAX_RULES][BALEEN_NAME_BYTES];
};

/**
 * struct baleen_deploy_step - a ruleset that is about to go live
 * @plan: what it shall be
 * @now_ms: single entries that have ended by then take no part
 * @is_roomy: filters get room for half as much again
 * @ruleset: the rules; points to @filter
 * @filter: filters of the rules that were derived anew
 */
struct baleen_deploy_step {
	const struct baleen_deploy_plan *plan;
	u64 now_ms;
	bool is_roomy;
	struct baleen_ruleset ruleset;
	struct baleen_filter filter[BALEEN_MAX_RULES];
};

/**
 * baleen_deploy_prepare() - derive what is to be derived
 * @deploy: opened
 * @step: the first three are given, the rest is filled in; free with
 *        baleen_deploy_step_free() also on failure
 * @error: filled in on failure
 *
 * Rules that the device does not have, or with another key, are derived whether
 * the plan says so or not.
 *
 * Return: 0; -EPERM for a filter that errs more often than its rule accepts; another
 * negative errno.
 */
int baleen_deploy_prepare(const struct baleen_deploy *deploy, struct baleen_deploy_step *step,
			  struct baleen_error *error);

/**
 * baleen_deploy_step_free() - free the filters
 * @step: prepared
 */
void baleen_deploy_step_free(struct baleen_deploy_step *step);

/**
 * baleen_deploy_note_times() - write down when which image was derived
 * @deploy: with a transaction
 * @step: prepared
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_note_times(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			     struct baleen_error *error);

/**
 * baleen_deploy_switch() - put it on
 * @deploy: opened, attached
 * @step: prepared
 * @error: filled in on failure: what was on is on
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_switch(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			 struct baleen_error *error);

/**
 * baleen_deploy_attach() - put it on a device that has nothing
 * @deploy: opened, not attached; afterwards it is
 * @step: prepared
 * @attempts: filled in
 * @error: filled in on failure: nothing is on
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_attach(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			 struct baleen_attempts *attempts, struct baleen_error *error);

/**
 * struct baleen_deploy_change - a change of what packets see, and the way back
 * @put: change it; may fail half-way
 * @undo: the rows are the old ones again: restore what packets see; @is_put when
 *        @put succeeded
 * @data: passed to both
 * @is_of_book: the transaction is one of the book, not of the state
 * @keeps_mark: the state has changed already, so a change that fails leaves the mark
 * @stays_marked: one that succeeds leaves it, too, for the caller to take
 */
struct baleen_deploy_change {
	int (*put)(void *data, struct baleen_error *error);
	int (*undo)(void *data, bool is_put, struct baleen_error *error);
	void *data;
	bool is_of_book;
	bool keeps_mark;
	bool stays_marked;
};

/**
 * baleen_deploy_commit() - mark, change what packets see, commit, unmark
 * @deploy: with a transaction
 * @change: the change to make
 * @error: filled in on failure
 *
 * A commit that failed may still show when the disk is read again, so the mark stays
 * then, and the next writer follows the state.
 *
 * Return: 0; a negative errno: then the transaction is rolled back.
 */
int baleen_deploy_commit(struct baleen_deploy *deploy, const struct baleen_deploy_change *change,
			 struct baleen_error *error);

/**
 * baleen_deploy_follow() - derive everything anew, as the state is
 * @deploy: opened, attached
 * @now_ms: single entries that have ended by then take no part
 * @error: filled in on failure: what was on is on
 *
 * A state without rules has nothing to say.
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_follow(struct baleen_deploy *deploy, u64 now_ms, struct baleen_error *error);

/**
 * baleen_deploy_differs() - are the rules of the device others than its state's?
 * @deploy: opened, attached
 * @rules: rules of the state
 *
 * Rules, their order and policy; not what the rules hold.
 *
 * Return: true or false.
 */
bool baleen_deploy_differs(const struct baleen_deploy *deploy,
			   const struct baleen_stored_rules *rules);

#endif /* BALEEN_DEPLOY_STEP_H */
