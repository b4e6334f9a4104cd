/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of hosts whose addresses no rule drops.
 *
 * Names are asked before a state is locked, never for a packet. The state keeps the last
 * answer of each, so that a filter is derived of the same without a resolver.
 */
#ifndef BALEEN_NEVER_NAMES_H
#define BALEEN_NEVER_NAMES_H

#include "state/rule_store.h"

/* How often a name is asked. */
#define BALEEN_NEVER_NAME_EVERY_S 300
/* An answer as old as this is worth a word. */
#define BALEEN_NEVER_NAME_OLD_S 3600

#define BALEEN_HOST_NAME_BYTES 256
#define BALEEN_NEVER_FAILURE_BYTES 256

/**
 * struct baleen_never_name - a name, and what is known of it
 * @name: the name
 * @asked_ms: when it was asked last; 0 for never
 * @answered_ms: when the answer in force came; 0 for never
 * @n: its addresses
 * @addresses: an address a line, sorted; valid in a callback alone
 * @failure: why there was no answer the last time, or none for one family; empty when there
 *           was one
 */
struct baleen_never_name {
	char name[BALEEN_HOST_NAME_BYTES];
	u64 asked_ms;
	u64 answered_ms;
	u32 n;
	const char *addresses;
	char failure[BALEEN_NEVER_FAILURE_BYTES];
};

/**
 * struct baleen_never_answer - the answer for a name
 * @name: the name
 * @asked_ms: when it was asked
 * @addresses: an address a line, sorted; of a family that did not answer, those of its last
 *             answer; NULL when neither did
 * @is_first: there is no answer yet in the state
 * @n: its addresses
 * @n_added: those that the last answer had not
 * @n_removed: those of the last answer that it has no more
 * @failure: why there was no answer, or none for one family; else empty
 */
struct baleen_never_answer {
	char name[BALEEN_HOST_NAME_BYTES];
	u64 asked_ms;
	char *addresses;
	bool is_first;
	u32 n;
	u32 n_added;
	u32 n_removed;
	char failure[BALEEN_NEVER_FAILURE_BYTES];
};

/**
 * struct baleen_never_answers - answers for some names
 * @answer: they
 * @n: how many
 */
struct baleen_never_answers {
	struct baleen_never_answer *answer;
	size_t n;
};

/**
 * baleen_never_names_ask() - ask for names
 * @names: with blanks between
 * @state: what is known; NULL for nothing
 * @only_due: only those that were not asked for BALEEN_NEVER_NAME_EVERY_S
 * @answers: filled in, also without an answer; free with baleen_never_answers_free()
 * @error: filled in on failure
 *
 * Return: 0; -EINTR; -ENOMEM; a negative errno.
 */
int baleen_never_names_ask(const char *names, const struct baleen_rule_store *state, bool only_due,
			   struct baleen_never_answers *answers, struct baleen_error *error);

/**
 * baleen_never_answer_fail() - an answer that cannot be taken
 * @answer: the answer
 * @why: reason
 */
void baleen_never_answer_fail(struct baleen_never_answer *answer, const char *why);

/**
 * baleen_never_answer_fault() - is it an answer?
 * @text: addresses, a line each
 *
 * Who answers is not trusted with more than addresses: a prefix would be one answer for many.
 *
 * Return: NULL; why not, a constant string.
 */
const char *baleen_never_answer_fault(const char *text);

/**
 * baleen_never_answers_free() - free answers
 * @answers: filled in, or all zeros
 */
void baleen_never_answers_free(struct baleen_never_answers *answers);

/**
 * baleen_never_names_update() - the names of a state, with new answers
 * @state: with a transaction
 * @names: all its names, with blanks between; others are forgotten
 * @answers: new answers; NULL for none. A name without one keeps the last
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_never_names_update(struct baleen_rule_store *state, const char *names,
			      const struct baleen_never_answers *answers,
			      struct baleen_error *error);

/**
 * baleen_never_names_each() - the names of a state, sorted
 * @state: opened
 * @each: called for each; a nonzero return ends it
 * @data: passed to @each
 * @error: filled in on failure
 *
 * Return: 0, what @each returned, or a negative errno.
 */
int baleen_never_names_each(const struct baleen_rule_store *state,
			    int (*each)(const struct baleen_never_name *name, void *data),
			    void *data, struct baleen_error *error);

/**
 * baleen_never_names_text() - addresses of all names as a list
 * @state: opened
 * @text: a line for each, with its name behind it; NULL when there is none
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_never_names_text(const struct baleen_rule_store *state, char **text,
			    struct baleen_error *error);

/**
 * baleen_never_name_due_ms() - when is a name to be asked?
 * @name: the name
 * @now_ms: the time
 *
 * Return: the time, which may have passed.
 */
u64 baleen_never_name_due_ms(const struct baleen_never_name *name, u64 now_ms);

#endif /* BALEEN_NEVER_NAMES_H */
