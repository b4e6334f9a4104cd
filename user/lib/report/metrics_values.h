/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The values of metrics, row by row.
 */
#ifndef BALEEN_METRICS_VALUES_H
#define BALEEN_METRICS_VALUES_H

#include <baleen/icp.h>
#include <baleen/stats.h>
#include <stdint.h>

#include "net/device.h"

/* A value that is not known has no sample: this, and NAN for a real number. */
#define BALEEN_METRICS_UNKNOWN UINT64_MAX

/* Room for a label: a longer one is cut, and told from others by "#2". */
#define BALEEN_METRICS_LABEL 256
/* Each byte of a name can become an escape of four (util/foreign.h). */
#define BALEEN_METRICS_DEVICE (4 * BALEEN_POINT_BYTES)

/**
 * enum baleen_metrics_state - what has become of a device's filter
 * @BALEEN_METRICS_ATTACHED: as enum baleen_attach_status, and so are the next four
 * @BALEEN_METRICS_GONE: the device was deleted
 * @BALEEN_METRICS_MOVED: in force, in another network namespace
 * @BALEEN_METRICS_DETACHED: somebody detached it
 * @BALEEN_METRICS_REPLACED: another program is there
 * @BALEEN_METRICS_ABSENT: it was asked for, or its rules are kept, but nothing
 *                         of it is in the kernel
 * @BALEEN_METRICS_UNREADABLE: it is there, but cannot be read
 */
enum baleen_metrics_state {
	BALEEN_METRICS_ATTACHED,
	BALEEN_METRICS_GONE,
	BALEEN_METRICS_MOVED,
	BALEEN_METRICS_DETACHED,
	BALEEN_METRICS_REPLACED,
	BALEEN_METRICS_ABSENT,
	BALEEN_METRICS_UNREADABLE,
};

/**
 * struct baleen_metrics_device - a device
 * @name: its name
 * @device: its name as a label
 * @program_id: id of its program, as text; empty when there is none
 * @place: how the program is on the device; see baleen_attach_type_text()
 * @attached: 1: it sees the device's packets; 0
 * @state: enum baleen_metrics_state
 * @mode: enum baleen_mode of the program
 * @dry_run: 1: nothing is dropped; 0
 * @default_drop: 1: what no rule decides is dropped; 0: it passes
 * @has_program: 1 when @program_id is set
 * @loaded_s: when the program was loaded, seconds since 1970
 * @stats: the counters but for those of the rules
 * @applied_s: last successful apply, seconds since 1970
 * @confirm_s: when the state before comes back unless it is confirmed
 * @n_expired: entries that have expired
 * @is_behind: the book has bans that are not in force on it
 * @is_edited: it enforces something else than its configuration says by now
 *
 * This and all rows below: a u64 may be BALEEN_METRICS_UNKNOWN.
 */
struct baleen_metrics_device {
	char name[BALEEN_POINT_BYTES];
	char device[BALEEN_METRICS_DEVICE];
	char program_id[16];
	char place[16];
	u64 attached;
	u64 state;
	u64 mode;
	u64 dry_run;
	u64 default_drop;
	u64 has_program;
	u64 loaded_s;
	struct baleen_stats stats;
	u64 applied_s;
	u64 confirm_s;
	u64 n_expired;
	u64 is_behind;
	u64 is_edited;
};

/**
 * struct baleen_metrics_rule - a rule
 * @device: its device
 * @rule: its name
 * @action: "drop", "allow" or "count"
 * @packets: frames that matched it
 * @bytes: their length
 * @sound: 1: its map holds a valid image; 0: it is damaged
 * @entries: of its feeds, as they were written, and single ones; without a state @stored
 * @stored: keys and prefixes in its filter
 * @image_bytes: size of its image
 * @changed_s: when its filter was last changed, seconds since 1970
 * @limit_slots: sources that the table of its limit has room for
 * @limit_tracked: sources in it that are not idle
 * @limit_over: of these, those that are over the limit, or would be by their next packet
 * @limit_overruns: sources that went over it
 * @limit_forgotten: sources that lost their place to another while they were not idle
 * @fpp: its false positive rate, that of the worst table
 * @accept_fpp: the rate that it accepts; unknown without a state
 */
struct baleen_metrics_rule {
	char device[BALEEN_METRICS_DEVICE];
	char rule[BALEEN_NAME_BYTES];
	char action[8];
	u64 packets;
	u64 bytes;
	u64 sound;
	u64 entries;
	u64 stored;
	u64 image_bytes;
	u64 changed_s;
	u64 limit_slots;
	u64 limit_tracked;
	u64 limit_over;
	u64 limit_overruns;
	u64 limit_forgotten;
	double fpp;
	double accept_fpp;
};

/**
 * struct baleen_metrics_table - a hash table of a rule that can be full
 * @device: its device
 * @rule: its name
 * @table: "ipv4", "ipv6", "short" or "long": the keys in it
 * @used: keys in it
 * @capacity: keys it was made for
 */
struct baleen_metrics_table {
	char device[BALEEN_METRICS_DEVICE];
	char rule[BALEEN_NAME_BYTES];
	char table[8];
	u64 used;
	u64 capacity;
};

/**
 * struct baleen_metrics_feed - a feed of a rule
 * @device: device of the rule
 * @rule: its name
 * @feed: its path or URL, without password and query; see
 *        baleen_metrics_add_feed()
 * @entries: in the copy that is enforced
 * @n_held: of a table of routes: those of them that are no routes any more, and held
 * @interval_s: how often it is to be fetched
 * @succeeded_s: last good fetch, seconds since 1970
 * @failed_s: last failed fetch, seconds since 1970
 * @changed_s: when the copy that is enforced was received, seconds since 1970
 * @n_errors: failures in a row; 0 after a success
 * @generation: of a signed set: which one is enforced
 * @n_fallbacks: likewise: full sets that were fetched because a difference was of no use
 * @available: likewise: that of the manifest that came last
 * @ring: likewise: ring of this host; unknown of one that is for all hosts at once
 * @is_held: likewise, where it is not @generation: 1: the operator has it wait
 * @is_vetoed: likewise: 1: a host has said that it is bad
 * @n_drops: sampled drops of sources that it holds
 * @n_alone: those of sources that nothing else in the rule holds
 * @n_met: its entries that hold a sampled source
 */
struct baleen_metrics_feed {
	char device[BALEEN_METRICS_DEVICE];
	char rule[BALEEN_NAME_BYTES];
	char feed[BALEEN_METRICS_LABEL];
	u64 entries;
	u64 n_held;
	u64 interval_s;
	u64 succeeded_s;
	u64 failed_s;
	u64 changed_s;
	u64 n_errors;
	u64 generation;
	u64 n_fallbacks;
	u64 available;
	u64 ring;
	u64 is_held;
	u64 is_vetoed;
	u64 n_drops;
	u64 n_alone;
	u64 n_met;
};

/**
 * struct baleen_metrics_name - a never-name of a device
 * @device: the device
 * @name: the name
 * @n: its addresses
 * @answered_s: when the answer in force came, seconds since 1970
 * @failed_s: when there was no answer, seconds since 1970; unknown when there was one since
 */
struct baleen_metrics_name {
	char device[BALEEN_METRICS_DEVICE];
	char name[BALEEN_METRICS_LABEL];
	u64 n;
	u64 answered_s;
	u64 failed_s;
};

/**
 * struct baleen_metrics_sibling - a cache that a device answers for
 * @device: the device
 * @sibling: its name
 * @n_objects: that its filter has
 * @is_fresh: it is answered for: 1, else 0
 * @synced_s: when its filter was made of what it holds, seconds since 1970
 * @stats: what became of queries, answers and changes
 */
struct baleen_metrics_sibling {
	char device[BALEEN_METRICS_DEVICE];
	char sibling[BALEEN_METRICS_LABEL];
	u64 n_objects;
	u64 is_fresh;
	u64 synced_s;
	struct baleen_icp_sibling_stats stats;
};

/**
 * struct baleen_metrics_origin - the single entries of one origin in a rule
 * @device: device of the rule
 * @rule: its name
 * @origin: the origin that added them
 * @n: how many
 */
struct baleen_metrics_origin {
	char device[BALEEN_METRICS_DEVICE];
	char rule[BALEEN_NAME_BYTES];
	char origin[BALEEN_METRICS_LABEL];
	u64 n;
};

/**
 * struct baleen_metrics_fleet - how this host gets on with its fleet
 * @fleet: name of the fleet
 * @sends: 1: what is banned here goes out; 0
 * @receives: 1: what others have banned comes in; 0
 * @n_hosts: hosts that showed a sign of life
 * @n_publishers: publishers of other hosts
 * @n_silent: those that said nothing new for two minutes
 * @n_behind: those that have published what this host lacks
 * @n_cloned: those under whose name two hosts publish
 * @n_changes_behind: changes that this host lacks
 * @n_unsent: its own changes that Redis lacks
 * @n_entries: entries of others
 * @n_held: those that the policy holds
 * @compared_s: when heads were compared last, seconds since 1970
 * @agreed_s: when all agreed last
 * @lag_s: from the signature of a batch to its being in force
 * @silence_s: for how long the most silent publisher has said nothing
 * @form: messages that were refused for this cause, and so on; see enum baleen_fleet_cause
 * @of_fleet: likewise
 * @publisher: likewise
 * @signature: likewise
 * @time: likewise
 * @replay: likewise
 * @clone: likewise
 * @right: likewise
 * @full: likewise
 */
struct baleen_metrics_fleet {
	char fleet[BALEEN_METRICS_LABEL];
	u64 sends;
	u64 receives;
	u64 n_hosts;
	u64 n_publishers;
	u64 n_silent;
	u64 n_behind;
	u64 n_cloned;
	u64 n_changes_behind;
	u64 n_unsent;
	u64 n_entries;
	u64 n_held;
	u64 compared_s;
	u64 agreed_s;
	double lag_s;
	u64 silence_s;
	u64 form;
	u64 of_fleet;
	u64 publisher;
	u64 signature;
	u64 time;
	u64 replay;
	u64 clone;
	u64 right;
	u64 full;
};

/**
 * struct baleen_metrics_daemon - what baleend says of itself
 * @started_s: when it was started, seconds since 1970
 * @n_updates: updates of feeds that it ran to a good end
 * @n_failed_updates: those that failed
 * @n_reattached: filters that it put back on a device
 * @n_rolled_back: changes that were not confirmed in time
 * @n_events: sampled drops that it wrote to the journal
 * @n_limit_bans: sources over a limit that it banned
 * @n_limit_refused: those that are never dropped
 * @n_limit_capped: those above the cap of the limit
 * @n_errors: errors that it wrote to the journal
 */
struct baleen_metrics_daemon {
	u64 started_s;
	u64 n_updates;
	u64 n_failed_updates;
	u64 n_reattached;
	u64 n_rolled_back;
	u64 n_events;
	u64 n_limit_bans;
	u64 n_limit_refused;
	u64 n_limit_capped;
	u64 n_errors;
};

/**
 * struct baleen_metrics_release - which baleen this is
 * @version: its version
 * @is_set: 1
 */
struct baleen_metrics_release {
	char version[32];
	u64 is_set;
};

/**
 * struct baleen_metrics_source - what there is to tell
 * @release: which baleen it is that tells; NULL for none
 * @daemon: NULL when no daemon speaks
 * @device: rows, and so on
 * @n_devices: how many
 * @rule: by device
 * @n_rules: how many
 * @table: by rule
 * @n_tables: how many
 * @feed: by rule
 * @n_feeds: how many
 * @origin: by rule
 * @n_origins: how many
 * @name: by device
 * @n_names: how many
 * @sibling: by device
 * @n_siblings: how many
 * @fleet: the fleet of this host
 * @n_fleets: 1 when it is in one, else 0
 *
 * All zeros is an empty source. Rows come from the baleen_metrics_add functions,
 * which write what is no UTF-8, and control characters, as '?'.
 */
struct baleen_metrics_source {
	const struct baleen_metrics_release *release;
	const struct baleen_metrics_daemon *daemon;
	struct baleen_metrics_device *device;
	size_t n_devices;
	struct baleen_metrics_rule *rule;
	size_t n_rules;
	struct baleen_metrics_table *table;
	size_t n_tables;
	struct baleen_metrics_feed *feed;
	size_t n_feeds;
	struct baleen_metrics_origin *origin;
	size_t n_origins;
	struct baleen_metrics_name *name;
	size_t n_names;
	struct baleen_metrics_sibling *sibling;
	size_t n_siblings;
	struct baleen_metrics_fleet fleet;
	size_t n_fleets;
};

#endif /* BALEEN_METRICS_VALUES_H */
