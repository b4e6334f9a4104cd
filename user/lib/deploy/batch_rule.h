/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One of the rules that a batch of single entries is for: its door, and what becomes of its keys.
 *
 *      start    ask    (rows come and go, in a transaction)    widen    agree    end
 *
 * What is written is the caller's: entries of this rule (deploy_batch.c), or bans of all
 * (bans.c).
 */
#ifndef BALEEN_BATCH_RULE_H
#define BALEEN_BATCH_RULE_H

#include "deploy/deploy_rows.h"

/**
 * struct baleen_batch_rule - a rule under a batch
 * @rows: what the batch does to rows
 * @batch: what to do
 * @of_bans: its entries are bans of all rules
 * @is_out: it cannot be asked, and has no part in the batch
 * @is_read_only: the device is held by another, and nothing can be written down of it
 * @gate: the door to the rule
 * @prefix_gate: the same for prefixes that nobody asked for
 * @has_prefix_gate: it is open
 * @own_host: addresses of this host, when the caller has none
 * @at: the next change that the door is asked about
 * @is_narrowed: an entry is taken without what is protected in it
 * @plan: the rules of the device, and which of them are derived anew for that
 * @widened: a prefix that the batch has banned; empty for none
 *
 * The deploy and error of @rows, @batch, @of_bans and @is_read_only are given.
 */
struct baleen_batch_rule {
	struct baleen_deploy_rows rows;
	struct baleen_batch *batch;
	bool of_bans;
	bool is_out;
	bool is_read_only;
	struct baleen_gate gate;
	struct baleen_gate prefix_gate;
	bool has_prefix_gate;
	struct baleen_host own_host;
	size_t at;
	bool is_narrowed;
	struct baleen_deploy_plan plan;
	char widened[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * baleen_batch_rule_start() - find the rule
 * @rule: given; end with baleen_batch_rule_end()
 * @name: its name
 *
 * Return: 0; -ENOENT when it is not there; a negative errno.
 */
int baleen_batch_rule_start(struct baleen_batch_rule *rule, const char *name);

/**
 * baleen_batch_rule_ask() - ask the door about each entry that is to come
 * @rule: started
 * @answer: called with each that it has something to say about, and its answer; a nonzero return
 *          ends the walk
 * @data: passed to @answer
 *
 * Where the change of an entry is refused already, nobody is asked.
 *
 * Return: 0, what @answer returned, or a negative errno.
 */
int baleen_batch_rule_ask(struct baleen_batch_rule *rule,
			  int (*answer)(void *data, struct baleen_rule_entry_change *change,
					enum baleen_gate_answer answer,
					const struct baleen_protected *protected),
			  void *data);

/**
 * baleen_batch_rule_protect() - write down the addresses that entries are narrowed by
 * @rule: asked
 *
 * Does nothing when none is narrowed. Who dies before the filter has them, too, leaves the mark.
 *
 * Return: 0 or a negative errno.
 */
int baleen_batch_rule_protect(struct baleen_batch_rule *rule);

/**
 * baleen_batch_rule_widen() - ban, or let go, the prefixes in which bans came or went
 * @rule: with a transaction of the book that has all other changes
 *
 * Return: 0 or a negative errno.
 */
int baleen_batch_rule_widen(struct baleen_batch_rule *rule);

/**
 * baleen_batch_rule_agree() - make the map what the rows say
 * @rule: with all its changes
 * @in_place: filled in: as of struct baleen_batch
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_batch_rule_agree(struct baleen_batch_rule *rule, bool *in_place,
			    struct baleen_error *error);

/**
 * baleen_batch_rule_end() - let go
 * @rule: started, or what is given alone
 */
void baleen_batch_rule_end(struct baleen_batch_rule *rule);

#endif /* BALEEN_BATCH_RULE_H */
