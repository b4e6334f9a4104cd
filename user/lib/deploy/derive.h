/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the state of a rule to its filter.
 *
 *      feeds      each a set of its own: inside, the longest prefix decides
 *      F          their union
 *      X          what exceptions among the single entries cover
 *      L          single entries and exceptions: the longest prefix decides
 *      W          withheld: never-drop list, addresses of this host, its gateways
 *                 and resolvers, and of the peers that it had at the last update
 *
 *      set = ((F - X) u L) - W
 *
 * W is taken out of rules that drop and whose feeds are guarded, and only of
 * those; special-purpose ranges are taken out of F there. Peers are taken out of F
 * alone: who asks for a ban in so many words means it, above all when the
 * session is still open.
 */
#ifndef BALEEN_DERIVE_H
#define BALEEN_DERIVE_H

#include "filter/filter.h"
#include "state/feeds.h"
#include "state/protected.h"
#include "state/route_feed.h"

/**
 * baleen_protected_find() - is an address withheld?
 * @state: opened
 * @rule: rule of the state
 * @key: an address
 * @protected: filled in when it is
 *
 * Peers and special-purpose ranges are not, where single entries say what is to
 * become of them.
 *
 * Return: 1 or 0, or a negative errno.
 */
int baleen_protected_find(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  struct baleen_protected *protected);

/**
 * struct baleen_derived - what came of it
 * @n_feeds: feeds with a good copy
 * @n_single_entries: single entries in force
 * @n_protected: addresses and prefixes that were taken out
 * @first_protected: the first of them
 */
struct baleen_derived {
	u64 n_feeds;
	u64 n_single_entries;
	u64 n_protected;
	struct baleen_protected first_protected;
};

/**
 * baleen_derive() - the filter of a rule
 * @state: opened, a transaction included
 * @rule: rule of the state
 * @now_ms: single entries that have ended by then take no part
 * @filter: sealed, to be freed by the caller; untouched on failure
 * @derived: filled in; may be NULL
 * @error: filled in on failure
 *
 * With an image among the feeds: alone and without anything to change, it is
 * taken as it is; else it is edited (edit.h), and refused where it keeps too
 * little for that.
 *
 * Return: 0; -EINVAL, -EOPNOTSUPP, -ENOSPC, -E2BIG, -ERANGE, -ENOMEM; a negative errno.
 */
int baleen_derive(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		  u64 now_ms, struct baleen_filter *filter, struct baleen_derived *derived,
		  struct baleen_error *error);

/**
 * baleen_derive_roomy() - the same, with room for more hosts and keys
 * @state: as for baleen_derive()
 * @rule: as for baleen_derive()
 * @now_ms: as for baleen_derive()
 * @filter: as for baleen_derive()
 * @error: filled in on failure
 *
 * For a rule whose map found no room for what was added in place: half as much
 * again as it needs.
 *
 * Return: as baleen_derive().
 */
int baleen_derive_roomy(const struct baleen_rule_store *state,
			const struct baleen_stored_rule *rule, u64 now_ms,
			struct baleen_filter *filter, struct baleen_error *error);

/**
 * enum baleen_decision - what single entries say of a key
 * @BALEEN_UNDECIDED: nothing: the feeds decide
 * @BALEEN_DECIDED_IN: it is in the set
 * @BALEEN_DECIDED_OUT: it is not
 * @BALEEN_LEFT_TO_FEEDS: while entries are looked at: the longest one is an exception of bans,
 * which takes it out of no feed; one of the rule itself behind it would
 */
enum baleen_decision {
	BALEEN_UNDECIDED,
	BALEEN_DECIDED_IN,
	BALEEN_DECIDED_OUT,
	BALEEN_LEFT_TO_FEEDS,
};

/* The decision of entries in force for a key in all of them, the longest first. */
static inline enum baleen_decision baleen_decision_with(enum baleen_decision before,
							const struct baleen_rule_entry *entry)
{
	if (before == BALEEN_UNDECIDED && entry->is_exception && entry->is_ban)
		return BALEEN_LEFT_TO_FEEDS;
	if (before == BALEEN_UNDECIDED)
		return entry->is_exception ? BALEEN_DECIDED_OUT : BALEEN_DECIDED_IN;
	if (before == BALEEN_LEFT_TO_FEEDS && entry->is_exception && !entry->is_ban)
		return BALEEN_DECIDED_OUT;
	return before;
}

/* The same when all were looked at. */
static inline enum baleen_decision baleen_decision_of_all(enum baleen_decision decision)
{
	return decision == BALEEN_LEFT_TO_FEEDS ? BALEEN_UNDECIDED : decision;
}

/**
 * baleen_derive_decides() - do single entries decide of a key?
 * @state: opened, a transaction included
 * @rule: rule of the state
 * @key: an address, or a key of several fields
 * @now_ms: as for baleen_derive()
 * @decision: filled in; what is withheld is not asked
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_derive_decides(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  u64 now_ms, enum baleen_decision *decision, struct baleen_error *error);

/**
 * baleen_derive_holds() - shall the rule hold this address?
 * @state: opened, a transaction included
 * @rule: rule of the state
 * @key: an address, or a key of several fields
 * @now_ms: as for baleen_derive()
 * @holds: whether the set of the state has it
 * @error: filled in on failure
 *
 * Without building anything: by index among single entries, by reading the feeds
 * from start to end.
 *
 * Return: 0 or a negative errno.
 */
int baleen_derive_holds(const struct baleen_rule_store *state,
			const struct baleen_stored_rule *rule, const struct baleen_key *key,
			u64 now_ms, bool *holds, struct baleen_error *error);

/**
 * baleen_derive_settle() - shall the rule hold a key that single entries say this of?
 * @state: opened, a transaction included
 * @rule: rule of the state
 * @key: an address, or a key of several fields
 * @decision: what single entries say
 * @holds: whether it shall
 * @error: filled in on failure
 *
 * Undecided, the feeds are read from start to end.
 *
 * Return: 0 or a negative errno.
 */
int baleen_derive_settle(const struct baleen_rule_store *state,
			 const struct baleen_stored_rule *rule, const struct baleen_key *key,
			 enum baleen_decision decision, bool *holds, struct baleen_error *error);

/**
 * struct baleen_reason - an entry that speaks for or against a key
 * @is_feed: a line of a feed; else a single entry
 * @is_exception: it takes the key out: of all feeds and shorter entries when it is
 *                a single entry, of its own feed when it is a line; one of bans only out of
 *                shorter entries
 * @feed: feed of a line
 * @line: its number; 0 of an image, which does not say by what it holds a key
 * @source_line: of a signed set: its number in the lists of its publisher; 0 unless that was asked
 * @text: the entry as it stands there, behind `!` when it is an exception; empty
 *        of an image
 * @route: of a line of a table of routes
 * @entry: of a single entry
 */
struct baleen_reason {
	bool is_feed;
	bool is_exception;
	struct baleen_feed feed;
	u64 line;
	u64 source_line;
	char text[BALEEN_RULE_ENTRY_TEXT];
	struct baleen_route_note route;
	struct baleen_rule_entry entry;
};

/**
 * baleen_derive_reasons() - all entries that cover a key
 * @state: opened
 * @rule: rule of the state
 * @key: an address, or a key of several fields
 * @now_ms: as for baleen_derive()
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * The one that decides comes first: single entries before lines, the longest prefix
 * before shorter ones. Then feed by feed, those that hold the key before those where
 * an exception takes it out; in each its lines as they decide.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_derive_reasons(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  u64 now_ms, int (*visit)(const struct baleen_reason *reason, void *data),
			  void *data, struct baleen_error *error);

#endif /* BALEEN_DERIVE_H */
