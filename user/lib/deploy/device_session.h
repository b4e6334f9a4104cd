/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device that is changed by hand, held against other writers, with the state that its
 * rules were made of, if it has one.
 */
#ifndef BALEEN_DEVICE_SESSION_H
#define BALEEN_DEVICE_SESSION_H

#include "deploy/deploy.h"
#include "list/csv_table.h"
#include "ops/build.h"
#include "state/protected.h"

/**
 * struct baleen_device_session - a device held
 * @has_state: else only its maps and its program are known
 * @deploy: the state; its xdp is the device, also without a state
 * @plan: the rules of the state, to be edited before they are put on
 * @is_trial: set by the caller: what is put is judged, and then not put on
 * @n_special: filled in: entries of what was added that are in special-purpose ranges,
 *             and that its rule takes out
 * @n_protected: filled in: entries of what was added that hold protected addresses, which
 *               its rule takes out, too: own addresses, gateways, resolvers, guarded
 *               sessions, the never-drop list
 * @first_protected: one of these addresses
 */
struct baleen_device_session {
	bool has_state;
	struct baleen_deploy deploy;
	struct baleen_deploy_plan plan;
	bool is_trial;
	u64 n_special;
	u64 n_protected;
	struct baleen_protected first_protected;
};

/**
 * struct baleen_rule_source - a list or image that a rule is made of
 * @path: as typed; "-" is stdin
 * @filter: what became of it; a rule of a ruleset that has this filter is made of it
 * @is_any: it lists every address, and is no file
 * @bans: what bans of a rule that is made of it are from now on
 * @removes_special: a rule that is made of it takes special-purpose ranges out of its
 *                   lists from now on
 * @is_list: a list, else an image
 * @fd: what was read; 0: an image that was made of something else
 * @csv: how a table was read
 * @skips_bad: bad lines were passed over
 * @allows_empty: nothing need be left of it without special-purpose ranges
 * @accept_fpp: false positive rate that its rule may come to
 * @mend: option or command that accepts more
 * @build: kind, rate and capacity of what is derived of it later; a list that was built
 *         like another image is kept as an image
 */
struct baleen_rule_source {
	const char *path;
	const struct baleen_filter *filter;
	bool is_any;
	struct baleen_rule_bans bans;
	bool removes_special;
	bool is_list;
	int fd;
	const struct baleen_csv_options *csv;
	bool skips_bad;
	bool allows_empty;
	double accept_fpp;
	const char *mend;
	const struct baleen_build_options *build;
};

/**
 * struct baleen_rule_sources - those of a ruleset
 * @n: how many
 * @source: one for each rule that is made anew
 */
struct baleen_rule_sources {
	u32 n;
	struct baleen_rule_source source[BALEEN_MAX_RULES];
};

/**
 * baleen_device_session_open() - hold an attached device
 * @session: filled in; close with baleen_device_session_close()
 * @device: name of the device
 * @wait_ms: for other writers
 * @error: filled in on failure
 *
 * With a state, its rules are read, and a transaction is open.
 *
 * Return: 0; -ENOENT when it is not attached, and @error says why; -ETIMEDOUT; another
 * negative errno.
 */
int baleen_device_session_open(struct baleen_device_session *session, const char *device,
			       u64 wait_ms, struct baleen_error *error);

/**
 * baleen_device_session_open_state() - hold a device with a state, attached or not
 * @session: filled in; close with baleen_device_session_close()
 * @device: name of the device
 * @wait_ms: for other writers
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when it has no state, and @error says why; else as
 * baleen_device_session_open().
 */
int baleen_device_session_open_state(struct baleen_device_session *session, const char *device,
				     u64 wait_ms, struct baleen_error *error);

/**
 * baleen_device_session_close() - let the next writer in
 * @session: opened
 */
void baleen_device_session_close(struct baleen_device_session *session);

/**
 * baleen_device_session_add_feed() - add to what a rule of the state is made of
 * @session: opened, with its plan; without a state nothing is done
 * @rule: name of the rule
 * @source: what is added
 * @error: filled in on failure
 *
 * Return: 0; -ENODATA when the rule would take all of it out; a negative errno.
 */
int baleen_device_session_add_feed(struct baleen_device_session *session, const char *rule,
				   const struct baleen_rule_source *source,
				   struct baleen_error *error);

/**
 * baleen_device_session_put() - put a ruleset on the device
 * @session: opened
 * @ruleset: edited from baleen_ruleset_from_config()
 * @sources: of the rules that have a filter; they replace the feeds of a rule, its single
 *           entries stay. NULL for none
 * @error: filled in on failure
 *
 * Without a state, a filter that has no source is one made of the live one.
 *
 * Return: 0; -EPERM for a filter that would drop what is never dropped, or errs more often than
 * its source accepts; another negative errno.
 */
int baleen_device_session_put(struct baleen_device_session *session,
			      const struct baleen_ruleset *ruleset,
			      const struct baleen_rule_sources *sources,
			      struct baleen_error *error);

/**
 * baleen_device_session_change() - change the live filter of a rule without a state, in place
 * @session: opened, without a state
 * @index: index of the rule
 * @keys: a finished list of its key, without exceptions
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @n_changed: keys that were added or taken out; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EPERM for keys that are never dropped; -ENOSPC or -EOPNOTSUPP when this must be
 * built aside; another negative errno.
 */
int baleen_device_session_change(struct baleen_device_session *session, u32 index,
				 const struct baleen_list *keys, enum baleen_set_op op,
				 u64 *n_changed, struct baleen_error *error);

/**
 * struct baleen_device_attach - rules for a device that has none
 * @device: name of the device
 * @ruleset: its rules, all with a filter
 * @mode: XDP mode
 * @attach_type: XDP attach type
 * @sources: of the rules
 * @is_forgetful: without a state
 * @n_entries: filled in: single entries of these rules that the book has, in force again
 * @behind: filled in: why they are not yet; empty when they are
 */
struct baleen_device_attach {
	const char *device;
	const struct baleen_ruleset *ruleset;
	enum baleen_mode mode;
	enum baleen_attach_type attach_type;
	const struct baleen_rule_sources *sources;
	bool is_forgetful;
	u64 n_entries;
	struct baleen_error behind;
};

/**
 * baleen_device_session_attach() - put rules on a device by hand
 * @attach: what and where
 * @attempts: filled in also on failure
 * @error: filled in on failure: nothing is on
 *
 * The state is on disk before the filter is there, so no filter lacks its own.
 *
 * Return: 0; -EPERM for a filter that would drop what is never dropped, or errs more often than
 * its source accepts; as baleen_xdp_attach(); another negative errno.
 */
int baleen_device_session_attach(struct baleen_device_attach *attach,
				 struct baleen_attempts *attempts, struct baleen_error *error);

/**
 * baleen_device_session_forget() - forget the state of a device that is not attached
 * @device: name of the device
 * @error: filled in on failure
 *
 * A volatile state is of a filter that is no more.
 *
 * Return: 0, also without a state; -EEXIST when a configuration was applied; another
 * negative errno.
 */
int baleen_device_session_forget(const char *device, struct baleen_error *error);

#endif /* BALEEN_DEVICE_SESSION_H */
