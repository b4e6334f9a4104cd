/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All rules that take bans, of all devices, changed together.
 *
 * A device that cannot be held or changed is left out and named: no sick device keeps a ban
 * from the others.
 *
 *      baleen_bans_open()      finds the rules and holds their devices, each in the order of
 *                              its name, so that two who do this wait for each other
 *      baleen_bans_remember()  what each has of the keys: what a failure puts back
 *      (the caller looks, decides, and fills in the changes of each rule)
 *      baleen_bans_put()       rule by rule; when one must not have it none has
 *      baleen_bans_close()
 *
 * Each device has a state and a filter of its own, so whoever is killed in between leaves
 * some rules changed and others not, and each of them whole.
 */
#ifndef BALEEN_BANS_H
#define BALEEN_BANS_H

#include "deploy/deploy.h"

/* An IPv6 address as it was typed, and the prefix that it may stand for. */
#define BALEEN_BAN_MAX_KEYS 2

/**
 * struct baleen_ban_rule - a rule that takes bans
 * @deploy: its device, in the array of struct baleen_bans
 * @rule: as the state has it
 * @before: its entries of the remembered keys
 * @n_before: how many
 * @change: what to do, filled in by the caller; its results by baleen_bans_put()
 * @n_changes: how many; 0 leaves the rule alone
 * @is_left: its device has failed: the rule is as it was
 * @in_place: filled in: the live map was changed in place, not replaced
 * @widened: filled in: as of struct baleen_batch
 */
struct baleen_ban_rule {
	u32 deploy;
	struct baleen_stored_rule rule;
	struct baleen_rule_entry_change *before;
	size_t n_before;
	struct baleen_rule_entry_change change[BALEEN_BAN_MAX_KEYS];
	size_t n_changes;
	bool is_left;
	bool in_place;
	char widened[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * struct baleen_ban_sick - a device that could not be held or changed
 * @device: its name
 * @error: why
 */
struct baleen_ban_sick {
	char device[BALEEN_POINT_BYTES];
	struct baleen_error error;
};

/**
 * struct baleen_bans - all of them
 * @deploy: the devices that have one, held
 * @host: the host as each of them sees it, surveyed when it is first asked for
 * @n_devices: how many
 * @rule: the rules, device by device, in their order
 * @n_rules: how many
 * @sick: devices that were left out
 * @n_sick: how many
 */
struct baleen_bans {
	struct baleen_deploy *deploy;
	struct baleen_host *host;
	u32 n_devices;
	struct baleen_ban_rule *rule;
	size_t n_rules;
	struct baleen_ban_sick *sick;
	size_t n_sick;
};

/**
 * baleen_bans_open() - hold all devices that have a rule that takes bans
 * @bans: filled in; close with baleen_bans_close()
 * @timeout_ms: how long to wait for another writer of each
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is no such rule; a negative errno, -EIO when no device that may
 * have one can be held: then @bans has @sick alone, and is to be closed.
 */
int baleen_bans_open(struct baleen_bans *bans, u64 timeout_ms, struct baleen_error *error);

/**
 * baleen_bans_close() - let go
 * @bans: opened
 */
void baleen_bans_close(struct baleen_bans *bans);

/**
 * baleen_bans_remember() - the entries of a key in each rule
 * @bans: opened; @before of its rules is added to
 * @entry: its key and is_exception
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_bans_remember(struct baleen_bans *bans, const struct baleen_rule_entry *entry,
			 struct baleen_error *error);

/**
 * struct baleen_ban_word - what a person says with a ban
 * @forces: --force, as in struct baleen_batch
 * @narrows: --narrow
 */
struct baleen_ban_word {
	bool forces;
	bool narrows;
};

/**
 * baleen_bans_put() - make the changes of all rules that can be changed
 * @bans: all keys of the changes are remembered
 * @word: what was said with it
 * @refused: filled in: the rule that must not have it, with -EPERM; may be NULL
 * @error: filled in on failure
 *
 * A device that fails is as it was, and one of @sick. A rule that could not be put back as it
 * was is named in its error.
 *
 * Return: 0; -EPERM when a key is withheld from a rule, as its change tells, and then no rule has
 * it; -EIO when all devices fail, each for the reason in @sick; a negative errno.
 */
int baleen_bans_put(struct baleen_bans *bans, const struct baleen_ban_word *word,
		    const struct baleen_ban_rule **refused, struct baleen_error *error);

#endif /* BALEEN_BANS_H */
