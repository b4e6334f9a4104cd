/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of a command as one table: it is parsed by, printed as the help, and read by
 * the completion.
 */
#ifndef BALEEN_CLI_OPTIONS_H
#define BALEEN_CLI_OPTIONS_H

#include <stddef.h>

#include "cli/common/cli.h"

struct option_use;

/**
 * struct option_spec - a row of a table, which ends with an empty one
 * @name: name of the option, without its dashes; NULL in a row that is text or another table
 * @letter: its short name; 0 for none
 * @argument: the name of its argument in the help; NULL when it takes none
 * @parse: parses the option: 0, or EXIT_USAGE after a message
 * @at: where @parse finds its data, as an offset into the structure that options_parse() got;
 *      where @table finds its structure in that
 * @help: one paragraph, whose lines are filled; of a row that is text, printed as it is; NULL
 *        of an option that is not shown
 * @words: the values of the argument with blanks between, for option_word() and completion
 * @value: for @parse
 * @table: another table that is part of this one; @help, if there is one, is printed in place
 *         of its rows
 */
struct option_spec {
	const char *name;
	char letter;
	const char *argument;
	int (*parse)(const struct option_use *use);
	size_t at;
	const char *help;
	const char *words;
	u32 value;
	const struct option_spec *table;
};

/**
 * struct option_use - an option, or a word that is none, as it was typed
 * @command: of which
 * @spec: its row; NULL of a word
 * @argument: its argument, or the word
 * @to: what @spec->at points at; of a word the structure that options_parse() got
 */
struct option_use {
	const struct command *command;
	const struct option_spec *spec;
	const char *argument;
	void *to;
};

/* Takes all options; the operands are left in @argv. 0, or EXIT_USAGE after a message. */
int options_parse(const struct command *command, void *data, int *argc, char ***argv);

/* Complains of an argument: "--name 'argument': " and the reason; returns EXIT_USAGE. */
int option_refuse(const struct option_use *use, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The place of the argument among the words of its row, or -1 after a message. */
int option_word(const struct option_use *use);

/* --- what @parse can be ----------------------------------------------------- */

int option_flag(const struct option_use *use);	  /* bool: true */
int option_text(const struct option_use *use);	  /* const char *: the argument */
int option_json(const struct option_use *use);	  /* json_t *: a new array */
int option_rate(const struct option_use *use);	  /* double: from 0 to below 1 */
int option_keys(const struct option_use *use);	  /* u64: a number of keys */
int option_base(const struct option_use *use);	  /* u32: 2, 10 or 16, its words */
int option_wait(const struct option_use *use);	  /* u64: ms, of seconds up to a day */
int option_ifindex(const struct option_use *use); /* u32: number of a device */
int option_absent(const struct option_use *use);  /* refuses it: @words says why */
int option_choice(const struct option_use *use);  /* u32: place among the words */

/* A row of a flag, and one of an option with an argument, whose data is a member of a
 * structure; behind the help may follow members of the row, such as .words.
 */
#define FLAG(name, letter, type, member, ...)                                   \
	{                                                                       \
		name, letter, NULL, option_flag, offsetof(struct type, member), \
			.help = __VA_ARGS__                                     \
	}
#define VALUE(name, letter, argument, parse, type, member, ...)                                   \
	{                                                                                         \
		name, letter, argument, parse, offsetof(struct type, member), .help = __VA_ARGS__ \
	}

#define WAIT_OPTION(type, member)                              \
	VALUE("wait", 0, "SECONDS", option_wait, type, member, \
	      "wait so long for another command that changes it (10)")
#define FORCE_OPTION(type, member) \
	FLAG("force", 0, type, member, "also when this host would cut itself off")
#define NARROW_OPTION(type, member)     \
	FLAG("narrow", 0, type, member, \
	     "ban what is left without addresses that are never dropped, those of this host and peers of its TCP sessions")
#define WIDE_OPTION(type, member)                                                            \
	FLAG("force", 0, type, member,                                                       \
	     "also when this host would cut itself off, and what is wider than a /8 or, of " \
	     "IPv6, a /32")

#define BASE_OPTION(type, member)                                                               \
	VALUE("base", 0, "B", option_base, type, member,                                        \
	      "fingerprints and remainders in base 2, 10 or 16; without it in 2 up to 8 bits, " \
	      "else in 16",                                                                     \
	      .words = "2 10 16")

/* --trace, its --base and its --html; @member is a struct trace: see cli/common/trace.h. */
#define TRACE_OPTIONS(type, member, what)                                           \
	FLAG("trace", 0, type, member.is_wanted,                                    \
	     "tell " what "; of an image file of at most 64 KiB without prefixes"), \
		BASE_OPTION(type, member.base),                                     \
		FLAG("html", 0, type, member.is_html,                               \
		     "with --trace: print a page, to be stepped through, in place of the report")

/* The steps of a change, and those of a resize or a merge. */
#define TRACE_STEPS "each step: bits set, slots taken, kicks and shifts"
#define TRACE_PLACES "where each bit, counter and slot comes to"

/* --- help ------------------------------------------------------------------ */

/* Prints the usage of a command, and of its verbs. */
void print_usage(FILE *stream, const struct command *command);

/* Prints what completion has to know of a command: its usage, an empty line, and of each
 * option a line of its name, its argument or '-', and the words that the argument can be.
 */
void print_words(const struct command *command);

/* Runs the verb that the first argument of a command names; returns an exit code. */
int run_verb(const struct command *command, int argc, char **argv);

/* The verb of a command; NULL when it has none of that name. */
const struct command *find_verb(const struct command *command, const char *name);

#endif /* BALEEN_CLI_OPTIONS_H */
