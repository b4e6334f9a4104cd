/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands where a command says IMAGE: an image, a list or a live rule.
 */
#ifndef BALEEN_CLI_INPUT_H
#define BALEEN_CLI_INPUT_H

#include "build.h"
#include "cli.h"
#include "csv_table.h"
#include "xdp.h"

/**
 * struct list_options - how lists are read and built
 * @skip_bad: count bad lines instead of refusing the list
 * @allow_empty: take a list without a key
 * @n_reported: bad lines of the list at hand that were printed
 * @looks_at_live: a live rule is looked at as it changes, not copied between
 *                 two changes
 * @csv: of a table: columns and conditions
 * @build: kind, key, rate, capacity
 * @shaped_by: the last option that says what to build, such as "--kind"
 * @is_key_given: --key was one of them
 * @like_path: --like; its header goes to @like
 * @like: storage for @build.like
 */
struct list_options {
	bool skip_bad;
	bool allow_empty;
	bool looks_at_live;
	u64 n_reported;
	struct baleen_csv_options csv;
	struct baleen_build_options build;
	const char *shaped_by;
	bool is_key_given;
	const char *like_path;
	struct baleen_image like;
};

/* Codes above every character for long options without a letter. */
enum list_option {
	OPTION_SKIP_BAD = 0x100,
	OPTION_ALLOW_EMPTY,
	OPTION_COLUMN,
	OPTION_WHERE,
	OPTION_DELIMITER,
	OPTION_KIND,
	OPTION_FPP,
	OPTION_KEY,
	OPTION_CAPACITY,
	OPTION_LIKE,
	OPTION_OF_COMMAND, /* a command's own options start here */
};

/* Entries for getopt_long() of every command that takes lists. */
#define LIST_OPTIONS                                                        \
	{ "skip-bad", no_argument, NULL, OPTION_SKIP_BAD },                 \
		{ "allow-empty", no_argument, NULL, OPTION_ALLOW_EMPTY },   \
		{ "column", required_argument, NULL, OPTION_COLUMN },       \
		{ "where", required_argument, NULL, OPTION_WHERE },         \
		{ "delimiter", required_argument, NULL, OPTION_DELIMITER }, \
		{ "kind", required_argument, NULL, OPTION_KIND },           \
		{ "fpp", required_argument, NULL, OPTION_FPP },             \
		{ "key", required_argument, NULL, OPTION_KEY },             \
	{                                                                   \
		"capacity", required_argument, NULL, OPTION_CAPACITY        \
	}

#define LIST_OPTIONS_HELP                                                                        \
	"Lists hold one IPv4 or IPv6 address, prefix or range A-B a line, or with a '!' an\n"    \
	"exception; the longest prefix decides. What follows, '#' and ';' comments and blank\n"  \
	"lines are passed over; 'ipset save' files and gzip work. Keys of several fields have\n" \
	"commas between, in the order proto,src,dst,sport,dport.\n"                              \
	"  --skip-bad       count bad lines and go on; otherwise they refuse the list\n"         \
	"  --allow-empty    take a list without a single key\n"                                  \
	"  --column C       the lists are tables (CSV): the key is in column C, a number or\n"   \
	"                   a name; 1-2 or start-end for the first and last of a range\n"        \
	"  --where C=VALUE  only rows with this value in column C; may be repeated\n"            \
	"  --delimiter D    between columns: tab or one of , ; | (default: what fits)\n"         \
	"  --kind K         cuckoo (default) or bloom\n"                                         \
	"  --fpp P          false positive rate allowed, 0 (default) to below 1; IPv4 keys in\n" \
	"                   a cuckoo table are exact whatever it says\n"                         \
	"  --key SPEC       the fields of a packet that are looked up: src (default), or any\n"  \
	"                   of proto,src,dst,sport,dport; flow is all of them\n"                 \
	"  --capacity N     leave room for N keys\n"

void list_options_init(struct list_options *options);

/* Takes one option; 0, or EXIT_USAGE after a message. */
int list_option_take(const struct command *command, struct list_options *options, int option,
		     const char *argument);

/* Options that contradict each other; 0, or EXIT_USAGE after a message. */
int list_options_check(const struct command *command, const struct list_options *options);

/**
 * struct input - an IMAGE argument, opened
 * @path: as typed; points into the arguments
 * @filter: its filter
 * @received_fd: what was read, as it was received; 0 when it was no file
 * @is_list: it was a list, built on the way
 * @csv: how it was read, if it was a table
 * @n_lines: of the list
 * @n_bad: bad lines skipped
 * @n_listed: entries of the list
 * @n_covered: of them, those that others make superfluous
 */
struct input {
	const char *path;
	struct baleen_filter filter;
	int received_fd;
	bool is_list;
	struct baleen_csv_options csv;
	u64 n_lines;
	u64 n_bad;
	u64 n_listed;
	u64 n_covered;
};

/* Splits DEV:RULE; false when @argument is a file. */
bool split_live(const char *argument, char *device, size_t device_bytes, const char **rule);

/* Opens an IMAGE argument; 0, or EXIT_FAILED after a message. */
int input_open(struct input *input, const char *argument, struct list_options *options);
void input_close(struct input *input);

/* The same, but a list is left as it was read. */
int input_open_set(struct input *input, struct baleen_list *list, const char *argument,
		   struct list_options *options);

/* Appends a list; 0, or EXIT_FAILED after a message. */
int input_read_list(struct baleen_list *list, const char *path, struct list_options *options);

/* Builds one filter of several lists, as input_open() does of one. */
int input_build(struct input *input, char **paths, int n_paths, struct list_options *options);

/* Finds the list line that made a key listed; false when there is none. */
bool input_find_line(const struct input *input, const struct baleen_key *key, u64 *line, char *text,
		     size_t text_bytes);

#endif /* BALEEN_CLI_INPUT_H */
