/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands where a command says IMAGE: an image, a list, a live rule or a filter of
 * the kernel module.
 */
#ifndef BALEEN_CLI_INPUT_H
#define BALEEN_CLI_INPUT_H

#include "cli/common/list_options.h"
#include "cli/open/kmod_filter.h"
#include "xdp/xdp.h"

/**
 * struct input - an IMAGE argument, opened
 * @path: as typed; points into the arguments
 * @filter: its filter; without its body when @kmod is open
 * @kmod: where it is asked, of options that look at what is live
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
	struct kmod_filter kmod;
	int received_fd;
	bool is_list;
	struct baleen_csv_options csv;
	u64 n_lines;
	u64 n_bad;
	u64 n_listed;
	u64 n_covered;
};

/* Splits DEV:RULE; false when @argument is a file, or kmod:NAME. */
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
