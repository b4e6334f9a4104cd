/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set as the lines of `ipset save` create it: what import and lists know of it alike.
 *
 *      create NAME TYPE [OPTION [VALUE]]...
 *      add NAME KEY [OPTION [VALUE]]...
 */
#ifndef BALEEN_IPSET_SET_H
#define BALEEN_IPSET_SET_H

#include <baleen/port.h>

/* With its NUL: IPSET_MAXNAMELEN of Linux. */
#define BALEEN_IPSET_NAME 32

#define BALEEN_IPSET_MAX_WORDS 32

/**
 * struct baleen_ipset_line - the words of a line
 * @word: each, NUL-terminated; -exist and -! are left out
 * @n: how many
 */
struct baleen_ipset_line {
	char *word[BALEEN_IPSET_MAX_WORDS];
	u32 n;
};

/**
 * struct baleen_ipset_set - a set
 * @name: its name
 * @is_address: its keys are known to be addresses or prefixes
 * @is_ip6: of them
 * @netmask: the length of the network that each host stands for; 0 for none
 * @timeout_s: timeout of entries that have none; 0: they stay
 */
struct baleen_ipset_set {
	char name[BALEEN_IPSET_NAME];
	bool is_address;
	bool is_ip6;
	u32 netmask;
	u64 timeout_s;
};

/**
 * struct baleen_ipset_problem - why a line is not understood
 * @word: the word of the line; NULL for all of it
 * @reason: the reason, a constant string
 */
struct baleen_ipset_problem {
	const char *word;
	const char *reason;
};

/**
 * baleen_ipset_split() - the words of a line
 * @text: the line, NUL-terminated; is changed
 * @line: filled in
 * @problem: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_ipset_split(char *text, struct baleen_ipset_line *line,
		       struct baleen_ipset_problem *problem);

/**
 * baleen_ipset_create() - a set as its line creates it
 * @line: split; its first word is "create"
 * @set: filled in; of a type that is not known, @is_address is false
 * @problem: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_ipset_create(const struct baleen_ipset_line *line, struct baleen_ipset_set *set,
			struct baleen_ipset_problem *problem);

/**
 * baleen_ipset_seconds() - a number of seconds
 * @text: the number
 * @seconds: filled in
 * @problem: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_ipset_seconds(const char *text, u64 *seconds, struct baleen_ipset_problem *problem);

/**
 * baleen_ipset_takes_value() - an option of an entry
 * @text: the option
 * @length: its length
 *
 * Return: 1 when a value follows it, 0 when none does, -ENOENT for none of them.
 */
int baleen_ipset_takes_value(const char *text, size_t length);

#endif /* BALEEN_IPSET_SET_H */
