/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that a rule is not to drop: the never-drop list and names, those of this host,
 * its gateways and resolvers, the peers of its TCP sessions, and those that are nobody's.
 *
 * The state keeps them as lists, as they were found at the last update, so that
 * a filter is derived of the same at boot, without a network.
 */
#ifndef BALEEN_PROTECTED_H
#define BALEEN_PROTECTED_H

#include "list/list_algebra.h"
#include "net/host.h"
#include "state/entries.h"
#include "state/rule_store.h"

/**
 * enum baleen_protected_role - why addresses are taken out of a rule
 * @BALEEN_PROTECTED_NEVER: in the never-drop list
 * @BALEEN_PROTECTED_NAME: of a host whose name is not to be dropped (never_names.h)
 * @BALEEN_PROTECTED_HOST: own address, gateway or resolver
 * @BALEEN_PROTECTED_PEER: peer of a guarded TCP session at the last update
 * @BALEEN_PROTECTED_NOBODY: 0.0.0.0, :: or 255.255.255.255: hosts that have no address yet send
 *                           from the first two, and ask everybody by the last. Lists have them by
 *                           mistake; a rule of every address drops them
 * @BALEEN_PROTECTED_SPECIAL: special-purpose range of a feed
 */
enum baleen_protected_role {
	BALEEN_PROTECTED_NEVER,
	BALEEN_PROTECTED_NAME,
	BALEEN_PROTECTED_HOST,
	BALEEN_PROTECTED_PEER,
	BALEEN_PROTECTED_NOBODY,
	BALEEN_PROTECTED_SPECIAL,
};

/* Roles that have a set of their own; special-purpose ranges are taken out elsewhere. */
#define BALEEN_N_WITHHELD 5

/**
 * struct baleen_protected - addresses that are not to be dropped
 * @role: why
 * @what: the entry of the never-drop list, or the name of a host, cut to fit, or the role of a
 * host's address (baleen_host_role_text()), or the name of a special-purpose range
 * @key: address, prefix or range
 * @asked_ms: when the name of a host was asked last; told by baleen_protected_find() alone
 * @answered_ms: when it answered last
 */
struct baleen_protected {
	enum baleen_protected_role role;
	char what[128];
	char key[BALEEN_RULE_ENTRY_TEXT];
	u64 asked_ms;
	u64 answered_ms;
};

/**
 * struct baleen_protected_set - what is withheld, to be asked more than once
 * @text: lists by role; NULL for none
 * @set: finished lists of these, of BALEEN_KEY_SRC
 *
 * All zeros withholds nothing.
 */
struct baleen_protected_set {
	char *text[BALEEN_N_WITHHELD];
	struct baleen_list set[BALEEN_N_WITHHELD];
};

/**
 * baleen_protected_applies() - is anything taken out of a rule?
 * @rule: rule of the state, configured or by hand
 *
 * Return: true of rules that drop, and are keyed by an address.
 */
bool baleen_protected_applies(const struct baleen_stored_rule *rule);

/**
 * baleen_protected_of_feeds() - is this taken out of feeds?
 * @rule: rule of the state
 * @role: why it is protected
 *
 * A list that was typed is meant as it is written, but for what is never dropped, and for what
 * is nobody's.
 *
 * Return: true when it is.
 */
bool baleen_protected_of_feeds(const struct baleen_stored_rule *rule,
			       enum baleen_protected_role role);

/**
 * baleen_protected_of_entry() - is this taken out of a single entry?
 * @rule: rule of the state
 * @yields: enum baleen_entry_yields of the entry
 * @role: why it is protected
 *
 * Return: true when it is.
 */
bool baleen_protected_of_entry(const struct baleen_stored_rule *rule, u32 yields,
			       enum baleen_protected_role role);

/**
 * baleen_rule_removes_special() - are special-purpose ranges taken out of its lists?
 * @rule: rule of the state, configured or by hand
 *
 * Return: true of rules that drop by an address, unless they keep these ranges.
 */
bool baleen_rule_removes_special(const struct baleen_stored_rule *rule);

/**
 * baleen_protected_refresh() - find out anew what is to be withheld
 * @state: with a transaction
 * @error: filled in on failure: a never-drop list that cannot be read, naming
 *         the line; the last good one stays
 *
 * A default never-drop list need not be there. Without the device its addresses
 * stay what they were.
 *
 * Return: 0; -EINVAL; a negative errno.
 */
int baleen_protected_refresh(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_protected_read_never() - what a never-drop list has now
 * @path: path of the list
 * @never: filled in: a finished list; free with baleen_list_free()
 * @error: filled in on failure, naming the line
 *
 * A default never-drop list need not be there.
 *
 * Return: 0; -EINVAL; a negative errno.
 */
int baleen_protected_read_never(const char *path, struct baleen_list *never,
				struct baleen_error *error);

/**
 * baleen_protected_refresh_never() - read the never-drop list
 * @state: with a transaction
 * @path: path of the list; empty for none
 * @error: filled in on failure, naming the line; the last good one stays
 *
 * A default never-drop list need not be there.
 *
 * Return: 0; -EINVAL; a negative errno.
 */
int baleen_protected_refresh_never(struct baleen_rule_store *state, const char *path,
				   struct baleen_error *error);

/**
 * baleen_protected_never_is_stale() - has the never-drop list been written since it was read?
 * @state: opened
 * @path: path of the list; empty for none
 *
 * Return: true when it is another file, or has another size or time.
 */
bool baleen_protected_never_is_stale(const struct baleen_rule_store *state, const char *path);

/**
 * baleen_protected_never_differs() - is the never-drop list another than the last?
 * @state: opened
 * @path: path of the list; empty for none
 * @error: filled in on failure
 *
 * Return: 1 or 0; a negative errno when it cannot be read.
 */
int baleen_protected_never_differs(const struct baleen_rule_store *state, const char *path,
				   struct baleen_error *error);

/**
 * baleen_protected_load() - what was found at the last update
 * @state: opened
 * @set: filled in; free with baleen_protected_free()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_protected_load(const struct baleen_rule_store *state, struct baleen_protected_set *set,
			  struct baleen_error *error);

/**
 * baleen_protected_load_now() - the same, and what the host has now
 * @state: opened
 * @guard: which sessions have peers
 * @host: surveyed if it is not yet
 * @set: filled in; free with baleen_protected_free()
 * @error: filled in on failure
 *
 * Peers are those of now alone.
 *
 * Return: 0 or a negative errno.
 */
int baleen_protected_load_now(const struct baleen_rule_store *state,
			      enum baleen_session_guard guard, struct baleen_host *host,
			      struct baleen_protected_set *set, struct baleen_error *error);

/**
 * baleen_protected_free() - free what was loaded
 * @set: loaded, or all zeros
 */
void baleen_protected_free(struct baleen_protected_set *set);

/**
 * baleen_protected_describe() - why is an address withheld?
 * @set: loaded
 * @role: role of the list it is in
 * @key: the address
 * @protected: its role and what it is are filled in
 */
void baleen_protected_describe(const struct baleen_protected_set *set,
			       enum baleen_protected_role role, const struct baleen_key *key,
			       struct baleen_protected *protected);

/**
 * baleen_protected_find_in() - what is taken out of a single entry
 * @set: loaded
 * @rule: its rule
 * @entry: the entry
 * @n: filled in: parts of what is protected that it covers
 * @protected: the first of them; untouched when there is none
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_protected_find_in(const struct baleen_protected_set *set,
			     const struct baleen_stored_rule *rule,
			     const struct baleen_rule_entry *entry, u64 *n,
			     struct baleen_protected *protected);

/**
 * baleen_protected_meets() - does a set hold any of what is withheld?
 * @set: loaded
 * @role: role of the list that is asked
 * @keys: a finished list of addresses, whatever part of a packet they are of
 * @n: entries of it
 * @protected: the first of them; untouched when there is none
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_protected_meets(const struct baleen_protected_set *set, enum baleen_protected_role role,
			   const struct baleen_list *keys, u64 *n,
			   struct baleen_protected *protected);

#endif /* BALEEN_PROTECTED_H */
