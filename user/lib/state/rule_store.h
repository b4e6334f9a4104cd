/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A store of what the rules of a device were made of: a directory with a database.
 *
 *      /var/lib/baleen/DEV/                    kept: put on again at boot
 *      /var/lib/baleen/network-namespaces/NAME/DEV/
 *                                              of a device in a namespace of `ip netns`
 *      /run/baleen/network-namespaces/ns<cookie>/DEV/
 *                                              in one that nobody finds after a reboot
 *      /run/baleen/ns<cookie>-if<ifindex>/     volatile: ends with the filter, at a reboot
 *        state.db          rules, policy, feeds, single entries (SQLite)
 *        feeds/<id>        each feed as it was received last, and taken
 *        never.list        the never-drop list as it was last good
 *
 * The state is the truth and live maps are derived from it (derive.h). One
 * writer at a time: the lock of the directory comes before that of the device's
 * pins. Feeds are files of their own and not rows: they are read as a whole,
 * and a list of a million lines need not go through SQL.
 *
 * A change in place touches the database and the map. Before it begins, a mark
 * is set in memory (/run); who finds one derives everything anew. So whoever is
 * killed leaves what was before or what was to come, and a power cut, which
 * ends the map, too, costs no second write to the disk.
 */
#ifndef BALEEN_RULE_STORE_H
#define BALEEN_RULE_STORE_H

#include "net/device.h"
#include "net/host.h"
#include "state/feed_guard.h"
#include "state/rule_store_commit.h"
#include "util/command.h"
#include "xdp/ruleset.h"

/**
 * struct baleen_widen - when bans of a prefix become a ban of the prefix
 * @n: how many keys inside it have to be banned, 2 to BALEEN_WIDEN_MAX; 0 for never
 * @length: length of the prefix
 */
struct baleen_widen {
	u32 n;
	u32 length;
};

#define BALEEN_WIDEN_MAX 1000
/* The origin of such an entry, which nobody else can have. */
#define BALEEN_ORIGIN_WIDEN "widen"
/* The origin of what another host has banned, fleet:HOST/ORIGIN, begins so, and no other does. */
#define BALEEN_ORIGIN_FLEET "fleet:"

/* A name of a set, with the NUL byte: as BALEEN_FLEET_NAME_BYTES of fleet/fleet_entry.h. */
#define BALEEN_RULE_FLEET_BYTES 32
/* No ban of a fleet is longer. */
#define BALEEN_RULE_FLEET_MAX_S (30 * 86400)

/**
 * struct baleen_rule_fleet - which bans of a fleet a rule takes
 * @set: name of the set; empty for none
 * @max_ttl_s: they end after so many seconds at the latest; 0 for as the policy says
 */
struct baleen_rule_fleet {
	char set[BALEEN_RULE_FLEET_BYTES];
	u32 max_ttl_s;
};

/**
 * struct baleen_stored_rule - a rule as the state has it
 * @name: as in struct baleen_ruleset_rule
 * @action: enum baleen_action
 * @qualifiers: further conditions that a frame has to meet
 * @rate_limit: only what is over it is met; all zero for none
 * @key_spec: enum baleen_key_spec
 * @kind: enum baleen_kind, one that has keys; its shape is left to the plan
 * @fpp: false positive rate allowed
 * @accept_fpp: rate that its filter may come to, when that is more than @fpp: an image is what
 *              it is; 0 of a configured rule
 * @capacity: room asked for; 0 for what is needed
 * @is_any: every address, whatever the entries
 * @limits: limits that its feeds have to keep
 * @guards_feeds: what is protected (protected.h) is taken out of its feeds; false for
 *                what was attached by hand, where special-purpose ranges stay, too,
 *                unless said otherwise
 * @takes_bans: `baleen ban` adds to it; only of rules that baleen_rule_bans_refuse() lets
 * @ban_width: length of the prefix that the ban of a lone IPv6 address is of; 0 for
 *             BALEEN_BAN_WIDTH
 * @widen: of IPv4 and of IPv6, see deploy/widen.h; only of rules that
 *         baleen_rule_widen_refuse() lets
 * @fleet: bans of other hosts; only of rules that baleen_rule_fleet_refuse() lets
 * @trial_of: counts what another generation of this feed would drop (deploy/trial.h); no
 *            configuration has such a rule; 0 of all others
 */
struct baleen_stored_rule {
	char name[BALEEN_NAME_BYTES];
	u32 action;
	struct baleen_qualifiers qualifiers;
	struct baleen_rate_limit rate_limit;
	u32 key_spec;
	u32 kind;
	double fpp;
	double accept_fpp;
	u64 capacity;
	bool is_any;
	struct baleen_feed_limits limits;
	bool guards_feeds;
	bool takes_bans;
	u32 ban_width;
	struct baleen_widen widen[2];
	struct baleen_rule_fleet fleet;
	u64 trial_of;
};

/* Names of hosts that are not dropped: at most so many, and so many bytes in all. */
#define BALEEN_NEVER_NAMES 64
#define BALEEN_NEVER_NAMES_BYTES 4096

/* All statements about caches, as text. */
#define BALEEN_ICP_TEXT_BYTES 8192

/**
 * struct baleen_stored_rules - the rules of a device and its policy, as the state
 *                             has them
 * @n_rules: 0 to BALEEN_MAX_RULES
 * @rule: in order of evaluation
 * @default_drop: as in struct baleen_ruleset
 * @dry_run: as in struct baleen_ruleset
 * @sample_interval_ns: as in struct baleen_ruleset
 * @mode: enum baleen_mode, as the attach is asked for
 * @attach_type: enum baleen_attach_type
 * @never_path: the never-drop list; empty for none
 * @never_names: names of hosts that are not dropped, with blanks between
 * @guard_sessions: enum baleen_session_guard
 * @health: command that says whether the host is well after a new generation of a signed set
 *          (deploy/trial.h): path and arguments with newlines between; empty for none
 * @max_bytes: as in struct baleen_ruleset
 * @icp: statements about caches, as deploy/conf_icp.h has them; empty for none
 */
struct baleen_stored_rules {
	u32 n_rules;
	struct baleen_stored_rule rule[BALEEN_MAX_RULES];
	bool default_drop;
	bool dry_run;
	u64 sample_interval_ns;
	u32 mode;
	u32 attach_type;
	char never_path[BALEEN_RULE_STORE_PATH_BYTES];
	char never_names[BALEEN_NEVER_NAMES_BYTES];
	u32 guard_sessions;
	char health[BALEEN_COMMAND_BYTES];
	u64 max_bytes;
	char icp[BALEEN_ICP_TEXT_BYTES];
};

/* Most hosts have a whole /64, and whoever is banned moves on in it. */
#define BALEEN_BAN_WIDTH 64
#define BALEEN_BAN_WIDTH_MIN 32
#define BALEEN_BAN_WIDTH_MAX 128

/**
 * baleen_rule_ban_width() - how wide is the ban of a lone IPv6 address?
 * @rule: rule of a state
 *
 * Whoever is let pass or counted is meant alone; whoever is banned moves on in his network.
 *
 * Return: the length of the prefix.
 */
u32 baleen_rule_ban_width(const struct baleen_stored_rule *rule);

/* Room for both as text. */
#define BALEEN_WIDEN_TEXT 64

/**
 * baleen_widen_format() - as a configuration has it
 * @widen: of IPv4 and of IPv6
 * @text: BALEEN_WIDEN_TEXT bytes: "8 in /24, 8 in /48", or one of them; empty for none
 *
 * Return: @text.
 */
const char *baleen_widen_format(const struct baleen_widen *widen, char *text);

/**
 * baleen_widen_parse() - the same from text
 * @text: "N in /LENGTH", with a comma and another one behind it or not; lengths from 8 to 31
 *        are of IPv4, from 32 to 127 of IPv6
 * @widen: of IPv4 and of IPv6, filled in
 *
 * Return: NULL; why not, a constant string.
 */
const char *baleen_widen_parse(const char *text, struct baleen_widen *widen);

/**
 * struct baleen_rule_bans - what bans of a rule are, as struct baleen_stored_rule has it
 * @takes_bans: `baleen ban` adds to it
 * @ban_width: of a lone IPv6 address; 0 for BALEEN_BAN_WIDTH
 * @widen: of IPv4 and of IPv6
 * @fleet: which bans of a fleet
 */
struct baleen_rule_bans {
	bool takes_bans;
	u32 ban_width;
	struct baleen_widen widen[2];
	struct baleen_rule_fleet fleet;
};

/**
 * baleen_rule_bans_set() - give it to a rule
 * @rule: keeps what @bans says nothing of
 * @bans: what its bans are
 */
void baleen_rule_bans_set(struct baleen_stored_rule *rule, const struct baleen_rule_bans *bans);

/**
 * baleen_rule_widen_refuse() - may the bans of a rule become bans of prefixes?
 * @rule: the rule
 *
 * Return: NULL; why not, a constant string.
 */
const char *baleen_rule_widen_refuse(const struct baleen_stored_rule *rule);

/* Room for both as text. */
#define BALEEN_RULE_FLEET_TEXT 80

/**
 * baleen_rule_fleet_format() - as a configuration has it behind `feed`
 * @fleet: of a rule
 * @text: BALEEN_RULE_FLEET_TEXT bytes: "fleet:SET max-ttl 24h", or without max-ttl; empty for
 *        none
 *
 * Return: @text.
 */
const char *baleen_rule_fleet_format(const struct baleen_rule_fleet *fleet, char *text);

/**
 * baleen_rule_fleet_is_set() - may a set of a fleet have this name?
 * @name: the name
 *
 * Return: true of 1 to BALEEN_RULE_FLEET_BYTES - 1 bytes of a-z, 0-9, '.', '_' and '-'.
 */
bool baleen_rule_fleet_is_set(const char *name);

/**
 * baleen_rule_fleet_refuse() - may a rule take bans of a fleet?
 * @rule: the rule
 *
 * Return: NULL; why not, a constant string.
 */
const char *baleen_rule_fleet_refuse(const struct baleen_stored_rule *rule);

/**
 * baleen_rule_store_guard_sessions() - which sessions are guarded?
 * @state: opened
 *
 * Return: enum baleen_session_guard; the default when it cannot be read.
 */
u32 baleen_rule_store_guard_sessions(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_max_bytes() - most bytes that a filter may take to be built
 * @state: opened
 *
 * Return: max-memory, or, where that is less, what there may be without it: a rule may have more
 * than its device was left with, and is to become smaller.
 */
u64 baleen_rule_store_max_bytes(const struct baleen_rule_store *state);

/**
 * baleen_rule_store_open() - open the state of a device
 * @state: filled in; close with baleen_rule_store_close()
 * @device: name of the device, which need not be there if its state is kept
 * @timeout_ms: how long to wait to be the only writer; 0 opens it for reading
 *              only, which never waits for writers
 * @error: filled in on failure
 *
 * The kept state comes first, then the volatile one. A kept state that belongs
 * to a device of this name in another network namespace is not this device's.
 *
 * Return: 0; -ENOENT when there is none; -ETIMEDOUT; -EPROTO when a newer
 * release made it; -EINVAL when it is damaged, or an older one made it; a negative errno.
 */
int baleen_rule_store_open(struct baleen_rule_store *state, const char *device, u64 timeout_ms,
			   struct baleen_error *error);

/**
 * baleen_rule_store_check_place() - may states be read or changed here?
 * @error: filled in on failure
 *
 * Where pins cannot be seen, nothing is known of what packets meet.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_check_place(struct baleen_error *error);

/**
 * baleen_rule_store_read() - open one of the two states of a device for reading
 * @state: as for baleen_rule_store_open()
 * @device: name of the device
 * @is_kept: which of the two
 * @error: filled in on failure
 *
 * Where baleen_rule_store_check_place() lets.
 *
 * Return: as baleen_rule_store_open(); -EXDEV when it is of a device of this name in another
 * network namespace.
 */
int baleen_rule_store_read(struct baleen_rule_store *state, const char *device, bool is_kept,
			   struct baleen_error *error);

/**
 * baleen_rule_store_read_at() - the same, of a state that was found
 * @state: as for baleen_rule_store_open()
 * @path: its directory
 * @device: name of the device
 * @is: whose a volatile one is; NULL for a kept one
 * @error: filled in on failure
 *
 * Return: as baleen_rule_store_read().
 */
int baleen_rule_store_read_at(struct baleen_rule_store *state, const char *path, const char *device,
			      const struct baleen_rule_store_owner *is, struct baleen_error *error);

/**
 * baleen_rule_store_write() - become the writer of a state that was opened for reading
 * @state: opened for reading; closed on failure
 * @timeout_ms: how long to wait to be the only writer
 * @error: filled in on failure
 *
 * It may have changed meanwhile, and is read again.
 *
 * Return: as baleen_rule_store_open().
 */
int baleen_rule_store_write(struct baleen_rule_store *state, u64 timeout_ms,
			    struct baleen_error *error);

/**
 * baleen_rule_store_create() - make an empty state and become its writer
 * @state: filled in; close with baleen_rule_store_close()
 * @device: name of the device; a volatile state needs it to be there
 * @is_kept: which of the two
 * @timeout_ms: how long to wait to be the only writer
 * @error: filled in on failure
 *
 * Nobody sees it before its first commit; closed without one, nothing is left.
 *
 * Return: 0; -EEXIST when there is one of this kind already; -EXDEV when there is
 * one of a device of this name that is attached in another network namespace;
 * -ENODEV; else as baleen_rule_store_open().
 */
int baleen_rule_store_create(struct baleen_rule_store *state, const char *device, bool is_kept,
			     u64 timeout_ms, struct baleen_error *error);

/**
 * baleen_rule_store_is_there() - has the device a state?
 * @device: name of the device
 *
 * Return: true when it has one, also one that cannot be opened.
 */
bool baleen_rule_store_is_there(const char *device);

/**
 * baleen_rule_store_close() - let go; what was not committed is undone
 * @state: opened
 */
void baleen_rule_store_close(struct baleen_rule_store *state);

/**
 * baleen_rule_store_remove() - forget it, with all feeds and entries
 * @state: opened for writing; closed afterwards
 */
void baleen_rule_store_remove(struct baleen_rule_store *state);

/**
 * baleen_rule_store_get_rules() - rules and policy
 * @state: opened
 * @rules: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_get_rules(const struct baleen_rule_store *state,
				struct baleen_stored_rules *rules, struct baleen_error *error);

/**
 * baleen_rule_store_find_rule() - a rule by its name
 * @rules: among which
 * @name: its name
 *
 * Return: its place, or -ENOENT.
 */
int baleen_rule_store_find_rule(const struct baleen_stored_rules *rules, const char *name);

/**
 * baleen_rule_bans_refuse() - may a rule take bans?
 * @rule: its action and key are asked
 *
 * Return: NULL, or why not, such as "it does not drop".
 */
const char *baleen_rule_bans_refuse(const struct baleen_stored_rule *rule);

/**
 * baleen_rule_keys_keep_entries() - do the single entries of a rule stay when its key changes?
 * @before: enum baleen_key_spec
 * @after: the new one
 *
 * An address is an address, be it source or destination.
 *
 * Return: true or false.
 */
bool baleen_rule_keys_keep_entries(u32 before, u32 after);

/**
 * baleen_rule_store_set_rules() - other rules and another policy
 * @state: with a transaction
 * @rules: afterwards; feeds and single entries of rules that are not among them
 *         are forgotten, and the single entries of a rule whose key has other
 *         fields now
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a rule that cannot be; a negative errno.
 */
int baleen_rule_store_set_rules(struct baleen_rule_store *state,
				const struct baleen_stored_rules *rules,
				struct baleen_error *error);

/**
 * baleen_rule_store_get_text() - a named text, such as "conf" (the one applied last)
 * @state: opened
 * @name: its name
 * @text: to be freed by the caller; NULL when there is none
 *
 * Known: "conf", "conf-path" (of which file), "applied" (seconds of the day it was),
 * "image_time RULE" (when its image was derived), "expired" (how many entries have
 * ended), "bans RULE" (it takes bans), "access N" (path of the secrets of feed N),
 * "fleet RULE" (set and seconds), "ban-width RULE" and "guard-sessions" (numbers, of what is not
 * the default).
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_get_text(const struct baleen_rule_store *state, const char *name,
			       char **text);

/**
 * baleen_rule_store_set_text() - set a named text
 * @state: with a transaction
 * @name: its name
 * @text: or NULL to forget it
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_set_text(struct baleen_rule_store *state, const char *name, const char *text,
			       struct baleen_error *error);

/**
 * baleen_rule_store_copy() - a copy of it as it is, elsewhere
 * @state: opened, without a transaction; best for writing: a reader that a writer
 *         overtakes may fail
 * @path: path of a directory that is made, or replaced if a copy was there
 * @error: filled in on failure
 *
 * Whole or not at all; feeds are linked, not copied, on one file system. Opened as
 * a state, under a name of one, it becomes a state.
 *
 * Return: 0 or a negative errno.
 */
int baleen_rule_store_copy(const struct baleen_rule_store *state, const char *path,
			   struct baleen_error *error);

/**
 * baleen_rule_store_is_copy() - can it be taken back?
 * @path: path of a directory, which need not be there
 *
 * Return: true when it is a whole copy of a state.
 */
bool baleen_rule_store_is_copy(const char *path);

/**
 * baleen_rule_store_replace() - take a copy back
 * @state: opened for writing, without a transaction; becomes what the copy is, and
 *         is to be closed on failure
 * @path: path of the copy, on the same file system; gone afterwards
 * @error: filled in on failure
 *
 * Killed in between, the state is what it was, and the copy is there, or it is what
 * the copy was, and a directory at @path is none.
 *
 * Return: 0; -ENOENT when there is no copy; a negative errno.
 */
int baleen_rule_store_replace(struct baleen_rule_store *state, const char *path,
			      struct baleen_error *error);

#endif /* BALEEN_RULE_STORE_H */
