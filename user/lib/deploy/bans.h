/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bans of all rules that take some, of all devices: those of this host, or those of a fleet, each
 * in a shared scope (state/scope.h).
 *
 * A ban is one row of the book, and no device's. It is committed first, then the devices follow:
 * one that cannot be held, or changed, keeps the filter that it has, is marked as behind, and is
 * named; whoever writes to it next derives it anew. So no sick device keeps a ban from the others,
 * and none is waited for before the ban is on the disk.
 *
 *      baleen_bans_open()      finds the devices, and holds those that nobody else does
 *      baleen_bans_remember()  what each rule has of a key, to be told
 *      baleen_bans_put()       one transaction of the book; then each device follows: those that
 *                              are held at once, then the others, one after the other
 *      baleen_bans_close()
 *
 * Whoever is killed behind the commit leaves marks, and the next writer of each device follows.
 */
#ifndef BALEEN_BANS_H
#define BALEEN_BANS_H

#include "deploy/batch_rows.h"
#include "state/rule_store_each.h"

/**
 * struct baleen_ban_device - a device with a rule that takes bans
 * @name: its name
 * @deploy: held, or with its state alone, opened to be read
 * @has_state: there is a @deploy
 * @is_held: it is held
 * @is_attached: it has a filter
 * @is_gone: it was forgotten meanwhile, or takes no bans any more
 * @is_late: filled in by baleen_bans_put(): it was not held, and had to be waited for
 * @is_behind: filled in by it: it has not what the book has
 * @why: why it is not held, or is behind
 */
struct baleen_ban_device {
	char name[BALEEN_POINT_BYTES];
	struct baleen_deploy deploy;
	bool has_state;
	bool is_held;
	bool is_attached;
	bool is_gone;
	bool is_late;
	bool is_behind;
	struct baleen_error why;
};

/**
 * struct baleen_ban_rule - a rule that takes bans
 * @device: its device, in the array of struct baleen_bans
 * @rule: as the state has it
 * @before: its entries of the remembered keys, bans and its own
 * @in_place: filled in by baleen_bans_put(): the live map was changed in place, not replaced
 * @widened: filled in by it: as of struct baleen_batch
 */
struct baleen_ban_rule {
	u32 device;
	struct baleen_stored_rule rule;
	struct baleen_entry_array before;
	bool in_place;
	char widened[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * struct baleen_bans - all of them
 * @scope: name of the shared scope: BALEEN_SCOPE_BANS, or bans of a fleet
 * @book: the book, which the devices share
 * @device: the devices, in the order of their names
 * @n_devices: how many
 * @rule: the rules, device by device, in their order
 * @n_rules: how many
 * @host: the host, surveyed for all of them when it is first asked for
 * @states: all states of this network namespace when they were looked for
 * @news: devices that came, or began to take bans, since then
 * @n_news: how many
 */
struct baleen_bans {
	const char *scope;
	struct baleen_rule_store book;
	struct baleen_ban_device *device;
	u32 n_devices;
	struct baleen_ban_rule *rule;
	size_t n_rules;
	struct baleen_host host;
	struct baleen_rule_store_stamps states;
	char (*news)[BALEEN_POINT_BYTES];
	size_t n_news;
};

/**
 * baleen_bans_open() - find the rules that take bans, and hold their devices
 * @bans: filled in; close with baleen_bans_close(), also on failure
 * @scope: name of the shared scope, which outlives @bans
 * @error: filled in on failure
 *
 * A device that another holds is not waited for. One whose rules cannot be read may have one that
 * takes bans, and has its place among the devices.
 *
 * Return: 0; -ENOENT when there is no such rule; -EIO when there is none, but devices that cannot
 * be read, of which @error tells the first; another negative errno.
 */
int baleen_bans_open(struct baleen_bans *bans, const char *scope, struct baleen_error *error);

/**
 * baleen_bans_close() - let go
 * @bans: opened, or all zeros
 */
void baleen_bans_close(struct baleen_bans *bans);

/**
 * baleen_bans_remember() - the entries of a key in each rule
 * @bans: opened; @before of its rules is added to
 * @entry: its key and is_exception
 * @is_put: it is to be put; otherwise lone IPv6 addresses that stand for it count, too
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_bans_remember(struct baleen_bans *bans, const struct baleen_rule_entry *entry,
			 bool is_put, struct baleen_error *error);

/**
 * baleen_bans_book_of() - the book, as the rule reads it that has lone addresses as this prefix
 * @bans: opened
 * @net: an entry of the prefix
 *
 * A prefix takes the bans of lone IPv6 addresses with it that stand for it in any rule.
 *
 * Return: the book, with the width of that rule; of the widest where there is none. It is not
 * closed.
 */
struct baleen_rule_store baleen_bans_book_of(const struct baleen_bans *bans,
					     const struct baleen_rule_entry *net);

/**
 * baleen_bans_put() - change bans, and what packets see of them
 * @bans: opened
 * @batch: what to do; results are filled in. Removals reach entries of the rules themselves, too;
 *         unless they are of bans only; what is put, flushed, or replaced by a snapshot, are bans
 * @timeout_ms: how long to wait, when all is committed, for who holds a device
 * @refused: filled in with -EPERM: the rule that must not have it; may be NULL
 * @error: filled in on failure
 *
 * What one rule must not have no rule gets, where a person has typed it (BALEEN_ASKER_TYPED). Of
 * others an entry that one rule protects, and another does not, is narrowed: in the first it is
 * taken out.
 *
 * Return: 0, also when devices are behind; -EPERM; a negative errno: then nothing has changed.
 */
int baleen_bans_put(struct baleen_bans *bans, struct baleen_batch *batch, u64 timeout_ms,
		    const struct baleen_ban_rule **refused, struct baleen_error *error);

/**
 * baleen_bans_mark() - mark the devices that are to follow
 * @bans: opened, within the transaction of the book that they are to follow
 * @error: filled in on failure
 *
 * Those that are not held as behind, and among them devices that came, or began to take bans,
 * since they were looked for: whoever commits a state from here on finds that the book has moved.
 *
 * Return: 0 or a negative errno.
 */
int baleen_bans_mark(struct baleen_bans *bans, struct baleen_error *error);

/**
 * baleen_bans_stop_holding() - let others go on with a device
 * @bans: opened
 * @device: one of its devices, which is looked at still
 */
void baleen_bans_stop_holding(const struct baleen_bans *bans, struct baleen_ban_device *device);

/**
 * baleen_bans_catch_up() - let the devices follow that were not held
 * @bans: with what they are to follow on the disk, and marks on them
 * @timeout_ms: how long to wait for others, for all of them together
 *
 * What baleen_bans_put() does last. Those that cannot be held are behind. Whoever waits holds no
 * other device: two who do this would wait for each other. So when there is one to wait for, none
 * is held afterwards, and their states are open to be read.
 */
void baleen_bans_catch_up(struct baleen_bans *bans, u64 timeout_ms);

/**
 * baleen_bans_expire() - end the bans whose time has come
 * @timeout_ms: as for baleen_bans_put()
 * @error: filled in on failure; may be NULL
 *
 * Those that no rule takes are parked, and end with baleen_parked_expire().
 *
 * Return: 0 or a negative errno.
 */
int baleen_bans_expire(u64 timeout_ms, struct baleen_error *error);

/**
 * baleen_bans_end_if_due() - the same, for whoever is about to change a device, before it is held
 *
 * A daemon that should have done it may hang. What cannot be done is done by the next one.
 */
void baleen_bans_end_if_due(void);

#endif /* BALEEN_BANS_H */
