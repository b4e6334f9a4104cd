/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All commands share this: the command table, messages, numbers for people.
 */
#ifndef BALEEN_CLI_H
#define BALEEN_CLI_H

#include <baleen/port.h>
#include <jansson.h>
#include <stdio.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* or no match */
	EXIT_USAGE = 2,
	EXIT_CHANGED = 3, /* of commands that may find nothing to do */
	EXIT_UNKEPT = 4,  /* done and in force, but not on disk */
	EXIT_BEHIND = 5,  /* done, but a device has not followed yet */
};

struct option_spec;
struct option_use;

/**
 * struct command - one command of the table in main.c
 * @name: as typed
 * @synopsis: its arguments
 * @help: its description, for `baleen help NAME`
 * @options: its options; see cli/common/options.h
 * @asks: how many operands it takes, and what is said of others; no text: it looks itself
 * @word: NULL, or takes each word that is no option, in its place among them
 * @verbs: NULL, or the verbs that it has, called as "icp attach", up to a NULL; their
 *         synopses and helps follow its own
 * @run: gets the arguments from the command's name on; returns an exit code
 */
struct command {
	const char *name;
	const char *synopsis;
	const char *help;
	const struct option_spec *options;
	struct {
		int least, most;
		const char *text;
	} asks;
	int (*word)(const struct option_use *use);
	const struct command *const *verbs;
	int (*run)(int argc, char **argv);
};

extern const struct command build_command;
extern const struct command info_command;
extern const struct command show_command;
extern const struct command plan_command;
extern const struct command match_command;
extern const struct command dump_command;
extern const struct command compile_command;
extern const struct command attach_command;
extern const struct command swap_command;
extern const struct command detach_command;
extern const struct command status_command;
extern const struct command replay_command;
extern const struct command rule_command;
extern const struct command policy_command;
extern const struct command watch_command;
extern const struct command save_command;
extern const struct command restore_command;
extern const struct command add_command;
extern const struct command del_command;
extern const struct command merge_command;
extern const struct command intersect_command;
extern const struct command subtract_command;
extern const struct command compare_command;
extern const struct command resize_command;
extern const struct command update_command;
extern const struct command route_command;
extern const struct command confirm_command;
extern const struct command config_command;
extern const struct command apply_command;
extern const struct command metrics_command;
extern const struct command top_command;
extern const struct command ban_command;
extern const struct command unban_command;
extern const struct command list_command;
extern const struct command log_command;
extern const struct command flush_command;
extern const struct command feed_command;
extern const struct command import_command;
extern const struct command export_command;
extern const struct command why_command;
extern const struct command refresh_command;
extern const struct command doctor_command;
extern const struct command icp_command;
extern const struct command set_command;
extern const struct command fleet_command;

/* Commands print with these four, and with puts() and the like only texts of their own: each text
 * among the arguments is foreign, as of baleen_foreign_format(). Returns the bytes written.
 */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int say_to(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints `baleen: ` and one line to stderr; returns EXIT_FAILED. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, with a pointer to the help of a command; returns EXIT_USAGE. */
int complain_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A JSON string of any bytes: each that is no UTF-8 is an escape such as `\xff`. */
json_t *json_text(const char *text);

/* The same of bytes, which NUL is among. */
json_t *json_bytes(const char *text, size_t n_bytes);

/* Prints a JSON value in one line, or nothing without memory; frees it. Not the newline.
 * @flags: JSON_COMPACT, or 0
 */
void print_json_line(json_t *json, size_t flags);

/* Prints a JSON value and frees it; returns an exit code. */
int print_json(json_t *json);

/* Flushes stdout; an exit code: output that did not arrive is a failure. */
int finish_output(int exit_code);

/* Prints what -j has collected in @all, and frees it; without, the same as finish_output(). */
int finish_collected(json_t *all, int exit_code);

#define NUMBER_TEXT 32

/* 1234567 as 1,234,567, into at least NUMBER_TEXT bytes; returns @text. */
const char *format_count(u64 n, char *text);

/* 1234567 as 1.2 MB, into at least NUMBER_TEXT bytes; returns @text. */
const char *format_bytes(u64 n, char *text);

/* A span of time to the second, such as 1h30m, into at least BALEEN_DURATION_TEXT bytes;
 * returns @text.
 */
const char *format_span(u64 ms, char *text);

/* A rate from text: 0 to below 1. Returns 0 or -EINVAL. */
int parse_rate(const char *text, double *rate);

/* A count from text: 1 to 2^40, with an optional k, M or G. Returns 0 or -EINVAL. */
int parse_count(const char *text, u64 *count);

/* The key spec as typed. */
const char *key_spec_text(u32 key_spec);

/* Behind the count of special-purpose addresses that a feed loses when it is new. */
#define SPECIAL_HINT \
	" (private, of examples and so on: 'special keep' in the rule keeps all but 0.0.0.0, :: and 255.255.255.255)"

#endif /* BALEEN_CLI_H */
