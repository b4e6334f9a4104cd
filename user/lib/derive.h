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
 * W is taken out of rules that drop, and only of those. Peers are taken out of F
 * alone: who asks for a ban in so many words means it, above all when the
 * session is still open.
 */
#ifndef BALEEN_DERIVE_H
#define BALEEN_DERIVE_H

#include "feeds.h"
#include "filter.h"
#include "singles.h"

/**
 * enum baleen_withheld_role - why addresses are taken out of a rule
 * @BALEEN_WITHHELD_NEVER: in the never-drop list
 * @BALEEN_WITHHELD_HOST: own address, gateway or resolver
 * @BALEEN_WITHHELD_PEER: peer of a TCP session at the last update
 * @BALEEN_WITHHELD_SPECIAL: special-purpose range of a feed
 */
enum baleen_withheld_role {
	BALEEN_WITHHELD_NEVER,
	BALEEN_WITHHELD_HOST,
	BALEEN_WITHHELD_PEER,
	BALEEN_WITHHELD_SPECIAL,
};

/**
 * struct baleen_withheld - addresses that are not to be dropped
 * @role: why
 * @what: the entry of the never-drop list, or the role of a host's address
 *        (baleen_host_role_text()), or the name of a special-purpose range
 * @key: address, prefix or range
 */
struct baleen_withheld {
	enum baleen_withheld_role role;
	char what[128];
	char key[BALEEN_SINGLE_TEXT];
};

/**
 * baleen_withheld_refresh() - find out anew what is to be withheld
 * @state: with a transaction
 * @error: filled in on failure: a never-drop list that cannot be read, naming
 *         the line; the last good one stays
 *
 * Return: 0; -EINVAL; a negative errno.
 */
int baleen_withheld_refresh(struct baleen_state *state, struct baleen_error *error);

/**
 * baleen_withheld_find() - is an address withheld?
 * @state: opened
 * @rule: of the state
 * @key: an address
 * @withheld: filled in when it is
 *
 * Return: 1 or 0, or a negative errno.
 */
int baleen_withheld_find(const struct baleen_state *state, const struct baleen_state_rule *rule,
			 const struct baleen_key *key, struct baleen_withheld *withheld);

/**
 * struct baleen_derived - what came of it
 * @n_feeds: feeds with a good copy
 * @n_singles: single entries in force
 * @n_withheld: addresses and prefixes that were taken out
 * @first_withheld: the first of them
 */
struct baleen_derived {
	u64 n_feeds;
	u64 n_singles;
	u64 n_withheld;
	struct baleen_withheld first_withheld;
};

/**
 * baleen_derive() - the filter of a rule
 * @state: opened, a transaction included
 * @rule: of the state
 * @now_ms: single entries that have ended by then take no part
 * @filter: sealed, to be freed by the caller; untouched on failure
 * @derived: filled in; may be NULL
 * @error: filled in on failure
 *
 * With an image among the feeds: alone and without anything to change, it is
 * taken as it is; else it is edited (edit.h), and refused where it keeps too
 * little for that.
 *
 * Return: 0; -EINVAL, -EOPNOTSUPP, -ENOSPC, -E2BIG, -ENOMEM; a negative errno.
 */
int baleen_derive(const struct baleen_state *state, const struct baleen_state_rule *rule,
		  u64 now_ms, struct baleen_filter *filter, struct baleen_derived *derived,
		  struct baleen_error *error);

/**
 * baleen_derive_holds() - shall the rule hold this address?
 * @state: opened, a transaction included
 * @rule: of the state
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
int baleen_derive_holds(const struct baleen_state *state, const struct baleen_state_rule *rule,
			const struct baleen_key *key, u64 now_ms, bool *holds,
			struct baleen_error *error);

/**
 * struct baleen_reason - an entry that speaks for or against a key
 * @is_feed: a line of a feed; else a single entry
 * @feed: of a line
 * @line: its number
 * @text: the entry as it stands there
 * @single: of a single entry
 */
struct baleen_reason {
	bool is_feed;
	struct baleen_feed feed;
	u64 line;
	char text[BALEEN_SINGLE_TEXT];
	struct baleen_single single;
};

/**
 * baleen_derive_reasons() - all entries that hold a key
 * @state: opened
 * @rule: of the state
 * @key: an address, or a key of several fields
 * @now_ms: as for baleen_derive()
 * @visit: called with each, the one that decides first; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_derive_reasons(const struct baleen_state *state, const struct baleen_state_rule *rule,
			  const struct baleen_key *key, u64 now_ms,
			  int (*visit)(const struct baleen_reason *reason, void *data), void *data,
			  struct baleen_error *error);

#endif /* BALEEN_DERIVE_H */
