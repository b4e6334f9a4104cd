/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The door that single entries go through before they are written: may this rule drop them?
 *
 * Whoever asks comes through here: a person, a program that feeds, a limit, a fleet, the
 * library. What differs between them is a row of one table, in gate.c. What holds
 * for good is not this answer, but that the filter is derived without what is protected
 * (derive.h): the door is there to tell whoever asks.
 */
#ifndef BALEEN_GATE_H
#define BALEEN_GATE_H

#include "net/host.h"
#include "state/protected.h"

/* Shorter prefixes, and ranges that are wider, are too wide to come without a person's word. */
#define BALEEN_GATE_IP4_LENGTH 8
#define BALEEN_GATE_IP6_LENGTH 32

/* Prefixes of this length and shorter ones count for max-coverage: 250,000 longer ones make a
 * /3. Of IPv6 it takes two million /32s to reach a quarter of the space.
 */
#define BALEEN_GATE_COUNTED_LENGTH 20

/**
 * enum baleen_asker - who wants an entry
 * @BALEEN_ASKER_TYPED: a person, by a command
 * @BALEEN_ASKER_FED: a program that writes lines to `baleen feed`, such as an adapter
 * @BALEEN_ASKER_LIMIT: a limit that a source went over
 * @BALEEN_ASKER_FLEET: another host
 * @BALEEN_ASKER_LIBRARY: a program that calls libbaleen
 */
enum baleen_asker {
	BALEEN_ASKER_TYPED,
	BALEEN_ASKER_FED,
	BALEEN_ASKER_LIMIT,
	BALEEN_ASKER_FLEET,
	BALEEN_ASKER_LIBRARY,
};

/**
 * enum baleen_gate_answer - what the door says of an entry
 * @BALEEN_GATE_OPEN: it may come as it is
 * @BALEEN_GATE_NARROWED: it may come, and what is protected in it is not dropped
 * @BALEEN_GATE_PROTECTED: it is protected itself, or all of it is
 * @BALEEN_GATE_COVERS: it covers what is protected
 * @BALEEN_GATE_WIDE: it is shorter than BALEEN_GATE_IP4_LENGTH or BALEEN_GATE_IP6_LENGTH
 * @BALEEN_GATE_COVERAGE: with it, feeds and wide entries of the rule cover more IPv4 addresses
 *                        than its max-coverage allows one feed
 * @BALEEN_GATE_FULL: feeds and entries of the rule are as many as its max-entries allows
 */
enum baleen_gate_answer {
	BALEEN_GATE_OPEN,
	BALEEN_GATE_NARROWED,
	BALEEN_GATE_PROTECTED,
	BALEEN_GATE_COVERS,
	BALEEN_GATE_WIDE,
	BALEEN_GATE_COVERAGE,
	BALEEN_GATE_FULL,
};

/**
 * struct baleen_gate - the door to a rule
 * @state: opened
 * @rule: the rule
 * @asker: who asks
 * @forces: with --force
 * @narrows: with --narrow
 * @of_bans: what comes is a ban of all rules, not an entry of this one
 * @replaces: entries of this origin go when the new ones come, "" for all; NULL for none
 * @cuts_sessions: peers of TCP sessions may be banned
 * @sessions: whose peers are guarded
 * @host: addresses of this host, surveyed if they are not yet
 * @error: filled in on failure
 * @guards: there is something to be asked about
 * @protected: what is protected
 * @has_coverage: the next two are there: asked for by the first entry that counts
 * @n_fed: IPv4 addresses of the rule's feeds; what several have counts as often
 * @counted: wide entries of the rule, and those that were let in
 * @n_entries: entries of the rule's feeds, and single ones that stay; means something only where
 *             the rule has max-entries
 *
 * All from @guards on are the door's.
 */
struct baleen_gate {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	enum baleen_asker asker;
	bool forces;
	bool narrows;
	bool of_bans;
	const char *replaces;
	bool cuts_sessions;
	enum baleen_session_guard sessions;
	struct baleen_host *host;
	struct baleen_error *error;
	bool guards;
	struct baleen_protected_set protected;
	bool has_coverage;
	u64 n_fed;
	struct baleen_list counted;
	u64 n_entries;
};

/**
 * baleen_gate_open() - find out what is protected
 * @gate: given; close with baleen_gate_close()
 *
 * Return: 0 or a negative errno.
 */
int baleen_gate_open(struct baleen_gate *gate);

/**
 * baleen_gate_has_room() - may the rule have one entry more?
 * @gate: opened; its n_entries is kept up by the caller
 * @entry: the entry; one that is there already takes no room, unless it is replaced
 * @has_room: filled in
 *
 * Return: 0 or a negative errno.
 */
int baleen_gate_has_room(const struct baleen_gate *gate, const struct baleen_rule_entry *entry,
			 bool *has_room);

/**
 * baleen_gate_close() - free what was found
 * @gate: opened, or all zeros
 */
void baleen_gate_close(struct baleen_gate *gate);

/**
 * baleen_gate_meets() - does any of these entries need an answer?
 * @gate: opened
 * @entry: the next entry; NULL at the end
 * @data: passed to @entry
 * @meets: filled in: some hold what is protected, or are wide
 *
 * Most batches hold nothing of it, and are asked about as a whole.
 *
 * Return: 0 or a negative errno.
 */
int baleen_gate_meets(struct baleen_gate *gate,
		      const struct baleen_rule_entry *(*entry)(void *data), void *data,
		      bool *meets);

#define BALEEN_GATE_WHY 160

/**
 * baleen_gate_why() - why an address is protected, in words
 * @protected: the address
 * @text: filled in: "the never-drop list"
 *
 * Return: @text.
 */
const char *baleen_gate_why(const struct baleen_protected *protected,
			    char text[static BALEEN_GATE_WHY]);

#define BALEEN_GATE_TEXT 512

/**
 * baleen_gate_text() - an answer in words
 * @answer: the answer, but BALEEN_GATE_OPEN
 * @protected: that came with it
 * @text: filled in: "192.0.2.1 is never dropped (own address)"
 *
 * Return: @text.
 */
const char *baleen_gate_text(enum baleen_gate_answer answer,
			     const struct baleen_protected *protected,
			     char text[static BALEEN_GATE_TEXT]);

/**
 * baleen_gate_ask() - may an entry come?
 * @gate: opened
 * @entry: the entry, no exception; what it yields to is filled in
 * @answer: filled in
 * @protected: filled in where the answer is about it: the first that it covers; of
 *             BALEEN_GATE_COVERAGE its @what: figure and bound
 *
 * Return: 0 or a negative errno.
 */
int baleen_gate_ask(struct baleen_gate *gate, struct baleen_rule_entry *entry,
		    enum baleen_gate_answer *answer, struct baleen_protected *protected);

#endif /* BALEEN_GATE_H */
